"""A function of an author, called by a guard that is asked about its exceptions.

Every correct call passes through the guards, so they do nothing else, and those of most functions
take no variable arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

Failed = Callable[..., Exception | None]
"""Gets the exception and the arguments of the function. Returns the exception to raise instead;
None: the same.
"""

_NAMES = ("__module__", "__name__", "__qualname__")
"""The attributes that are copied: they show whose function it is, and Pydantic writes its name into
paths.
"""


def guard(
    function: Callable[..., Any], failed: Failed, *, takes: int | None = None
) -> Callable[..., Any]:
    """The function with its guard. `takes`: its number of arguments, if it is 0 or 1."""
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
            # It makes a default, and there Pydantic takes no other exception for an error.
            failed(error)
            raise

    return call


def _one(function: Callable[[Any], Any], failed: Failed) -> Callable[..., Any]:
    def call(value: Any) -> Any:
        try:
            return function(value)
        # Not BaseException: a cancelled task and Ctrl-C are no mistakes of the author.
        except Exception as error:
            other = failed(error, value)
            if other is None:
                raise
            # The author's exception was logged already, and the new one is reported without it.
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
