"""Who calls: the HTTP request that brought the MCP message, for as long as it is answered."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from django.http import HttpRequest

_request: ContextVar[HttpRequest] = ContextVar("toolbooth_request")
_challenge: ContextVar[list[str]] = ContextVar("toolbooth_challenge")


@contextmanager
def answering(request: HttpRequest) -> Generator[list[str]]:
    """Answer one request. Gives the list in which a call that wants to know who calls leaves its `WWW-Authenticate`."""
    challenges: list[str] = []
    held, told = _request.set(request), _challenge.set(challenges)
    try:
        yield challenges
    finally:
        _request.reset(held)
        _challenge.reset(told)


def caller() -> Any:
    """The HTTP request that is being answered."""
    return _request.get()


def challenge(header: str) -> None:
    """Have the request answered with 401, and this header."""
    _challenge.get().append(header)
