"""Resolves the annotations of a function, one by one. They may use names that are local to the
function's surroundings.
"""

from __future__ import annotations

import inspect
import sys
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Unresolved:
    """An annotation with a name that cannot be found at run time. It is kept as the author wrote
    it.
    """

    text: str
    missing: str


class Hints:
    """Resolves the annotations of one function. They may use names that are local to the function's
    surroundings.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = _plain_function(function)
        around = getattr(self.function, "__qualname__", "").split(".<locals>.")[:-1]
        self.enclosing = {".<locals>.".join(around[: index + 1]) for index in range(len(around))}

    def of(self, param: inspect.Parameter) -> Any:
        """Return the resolved annotation of a parameter; Any if it has none."""
        return Any if param.annotation is inspect.Parameter.empty else self._of(param.annotation)

    def returns(self, raw: Any) -> Any:
        """Return the resolved return annotation. An annotation that cannot be resolved is skipped,
        because no arguments depend on it.
        """
        if raw is inspect.Signature.empty:
            return raw
        found = self._of(raw)
        return inspect.Signature.empty if isinstance(found, Unresolved) else found

    def _of(self, raw: Any) -> Any:
        if type(raw) is type:  # nothing to resolve
            return raw
        # Only enclosing functions are searched first, so that a class of the same name in another
        # function is not found.
        try:
            return self._resolve(raw, _surroundings(self.enclosing))
        except NameError:
            pass
        # A name may also be local to a function that does not enclose the definition, such as the
        # one that registers the tool.
        try:
            return self._resolve(raw, _surroundings(None))
        except NameError as error:
            return Unresolved(str(raw), error.name or str(raw))

    def _resolve(self, raw: Any, around: Mapping[str, Any]) -> Any:
        scope = getattr(self.function, "__globals__", {})
        # `get_type_hints` resolves all hints of an object at once, and one that fails hides the
        # others. So each hint gets a class of its own.
        holder = type("_", (), {"__annotations__": {"hint": raw}})
        closure = (
            dict(inspect.getclosurevars(self.function).nonlocals)
            if inspect.isfunction(self.function)
            else {}
        )
        return typing.get_type_hints(holder, scope, {**around, **closure}, include_extras=True)[
            "hint"
        ]


def _plain_function(function: Any) -> Any:
    """Return the innermost plain function of `function`. Its globals contain the names that the
    annotations use.
    """
    while hasattr(function, "func"):  # functools.partial
        function = function.func
    if not inspect.isroutine(function) and not inspect.isclass(function):
        function = type(function).__call__
    return inspect.unwrap(getattr(function, "__func__", function))


def _surroundings(enclosing: set[str] | None) -> dict[str, Any]:
    """Return the local variables of the enclosing functions, the innermost last. If the argument is
    None, return the local variables of every frame outside this package.
    """
    frames: list[dict[str, Any]] = []
    # A model that is local to a function can only be found by name in the frames.
    frame = sys._getframe(1) if enclosing != set() else None  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        ours = frame.f_globals.get("__name__", "").startswith("toolbooth.")
        if not ours if enclosing is None else frame.f_code.co_qualname in enclosing:
            frames.append(frame.f_locals)
        frame = frame.f_back
    return {key: value for found in reversed(frames) for key, value in found.items()}
