"""Names the places in the code of a project, for findings."""

from __future__ import annotations

import inspect
from pathlib import Path
from types import CodeType
from typing import Any


def relative_path(file: str) -> str:
    """Return a path relative to the current folder. A path outside of that folder is unchanged."""
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file


def line_of(function: Any) -> str | None:
    """Return the file and line of a function, without its decorators. Return None for any other
    callable.
    """
    code: Any = getattr(inspect.unwrap(function), "__code__", None)
    if not isinstance(code, CodeType):
        return None
    return f"{relative_path(code.co_filename)}:{code.co_firstlineno}"
