"""Results that fit: whole where they are small, else a bounded page and a token to go on with.
Start with `PagedResults`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol
from urllib.parse import parse_qs

import orjson
from rest_framework.exceptions import APIException

from toolbooth.django import messages
from toolbooth.django.call.caller import caller
from toolbooth.django.call.invocation import SyncInvocation
from toolbooth.django.call.replies import json_bytes
from toolbooth.django.conf import Configuration
from toolbooth.django.describe.arguments import Arguments
from toolbooth.django.describe.discovery import Action
from toolbooth.django.results.page import Page
from toolbooth.django.results.tokens import (
    Position,
    RefusedToken,
    caller_hashes,
    digest,
    keep,
    keep_query,
    seal,
)
from toolbooth.django.results.view_results import ViewResults
from toolbooth.errors import Problem, ToolError, ToolInputError
from toolbooth.jsonvalue import Json
from toolbooth.server.controls import NO_CONTROLS, Controls, control_names, split_controls
from toolbooth.server.results.pages import Unit, Written, plain, read

logger = logging.getLogger("toolbooth.django")

Keys = tuple[str, ...] | None
Output = bytes | str
"""JSON, or plain text."""

TOKEN = "continuation_token"

_FEW = 100
"""Rows of a page whose size nobody said."""
_LONGEST = 2_000
"""Characters of a token: agents have to copy it."""


class Source(Protocol):
    """What brings a result about."""

    def check(self, sent: Json, filter_keys: Keys, called: Json) -> None:
        """See that these are fields of it; `called` is the call as it was sent. Raises
        ToolInputError.
        """
        ...

    def value(self, sent: Json) -> Any:
        """Run it for the caller that is being answered."""
        ...

    def output(self, value: Any, filter_keys: Keys) -> Output | None:
        """What it came to, with only these fields, as it is sent; None: in a form that cannot be
        cut.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PagedResults:
    """A tool whose results come in pages where they are too large."""

    tool: str
    action: Action
    arguments: Arguments
    source: Source
    chosen: Configuration
    token: str | None
    """What `continuation_token` is called here; None: it is not taken."""
    is_query: bool
    """Running it once more changes nothing: a page is brought by running it again."""
    output_check: Callable[[str], str | None] | None = None
    """How a page differs from what the tool says that it returns; None: it does not."""

    def __call__(self, arguments: Json) -> Any:
        """Run the tool, and show as much of its result as is asked for, or fits."""
        sent, asked = split_controls(arguments, self.arguments.controls)
        value = self.source.value(sent)
        output = self.source.output(value, asked.filter_keys)
        return value if output is None else self.first(output, sent, asked)

    def first(
        self, output: Output, sent: Json, asked: Controls = NO_CONTROLS, rows: int | None = None
    ) -> Any:
        """What is shown of a result that has just come; with `rows`, no more than so many."""
        try:
            return self._first(output, sent, asked, rows)
        except (ToolError, ToolInputError):
            raise
        except Exception as error:  # the tool has run, and must not be called again blindly
            logger.exception("tool %r returned what cannot be sent", self.tool)
            raise ToolError(self.tool, messages.result_cannot_be_sent("")) from error

    def _first(self, output: Output, sent: Json, asked: Controls, rows: int | None) -> Any:
        is_paged = asked.page is not None or asked.page_size is not None
        is_whole = asked.mode == "full" or (asked.mode is None and self._fits(output))
        if is_whole and not is_paged and rows is None:
            return _whole(output)
        shown = None
        position = self._beginning(sent, asked)
        if position is not None:
            shown = self.page(read_output(output), position, asked, rows=rows)
        if shown is not None:
            return shown
        is_part_wanted = is_paged or asked.mode is not None
        return self.whole_with_note(output) if is_part_wanted else _whole(output)

    def _beginning(self, sent: Json, asked: Controls) -> Position | None:
        """The beginning of a result; None where the caller was let in in a way that cannot be asked
        about again.
        """
        try:
            who = caller_hashes(caller(), self.action)[0]
        except APIException:
            return None
        return Position(
            tool=self.tool,
            who=who,
            arguments=sent if self.is_query else None,
            filter_keys=asked.filter_keys,
        )

    def whole_with_note(self, output: Output) -> Any:
        """A result of which a part was asked for, and which cannot be gone on with: whole, and it
        says so.
        """
        noted = read_output(output).noted(orjson.dumps({"note": messages.WHOLE_INSTEAD}))
        if noted is None or self._is_broken(noted):
            return _whole(output)
        return orjson.Fragment(noted)

    def _is_broken(self, page: bytes) -> bool:
        return self.output_check is not None and bool(self.output_check(page.decode()))

    def _fits(self, output: Output) -> bool:
        encoded = output if isinstance(output, bytes) else output.encode(errors="replace")
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
        """A page, or the summary; None where that would lose what is not shown."""
        most = None if asked.mode == "full" else self.chosen.max_result
        # The rest is for the token and what is said.
        room = None if most is None else most * 3 // 4
        counted = asked.page is not None or asked.page_size is not None
        unit: Unit = "rows"
        if counted:
            start, stop = self._numbered_page(found, position, asked, room)
        else:
            unit = _unit(found, position, room)
            if position.at and position.unit != unit:
                position, note = replace(position, at=0), note + messages.PAGED_ANEW
            start, stop = _rest(found, position, unit, rows)
        position = replace(position, unit=unit, digest=digest(found.text))
        lasting = self._kept_position(position, found)
        if lasting is None:
            return None
        others = self._pages_of_view(found)
        if asked.mode == "summary":
            encoded = self._summary(found, lasting, note + others)
        else:
            next_page = Page(
                found=found,
                position=lasting,
                token=self.token,
                start=start,
                stop=stop,
                most=most,
                counted=counted,
                note=note,
                others=others,
            )
            encoded = next_page.encode()
        return None if self._is_broken(encoded) else orjson.Fragment(encoded)

    def _pages_of_view(self, found: Written) -> str:
        """Where the rows are that a view keeps for other pages of its own; nothing where it has
        none.
        """
        slots = {
            name: slot for name, slot in self.arguments.slots.items() if slot.bound is not None
        }
        following = found.member("next")
        if not slots or ("next" in found.members and following is None):
            return ""
        query = parse_qs(following.partition("?")[2]) if isinstance(following, str) else {}
        changes = [
            f"{name}={query[slot.name][0]}" for name, slot in slots.items() if slot.name in query
        ]
        if changes:
            return messages.next_page_of_view(changes)
        return messages.other_pages_of_view(slots)

    def _kept_position(self, position: Position, found: Written) -> Position | None:
        """A position that can be gone on from: by asking again, with short arguments or kept ones,
        or by a kept result.
        """
        if position.kept is not None:
            return position
        if self.is_query:
            is_short = len(seal(position)) <= min(_LONGEST, self.chosen.max_result // 8)
            is_enough = is_short or self.token is None
            return position if is_enough else keep_query(position, self.chosen)
        if self.token is None:
            return None
        key = keep(found.text, found.is_json, self.chosen)
        return None if key is None else replace(position, kept=key)

    def _numbered_page(
        self, found: Written, position: Position, asked: Controls, room: int | None
    ) -> tuple[int, int]:
        """The rows of a page that was asked for by number. Raises ToolInputError."""
        size = asked.page_size or min(_FEW, self.chosen.max_page_size)
        count = found.count("rows")
        start = min(position.at, count) if asked.page is None else (asked.page - 1) * size
        stop = min(start + size, count)
        why = ""
        if asked.mode == "summary":
            why = messages.NOT_WITH_SUMMARY
        elif found.unit(None) == "text":
            why = messages.ANSWER_HAS_NO_ROWS
        elif asked.page is None and position.at and position.unit == "text":
            why = messages.TOKEN_IS_FOR_TEXT
        elif start >= count > 0 or (start > 0 and count == 0):
            why = messages.no_such_page(count, max(1, -(-count // size)), size)
        elif found.unit(room, start, stop) == "text":
            why = self._too_large(found, room, start, stop)
        if why:
            name = str(self.arguments.called("page_size" if asked.page is None else "page"))
            problem = Problem(code="invalid", path=(name,), message=why)
            raise ToolInputError([problem], tool=self.tool)
        return start, stop

    def _too_large(self, found: Written, room: int | None, start: int, stop: int) -> str:
        """What to send instead of a page that holds a row which alone is too large for one."""
        large = (row for row in range(start, stop) if found.unit(room, row, row + 1) == "text")
        return messages.row_too_large(next(large, start) + 1, self._remedies())

    def _remedies(self) -> Iterator[str]:
        """What can be sent to be shown a row that is too large for a page."""
        names = {own: name for name, own in self.arguments.controls.items()}
        if "filter_keys" in names:
            yield messages.without_large_fields(names["filter_keys"])
        if "mode" in names:
            yield f'{names["mode"]} "full"'
        counting = [names[each] for each in ("page", "page_size") if each in names]
        yield f"no {' and no '.join(counting)}"

    def _summary(self, found: Written, position: Position, note: str) -> bytes:
        summary = found.summary()
        if self.token is not None:
            note += messages.only_a_summary(self.token)
            summary["continuation"] = {self.token: seal(position), "note": note}
        return json_bytes(summary, self.tool)


def results_of(call: SyncInvocation, chosen: Configuration) -> PagedResults:
    """The results of a view's action."""
    arguments, action = call.arguments, call.action
    token = arguments.called(TOKEN)
    # The receipts of a create are short, but for those of very many rows: nothing is said
    # beforehand.
    if action.name == "create":
        name = control_names(chosen.arguments).get(TOKEN)
        token = None if name in arguments.properties else name
    return PagedResults(
        tool=call.tool,
        action=action,
        arguments=arguments,
        source=ViewResults(call=call),
        chosen=chosen,
        token=token,
        is_query=action.method == "GET",
    )


def read_output(output: Output | None) -> Written:
    """A result as text that can be cut. Raises RefusedToken."""
    if output is None:
        raise RefusedToken(messages.OTHER_FORM_BY_NOW)
    return read(output.decode()) if isinstance(output, bytes) else plain(output)


def _unit(found: Written, position: Position, room: int | None) -> Unit:
    """What the pages of a result are counted in, from here on."""
    if not position.at:
        return found.unit(room)
    # A row that is too large does not matter before it is the next one.
    return "text" if position.unit == "text" else found.unit(room, position.at, position.at + 1)


def _rest(found: Written, position: Position, unit: Unit, rows: int | None) -> tuple[int, int]:
    """All that follows a position; with `rows`, no more than so many."""
    count = found.count(unit)
    start = min(position.at, count)
    if rows is None or unit == "text":
        return start, count
    return start, min(start + rows, count)


def _whole(output: Output) -> Any:
    return orjson.Fragment(output) if isinstance(output, bytes) else output
