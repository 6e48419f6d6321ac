"""The serializer of a view that is asked before it runs."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from django.db import connections

from toolbooth.django.call.caller import REFUSALS
from toolbooth.django.call.transactions import Transaction

logger = logging.getLogger("toolbooth.django")

Make = Callable[[Any], Any]
"""Makes the serializer of a view."""


def asked_serializer(view: Any, make: Make) -> Any:
    """The serializer that a view would use for its request; None if only a view that runs can make
    it. Raises what the view says to callers that it does not let in.
    """
    try:
        return _with_fields(view, make)
    except REFUSALS:
        raise
    except Exception:  # it may need what the view finds in `initial`
        logger.debug("%s: its serializer cannot be made yet", view.__class__, exc_info=True)
    try:
        return _after_initial(view, make)
    except REFUSALS:
        raise
    except Exception:
        logger.debug("%s: its serializer is not known", view.__class__, exc_info=True)
        return None


def _with_fields(view: Any, make: Make) -> Any:
    """A serializer whose fields are known."""
    made = make(view)
    getattr(made, "fields", None)
    return made


def _after_initial(view: Any, make: Make) -> Any:
    """The serializer once `initial` has run, without throttles. What that writes is rolled back: it
    runs again in the call.
    """
    with Transaction(connections) as part:
        view.get_throttles = list
        view.initial(view.request, *view.args, **view.kwargs)
        made = _with_fields(view, make)
        part.undo()
        return made
