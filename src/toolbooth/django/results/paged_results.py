"""Limits the size of results. A small result is returned whole. Of a large result, one page is
returned, with a token for the next page. Start with `PagedResults`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import orjson
from rest_framework.exceptions import APIException

from toolbooth.django import messages as gateway_messages
from toolbooth.django.call.caller import caller
from toolbooth.django.call.invocation import NOT_MOVED, Moved, SyncInvocation
from toolbooth.django.call.replies import json_bytes
from toolbooth.django.conf import Configuration
from toolbooth.django.describe.arguments import Arguments
from toolbooth.django.describe.discovery import Action
from toolbooth.django.results import messages
from toolbooth.django.results.numbered_pages import NumberedPages
from toolbooth.django.results.other_pages import pages_of_view
from toolbooth.django.results.page import Page, with_next_page
from toolbooth.django.results.tokens import (
    Position,
    RefusedToken,
    caller_hashes,
    digest,
    keep,
    keep_query,
    seal,
)
from toolbooth.django.results.view_results import Keys, ViewResults
from toolbooth.django.results.window_page import first_large_row, page_of_window, remedies
from toolbooth.django.results.windows import Window
from toolbooth.errors import Problem, ToolError, ToolInputError
from toolbooth.jsonvalue import Json
from toolbooth.server.controls import (
    NO_CONTROLS,
    Controls,
    check_plain,
    control_names,
    split_controls,
)
from toolbooth.server.results.pages import Unit, Written, plain, read

logger = logging.getLogger("toolbooth.django")

Output = bytes | str
"""JSON as bytes, or plain text."""

TOKEN = "continuation_token"

_LONGEST = 2_000
"""The most characters of a token, because agents have to copy it."""


class Source(Protocol):
    """The source of a tool's results."""

    def check(self, sent: Json, filter_keys: Keys, called: Json) -> None:
        """Raise ToolInputError if the result lacks the fields in `filter_keys`. `called` is the
        call as sent.
        """
        ...

    def value(self, sent: Json, moved: Moved = NOT_MOVED) -> Any:
        """Run the tool for the current caller. `moved` selects another page of its list."""
        ...

    def output(self, value: Any, filter_keys: Keys) -> Output | None:
        """Return the result as it is sent, with only the fields in `filter_keys`. Return None if
        the result cannot be divided into pages.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PagedResults:
    """A tool that returns large results in pages."""

    tool: str
    action: Action
    arguments: Arguments
    source: Source
    chosen: Configuration
    token: str | None
    """The name of `continuation_token` in this tool. None if the tool does not take one."""
    is_query: bool
    """Whether the tool can safely run again to get another page."""
    output_check: Callable[[str], str | None] | None = None
    """A function that returns how a page violates the output schema of the tool. None if no check
    is needed.
    """
    numbered: NumberedPages | None = None
    """Makes pages by number and size. None if such pages cannot be requested."""

    def __call__(self, arguments: Json) -> Any:
        """Run the tool. Return the requested part of its result, or as much as fits."""
        sent, asked = split_controls(arguments, self.arguments.controls)
        check_plain(asked, has_key=caller().has_key)
        if _is_numbered(asked):
            shown = self._numbered_first(sent, asked)
            if shown is not None:
                return shown
        value, next_page = self._value_and_next_page(sent)
        output = self.source.output(value, asked.filter_keys)
        return value if output is None else self.first(output, sent, asked, next_page=next_page)

    def _value_and_next_page(self, sent: Json) -> tuple[Any, Json]:
        if self.numbered is None:
            return self.source.value(sent), {}
        return self.numbered.source.value_and_next_page(sent)

    def first(
        self,
        output: Output,
        sent: Json,
        asked: Controls = NO_CONTROLS,
        rows: int | None = None,
        next_page: Json | None = None,
    ) -> Any:
        """Return the result of a run. If it is too large, return its first page. `rows` limits the
        number of rows on that page. `next_page` has the arguments for the next page of the view.
        """
        try:
            return self._first(output, sent, asked, rows, next_page or {})
        except (ToolError, ToolInputError):
            raise
        except Exception as error:  # the tool has run, and must not be called again blindly
            logger.exception("the result of tool %r cannot be sent", self.tool)
            raise ToolError(self.tool, gateway_messages.result_cannot_be_sent("")) from error

    def _first(
        self, output: Output, sent: Json, asked: Controls, rows: int | None, next_page: Json
    ) -> Any:
        is_paged = _is_numbered(asked)
        whole = with_next_page(output, next_page)
        is_whole = asked.mode == "full" or (asked.mode is None and self._fits(whole))
        if is_whole and not is_paged and rows is None:
            return _whole(whole)
        shown = None
        # This runs only if a page by number could not be made. No token can continue the result, so
        # it is returned whole.
        position = None if is_paged else self._beginning(sent, asked)
        if position is not None:
            shown = self.page(read_output(output), position, asked, rows=rows)
        if shown is not None:
            return shown
        is_part_wanted = is_paged or asked.mode is not None
        return self.whole_with_note(output) if is_part_wanted else _whole(output)

    def _beginning(self, sent: Json, asked: Controls) -> Position | None:
        """Return the position at the start of a result. Return None if the gateway could not
        recognise the caller again.
        """
        try:
            who = caller_hashes(caller(), self.action)[0]
        except APIException:
            return None
        # Only queries run again. For other calls, the path is kept to identify the caller.
        if not self.is_query:
            sent = {name: sent[name] for name in self.arguments.named("path").values()}
        return Position(
            tool=self.tool,
            who=who,
            arguments=sent,
            filter_keys=asked.filter_keys,
        )

    def whole_with_note(self, output: Output) -> Any:
        """Return the whole result with a note. Used if the call requests a page, but the next pages
        could not be requested later.
        """
        noted = read_output(output).noted(orjson.dumps({"note": messages.WHOLE_INSTEAD}))
        if noted is None or self._is_broken(noted):
            return _whole(output)
        return orjson.Fragment(noted)

    def _is_broken(self, page: bytes) -> bool:
        return self.output_check is not None and bool(self.output_check(page.decode()))

    def _fits(self, output: Output) -> bool:
        encoded = output if isinstance(output, bytes) else output.encode(errors="replace")
        # Without a token, the rest of a page could never be requested.
        return self.token is None or len(encoded) <= self.chosen.max_result

    # --- one page ---

    def page(
        self,
        found: Written,
        position: Position,
        asked: Controls,
        *,
        rows: int | None = None,
        note: str = "",
    ) -> Any:
        """Return a page, or the summary. Return None if later pages could not be requested."""
        most = self._most(asked)
        unit = _unit(found, position, _room(most))
        # The position counts rows or characters, and cannot be converted.
        if position.at and position.unit != unit:
            position, note = replace(position, at=0), note + messages.PAGED_ANEW
        start, stop = _rest(found, position, unit, rows)
        size = position.size if unit == "rows" else None
        position = replace(position, unit=unit, size=size, digest=digest(found.text))
        lasting = self._kept_position(position, found)
        if lasting is None:
            return None
        others = pages_of_view(self.arguments, found)
        count = found.count(unit)
        if asked.mode == "summary":
            encoded = self._summary(found, lasting, note + others)
        else:
            page = Page(
                found=found,
                unit=unit,
                token=self.token,
                start=start,
                stop=stop,
                most=most,
                note=note,
                others=others,
                following=lambda end: replace(lasting, at=end) if end < count else None,
                count=count,
                size=found.size,
            )
            encoded, _ = page.encode()
        return None if self._is_broken(encoded) else orjson.Fragment(encoded)

    def _most(self, asked: Controls) -> int | None:
        """Return the limit of a page in bytes, or None if there is no limit."""
        return None if asked.mode == "full" else self.chosen.max_result

    # --- a page by number or size ---

    def _numbered_first(self, sent: Json, asked: Controls) -> Any:
        """Return the page that the call requests. Return None if the next pages could not be
        requested later. Raises ToolInputError.
        """
        self._must_show_rows(asked)
        if self.numbered is None:
            return None
        window = self.numbered.first(sent, asked, self._most(asked))
        position = self._beginning(sent, asked)
        if position is None:
            return None
        return self._shown(window, position, asked, is_asked=True)

    def is_numbered(self, position: Position, asked: Controls) -> bool:
        """Return True if the page after a position is made by number and size."""
        if self.numbered is None:
            return False
        is_sized = position.size is not None and position.unit == "rows"
        return _is_numbered(asked) or (is_sized and asked.mode != "summary")

    def numbered_page(self, position: Position, asked: Controls) -> Any:
        """Return the page after a position, if pages are made by number and size. Return None if
        its first row is too large for any page. If the call itself requests the page by number or
        size, raise ToolInputError instead.
        """
        is_asked = _is_numbered(asked)
        if is_asked:
            self._must_show_rows(asked)
        if asked.page is None and position.at and position.unit == "text":
            raise self._refusal(asked, messages.TOKEN_IS_FOR_TEXT)
        if self.numbered is None:
            return None
        window = self.numbered.further(position, asked, self._most(asked))
        if asked.filter_keys is not None:
            position = replace(position, filter_keys=asked.filter_keys)
        return self._shown(window, position, asked, is_asked=is_asked)

    def _shown(self, window: Window, position: Position, asked: Controls, *, is_asked: bool) -> Any:
        """Return the rows of a window as a page. Return None if the first row does not fit, or if
        the next pages could not be requested later. With `is_asked`, raise ToolInputError if a row
        is too large.
        """
        most = self._most(asked)
        found = window.found
        stop = first_large_row(found, window, _room(most))
        if stop < window.stop and is_asked:
            message = messages.row_too_large(window.before + stop + 1, remedies(self.arguments))
            raise self._refusal(asked, message)
        if stop == window.start < window.stop:
            return None
        count = window.pages[-1].other.count
        position = replace(position, unit="rows", size=window.size, count=count)
        lasting = self._kept_position(position, found)
        if lasting is None:
            return None
        # If reading stopped at the limit of bytes, more rows were wanted than were read.
        wanted = window.wanted if window.is_longer(most) else stop - window.start
        page_of = partial(page_of_window, self.arguments, self.token, lasting, most, wanted)
        encoded, end = page_of(window, stop).encode()
        shorter = window.until(end)
        if len(shorter.pages) < len(window.pages):
            # Encoded again, because the keys beside the rows must be from the shown pages only.
            encoded, _ = page_of(shorter, end).encode()
        return orjson.Fragment(encoded)

    def _must_show_rows(self, asked: Controls) -> None:
        if asked.mode == "summary":
            raise self._refusal(asked, messages.NOT_WITH_SUMMARY)

    def _refusal(self, asked: Controls, why: str) -> ToolInputError:
        name = str(self.arguments.called("page_size" if asked.page is None else "page"))
        problem = Problem(code="invalid", path=(name,), message=why)
        return ToolInputError([problem], tool=self.tool)

    # --- what is kept ---

    def _kept_position(self, position: Position, found: Written) -> Position | None:
        """Return a position from which the result can be continued. Return None if that is
        impossible. A query can run again with the same arguments, so only other results are stored.
        """
        if position.kept is not None:
            return position
        if self.is_query:
            # Agents copy tokens, so long arguments are kept in the cache instead.
            is_short = len(seal(position)) <= min(_LONGEST, self.chosen.max_result // 8)
            is_enough = is_short or self.token is None
            return position if is_enough else keep_query(position, self.chosen)
        if self.token is None:
            return None
        key = keep(found.text, found.is_json, self.chosen)
        return None if key is None else replace(position, kept=key)

    def _summary(self, found: Written, position: Position, note: str) -> bytes:
        summary = found.summary()
        if self.token is not None:
            note += messages.only_a_summary(self.token)
            summary["continuation"] = {self.token: seal(position), "note": note}
        return json_bytes(summary, self.tool)


def results_of(call: SyncInvocation, chosen: Configuration) -> PagedResults:
    """Return the PagedResults for a view's action."""
    arguments, action = call.arguments, call.action
    token = arguments.called(TOKEN)
    # Receipts of a create are short unless there are very many rows. So its description does not
    # mention tokens, but they are accepted.
    if action.name == "create":
        name = control_names(chosen.arguments).get(TOKEN)
        token = None if name in arguments.wide else name
    source = ViewResults(call=call)
    return PagedResults(
        tool=call.tool,
        action=action,
        arguments=arguments,
        source=source,
        chosen=chosen,
        token=token,
        is_query=action.method == "GET",
        numbered=NumberedPages(source=source, arguments=arguments, chosen=chosen),
    )


