"""Calls the function in `TOOLBOOTH["DESCRIBE"]`. It adds objects of the project to the context of
serializers while views are described.

Some serializers need an object that only a real request provides: the event or the organisation
that the path names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from django.utils.module_loading import import_string

from toolbooth.django.describe import messages
from toolbooth.django.describe.discovery import Action
from toolbooth.jsonvalue import is_mapping

_MOST_NAMED = 4
"""The most paths in one complaint."""

Describe = Callable[[Action, Any], Any]


@dataclass(frozen=True, slots=True)
class ExtraContext:
    """The project's function, and the mistakes that it made."""

    function: Describe | None = None
    mistakes: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """The mistakes, each with the actions where it occurred."""

    def add(self, view: Any, action: Action) -> None:
        """Add the result of the project's function to the serializer context of a view. A view that
        cannot make its own context without a real request gets REST framework's default context.
        """
        # The function is called once for each description, because a view may make its context many
        # times.
        given = self._given(view, action)
        own: Any = getattr(view, "get_serializer_context", None)
        if own is None and not given:
            return

        def get_serializer_context() -> dict[str, Any]:
            return {**_context(own, view), **given}

        # Set on this instance only. The class serves the project's own requests.
        view.get_serializer_context = get_serializer_context

    def _given(self, view: Any, action: Action) -> dict[Any, Any]:
        if self.function is None:
            return {}
        try:
            given: Any = self.function(action, view.request)
        except Exception as error:
            self._note(messages.describe_failed(error), action)
            return {}
        if not is_mapping(given):
            self._note(messages.describe_returned(given), action)
            return {}
        return dict(given)

    def _note(self, mistake: str, action: Action) -> None:
        where = self.mistakes.setdefault(mistake, [])
        name = f"{action.method} {action.path}"
        # An action may be described twice: for an anonymous user and for a superuser.
        if name not in where:
            where.append(name)

    def complaints(self) -> Iterator[tuple[str, str]]:
        """Yield the mistakes, for `manage.py check`."""
        for mistake, where in self.mistakes.items():
            yield "TOOLBOOTH['DESCRIBE']", f"{mistake} for {_listed(where)}"


NO_CONTEXT = ExtraContext()


def extra_context(path: str) -> ExtraContext:
    """Return the function at an import path; `NO_CONTEXT` if the path is empty."""
    return ExtraContext(import_string(path)) if path else NO_CONTEXT


def _context(own: Callable[[], dict[str, Any]] | None, view: Any) -> dict[str, Any]:
    """Return the view's own context; REST framework's default if the view cannot make one."""
    try:
        if own is not None:
            return own()
    except Exception:  # it needs a real request, or makes a query
        pass
    return {"request": view.request, "format": view.format_kwarg, "view": view}


def _listed(names: list[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
