"""Finds the recorded calls that would have another outcome at the boundary today. No tool is run.

A replay compares two things: whether a call passes, is repaired or is refused, and by which rules.
Lines that were written with `update` also have the values that the tool would get. These are
compared too.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from toolbooth.boundary.repairs import Repair
from toolbooth.errors import Problem
from toolbooth.jsonvalue import JsonPath, is_array, is_object, path_text, shorten
from toolbooth.recording import RecordedCall, line_text, read_calls
from toolbooth.server.credentials import HIDDEN
from toolbooth.server.redact import as_text
from toolbooth.testing.replay.replay_judge import Judge, Judgement
from toolbooth.testing.shapes.call_places import children, is_within

VARIES = "[varies]"
"""Written in place of a value that differs in each run, such as one from a `default_factory`. Such
values are not compared.
"""

_ECHO = 200
_MOST_LINES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One call whose outcome has changed."""

    line: int
    call: RecordedCall
    before: str
    after: str
    details: tuple[str, ...]
    advice: str


@dataclass(slots=True, kw_only=True)
class Replay:
    """The outcomes of all calls of one recording. Use `print` to read them."""

    calls: int
    changes: list[Change] = field(default_factory=list[Change])
    redacted: int = 0
    """The number of calls that were recorded without some of their values. Missing values are not
    compared.
    """
    unread: int = 0
    """The number of calls that were recorded without arguments, because the arguments could not be
    parsed.
    """

    def __str__(self) -> str:
        return "\n".join(_report(self))


def replay_calls(path: str | Path, server: Any, *, update: bool = False) -> Replay:
    """Compare the recorded outcomes of calls with their outcomes at the boundary of `server` today.

    `server` is a ToolRegistry, or a protected FastMCP or MCPServer. With `update`, today's outcomes
    and the values for the tools are written into the recording, and later replays compare with
    these.

    Raises:
        BadRecording: if the file is not a recording, or has no calls. Incomplete lines are left
        out, with a TornRecording warning.
        NotProtected: if no tool of `server` is protected by the boundary.
        ContractError: if the schema of a tool refers to a file or URL.
    """
    calls = read_calls(path)
    judge = Judge(server)
    made = Replay(calls=len(calls))
    kept: list[RecordedCall] = []
    for line, call in calls.items():
        # If a tool does not exist any more, `update` removes the lines of its calls. No replay
        # could compare them.
        gone = judge.missing(call)
        if gone is not None:
            made.changes.append(_missing_tool(line, call, gone))
        # If a dispatcher has a tool that takes a secret, and a call does not reach that tool, the
        # record hides all arguments.
        elif call.arguments is None or call.arguments == as_text(HIDDEN):
            made.unread += 1
            kept.append(call)
        else:
            today = judge.judge(call)
            hidden = list(_hidden_paths(json.loads(call.arguments))) if call.redacted else []
            made.redacted += bool(hidden)
            change = _compare(line, call, today, hidden)
            made.changes += [change] if change else []
            # The second run finds the values that differ each time, such as a new UUID. These
            # values are not written, because every later replay would report a change.
            kept.append(_updated_call(call, today, judge.judge(call), hidden) if update else call)
    if update:
        Path(path).write_bytes("".join(map(line_text, kept)).encode())
    return made


def _updated_call(
    call: RecordedCall, today: Judgement, again: Judgement, hidden: list[JsonPath]
) -> RecordedCall:
    """Return the updated line of a call. The call was judged twice; values that differ between the
    two runs are replaced by `VARIES`.
    """
    repairs, problems = _codes(today.repairs), _codes(today.problems)
    outcome = _outcome(problems, repairs).partition(" ")[0]
    made = replace(call, outcome=outcome, repairs=repairs, problems=problems)
    if any(_may_differ(each, call, hidden) for each in today.problems):
        # The call is refused because a value was left out of the record. The recorded outcome is
        # the one with the real value.
        return call if _same_codes(call, today, hidden) else made
    if today.values is None or again.values is None:
        return replace(made, values="null")
    return replace(
        made, values=as_text(_stable_value(json.loads(today.values), json.loads(again.values)))
    )


# --- comparing ----------------------------------------------------------------------------------


def _compare(
    line: int, call: RecordedCall, today: Judgement, hidden: list[JsonPath]
) -> Change | None:
    before = _outcome(call.problems, call.repairs)
    if not _same_codes(call, today, hidden):
        after = _outcome(_codes(today.problems), _codes(today.repairs))
        new_repairs = [each for each in today.repairs if each.code not in call.repairs]
        details = (
            *(f"{each.where}: {each.message}" for each in today.problems),
            *map(_repair_text, new_repairs),
        )
        advice = _advice(call, today)
        return Change(
            line=line, call=call, before=before, after=after, details=details, advice=advice
        )
    # "null" is written for a refused call. Only the problem codes of such a call can be compared.
    if call.values in (None, "null") or today.values is None:
        return None
    other = tuple(_differences(json.loads(call.values or ""), json.loads(today.values), ()))
    if not other:
        return None
    advice = "The tool now gets something else for the same call."
    return Change(
        line=line, call=call, before=before, after="other values", details=other, advice=advice
    )


def _repair_text(repair: Repair) -> str:
    return f"{repair.where}: {repair.code}"


