"""Logs exceptions in one line, without their tracebacks. The commands do this unless the user asks
for the traceback.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from traceback import FrameSummary, extract_tb
from typing import Any

from toolbooth.server.logged import messages

_LIBRARIES = {"site-packages", "dist-packages"}


@contextmanager
def one_line_errors() -> Generator[None]:
    """Inside a `with` block, every exception that is logged takes one line."""
    before = logging.getLogRecordFactory()

    def record(*arguments: Any, **options: Any) -> logging.LogRecord:
        made = before(*arguments, **options)
        error = made.exc_info[1] if made.exc_info else None
        if error is not None:
            made.msg = messages.logged_error(made.getMessage(), error, place_of(error))
            made.args = ()
            made.exc_info = None
        return made

    # The records are changed and not the handlers, because hosts such as FastMCP have handlers of
    # their own.
    logging.setLogRecordFactory(record)
    try:
        yield
    finally:
        logging.setLogRecordFactory(before)


def place_of(error: BaseException) -> str | None:
    """Return the line of the user's own code where an exception was raised."""
    steps = [step for step in extract_tb(error.__traceback__) if _is_users(step)]
    if not steps:
        return None
    return f"{shown_path(steps[-1].filename)}, line {steps[-1].lineno}"


def _is_users(step: FrameSummary) -> bool:
    file = Path(step.filename)
    if step.filename.startswith("<") or _LIBRARIES.intersection(file.parts):
        return False
    ours_and_pythons = (Path(__file__).parents[2], Path(os.__file__).parent)
    return not any(map(file.is_relative_to, ours_and_pythons))


def shown_path(file: str) -> str:
    """Return the path of a file relative to the current folder."""
    here = Path.cwd()
    return str(Path(file).relative_to(here)) if Path(file).is_relative_to(here) else file
