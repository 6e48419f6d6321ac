"""Records which fields of a request's data are read. `testing.unread_fields` uses this."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from copy import deepcopy
from typing import Any
from unittest.mock import patch

from django.http import HttpRequest, QueryDict
from rest_framework.request import Request

from toolbooth.django.call.inner_request import RunningRequest
from toolbooth.jsonvalue import is_object


class Record:
    """The fields that were read."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        """The fields that were read by name."""
        self.is_whole = False
        """True if the data was read as a whole. Then it is not known which fields are used."""


class _Walked(str):
    """A key that code has got by walking over all keys. If the code then uses this key to read a
    field, the field does not count as read by name.
    """


class _Name(str):
    """A key of the data that records when a lookup finds it. Also records lookups by C code, which
    does not call the methods of the dict.
    """

    record: Record

    def __eq__(self, other: object) -> bool:
        is_same = str.__eq__(self, other)
        # Dicts also compare names with each other. That is not a read.
        if is_same is True and not isinstance(other, _Name | _Walked):
            self.record.names.add(str(self))
        return is_same

    # Python removes `__hash__` from a class that defines `__eq__`.
    __hash__ = str.__hash__


class _Reads(dict[Any, Any]):
    """Data that records each field that is read by name, even a field that was not sent. It also
    records each walk over all fields.

    `dict(data)`, `{**data}` and `data | other` walk over the keys, because this subclass has its
    own `__iter__`.
    """

    record: Record

    def _note(self, name: Any) -> None:
        if not isinstance(name, _Walked):
            self.record.names.add(name)

    def _whole(self) -> dict[Any, Any]:
        """Return a copy as a plain dict, and record that the data was read as a whole. Form data
        has its own `items`, so this calls the method of `dict`.
        """
        self.record.is_whole = True
        return {_Walked(name): each for name, each in dict[Any, Any].items(self)}

    # The C methods of dict do not call each other, so each way to read a key is overridden by
    # itself.
    def __getitem__(self, name: Any) -> Any:
        self._note(name)
        return super().__getitem__(name)

    def __contains__(self, name: Any) -> bool:
        self._note(name)
        return super().__contains__(name)

    def get(self, key: Any, default: Any = None) -> Any:
        self._note(key)
        return super().get(key, default)

    def pop(self, name: Any, *default: Any) -> Any:
        self._note(name)
        return super().pop(name, *default)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        self._note(key)
        return super().setdefault(key, default)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._whole())

    def keys(self) -> Any:
        return self._whole().keys()

    def items(self) -> Any:
        return self._whole().items()

    def values(self) -> Any:
        return self._whole().values()

    def copy(self) -> Any:
        return self._whole()

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Any:
        return deepcopy(self.copy(), memo)

    def popitem(self) -> Any:
        self.record.is_whole = True
        return super().popitem()

    def __eq__(self, other: object) -> bool:
        self.record.is_whole = True
        return super().__eq__(other)

    def __or__(self, other: Any) -> Any:
        return {**self, **other}

    def __ror__(self, other: Any) -> Any:
        return {**other, **self}


class _ReadForm(_Reads, QueryDict):
    """Form data that records the fields that are read from it."""

    def items(self) -> Any:
        # It walks over the keys of this object, so `__iter__` above has noted the read.
        return QueryDict.items(self)

    def values(self) -> Any:
        return QueryDict.values(self)

    def copy(self) -> Any:
        made = QueryDict(mutable=True)
        for name, values in self._whole().items():
            made.setlist(name, [*values])
        return made

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copy()

    def getlist(self, key: Any, default: Any = None) -> Any:
        self._note(key)
        return super().getlist(key, default)

    def lists(self) -> Any:
        self.record.is_whole = True
        return super().lists()

    def dict(self) -> Any:
        self.record.is_whole = True
        return super().dict()

    def urlencode(self, safe: str | None = None) -> str:
        self.record.is_whole = True
        return super().urlencode(safe)


def _name(text: str, record: Record) -> _Name:
    made = _Name(text)
    made.record = record
    return made


def _recorded(data: Any, record: Record) -> Any:
    """Return the data of a request as an object that records reads. A list cannot record them, so
    it counts as read as a whole.
    """
    if isinstance(data, QueryDict):
        form: Any = _ReadForm(mutable=True)
        form.record = record
        for name, values in data.lists():
            form.setlist(name, values)
        form._mutable = False
        return form
    if not is_object(data):
        record.is_whole = True
        return data
    made = _Reads({_name(name, record): each for name, each in data.items()})
    made.record = record
    return made


_recording: ContextVar[Record | None] = ContextVar("toolbooth_recording", default=None)
_untyped_request: Any = Request
_parse = _untyped_request._parse
_body: Any = HttpRequest.body


def _recorded_parse(self: Any) -> Any:
    """Replaces `Request._parse` in requests that the gateway makes. The data that it returns
    records reads.
    """
    record = _recording.get()
    if record is None or not isinstance(self._request, RunningRequest):
        return _parse(self)
    before = record.is_whole
    data, files = _parse(self)
    record.is_whole = before  # the parser has read the bytes, not the view
    return _recorded(data, record), files


def _recorded_body(self: Any) -> Any:
    """Replaces `HttpRequest.body`. Reading the bytes counts as reading the data as a whole."""
    record = _recording.get()
    if record is not None:
        record.is_whole = True
    return _body.fget(self)


@contextmanager
def recording() -> Generator[Record]:
    """A context in which requests of the gateway record the fields that are read."""
    record = Record()
    token = _recording.set(record)
    try:
        with (
            # A patch affects all threads. `_recording` limits it to the calls inside this block.
            patch.object(Request, "_parse", _recorded_parse),
            # The gateway's own class of requests is patched, so that reads of the endpoint's
            # request are not recorded.
            patch.object(RunningRequest, "body", property(_recorded_body), create=True),
        ):
            yield record
    finally:
        _recording.reset(token)
