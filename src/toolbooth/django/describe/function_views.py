"""Views that are functions with `@api_view`. REST framework makes a class `WrappedAPIView` of each,
which has the function's name and module, and calls it in every method.
"""

from __future__ import annotations

import inspect
from typing import Any


def import_path_of(view: type) -> str:
    """Return the import path of a view: that of the function, if it is made of one."""
    name = view.__name__ if is_function(view) else view.__qualname__
    return f"{view.__module__}.{name}"


def is_function(view: type) -> bool:
    """Whether a view is made of a function."""
    return not view.__qualname__.endswith(view.__name__)


def code_of(view: type, method: str) -> Any:
    """Return the code that an author wrote for a method; None if there is none in Python."""
    written: Any = getattr(view, method, None)
    handler = inspect.unwrap(written)
    if is_function(view) and inspect.isfunction(handler):
        # The method of REST framework's class calls the function by this name.
        handler = inspect.unwrap(inspect.getclosurevars(handler).nonlocals.get("func", handler))
    return getattr(handler, "__code__", None)
