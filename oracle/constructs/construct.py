"""Construct: one thing that authors write in a signature, with calls that are right and calls that
are not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Arguments = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Construct:
    """A tool that shows one construct; it has the function's name.

    `valid` calls pass the boundary as they are, `invalid` ones are refused or repaired
    (../sample.py sees to it).
    """

    function: Callable[..., None]
    valid: Sequence[Arguments]
    invalid: Sequence[Arguments]
    ours: bool = False
    """Written with a marker of Toolbooth: plain Pydantic has no form of it."""


def construct(
    valid: Sequence[Arguments], invalid: Sequence[Arguments], *, ours: bool = False
) -> Callable[[Callable[..., None]], Construct]:
    """Make a construct of a function."""
    return lambda function: Construct(function=function, valid=valid, invalid=invalid, ours=ours)


def calls(name: str, *values: Any) -> list[Arguments]:
    """Calls with one argument."""
    return [{name: value} for value in values]
