"""Makes a context for describing views: only one thread at a time, without database queries, and
with the gateway's own settings for drf-spectacular.
"""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

from django.db import connections
from drf_spectacular.drainage import GENERATOR_STATS

from toolbooth.django.describe import messages
from toolbooth.django.describe.own_settings import own_settings
from toolbooth.django.describe.two_users import anonymous_user

_lock = threading.RLock()
_is_describing: ContextVar[bool] = ContextVar("_is_describing", default=False)
_anonymous: ContextVar[Any] = ContextVar("_anonymous")


@contextmanager
def describing() -> Generator[None]:
    """A context in which views can be described. Only one thread at a time can be in it, because
    drf-spectacular counts its complaints for the whole process. Database queries fail in it,
    because the list of tools must not depend on the data.
    """
    # The description of one tool may need that of another.
    if _is_describing.get():
        yield
        return
    with ExitStack() as stack:
        stack.enter_context(_lock)
        stack.enter_context(own_settings())
        # drf-spectacular would print each complaint on stderr.
        stack.enter_context(GENERATOR_STATS.silence())
        # The anonymous user may be stored in the database, so it is read before queries are
        # refused.
        stack.callback(_anonymous.reset, _anonymous.set(anonymous_user()))
        for each in connections.all():
            stack.enter_context(_without_queries(each))
        token = _is_describing.set(True)
        try:
            yield
        finally:
            _is_describing.reset(token)


@contextmanager
def _without_queries(connection: Any) -> Generator[None]:
    """Refuse queries and new connections in this context. A project may run queries when a
    connection opens. These queries would fail, and the connection would stay open without its
    set-up.
    """
    operations = connection.ops
    with connection.execute_wrapper(_refuse_query):
        # A query is refused before its SQL is written. This saves time, because a large project
        # tries ten queries for each action.
        operations.compiler = _refusing_compilers(operations.compiler)
        is_closed = connection.connection is None
        if is_closed:
            connection.connect = _refuse_query
        try:
            yield
        finally:
            del operations.compiler
            if is_closed:
                del connection.connect


def _refusing_compilers(compiler_of: Any) -> Any:
    """Wrap `compiler_of` so that the compilers that it returns refuse to run queries."""

    def refusing(kind: str) -> Any:
        return _refusing(compiler_of(kind))

    return refusing


@cache
def _refusing(compiler: Any) -> Any:
    return type(compiler.__name__, (compiler,), {"execute_sql": _refuse_query})


def _refuse_query(*_: Any, **__: Any) -> Any:
    raise RuntimeError(messages.NO_QUERY)


def anonymous() -> Any:
    """Return the anonymous user. It was read before queries were refused."""
    return _anonymous.get()
