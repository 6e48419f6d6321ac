"""The serializer that reads the body while its view runs: it must have every field that was sent.

Some views choose a serializer in their handler, so that it cannot be asked for before the call.
REST framework drops what the serializer does not know. Here the call ends instead, when the body is
about to be validated: nothing has been stored by then.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache, wraps
from typing import Any

from django.http import QueryDict
from rest_framework import serializers
from rest_framework.fields import empty

from toolbooth.django.call.caller_fields import own_fields, unread
from toolbooth.django.describe.operations import BodySerializer
from toolbooth.django.describe.readers import has_own_code, is_same_class
from toolbooth.django.describe.taken_values import reads_by_own_code
from toolbooth.jsonvalue import JsonPath, is_array, is_mapping

_JOINTS = re.compile(r"[.\[]")
"""Separates the parts of a key in form data, such as `address.city` and `lines[0]price`."""


class FieldsNotRead(BaseException):
    """Ends a view whose serializer would drop fields. It is not an Exception, so that a project's
    code that catches those does not go on without the fields.
    """

    def __init__(self, serializer: Any, paths: list[JsonPath]) -> None:
        self.serializer = serializer
        self.paths = paths


@dataclass(frozen=True, slots=True)
class Reading:
    """The body of a call that runs, and how its serializer was described."""

    body: Any
    described: BodySerializer
    names: set[str] = field(default_factory=set[str])
    """The fields of the serializers that have validated it, while unread fields are noted."""

    def is_of_a_kind(self, serializer: Any) -> bool:
        """Whether a serializer reads one kind of the body. A polymorphic serializer may be its
        parent, and hands the whole body on to it.
        """
        return any(_is_of_class(serializer, each) for each in self.described.kinds)

    def examine(self, serializer: Any, data: Any) -> None:
        """Raises FieldsNotRead if a serializer that reads the body would drop fields of it."""
        if not self.is_of_a_kind(serializer) and not is_reader(serializer, self.described):
            return
        if isinstance(data, QueryDict):
            names = {_JOINTS.split(each)[0] for each in data}
            paths = [each for each in unread(serializer, self.body) if each[0] in names]
        else:
            # The view may have added fields to what it got, and taken others away.
            paths = [each for each in unread(serializer, data) if _is_at(each, self.body)]
        paths = [each for each in paths if each != (self.described.kind,)]
        if paths:
            raise FieldsNotRead(serializer, paths)

    def note(self, serializer: Any, data: Any) -> None:
        """A serializer validates something, perhaps the body."""
        sent, found = _names_in(self.body), _names_in(data)
        item: Any = getattr(serializer, "child", serializer)
        if sent & found:
            self.names.update(sent if reads_by_own_code(item) else own_fields(item))

    def tell_unread(self) -> None:
        """Note the fields that no serializer has read, if one has read any of the body."""
        noted = UNREAD.get()
        if noted is not None and self.names:
            noted |= _names_in(self.body) - self.names


def _names_in(value: Any) -> set[str]:
    """The names of the fields in a row, or in any row of a list."""
    rows = value if is_array(value) else [value]
    return {name for row in rows if is_mapping(row) for name in row}


def _is_at(path: JsonPath, value: Any) -> bool:
    """Whether there is a value at a path."""
    try:
        for step in path:
            value = value[step]
    except (KeyError, IndexError, TypeError):
        return False
    return True


def _is_of_class(serializer: Any, cls: Any) -> bool:
    return _is_same_class(getattr(serializer, "child", serializer).__class__, cls)


_is_same_class = lru_cache(maxsize=4096)(is_same_class)


def is_reader(serializer: Any, described: BodySerializer) -> bool:
    """Whether a serializer that validates something is the one that reads the body of its view, and
    may have other fields than were described.

    A view may have other serializers read a part of its body, and the rest by its own code. They do
    not decide.
    """
    if described.cls is None:
        return False
    if _is_of_class(serializer, described.cls):
        return described.dynamic
    if described.declared is not None:
        return False
    view: Any = serializer.context.get("view")
    try:
        if has_own_code(view.__class__, "get_serializer"):
            return is_same_class(serializer, view.get_serializer(data={}))
        return is_same_class(serializer, view.get_serializer_class())
    except Exception:  # there is no view, or it does not make serializers
        return False


# --- while a view runs ---

READING: ContextVar[Reading | None] = ContextVar("toolbooth_reading", default=None)
"""What the view that runs is sent."""


UNREAD: ContextVar[set[str] | None] = ContextVar("toolbooth_unread", default=None)
"""Where unread fields are noted, if they are."""


@contextmanager
def noting_unread() -> Generator[set[str]]:
    """While this is open, the fields are noted that no serializer of a view has read. The view may
    have read them by its own code.
    """
    found: set[str] = set()
    token = UNREAD.set(found)
    try:
        yield found
    finally:
        UNREAD.reset(token)


def _examined(validate: Callable[..., Any]) -> Callable[..., Any]:
    """A serializer's `run_validation` that compares what it is given with the body of the call."""

    @wraps(validate)
    def run_validation(self: Any, data: Any = empty) -> Any:
        reading = READING.get()
        if reading is not None and (self.parent is None or reading.is_of_a_kind(self)):
            reading.examine(self, data)
            if UNREAD.get() is not None:
                reading.note(self, data)
        return validate(self, data)

    return run_validation


def _examine_bodies() -> None:
    """REST framework has no hook for this: no signal, and no setting."""
    stock: tuple[Any, ...] = (serializers.Serializer, serializers.ListSerializer)
    for each in stock:
        each.run_validation = _examined(each.run_validation)


_examine_bodies()
