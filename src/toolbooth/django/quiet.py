"""Commands and checks say themselves what is wrong, so that no log needs to say it too."""

from __future__ import annotations

import logging
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def quiet(*loggers: str) -> Generator[None]:
    """While this is open, these loggers say nothing."""
    found = [logging.getLogger(name) for name in loggers]
    before = [each.disabled for each in found]
    for each in found:
        each.disabled = True
    try:
        yield
    finally:
        for each, was_disabled in zip(found, before, strict=True):
            each.disabled = was_disabled
