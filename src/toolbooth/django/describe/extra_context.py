"""Calls the function in `TOOLBOOTH["DESCRIBE"]`. While views are described, the function adds
objects of the project to the context of their serializers.

Some serializers need an object that only a real request provides, such as the event or the
organisation that the path names.
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
        """Add the result of the project's function to the serializer context of a view. If the view
        cannot make its own context without a real request, use REST framework's default context.
        """
        # The function is called once for each description, because a view may make its context many
        # times.
        given = self._given(view, action)
        own: Any = getattr(view, "get_serializer_context", None)
        if own is None and not given:
            return

        # A view makes its context many times in one description. If it cannot make one, it is not
        # tried again: the attempt may prepare a query each time. `readers.py` gives the view other
        # actions, for which only the class of the serializer matters.
        described = getattr(view, "action", None)
        failed: set[bool] = set()

        def get_serializer_context() -> dict[str, Any]:
            is_other = getattr(view, "action", None) != described
            made = None if is_other in failed else _own_context(own)
            if made is None:
                failed.add(is_other)
                made = {"request": view.request, "format": view.format_kwarg, "view": view}
            elif "view" not in made and _has_view_in_a_request(view, own):
                made = {**made, "view": view}
            return {**made, **given}

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
    """Return the function at an import path. Return `NO_CONTEXT` if the path is empty."""
    return ExtraContext(import_string(path)) if path else NO_CONTEXT


def _own_context(own: Callable[[], dict[str, Any]] | None) -> dict[str, Any] | None:
    """Return the context that the view makes. If the view cannot make one, return None, so that it
    gets REST framework's default context.
    """
    try:
        return None if own is None else own()
    except Exception:  # it needs a real request, or makes a query
        return None


def _has_view_in_a_request(view: Any, own: Callable[[], dict[str, Any]]) -> bool:
    """Return True if a view leaves itself out of the context only while it is described. Some
    serializers read from the view which of their fields a create takes.
    """
    # drf-spectacular sets this attribute of the instance.
    fake: Any = view.__dict__.pop("swagger_fake_view", None)
    if fake is None:
        return False
    try:
        return "view" in (_own_context(own) or {})
    finally:
        view.swagger_fake_view = fake


def _listed(names: list[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
