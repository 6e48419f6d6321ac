"""Repeats the guesses that earlier versions made from a view's byte code. Only `mcp_doctor` uses
it.

Earlier versions looked into the code of a view to find out whether its DELETE reads a body, and
whether its create takes a list. Now authors declare both, with `@extend_schema(request=...)` and
`@mcp_bulk`. A view that relied on a guess would change without notice. So `mcp_doctor` makes the
guesses again, and prints the line to write where a guess differs from the declarations. Nothing in
this module describes or calls a tool. It can be deleted once no project upgrades from such a
version.
"""

from __future__ import annotations

import dis
import inspect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from rest_framework.generics import GenericAPIView
from rest_framework.mixins import CreateModelMixin

from toolbooth.django.call.bodies import is_json
from toolbooth.django.conf import Configuration
from toolbooth.django.describe.declared_bodies import DeclaredBody, declared_body
from toolbooth.django.describe.describing import describing
from toolbooth.django.describe.discovery import Action, is_bulk
from toolbooth.django.describe.function_views import code_of
from toolbooth.django.describe.openapi import Unknowable
from toolbooth.django.describe.operations import Operation, operation

Kind = Literal["undeclared body", "newly sent body", "unmarked list"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A tool that earlier versions described or called in another way."""

    kind: Kind
    tool: str
    view: type
    handler: str
    """The method of the view that Django calls: `delete`, or a view set's action."""


def differences(actions: Mapping[str, Action], chosen: Configuration) -> Iterator[Difference]:
    """Yield each tool for which the guess and the declaration differ."""
    with describing():
        for tool, action in actions.items():
            kind = _difference(action, declared_body(tool, action, chosen))
            if kind is not None:
                handler = handler_of(action)
                yield Difference(kind=kind, tool=tool, view=action.view, handler=handler)


def handler_of(action: Action) -> str:
    """Return the method of the view that Django calls."""
    is_view_set = hasattr(action.callback, "actions")
    return action.name if is_view_set else action.method.lower()


def _difference(action: Action, declared: DeclaredBody) -> Kind | None:
    if action.method == "DELETE":
        return _difference_of_delete(action, declared)
    if action.method == "POST" and action.name == "create":
        return _difference_of_create(action, declared)
    return None


def _difference_of_delete(action: Action, declared: DeclaredBody) -> Kind | None:
    described = _described(action, declared)
    if described is None:
        return None
    guessed = reads_body(action)
    # The view reads a body, but its author declares none, so the tool no longer sends one.
    if guessed and described.leaves_body_open:
        return "undeclared body"
    # The author declares a body that earlier versions did not send.
    if described.body is not None and not guessed:
        return "newly sent body"
    return None


def _difference_of_create(action: Action, declared: DeclaredBody) -> Kind | None:
    """Return how earlier versions treated a create differently. Return None for a view with
    `@mcp_bulk`, because earlier versions did not know this mark.
    """
    if is_bulk(action) or not takes_lists(action.view):
        return None
    described = _described(action, declared)
    if described is None or described.body is None or not is_json(described.media_type):
        return None
    takes_one_row = described.body.get("type") == "object"
    return "unmarked list" if takes_one_row else None


def _described(action: Action, declared: DeclaredBody) -> Operation | None:
    try:
        return operation(action, declared)
    except Unknowable:
        return None


# --- the guesses ---


def reads_body(action: Action) -> bool:
    """Return True if a view's code seems to read the body of a DELETE with its serializer."""
    names = [handler_of(action)]
    for name in names:
        words = _words(action.view, name)
        # These names are in the byte code of `self.get_serializer(data=request.data)`.
        if ("request", "data") in pairwise(words) and "get_serializer" in words:
            return True
        # If the handler calls one of these methods, the loop reads the code of that method too.
        called = [each for each in ("destroy", "perform_destroy") if each in words]
        names += [each for each in called if each not in names]
    return False


def _words(view: type, method: str) -> list[Any]:
    """Return the names and constants in a method's code, in the order of the code."""
    code = code_of(view, method)
    if code is None:
        return []
    return [each.argval for each in dis.get_instructions(code)]


def uses_request_data(action: Action) -> bool:
    """Return True if the code of an action's own method mentions the data of its request."""
    return "data" in _words(action.view, handler_of(action))


def takes_lists(view: type) -> bool:
    """Return True if the code of a view seems to accept a list."""
    own = [
        *_overrides(view, "create", CreateModelMixin),
        *_overrides(view, "get_serializer", GenericAPIView),
    ]
    return any(map(_mentions_lists, own))


def _overrides(view: type, name: str, stock: type) -> Iterator[Any]:
    """Yield the methods with this name that override REST framework's own."""
    for cls in view.__mro__:
        # Classes behind this one in the order of resolution cannot override it.
        if cls is stock:
            return
        if name in vars(cls):
            yield inspect.unwrap(vars(cls)[name])


def _mentions_lists(method: Any) -> bool:
    """Return True if a method checks for a list, or if its code contains the name `many`."""
    code: Any = getattr(method, "__code__", None)
    if code is None:
        return False
    words = {*code.co_names, *code.co_varnames, *_texts(code.co_consts)}
    # Such views usually contain `many=isinstance(request.data, list)`.
    return "many" in words or {"isinstance", "list"} <= words


def _texts(constants: Iterable[str | tuple[Any, ...] | None]) -> Iterator[str]:
    """Yield the strings among constants. The names of keyword arguments are strings in a tuple."""
    for each in constants:
        if isinstance(each, str):
            yield each
        elif isinstance(each, tuple):
            yield from _texts(each)
