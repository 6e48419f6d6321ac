"""A question to a view before it runs: its fields, its serializer, a row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from django.http import HttpRequest

from toolbooth.django.call.caller import REFUSALS, Caller
from toolbooth.django.describe.discovery import Action
from toolbooth.django.describe.readers import has_own_code

Value = TypeVar("Value")


class _Answered(Exception):
    """Ends a dispatch in which a question has been answered, so that nothing else of it runs."""

    def __init__(self, value: Any) -> None:
        self.value = value


def ask(
    who: Caller,
    action: Action,
    kwargs: Mapping[str, Any],
    request: HttpRequest,
    question: Callable[[Any], Value],
) -> Value:
    """The answer of an action's view, with the caller let in. Raises the view's refusal, or what
    the question raises.
    """
    try:
        return question(who.admitted_view(action, kwargs, request))
    except REFUSALS:
        raise
    except Exception:
        if not has_own_code(action.view, "dispatch", "initial"):
            raise
        return _inside_dispatch(who.view(action, kwargs, request), request, question)


def _inside_dispatch(view: Any, request: HttpRequest, question: Callable[[Any], Value]) -> Value:
    """The answer inside the project's own `dispatch` and `initial`, which may open a scope or find
    a row that the view needs. The question takes the place of the handler.
    """
    setattr(view, (request.method or "").lower(), partial(_answer, view, question))
    view.check_throttles = _counts_nothing
    view.handle_exception = _raises
    try:
        view.dispatch(request, **view.kwargs)
    except _Answered as found:
        return found.value
    raise RuntimeError("the view answered without its handler")


def _answer(view: Any, question: Callable[[Any], Any], *_: Any, **__: Any) -> Any:
    raise _Answered(question(view))


def _counts_nothing(_: Any) -> None:
    pass


def _raises(error: Exception) -> Any:
    raise error
