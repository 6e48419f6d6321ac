"""Decides whether code belongs to Django or REST framework, so that its effects are known."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator
from typing import Any

OF_EVERY_VIEW = (
    *("dispatch", "initialize_request", "initial", "handle_exception", "finalize_response"),
    *("get_success_headers", "get_exception_handler"),
)
"""Methods that run in every request. Monitoring tools replace them."""

_PACKAGES = ("django", "rest_framework", "toolbooth")
"""The packages whose code has known effects."""

_LETS_ALL_IN = (
    "django.views.",
    "django.utils.",
    "django.middleware.",
    "rest_framework.",
    "toolbooth.",
)
"""The modules whose decorators refuse no caller. The decorators of django.contrib may refuse one.
"""


@functools.lru_cache(maxsize=1024)  # many models have the same managers
def first_own(cls: Any, names: tuple[str, ...]) -> str:
    """Return the name of the first method that is not Django's or REST framework's own. Return an
    empty text if there is no such method.
    """
    for name in names:
        # The class that defines the method, which may be a mixin of the project.
        owner = next((each for each in cls.__mro__ if name in vars(each)), None)
        if owner is not None and not _is_packages_own(owner, name):
            return name
    return ""


def _is_packages_own(owner: Any, name: str) -> bool:
    """Return True if one of the known packages defines a method, and the method was not replaced.
    Methods that run for every request are accepted even if they were replaced, because monitoring
    tools do that.
    """
    if not _is_of_packages(owner.__module__):
        return False
    return name in OF_EVERY_VIEW or _is_known(vars(owner)[name])


def is_known_throughout(function: Any) -> bool:
    """Return True if a function is from a known package, and so is everything that it wraps or
    holds in its closure.
    """
    return all(map(_is_known, _with_held(function, set())))


def _with_held(function: Any, seen: set[int]) -> Iterator[Any]:
    """Yield a function, and the objects that its decorators hold in their closures."""
    if id(function) in seen:
        return
    seen.add(id(function))
    yield function
    # A decorator keeps the function below it in `__wrapped__` or in its closure, and its own
    # arguments in the closure.
    held: list[Any] = [getattr(function, "__wrapped__", None)]
    for each in in_closure(function):
        # `method_decorator` keeps its decorators in a list.
        held += each if isinstance(each, list | tuple) else [each]
    for each in held:
        # A class or a plain value does nothing by itself.
        is_plain = isinstance(each, type) or each.__class__.__module__ == "builtins"
        if inspect.isroutine(each) or not is_plain:
            yield from _with_held(each, seen)


def in_closure(function: Any) -> Iterator[Any]:
    """Yield the objects that a function holds in its closure, such as the block of a decorator."""
    for cell in getattr(function, "__closure__", None) or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not set yet
            continue


def _is_known(function: Any) -> bool:
    """Return True if a function is defined in one of the known packages. The function's globals
    show the package, because `functools.wraps` changes `__module__`.
    """
    return _is_of_packages(_module_of(function))


def _module_of(function: Any) -> str:
    """Return the module in which a function, or the class of an object, is defined."""
    if isinstance(function, functools.partial):
        function = function.func
    function = getattr(function, "__func__", function)
    found: Any = getattr(function, "__globals__", None)
    return type(function).__module__ if found is None else found.get("__name__", "")


def lets_all_in(function: Any) -> bool:
    """Return True if the decorators of a view and of its method refuse nobody. The project's own
    decorators count as decorators that may refuse a caller.
    """
    modules = map(_module_of, _with_held(function, set()))
    return all(f"{each}.".startswith(_LETS_ALL_IN) for each in modules)


def _is_of_packages(module: str) -> bool:
    return module.partition(".")[0] in _PACKAGES
