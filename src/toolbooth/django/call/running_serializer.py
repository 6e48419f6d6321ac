"""Checks that the serializer that reads the body has every field that was sent. The check is made
while the view runs.

Some views choose a serializer in their handler, so it cannot be known before the call. REST
framework ignores fields that the serializer does not have. If there is such a field, the call ends
here, before the body is validated, so that nothing is stored.
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
    """Ends a view whose serializer would ignore fields. It derives from BaseException, so that a
    project's own `except Exception` does not catch it and write the row without the fields.
    """

    def __init__(self, serializer: Any, paths: list[JsonPath]) -> None:
        self.serializer = serializer
        self.paths = paths


@dataclass(frozen=True, slots=True)
class Reading:
    """The body of the call that is running, and the description of its serializer."""

    body: Any
    described: BodySerializer
    names: set[str] = field(default_factory=set[str])
    """The fields of the serializers that have validated the body, while unread fields are noted."""

    def is_of_a_kind(self, serializer: Any) -> bool:
        """Return True if a serializer reads the rows of one kind, such as cars among vehicles. It
        may be inside a polymorphic serializer, which gives it the whole body.
        """
        return any(_is_of_class(serializer, each) for each in self.described.kinds)

    def examine(self, serializer: Any, data: Any) -> None:
        """Raise FieldsNotRead if `serializer` reads the body and would ignore some of its
        fields.
        """
        if not self.is_of_a_kind(serializer) and not is_reader(serializer, self.described):
            return
        if isinstance(data, QueryDict):
            # Form data has flat keys, so only their first parts are compared.
            names = {_JOINTS.split(each)[0] for each in data}
            paths = [each for each in unread(serializer, self.body) if each[0] in names]
        else:
            # The view may have added fields to the body that it got, and removed others.
            paths = [each for each in unread(serializer, data) if _is_at(each, self.body)]
        # The polymorphic serializer reads the key with the kind itself.
        paths = [each for each in paths if each != (self.described.kind,)]
        if paths:
            raise FieldsNotRead(serializer, paths)

    def note(self, serializer: Any, data: Any) -> None:
        """Note the fields of a serializer that is about to validate the body or a part of the
        body.
        """
        sent, found = _names_in(self.body), _names_in(data)
        item: Any = getattr(serializer, "child", serializer)
        # A serializer that shares no name with the body validates something else.
        if sent & found:
            # The project's own code may read any field of its data, so all of them count as read.
            self.names.update(sent if reads_by_own_code(item) else own_fields(item))

    def tell_unread(self) -> None:
        """Add the fields that no serializer has read to `UNREAD`. Add nothing if no serializer has
        read any field.
        """
        noted = UNREAD.get()
        if noted is not None and self.names:
            noted |= _names_in(self.body) - self.names


def _names_in(value: Any) -> set[str]:
    """Return the names of the fields in a row, or in any row of a list."""
    rows = value if is_array(value) else [value]
    return {name for row in rows if is_mapping(row) for name in row}


def _is_at(path: JsonPath, value: Any) -> bool:
    """Return True if there is a value at a path."""
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
    """Return True if a serializer reads the body of its view, and if its fields may differ from the
    published fields.

    Other serializers are not checked. A view may use a serializer for a part of the body, and read
    the remaining fields in its own code.
    """
    if described.cls is None:
        return False
    if _is_of_class(serializer, described.cls):
        # A serializer that has the same fields for all callers was described completely. Then the
        # boundary has refused all other fields.
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
"""The body of the view that runs."""


UNREAD: ContextVar[set[str] | None] = ContextVar("toolbooth_unread", default=None)
"""The set to which unread fields are added, or None if they are not noted."""


WATCH: ContextVar[Callable[[Any], None] | None] = ContextVar("toolbooth_watch", default=None)
"""If this function is set, it is called with each serializer of a view before the serializer
validates anything.
"""


@contextmanager
def noting_unread() -> Generator[set[str]]:
    """A context that collects the fields that no serializer of a view has read. The view's own code
    may have read them.
    """
    found: set[str] = set()
    token = UNREAD.set(found)
    try:
        yield found
    finally:
        UNREAD.reset(token)


def _examined(validate: Callable[..., Any]) -> Callable[..., Any]:
    """Return `validate`, a serializer's `run_validation`, wrapped so that the body of the call is
    checked first.
    """

    @wraps(validate)
    def run_validation(self: Any, data: Any = empty) -> Any:
        reading, watch = READING.get(), WATCH.get()
        # Nested serializers are checked with their parents.
        if watch is not None and self.parent is None:
            watch(self)
        if reading is not None and (self.parent is None or reading.is_of_a_kind(self)):
            reading.examine(self, data)
            if UNREAD.get() is not None:
                reading.note(self, data)
        return validate(self, data)

    return run_validation


def _examine_bodies() -> None:
    """Replace `run_validation` of REST framework's serializers, which have no hook for this: no
    signal, and no setting.
    """
    stock: tuple[Any, ...] = (serializers.Serializer, serializers.ListSerializer)
    for each in stock:
        each.run_validation = _examined(each.run_validation)


_examine_bodies()
