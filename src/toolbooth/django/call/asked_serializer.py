"""Finds the serializer of a view before the view runs."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from django.db import connections

from toolbooth.django.call.caller import REFUSALS
from toolbooth.django.call.transactions import Transaction
from toolbooth.django.describe.kinds import Kinds

logger = logging.getLogger("toolbooth.django")

Make = Callable[..., Any]
"""A function that makes the serializer of a view. A row may be passed as the second argument."""


def asked_serializer(view: Any, make: Make) -> Any:
    """Return the serializer that a view would use for its request. Return None if the serializer
    can only be made while the view runs.

    Raises:
        REFUSALS: the view refuses the caller.
    """
    try:
        return _with_fields(view, make)
    except REFUSALS:
        raise
    except Exception:  # it may need state that the view sets in its dispatch
        logger.debug("%s: its serializer cannot be made yet", view.__class__, exc_info=True)
    makers = [make]
    # The serializer of an update may look at `self.instance` when it makes its fields.
    if view.request.method in ("PUT", "PATCH"):
        makers.append(partial(_with_row, make))
    for each in makers:
        try:
            return _inside_dispatch(view, each)
        except REFUSALS:
            raise
        except Exception:
            logger.debug("%s: its serializer is not known", view.__class__, exc_info=True)
    return None


def kind_of_row(view: Any, make: Make, kinds: Kinds) -> str | None:
    """Return the kind of the polymorphic row that a view would change, such as `car`. The
    serializer shows the kind; if it does not, the kind is an attribute of the row. Return None if
    the kind is unknown.

    Raises:
        REFUSALS: the view refuses the caller.
    """
    try:
        row: Any = view.get_object()
    except REFUSALS:
        raise
    except Exception:
        logger.debug("%s: its row cannot be read yet", view.__class__, exc_info=True)
        return None
    try:
        # The serializer comes first: a polymorphic serializer computes the kind from the class of
        # the row, and the kind need not be a column.
        kind: Any = make(view, row).data[kinds.field]
    except Exception:
        kind = getattr(row, kinds.field, None)
    return kind if isinstance(kind, str) and kind in kinds.names else None


def _with_fields(view: Any, make: Make) -> Any:
    """Return the serializer. Its fields are read here, so that an error in them is raised here."""
    made = make(view)
    getattr(made, "fields", None)
    return made


def _with_row(make: Make, view: Any) -> Any:
    """Return the serializer of an update. The serializer gets the row that is updated."""
    return make(view, view.get_object())


class _Made(Exception):
    """Carries the serializer out of the view's `dispatch`, and ends `dispatch`."""

    def __init__(self, serializer: Any) -> None:
        self.serializer = serializer


def _inside_dispatch(view: Any, make: Make) -> Any:
    """Run the view's `dispatch` with a handler that makes the serializer, and return this
    serializer. When the handler runs, `initial` has run, and all contexts that the project's
    `dispatch` opens are open. The view runs again for the call itself, so throttles do not count
    this first run, and its writes are rolled back.
    """

    def handler(*_: Any, **__: Any) -> Any:
        raise _Made(_with_fields(view, make))

    request = view.request
    # `dispatch` looks the handler up on the view by the name of the HTTP method, so an attribute of
    # this instance replaces the project's own.
    setattr(view, request.method.lower(), handler)
    # REST framework calls this without arguments, so `list` returns an empty list.
    view.get_throttles = list
    # REST framework would turn `_Made` into a response.
    view.handle_exception = _raise
    with Transaction(connections) as part:
        try:
            # `dispatch` wraps the request itself, so it gets Django's request.
            response = view.dispatch(request._request, *view.args, **view.kwargs)
        except _Made as found:
            part.undo()
            return found.serializer
        if inspect.iscoroutine(response):
            # An async view returns a coroutine, which warns if it is never awaited.
            response.close()
        # The project's `dispatch` has answered without the handler. The caller tries the next way
        # to make the serializer.
        raise RuntimeError("no handler")


def _raise(error: Exception) -> Any:
    raise error