def read_output(output: Output | None) -> Written:
    """Return a result as text that can be cut into pages. Raises RefusedToken."""
    if output is None:
        raise RefusedToken(messages.OTHER_FORM_BY_NOW)
    return read(output.decode()) if isinstance(output, bytes) else plain(output)


def _is_numbered(asked: Controls) -> bool:
    return asked.page is not None or asked.page_size is not None


def _room(most: int | None) -> int | None:
    """Return the bytes that a page has for rows. Its other bytes are for the token and notes."""
    return None if most is None else most * 3 // 4


def _unit(found: Written, position: Position, room: int | None) -> Unit:
    """Return the unit of the pages after this position: rows or characters."""
    if not position.at:
        return found.unit(room)
    # Only the next row is checked: a later one that is too large does not matter yet.
    return "text" if position.unit == "text" else found.unit(room, position.at, position.at + 1)


def _rest(found: Written, position: Position, unit: Unit, rows: int | None) -> tuple[int, int]:
    """Return the start and the end of the part after a position, with at most `rows` rows."""
    count = found.count(unit)
    start = min(position.at, count)
    if rows is None or unit == "text":
        return start, count
    return start, min(start + rows, count)


def _whole(output: Output) -> Any:
    return orjson.Fragment(output) if isinstance(output, bytes) else output
