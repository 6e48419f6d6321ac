"""Silences loggers for commands and checks, which report the same problems themselves."""

from __future__ import annotations

import logging
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def quiet(*loggers: str) -> Generator[None]:
    """Disable these loggers inside a `with` block."""
    found = [logging.getLogger(name) for name in loggers]
    before = [each.disabled for each in found]
    for each in found:
        each.disabled = True
    try:
        yield
    finally:
        for each, was_disabled in zip(found, before, strict=True):
            each.disabled = was_disabled
