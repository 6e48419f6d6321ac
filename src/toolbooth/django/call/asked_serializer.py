"""The serializer of a view that is asked before it runs."""

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
"""Makes the serializer of a view, and of a row if there is one."""


def asked_serializer(view: Any, make: Make) -> Any:
    """The serializer that a view would use for its request; None if only a view that runs can make
    it. Raises what the view says to callers that it does not let in.
    """
    try:
        return _with_fields(view, make)
    except REFUSALS:
        raise
    except Exception:  # it may need what the view does before it makes one
        logger.debug("%s: its serializer cannot be made yet", view.__class__, exc_info=True)
    makers = [make]
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
    """The kind of the row that a view would change, as its serializer shows it, or as the row has
    it; None if it has none that is known. Raises what the view says to callers that it does not let
    in.
    """
    try:
        row: Any = view.get_object()
    except REFUSALS:
        raise
    except Exception:
        logger.debug("%s: its row cannot be read yet", view.__class__, exc_info=True)
        return None
    try:
        kind: Any = make(view, row).data[kinds.field]
    except Exception:
        kind = getattr(row, kinds.field, None)
    return kind if isinstance(kind, str) and kind in kinds.names else None


def _with_fields(view: Any, make: Make) -> Any:
    """A serializer whose fields are known."""
    made = make(view)
    getattr(made, "fields", None)
    return made


def _with_row(make: Make, view: Any) -> Any:
    """A serializer that an update makes with its row."""
    return make(view, view.get_object())


class _Made(Exception):
    """Ends the dispatch in which a serializer was made, so that nothing else of it runs."""

    def __init__(self, serializer: Any) -> None:
        self.serializer = serializer


def _inside_dispatch(view: Any, make: Make) -> Any:
    """The serializer, made where the handler of the view would run: after `initial`, and inside
    whatever the project's `dispatch` opens. Throttles do not count it, and what is written is
    rolled back: all of it runs again in the call.
    """

    def handler(*_: Any, **__: Any) -> Any:
        raise _Made(_with_fields(view, make))

    request = view.request
    setattr(view, request.method.lower(), handler)
    view.get_throttles = list
    view.handle_exception = _raise
    with Transaction(connections) as part:
        try:
            response = view.dispatch(request._request, *view.args, **view.kwargs)
        except _Made as found:
            part.undo()
            return found.serializer
        if inspect.iscoroutine(response):
            response.close()
        raise RuntimeError("no handler")


def _raise(error: Exception) -> Any:
    raise error
