"""Finds the parameters of a function that a framework fills."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from typing import Any

from toolbooth.compile.hints import Hints
from toolbooth.compile.host_params import annotation_parts


def filled_params(function: Callable[..., Any], is_filled: Callable[[Any], bool]) -> dict[str, Any]:
    """Return the parameters that the framework fills, with their defaults. `is_filled` is called
    with each class and each marker in the annotation of a parameter.
    """
    hints = Hints(function)
    found: dict[str, Any] = {}
    for param in inspect.signature(function).parameters.values():
        parts = [typing.get_origin(each) or each for each in annotation_parts(hints.of(param))]
        if any(map(is_filled, parts)):
            found[param.name] = param.default
    return found


def is_kind(*classes: type) -> Callable[[Any], bool]:
    """Return a check for one part of an annotation. It returns True if the part is one of these
    classes, a subclass, or an instance of one of them.
    """
    return lambda part: (
        isinstance(part, classes) or (isinstance(part, type) and issubclass(part, classes))
    )
