"""Gets results from the responses of a view. If the call has `filter_keys`, a result contains only
these fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolbooth.django.call.caller import caller
from toolbooth.django.call.filters import check_keys
from toolbooth.django.call.invocation import NOT_MOVED, Moved, SyncInvocation
from toolbooth.django.call.replies import json_bytes
from toolbooth.django.results import messages
from toolbooth.django.results.other_pages import (
    OtherPages,
    arguments_for_next_page,
    other_pages,
)
from toolbooth.errors import Problem, ToolError, ToolInputError
from toolbooth.jsonvalue import Json, is_mapping
from toolbooth.server.results.pages import Path, Written, read

Keys = tuple[str, ...] | None
"""Names of fields. None for all fields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListPage:
    """One page of a list, as the view made it."""

    moved: Moved
    """The changes to the query of the call that select this page."""
    value: Json
    found: Written
    other: OtherPages


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewResults:
    """Gets the results of a tool from the responses of its view."""

    call: SyncInvocation

    def check(self, sent: Json, filter_keys: Keys, called: Json) -> None:
        name = self.call.arguments.called("filter_keys")
        if name is not None and filter_keys is not None:
            who, asked = caller(), {**sent, name: filter_keys}
            self.call.within(who, sent, lambda: check_keys(self.call, who, asked, called))

    def value(self, sent: Json, moved: Moved = NOT_MOVED) -> Any:
        return self._answer(sent, moved)[1]

    def value_and_next_page(self, sent: Json) -> tuple[Any, Json]:
        """Return the value of a response, and the arguments for the next page if the value is a
        page of a list.
        """
        response, value = self._answer(sent, NOT_MOVED)
        return value, self._next_page(sent, response, value)

    def _answer(self, sent: Json, moved: Moved) -> tuple[Any, Any]:
        try:
            response = self._response(sent, moved)
            return response, self.call.value(response)
        except ToolError as error:
            # In REST framework, 404 may mean a missing row, or a page that does not exist.
            if is_not_found(error):
                self._must_be_a_page(sent)
            raise

    def _next_page(self, sent: Json, response: Any, value: Json) -> Json:
        action = self.call.action
        if action.method != "GET" or action.name == "retrieve":
            return {}
        rows: Any = value
        for name in rows_in(value):
            rows = rows[name]
        if not _is_list(rows) or not rows:
            return {}
        query = self.call.query(sent, NOT_MOVED)
        other = other_pages(response, value, query, len(rows), is_paged=self._is_paged)
        return arguments_for_next_page(self.call.arguments, sent, other.following)

    @property
    def _is_paged(self) -> bool:
        """True if the view has a paginator."""
        return any(slot.bound is not None for slot in self.call.arguments.slots.values())

    def _response(self, sent: Json, moved: Moved) -> Any:
        who = caller()
        return self.call.within(who, sent, lambda: self.call.respond(who, sent, moved=moved))

    def page_of_list(self, sent: Json, moved: Moved, keys: Keys = None) -> ListPage:
        """Return one page of a list."""
        response = self._response(sent, moved)
        value = self.call.value(response)
        found = self.written(value, keys)
        query = self.call.query(sent, moved)
        other = other_pages(response, value, query, len(found.rows), is_paged=self._is_paged)
        return ListPage(moved=moved, value=value, found=found, other=other)

    def written(self, value: Json, keys: Keys) -> Written:
        """Return a page of a list as JSON that can be cut between rows. It has only the fields in
        `keys`.
        """
        return read(self.output(value, keys).decode(), rows_in(value))

    def _must_be_a_page(self, sent: Json) -> None:
        """Raise ToolInputError if the list exists, but the requested page does not."""
        for name, slot in self.call.arguments.slots.items():
            if slot.bound is None or slot.bound.role != "page" or name not in sent:
                continue
            try:
                # The first page of the same list has the number of pages, for the message.
                other = self.page_of_list(sent, {slot.name: []}).other
            except (ToolError, ToolInputError):
                return  # the list itself is missing
            if other.count is not None and other.rows:
                pages = other.pages or -(-other.count // other.rows)
                message = messages.no_such_page(other.count, pages, other.rows)
                problem = Problem(code="invalid", path=(name,), message=message)
                raise ToolInputError([problem], tool=self.call.tool) from None

    def output(self, value: Any, filter_keys: Keys) -> bytes:
        shown = value if filter_keys is None else self._trimmed(value, filter_keys)
        return json_bytes(shown, self.call.tool)

    def _trimmed(self, value: Json, keys: tuple[str, ...]) -> Json:
        if self.call.action.name != "list":
            return self._row(value, keys)
        path = rows_in(value)
        if not path:
            raise self._refusal(messages.ANSWER_HAS_NO_ROWS)
        *above, name = path
        beside: Json = value[above[0]] if above else value
        trimmed = {**beside, name: [self._row(row, keys) for row in beside[name]]}
        return {**value, above[0]: trimmed} if above else trimmed

    def _row(self, row: Any, keys: tuple[str, ...]) -> Json:
        fields: Mapping[str, Any] = row if is_mapping(row) else {}
        kept = {name: each for name, each in fields.items() if name in keys}
        # `check_keys` has accepted the names. So the view declares these fields, but has not
        # returned them.
        if keys and not kept and row:
            raise self._refusal(messages.no_field_in_answer(fields))
        return kept

    def _refusal(self, why: str) -> ToolInputError:
        name = str(self.call.arguments.called("filter_keys"))
        message = messages.call_without(why, name)
        problem = Problem(code="invalid", path=(name,), message=message)
        return ToolInputError([problem], tool=self.call.tool)


def rows_in(value: Json) -> Path:
    """Return the path of the list of rows in a response, or an empty path if there is no list. If
    there are several lists, prefer a list made by a serializer, then a list at the top level, then
    the longest.
    """
    lists: dict[Path, Any] = {}
    for name, each in value.items():
        if is_mapping(each):
            lists |= {(name, key): inner for key, inner in each.items() if _is_list(inner)}
        elif _is_list(each):
            lists[name,] = each
    lists = {path: each for path, each in lists.items() if _is_text(path)}

    def rank(path: Path) -> tuple[bool, bool, int]:
        # `serializer.data` of many rows is a ReturnList, which has this attribute. A plain list
        # beside it may be anything, for example of choices.
        return hasattr(lists[path], "serializer"), len(path) == 1, len(lists[path])

    return max(lists, key=rank, default=())


def _is_text(path: Path) -> bool:
    """Return True if all keys in a path are text. Other keys may look different in JSON."""
    return all(type(key) is str for key in path)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def is_not_found(error: ToolError) -> bool:
    """Return True if the view returned 404."""
    return is_mapping(error.details) and error.details.get("status") == 404
