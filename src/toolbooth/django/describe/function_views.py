"""Handles views that are functions with `@api_view`. REST framework wraps each function in a class
`WrappedAPIView` that has its name and module. Every method of the class calls the function.
"""

from __future__ import annotations

import inspect
from typing import Any


def import_path_of(view: type) -> str:
    """Return the import path of a view. If the view is made from a function, return the path of the
    function.
    """
    name = view.__name__ if is_function(view) else view.__qualname__
    return f"{view.__module__}.{name}"


def is_function(view: type) -> bool:
    """Return True if a view is made from a function."""
    return not view.__qualname__.endswith(view.__name__)


def code_of(view: type, method: str) -> Any:
    """Return the code object of the function that an author wrote for a method. Return None if the
    method is not written in Python.
    """
    written: Any = getattr(view, method, None)
    handler = inspect.unwrap(written)
    if is_function(view) and inspect.isfunction(handler):
        # The method of REST framework's class calls the function by this name.
        handler = inspect.unwrap(inspect.getclosurevars(handler).nonlocals.get("func", handler))
    return getattr(handler, "__code__", None)