def _same_codes(call: RecordedCall, today: Judgement, hidden: list[JsonPath]) -> bool:
    then_problems, then_repairs = Counter(call.problems), Counter(call.repairs)
    problems = Counter(each.code for each in today.problems if not _may_differ(each, call, hidden))
    repairs = Counter(each.code for each in today.repairs if not is_within(each.path, hidden))
    if call.values is not None:  # written by an update, from the arguments in the file
        return (
            Counter(_codes(today.problems)) == then_problems
            and Counter(_codes(today.repairs)) == then_repairs
        )
    if hidden:
        # The outcome for a value that was left out is unknown. All other problems of today must be
        # in the record.
        return problems <= then_problems and repairs <= then_repairs
    if call.dispatcher:
        # The record has the repairs of the dispatcher's own arguments. The arguments that it passed
        # on are already repaired.
        return problems == then_problems and repairs <= then_repairs
    return problems == then_problems and repairs == then_repairs


def _may_differ(problem: Problem, call: RecordedCall, hidden: list[JsonPath]) -> bool:
    """Return True if a problem may only be due to a value that was left out of the record."""
    if "nested-wrapper" in call.problems:
        # The wrapper itself may have been left out. Then it may contain the missing fields.
        return bool(hidden) and (problem.code == "missing" or is_within(problem.path, hidden))
    return problem.code != "unknown-key" and is_within(problem.path, hidden)


def _advice(call: RecordedCall, today: Judgement) -> str:
    if today.problems and not call.problems:
        return "Whoever sends this is refused from now on: go on accepting it, or tell them first."
    if call.problems and not today.problems:
        return "What was refused now reaches the tool: see that it may."
    return "The same call is now answered in another way."


def _missing_tool(line: int, call: RecordedCall, words: str) -> Change:
    before = _outcome(call.problems, call.repairs)
    advice = "Whoever calls it is refused from now on: keep the name, or tell them first."
    return Change(
        line=line, call=call, before=before, after="no such tool", details=(words,), advice=advice
    )


def _outcome(problems: Iterable[str], repairs: Iterable[str]) -> str:
    if codes := ", ".join(dict.fromkeys(problems)):
        return f"refused ({codes})"
    codes = ", ".join(dict.fromkeys(repairs))
    return f"repaired ({codes})" if codes else "passed"


def _codes(found: Iterable[Any]) -> tuple[str, ...]:
    return tuple(each.code for each in found)


def _stable_value(one: Any, other: Any) -> Any:
    """Return the value that two runs have in common. Each difference is replaced by `VARIES`."""
    pairs = _pairs(one, other)
    # If only one of the runs has a key, the key cannot be marked by itself. So the whole object is
    # marked.
    if pairs is None or any(_ABSENT in pair for pair in pairs.values()):
        return one if one == other else VARIES
    if isinstance(one, list):
        return [_stable_value(*pair) for pair in pairs.values()]
    return {key: _stable_value(*pair) for key, pair in pairs.items()}


def _differences(before: Any, after: Any, path: tuple[str | int, ...]) -> Iterator[str]:
    if before == VARIES or before is _ABSENT:  # absent: a new field with a default
        return
    pairs = _pairs(before, after)
    if pairs is not None:
        for step, pair in pairs.items():
            yield from _differences(*pair, (*path, step))
    elif _value_text(before) != _value_text(after):
        yield f"{path_text(path)}: {_value_text(before)} → {_value_text(after)}"


def _pairs(one: Any, other: Any) -> Mapping[Any, tuple[Any, Any]] | None:
    """Return pairs of the values that two objects have at the same key, or two arrays at the same
    position. Return None for values of other types, and for arrays of different lengths.
    """
    if is_object(one) and is_object(other):
        return {key: (one.get(key, _ABSENT), other.get(key, _ABSENT)) for key in (*one, *other)}
    if is_array(one) and is_array(other) and len(one) == len(other):
        return dict(enumerate(zip(one, other, strict=True)))
    return None


_ABSENT: Any = object()


def _value_text(value: Any) -> str:
    return "nothing" if value is _ABSENT else shorten(json.dumps(value, ensure_ascii=False), _ECHO)


def _hidden_paths(value: Any, path: JsonPath = ()) -> Iterator[JsonPath]:
    """Yield the paths at which secrets were left out. This includes paths inside JSON text."""
    if value == HIDDEN:
        yield path
    elif isinstance(value, dict | list):
        for step, each in children(value):
            yield from _hidden_paths(each, (*path, step))
    elif isinstance(value, str) and HIDDEN in value:
        try:
            yield from _hidden_paths(json.loads(value), path)
        except ValueError:
            yield path


# --- the report ---------------------------------------------------------------------------------


def _report(made: Replay) -> Iterator[str]:
    for like in _groups(made.changes):
        first, count = like[0], len(like)
        lines = f"line {first.line}" + (f" and {count - 1} more" if count > 1 else "")
        where = first.call.tool
        if first.call.dispatcher:
            where += f" (by {first.call.dispatcher})"
        yield f"{where}: {first.before} → {first.after} ({lines})"
        yield f"  sent {shorten(first.call.arguments or 'what could not be read', _ECHO)}"
        yield from (f"  {shorten(each, _ECHO)}" for each in first.details[:_MOST_LINES])
        yield f"  {first.advice}"
        yield ""
    yield _summary(made)


def _groups(changes: Iterable[Change]) -> Iterable[list[Change]]:
    # One change of a contract affects all recorded calls of its tool. So it is reported once, with
    # the number of calls.
    groups: dict[tuple[Any, ...], list[Change]] = {}
    for each in changes:
        key = (each.call.dispatcher, each.call.tool, each.before, each.after)
        groups.setdefault(key, []).append(each)
    return groups.values()


def _summary(made: Replay) -> str:
    compared = made.calls - made.unread
    said = [f"{compared - len(made.changes)} of {compared} calls mean the same."]
    if made.redacted:
        said.append(f"{made.redacted} hold redacted values, which were not compared.")
    if made.unread:
        said.append(f"{made.unread} were recorded without arguments and left out.")
    return " ".join(said)
