"""Finds the serializer that an action declares for its body, if it declares one.

The standard actions of REST framework read their body with the serializer of their view. Any other
action may read its body in any way, so the view's serializer declares nothing for it. Such an
action declares its own serializer in one of these ways:

- `@action(serializer_class=...)` names one.
- `get_serializer_class` returns a class for this action that no other action gets.
- The view has a serializer, and no other action.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from rest_framework.generics import GenericAPIView
from rest_framework.viewsets import ViewSetMixin

from toolbooth.django.describe.discovery import ACTIONS, STANDARD_ACTIONS

_METHODS = ("get", "post", "put", "patch", "delete")

_NO_ACTION = "toolbooth_no_action"
"""The name of an action that no view has."""


@dataclass(frozen=True, slots=True)
class Reader:
    """The serializer that reads an action's body."""

    declared: Any = None
    """The serializer class that the action declares. None if the action uses the serializer of its
    view.
    """


_OF_THE_VIEW = Reader()


def own_reader(view: Any, method: str) -> Reader | None:
    """Return the reader of the body of a view's action. Return None if the action does not declare
    which serializer reads it.
    """
    if not isinstance(view, ViewSetMixin):
        return None if _is_beside_standard_actions(view, method) else _OF_THE_VIEW
    action: str | None = getattr(view, "action", None)
    if action in STANDARD_ACTIONS or _is_only_action(view, action):
        return _OF_THE_VIEW
    chosen = _chosen(view, action)
    # `get_serializer_class` usually ends with a default for all actions that it does not name. An
    # action name that no view has gets this default too.
    others = [_chosen(view, each) for each in (*STANDARD_ACTIONS, _NO_ACTION)]
    others.append(getattr(view.__class__, "serializer_class", None))
    if chosen is not None and not any(is_same_class(chosen, each) for each in others):
        return Reader(chosen)
    declared = vars(view).get("serializer_class")  # set by `@action`, or by `as_view`
    return None if declared is None else Reader(declared)


def has_reader(view: Any, method: str) -> bool:
    """Return True if a view has a serializer, or code that chooses one. Also return True if a
    standard action handles this method, because it needs a serializer.
    """
    if getattr(view, "serializer_class", None) is not None:
        return True
    chooses = has_own_code(view.__class__, "get_serializer", "get_serializer_class")
    return chooses or _is_standard(view, method)


@contextmanager
def without_action(view: Any) -> Generator[None]:
    """Set the action of a view set to a name that it does not have, until the block ends."""
    action = view.action
    view.action = _NO_ACTION
    try:
        yield
    finally:
        view.action = action


def _is_beside_standard_actions(view: Any, method: str) -> bool:
    """Return True if the project's own code handles this method of a generic view that also has
    standard actions.
    """
    if not issubclass(view.__class__, GenericAPIView) or _is_standard(view, method):
        return False
    # A `post` beside the list of a `ListAPIView` is the project's own code. The view's serializer
    # is for the list. Without another handler, no request reaches a list.
    handled = {each for each in _METHODS if hasattr(view, each)}
    return handled != {method.lower()} and any(hasattr(view, name) for name in STANDARD_ACTIONS)


def _is_standard(view: Any, method: str) -> bool:
    """Return True if the handler of a method is a standard action of a generic view."""
    if not issubclass(view.__class__, GenericAPIView):
        return False
    if isinstance(view, ViewSetMixin):
        return getattr(view, "action", None) in STANDARD_ACTIONS
    return any(hasattr(view, name) for name in ACTIONS[method])


def _is_only_action(view: Any, action: str | None) -> bool:
    """Return True if a view set has no other action. Then the serializer of the view must be for
    this action.
    """
    if getattr(view, "serializer_class", None) is None:
        return False
    # The methods with `@action`. REST framework does not count the standard actions among them.
    extra = {each.__name__ for each in view.get_extra_actions()}
    return extra <= {action} and not any(hasattr(view, name) for name in STANDARD_ACTIONS)


def _chosen(view: Any, action: str | None) -> Any:
    """Return the serializer class that a view set uses for an action. Return None if this can only
    be found in a call.
    """
    before = view.action
    view.action = action
    try:
        # Its own `get_serializer` need not ask `get_serializer_class`.
        if has_own_code(view.__class__, "get_serializer"):
            return view.get_serializer().__class__
        return view.get_serializer_class()
    except Exception:  # it looks at the caller, or there is none for this action
        return None
    finally:
        view.action = before


def is_same_class(one: Any, other: Any) -> bool:
    """Return True if two serializers have the same class. `one` and `other` may be classes
    themselves. Classes are compared by module and name, because a function may create the same
    class anew each time.
    """
    return import_path(class_of(one)) == import_path(class_of(other))


def is_made_from(cls: type, other: type) -> bool:
    """Return True if `other` is a subclass of `cls` that was created at run time. Such a class
    cannot be imported. A project's schema class creates it to document a serializer.
    """
    module = sys.modules.get(other.__module__)
    # A class inside a class or a function is written in the project's code, although its module
    # does not have it by its name.
    is_named = "." in other.__qualname__ or getattr(module, other.__name__, None) is other
    return issubclass(other, cls) and not is_same_class(cls, other) and not is_named


def class_of(found: Any) -> Any:
    """Return the class of a serializer. For a list serializer, return the class of its items. If
    `found` is a class, return it unchanged.
    """
    found = getattr(found, "child", found)  # of a list
    return found if found is None or isinstance(found, type) else found.__class__


def import_path(cls: Any) -> tuple[str, str] | None:
    """Return the module and the name of a class."""
    return None if cls is None else (cls.__module__, cls.__qualname__)


def has_own_code(cls: type, *names: str) -> bool:
    """Return True if a project's own code replaces one of REST framework's methods."""
    for name in names:
        # A method that the class does not have is not the project's own code either.
        module: str = getattr(getattr(cls, name, None), "__module__", None) or "rest_framework"
        if module.partition(".")[0] != "rest_framework":
            return True
    return False
