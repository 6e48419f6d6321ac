"""Wraps a function of the author in a guard. The guard handles only the exceptions of the function.

Every correct call goes through the guards, so they must be fast. Most of them have a fixed number
of arguments, because `*args` is slow.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

Failed = Callable[..., Exception | None]
"""A function that gets the exception and the arguments of the call. It returns the exception to
raise instead, or None to raise the same one again.
"""

_NAMES = ("__module__", "__name__", "__qualname__")
"""The attributes that are copied to the guard. They show where the function comes from. Pydantic
writes the name into the paths of errors.
"""


def guard(
    function: Callable[..., Any], failed: Failed, *, takes: int | None = None
) -> Callable[..., Any]:
    """Return the function with a guard around it. `takes` is the number of its arguments if that is
    0 or 1, otherwise None.
    """
    if takes is None:
        made = _any(function, failed)
    else:
        made = _one(function, failed) if takes else _none(function, failed)
    return update_wrapper(made, function, assigned=_NAMES, updated=())


def _none(function: Callable[[], Any], failed: Failed) -> Callable[..., Any]:
    def call() -> Any:
        try:
            return function()
        except Exception as error:
            # The function makes a default. There, Pydantic treats no other exception as an error.
            failed(error)
            raise

    return call


def _one(function: Callable[[Any], Any], failed: Failed) -> Callable[..., Any]:
    def call(value: Any) -> Any:
        try:
            return function(value)
        # Not BaseException, because a cancelled task or Ctrl-C is not a mistake of the author.
        except Exception as error:
            other = failed(error, value)
            if other is None:
                raise
            # The author's exception is already in the log, so the new one is raised without it.
            raise other from None

    return call


def _any(function: Callable[..., Any], failed: Failed) -> Callable[..., Any]:
    def call(*given: Any) -> Any:
        try:
            return function(*given)
        except Exception as error:
            other = failed(error, *given)
            if other is None:
                raise
            raise other from None

    return call
