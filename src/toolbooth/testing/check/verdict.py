"""Compares the outcome of a call with the law of the boundary (docs/reference/law.md). Returns the
deviation, or None if the outcome is right.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from toolbooth.boundary.read import text_as_object
from toolbooth.contract import DEFAULT_LIMITS
from toolbooth.jsonvalue import Json, JsonPath, is_array, is_object, path_text, shorten
from toolbooth.shape import ObjectShape, Shape
from toolbooth.testing.client.call import WireResult
from toolbooth.testing.client.tools import ServedTool
from toolbooth.testing.shapes.call_places import form_of, places
from toolbooth.testing.shapes.expected import AgentShape, found_text

Grade = Literal[
    "lost", "changed", "broken", "leaked", "guessed", "refused", "unexplained", "unrecorded"
]

GRADES: dict[Grade, str] = {
    "lost": "the tool ran, and something that was sent got lost",
    "changed": "the tool ran with other values than the meant ones",
    "broken": "the tool ran and failed",
    "leaked": "a secret was shown",
    "guessed": "the tool ran, but the call had to be refused",
    "refused": "a call with one meaning was refused",
    "unexplained": "refused, but without the call to send instead",
    "unrecorded": "read correctly, but the result does not record the right repair",
}
"""The grades of deviations. The worst come first."""

_ECHO = 160
# FastMCP writes "Error calling tool", the official SDK "Error executing tool", and a registry
# "failed unexpectedly" if the function of a tool raises an unexpected exception.
_CRASHES = re.compile(r"Error (calling|executing) tool|failed unexpectedly")
_OWN_WORDS = re.compile(r"Tool '.*' failed: ")
_HOSTS_REFUSAL = re.compile(r"validation errors? for|Input validation error", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """One call whose outcome is not the one that the law requires."""

    tool: str
    shape: AgentShape
    grade: Grade
    happened: str
    lost: int = 0
    """The number of keys that were lost in the call."""

    def __str__(self) -> str:
        shape = self.shape
        return "\n".join(
            [
                f"{self.tool}  {shape.id}: {shape.says} ({shape.source}, {shape.date})",
                f"    sent      {_one_line(shape.body.decode()) or 'nothing'}",
                f"    the law   {_one_line(str(shape.law))}",
                f"    happened  {self.happened}",
            ]
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """The outcome of the correct call. The outcomes of its malformed variants are compared with
    it.
    """

    result: WireResult
    steady: bool = True
    """True if results can be compared. False if the same call has a different result each time."""
    given: bool = True
    """True if the author gave the correct call. A call that was made from the schema may make no
    sense to the tool.
    """


def answer(result: WireResult) -> str:
    """Return the tool's own answer, without the additions of the boundary."""
    return json.dumps(
        [result.is_error, result.raw.get("content"), result.structured], sort_keys=True
    )


def is_refused(result: WireResult) -> bool:
    """Return True if the call did not reach the tool. Some hosts do not show whether it did."""
    return (
        bool(result.problems)
        # A JSON-RPC error takes the place of the result, and has no problems to read.
        or "error" in result.raw
        or (result.is_error and is_hosts_refusal(result))
    )


def is_hosts_refusal(result: WireResult) -> bool:
    """Return True if the host's own validation refused the call. It is recognised by the wording of
    Pydantic or JSON Schema.
    """
    return not result.problems and _HOSTS_REFUSAL.search(result.text) is not None


def judge(
    tool: ServedTool, shape: AgentShape, result: WireResult, reference: Reference | None
) -> Deviation | None:
    """Return how the outcome of a call deviates from the law. Return None if it does not.

    `reference` is the outcome of the correct call that means the same. It is None if there is no
    such call.
    """
    lost: list[JsonPath] = []
    if reference is None:
        sent = text_as_object(shape.body.decode(), DEFAULT_LIMITS) or {}
        lost = list(lost_keys(tool.contract.shape, sent, ()))
        found = _of_refusal(shape, result, lost)
    elif shape.kind == "correct":
        found = _of_correct(result, reference)
    else:
        found = _of_meaning(shape, result, reference)
    found = found or _of_secrets(tool, shape, result)
    if found is None:
        return None
    grade, happened = found
    return Deviation(tool=tool.label, shape=shape, grade=grade, happened=happened, lost=len(lost))


_Judgement = tuple[Grade, str]


