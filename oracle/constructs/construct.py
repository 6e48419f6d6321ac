"""Construct: one feature that authors use in a signature, with right and wrong calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Arguments = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Construct:
    """A tool that shows one construct; it has the function's name.

    `valid` calls pass the boundary unchanged, `invalid` ones are refused or repaired (../sample.py
    checks both).
    """

    function: Callable[..., None]
    valid: Sequence[Arguments]
    invalid: Sequence[Arguments]
    ours: bool = False
    """Whether it uses a marker of Toolbooth, which has no equivalent in plain Pydantic."""


def construct(
    valid: Sequence[Arguments], invalid: Sequence[Arguments], *, ours: bool = False
) -> Callable[[Callable[..., None]], Construct]:
    """Make a construct from a function."""
    return lambda function: Construct(function=function, valid=valid, invalid=invalid, ours=ours)


def calls(name: str, *values: Any) -> list[Arguments]:
    """Calls with one argument."""
    return [{name: value} for value in values]
