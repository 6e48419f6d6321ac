"""Results that fit: whole where they are small, else a bounded page and a token to go on with.
Start with `Fitted`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, cast
from urllib.parse import parse_qs

import orjson
from rest_framework.exceptions import APIException

from toolbooth.boundary.read import text_as_json
from toolbooth.contract import Contract
from toolbooth.django.call.caller import caller
from toolbooth.django.call.invocation import SyncInvocation
from toolbooth.django.call.replies import written
from toolbooth.django.conf import Configuration
from toolbooth.django.describe.arguments import Arguments
from toolbooth.django.describe.discovery import Action
from toolbooth.django.results.tokens import (
    Place,
    Refused,
    bound_to,
    digest,
    instead,
    keep,
    keep_query,
    kept,
    kept_query,
    seal,
    unseal,
)
from toolbooth.django.results.view_results import Viewed
from toolbooth.errors import Problem, ToolError, ToolInputError
from toolbooth.jsonvalue import Json
from toolbooth.server.controls import NO_CONTROLS, Controls, control_names, split_controls
from toolbooth.server.results.pages import Unit, Written, plain, read
from toolbooth.server.tool import Tool

Keys = tuple[str, ...] | None
Output = bytes | str
"""JSON, or plain text."""

TOKEN = "continuation_token"

_FEW = 100
"""Rows of a page whose size nobody said."""
_LONGEST = 2_000
"""Characters of a token: agents have to copy it."""
_BESIDE = frozenset(("mode", "page", "page_size", "filter_keys"))
"""What may stand beside a token, where the tool takes it."""

_CHANGED = "The result has changed since the page before: rows may be missing here, or come twice. "
_ANEW = "It cannot be paged as it was: this is its beginning. "
_WHOLE = "All of it, not as asked: nothing is kept here that a page could be gone on from."


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
class Fitted:
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
    access_check: Callable[[], Exception | None]
    compile: Callable[[Arguments], Contract]
    output_check: Callable[[str], str | None] | None = None
    """How a page breaks what the tool says that it returns."""
    _made: list[Tool] = field(default_factory=list[Tool])

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
        paged = asked.page is not None or asked.page_size is not None
        if (
            not paged
            and rows is None
            and (asked.mode == "full" or (asked.mode is None and self._fits(output)))
        ):
            return _whole(output)
        shown = None
        if (place := self._place(sent, asked)) is not None:
            shown = self._shown(_read(output), place, asked, rows=rows)
        if shown is None:
            return _whole(output) if asked.mode is None and not paged else self._uncut(output)
        return shown

    def _place(self, sent: Json, asked: Controls) -> Place | None:
        """The beginning of a result; None where the caller was let in in a way that cannot be asked
        about again.
        """
        try:
            who = bound_to(caller(), self.action)[0]
        except APIException:
            return None
        return Place(
            tool=self.tool,
            who=who,
            arguments=sent if self.is_query else None,
            filter_keys=asked.filter_keys,
        )

    def _uncut(self, output: Output) -> Any:
        """A result of which a part was asked for, and which cannot be gone on with: whole, and it
        says so.
        """
        made = _read(output).noted(orjson.dumps({"note": _WHOLE}))
        return _whole(output) if made is None or self._is_broken(made) else orjson.Fragment(made)

    def _is_broken(self, made: bytes) -> bool:
        return self.output_check is not None and bool(self.output_check(made.decode()))

    def _fits(self, output: Output) -> bool:
        size = len(output) if isinstance(output, bytes) else len(output.encode(errors="replace"))
        return self.token is None or size <= self.chosen.max_result

    # --- one page ---

    def _shown(
        self,
        found: Written,
        place: Place,
        asked: Controls,
        *,
        rows: int | None = None,
        note: str = "",
    ) -> Any:
        """A page, or the summary; None where that would lose what is not shown."""
        most = None if asked.mode == "full" else self.chosen.max_result
        room = None if most is None else most * 3 // 4  # the rest is for the token and what is said
        counted = asked.page is not None or asked.page_size is not None
        if counted:
            start, stop = self._counted(found, place, asked, room)
            unit: Unit = "rows"
        else:
            unit = (
                "text" if place.at and place.unit == "text" else found.unit(room, *_next_row(place))
            )
            if place.at and place.unit != unit:
                place, note = replace(place, at=0), note + _ANEW
            count = found.count(unit)
            start = min(place.at, count)
            stop = count if rows is None or unit == "text" else min(start + rows, count)
        lasting = self._lasting(replace(place, unit=unit, digest=digest(found.text)), found)
        if lasting is None:
            return None
        others = self._others(found)
        if asked.mode == "summary":
            made = self._summary(found, lasting, note + others)
        else:
            page = _Page(
                found=found,
                place=lasting,
                token=self.token,
                start=start,
                stop=stop,
                most=most,
                counted=counted,
                note=note,
                others=others,
            )
            made = page.made()
        return None if self._is_broken(made) else orjson.Fragment(made)

    def _others(self, found: Written) -> str:
        """Where the rows are that a view keeps for other pages of its own; nothing where it has
        none.
        """
        slots = {
            name: slot for name, slot in self.arguments.slots.items() if slot.bound is not None
        }
        following = found.member("next")
        if not slots or ("next" in found.members and following is None):
            return ""
        sent = parse_qs(following.partition("?")[2]) if isinstance(following, str) else {}
        to_send = [
            f"{name}={sent[slot.name][0]}" for name, slot in slots.items() if slot.name in sent
        ]
        if to_send:
            return f"The view has more: its next page is that of the same arguments with {', '.join(to_send)}. "
        return f"The view may have more: send {', '.join(slots)} for its other pages. "

    def _lasting(self, place: Place, found: Written) -> Place | None:
        """A place that can be gone on from: by asking again, with short arguments or kept ones, or
        by a kept result.
        """
        if place.kept is not None:
            return place
        if self.is_query:
            is_short = len(seal(place)) <= min(_LONGEST, self.chosen.max_result // 8)
            return place if is_short or self.token is None else keep_query(place, self.chosen)
        key = keep(found.text, found.is_json, self.chosen) if self.token is not None else None
        return None if key is None else replace(place, kept=key)

    def _counted(
        self, found: Written, place: Place, asked: Controls, room: int | None
    ) -> tuple[int, int]:
        """The rows of a page that was asked for by number. Raises ToolInputError."""
        size = asked.page_size or min(_FEW, self.chosen.max_page_size)
        count = found.count("rows")
        start = min(place.at, count) if asked.page is None else (asked.page - 1) * size
        stop = min(start + size, count)
        why = ""
        if asked.mode == "summary":
            why = "counts for nothing where only a summary is asked for"
        elif found.unit(None) == "text":
            why = "the answer has no rows"
        elif asked.page is None and place.at and place.unit == "text":
            why = "the token goes on with pieces of text; send it alone"
        elif start >= count > 0 or (start > 0 and count == 0):
            why = f"there are {count:,} rows: pages 1 to {max(1, -(-count // size))} of {size}"
        elif found.unit(room, start, stop) == "text":
            why = self._too_large(found, room, start, stop)
        if why:
            name = str(self.arguments.called("page_size" if asked.page is None else "page"))
            raise ToolInputError(
                [Problem(code="invalid", path=(name,), message=why)], tool=self.tool
            )
        return start, stop

    def _too_large(self, found: Written, room: int | None, start: int, stop: int) -> str:
        """What to send instead of a page that holds a row which alone is too large for one."""
        row = next(
            (each for each in range(start, stop) if found.unit(room, each, each + 1) == "text"),
            start,
        )
        names = {own: name for name, own in self.arguments.controls.items()}
        ways = (
            [f"{names['filter_keys']} without its large fields"] if "filter_keys" in names else []
        )
        ways += [f'{names["mode"]} "full"'] if "mode" in names else []
        ways += [
            f"no {' and no '.join(names[each] for each in ('page', 'page_size') if each in names)}"
        ]
        return f"row {row + 1:,} is too large for a page; send {', or '.join(ways)}, or ask for other rows"

    def _summary(self, found: Written, place: Place, note: str) -> bytes:
        made = found.summary()
        if self.token is not None:
            told = f"{note}Only a summary. To see it, make the same call with {self.token} instead of its fields."
            made["continuation"] = {self.token: seal(place), "note": told}
        return written(made, self.tool)

    # --- going on ---

    def variant(self, sent: Any) -> Tool | None:
        """The form for arguments with a token."""
        arguments = text_as_json(sent)
        if (
            self.token is None
            or not isinstance(arguments, dict)
            or cast("Json", arguments).get(self.token) is None
        ):
            return None
        if not self._made:
            self._made.append(self._going_on(self.token))
        return self._made[0]

    def _going_on(self, token: str) -> Tool:
        """The tool that takes a token, and beside it what says how the rest is to be shown."""
        own = self.arguments
        beside = {
            name: own.properties[name] for name, each in own.controls.items() if each in _BESIDE
        }
        anything: Json = {name: {} for name in own.properties}
        properties = {**anything, **beside, token: {"type": "string"}}
        controls = {name: own.controls[name] for name in beside}
        contract = self.compile(
            Arguments(properties=properties, wide=properties, required=[token], controls=controls)
        )

        def validated(sent: Json) -> Any:
            left = {name: each for name, each in sent.items() if name == token or name in beside}
            message = f"cannot stand beside {token}, which goes on with the call that it came from"
            told = [name for name in sent if name not in left]
            if told:
                problems = [
                    Problem(code="conflicting-keys", path=(name,), message=message) for name in told
                ]
                raise ToolInputError(problems, tool=self.tool, corrected=left)
            return contract.validate(sent)

        return Tool(
            contract=replace(contract, validate=validated),
            function=self.go_on,
            access_check=self.access_check,
        )

    def go_on(self, arguments: Json) -> Any:
        """Show what a token stands for."""
        token = cast("str", self.token)
        refused = self.access_check()
        if refused is not None:
            raise _revoked(refused, token)
        _, asked = split_controls(arguments, self.arguments.controls)
        try:
            who, age = bound_to(caller(), self.action), self.chosen.token_age
            place = unseal(arguments[token], self.tool, who, age, is_query=self.is_query)
            found, place, note = self._brought(place, asked, arguments)
        except (Refused, APIException) as error:
            problem = Problem(code="invalid", path=(token,), message=str(error))
            raise ToolInputError([problem], tool=self.tool) from None
        shown = self._shown(found, place, asked, note=note)
        return (
            self._uncut(found.text.encode() if found.is_json else found.text)
            if shown is None
            else shown
        )

    def _brought(self, place: Place, asked: Controls, called: Json) -> tuple[Written, Place, str]:
        """The result, from where it is kept or by asking for it again; and what is to be said of
        it.
        """
        if place.kept is not None and not self.is_query:
            lost = (
                f"stands for a result that is no longer kept; {instead(self.tool, is_query=False)}"
            )
            text, is_json = kept(place.kept, self.chosen, lost)
            return (read(text) if is_json else plain(text)), place, ""
        if place.kept is not None:
            place = kept_query(place, place.kept, self.chosen)
        trims = asked.filter_keys is not None and asked.filter_keys != place.filter_keys
        sent = place.arguments or {}
        self.source.check(sent, asked.filter_keys, called)
        value = self.source.value(sent)
        found = _read(self.source.output(value, place.filter_keys))
        note = "" if digest(found.text) == place.digest else _CHANGED
        if trims:
            found = _read(self.source.output(value, asked.filter_keys))
            place = replace(place, filter_keys=asked.filter_keys)
            if place.unit == "text":  # other fields are another text
                place, note = replace(place, at=0), _ANEW
        return found, place, note


def fitted(
    call: SyncInvocation,
    chosen: Configuration,
    compile: Callable[[Arguments], Contract],
    access_check: Callable[[], Exception | None],
) -> Fitted:
    """The results of a view's action."""
    arguments, action = call.arguments, call.action
    token = arguments.called(TOKEN)
    if (
        action.name == "create"
    ):  # its receipts are short, but for those of very many rows: nothing is said beforehand
        name = control_names(chosen.arguments).get(TOKEN)
        token = None if name in arguments.properties else name
    return Fitted(
        tool=call.tool,
        action=action,
        arguments=arguments,
        source=Viewed(call=call),
        chosen=chosen,
        token=token,
        is_query=action.method == "GET",
        access_check=access_check,
        compile=compile,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    """What is shown of a result, from `start` on and no further than `stop`."""

    found: Written
    place: Place
    token: str | None
    start: int
    stop: int
    most: int | None
    """Bytes; None: as many as there are."""
    counted: bool
    """So many rows were asked for."""
    note: str
    others: str
    """Where the rows are that the answer itself does not hold."""

    def made(self) -> bytes:
        """The page: as many rows as fit, one at least."""
        if self.most is None:
            return self._until(self.stop)
        room = self.most
        end = min(self.stop, self.found.end(self.place.unit, self.start, room))
        made = self._until(end)
        while (
            over := len(made) - self.most
        ) > 0 and end > self.start + 1:  # what is told needs room as well
            room -= over
            end = max(
                self.start + 1, min(end - 1, self.found.end(self.place.unit, self.start, room))
            )
            made = self._until(end)
        return made

    def _until(self, end: int) -> bytes:
        key = self.found.free_key("continuation") if self.place.unit == "rows" else "continuation"
        return self.found.page(self.place.unit, self.start, end, key, self._told(end))

    def _told(self, end: int) -> bytes:
        count = self.found.count(self.place.unit)
        told: Json = {"from": self.start + 1, "to": end} if end > self.start else {}
        told |= {"count": count, "size": self.found.size}
        if end < count and self.token is not None:
            told[self.token] = seal(replace(self.place, at=end))
        note = self.note
        if self.counted and end < self.stop:
            asked, few = self.stop - self.start, end - self.start
            note = f"{asked} rows are longer than {self.most:,} bytes: these are the first {few}. {note}"
        return orjson.dumps({**told, "note": note + self._words(count - end)})

    def _words(self, more: int) -> str:
        if self.place.unit == "rows":
            words = f"{more:,} more in {self.found.name}." if more else "The last page."
            words = "All rows of this answer." if self.others and not more else words
        elif self.found.is_json:
            words = "A piece of the answer, which is JSON: read it when you have all pieces."
            words = f"{words} {more:,} characters more." if more else f"{words} This is the last."
        else:
            words = f"{more:,} characters more." if more else "The last piece."
        if not more:
            return f"{words} {self.others}".rstrip()
        return (
            f"{words} To go on, make the same call with {self.token} instead of its fields."
            if self.token
            else words
        )


def _next_row(place: Place) -> tuple[int, int | None]:
    """The row with which pages go on: one that is too large stands in nobody's way before it comes.
    At first, all.
    """
    return (place.at, place.at + 1) if place.at else (0, None)


def _read(output: Output | None) -> Written:
    if output is None:
        raise Refused("stands for a result that has another form by now; make the first call again")
    return read(output.decode()) if isinstance(output, bytes) else plain(output)


def _whole(output: Output) -> Any:
    return orjson.Fragment(output) if isinstance(output, bytes) else output


def _revoked(refused: Exception, token: str) -> Exception:
    """What a caller is told who may no longer call the tool that a token is from."""
    if not isinstance(refused, ToolError):
        return refused
    words = (
        f"{refused.message.rstrip('.')}; {token} can be used once you may call {refused.tool} again"
    )
    return ToolError(refused.tool, words, refused.details)