def _of_refusal(shape: AgentShape, result: WireResult, lost: list[JsonPath]) -> _Judgement | None:
    if not result.problems and not is_refused(result):
        outcome = "failed:" if result.is_error else "answered"
        answered = f"it {outcome} {_one_line(result.text)}"
        if not lost:
            return "guessed", f"the tool ran on it; {answered}"
        count = "1 key was" if len(lost) == 1 else f"{len(lost)} keys were"
        return "lost", f"the tool ran and {count} lost ({_paths_text(lost)}); {answered}"
    if not result.problems:
        # Only refusals of the boundary have problems. The refusal of a host has only text.
        return "unexplained", f"refused, with {_one_line(result.text)}"
    law = shape.law
    # Sorted, because the law does not prescribe the order in which problems are reported.
    said = sorted((each.code, each.where) for each in result.problems)
    if law.problems is not None and said != sorted(law.problems):
        return "unexplained", f"refused, but for {found_text(said)}"
    goes_without = law.may_go_without and result.corrected is None
    if law.corrected is not ... and result.corrected != law.corrected and not goes_without:
        instead = "no corrected call"
        if result.corrected is not None:
            instead = f"to send {json.dumps(result.corrected)}"
        return "unexplained", f"refused, but it was told {_one_line(instead)}"
    return None


def _of_correct(result: WireResult, reference: Reference) -> _Judgement | None:
    if result.problems or is_hosts_refusal(result):
        return "refused", f"refused: {_one_line(result.text)}"
    # A call that was made from the schema may name a row that does not exist. If the tool answers
    # "no order 7", it works correctly.
    if not result.is_error or (not reference.given and _is_own_words(result.text)):
        return None
    return "broken", f"the tool breaks on what the wire delivers: {_one_line(result.text)}"


def _is_own_words(text: str) -> bool:
    """Return True if the tool itself returned an error, with its own text."""
    return _OWN_WORDS.search(text) is not None or _CRASHES.search(text) is None


def _of_meaning(shape: AgentShape, result: WireResult, reference: Reference) -> _Judgement | None:
    meant = reference.result
    if is_refused(meant):  # by the author's own validation, which must refuse this shape too
        if is_refused(result):
            return None
        return "guessed", f"the tool ran; it answered {_one_line(result.text)}"
    if is_refused(result):
        return "refused", f"refused: {_one_line(result.text)}"
    if reference.steady and answer(result) != answer(meant):
        if result.is_error:
            return "broken", f"the tool was run with it and failed: {_one_line(result.text)}"
        here, there = _one_line(result.text), _one_line(meant.text)
        return "changed", f"it answered {here}, but {there} to the correct call"
    said = sorted((each.code, each.where) for each in result.repairs)
    if said != sorted(shape.law.repairs) and not result.is_error:
        return "unrecorded", f"taken as meant, with {found_text(said) or 'nothing'} in its record"
    return None


def _of_secrets(tool: ServedTool, shape: AgentShape, result: WireResult) -> _Judgement | None:
    """Return a deviation if the refusal shows a secret of the call."""
    if (
        not result.problems
        or not tool.contract.shape.has_secret
        or not isinstance(shape.law.means, dict | None)
    ):
        return None
    sent = text_as_object(shape.body.decode(), DEFAULT_LIMITS) or {}
    secrets = [place.value for place in places(tool.contract.shape, sent) if place.shape.secret]
    shown = [
        each
        for each in secrets
        # Short secrets such as "x" are part of other words by chance.
        if isinstance(each, str) and len(each) > 3 and each in json.dumps(result.raw)
    ]
    return ("leaked", "the refusal shows a secret") if shown else None


def _paths_text(paths: list[JsonPath]) -> str:
    shown = ", ".join(path_text(path) for path in paths[:4])
    return f"{shown} and {len(paths) - 4} more" if len(paths) > 4 else shown


def lost_keys(shape: Shape, value: Any, path: JsonPath) -> Iterator[JsonPath]:
    """Yield the paths of undeclared keys. If an undeclared key is a wrapper, yield the paths of the
    keys inside it.
    """
    if is_object(value):
        form = form_of(shape.objects, value)
        if form is not None and not shape.opaque:
            yield from _lost_fields(form, value, path)
    elif is_array(value) and len(shape.arrays) == 1 and shape.arrays[0].items is not None:
        for index, each in enumerate(value):
            yield from lost_keys(shape.arrays[0].items, each, (*path, index))


def _lost_fields(form: ObjectShape, table: Json, path: JsonPath) -> Iterator[JsonPath]:
    for key, each in table.items():
        field = form.fields.get(key)
        if field is not None:
            yield from lost_keys(field.shape, each, (*path, key))
        elif form.additional is None:
            yield from _inside(each, (*path, key))


def _inside(value: Any, path: JsonPath) -> Iterator[JsonPath]:
    """Yield the paths of the keys inside a wrapper. Wrappers inside it are included."""
    inner = text_as_object(value, DEFAULT_LIMITS) or {}
    # In `{"data": {"attributes": {...}}}` both levels are wrappers. The author needs to know about
    # the fields inside, so only these fields count as lost.
    if len(inner) == 1 and text_as_object(next(iter(inner.values())), DEFAULT_LIMITS):
        for key, each in inner.items():
            yield from _inside(each, (*path, key))
    else:
        yield from [(*path, key) for key in inner] or [path]


def _one_line(text: str) -> str:
    return shorten(" ".join(text.split()), _ECHO)
