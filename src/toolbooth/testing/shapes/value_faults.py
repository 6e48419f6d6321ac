"""Faults of one value: text where no text is declared, another JSON type, or a value that means
"nothing".

Each fault has the value that is sent instead, and the outcome that the law requires for the
declared type (docs/reference/law.md).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from toolbooth.jsonvalue import is_array, path_text
from toolbooth.shape import Field
from toolbooth.testing.shapes.call_places import CallPlace, with_value, without_key
from toolbooth.testing.shapes.expected import AgentShape, Draft

SECONDS = 1763164800


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One faulty value, with its expected outcome."""

    kind: str
    value: Any
    repairs: tuple[str, ...] = ()
    problem: str = ""
    means: Literal["the same", "nothing", "null"] = "the same"
    reading: Any = None
    """Only for a refused call: the one value that can be meant. None if there is no such value;
    `...` if the law leaves this open.
    """


def value_faults(draft: Draft) -> Iterator[AgentShape]:
    """Yield every fault for every value of the call."""
    for place in draft.places:
        if place.path:
            for fault in _faults(place):
                yield _shape(draft, place, fault)
            yield from _number_bytes(draft, place)
            yield from _swallowed(draft, place)
        if place.form is not None and not place.form.exclusive_paths:
            yield from _left_out(draft, place)


def _shape(draft: Draft, place: CallPlace, fault: Fault) -> AgentShape:
    path = path_text(place.path)
    sent = with_value(draft.arguments, place.path, fault.value)
    if fault.problem:
        # Pydantic's error list for a union has the errors of every branch, so the exact problems
        # are not known.
        said = None if place.mixed and fault.problem == "invalid" else [(fault.problem, path)]
        return draft.refused_shape(
            fault.kind,
            place.path,
            sent,
            said,
            corrected=_corrected(draft, place, fault),
            may_go_without=fault.reading is not None,
        )
    means = draft.arguments
    if fault.means == "nothing":
        means = without_key(draft.arguments, place.path)
    if fault.means == "null":
        means = with_value(draft.arguments, place.path, None)
    return draft.accepted_shape(
        fault.kind, place.path, sent, [(code, path) for code in fault.repairs], means=means
    )


def _corrected(draft: Draft, place: CallPlace, fault: Fault) -> Any:
    """Return the call with the value that was certainly meant."""
    if fault.reading is None or draft.corrected is None:
        return None
    if fault.reading is ... or draft.corrected is ...:
        return ...
    return with_value(draft.arguments, place.path, fault.reading)


def _left_out(draft: Draft, place: CallPlace) -> Iterator[AgentShape]:
    """Yield calls that send null or "" for an optional field. The correct call leaves this field
    out.
    """
    for key, field in absent(place):
        path = (*place.path, key)
        # The correct call does not send this field, so this field has no place in it yet.
        there = CallPlace(path=path, value=None, shape=field.shape, field=field)
        for fault in _nothings(there):
            filled = with_value(draft.arguments, place.path, {**place.value, key: fault.value})
            if fault.problem:
                yield draft.refused_shape(
                    fault.kind,
                    path,
                    filled,
                    [(fault.problem, path_text(path))],
                    corrected=draft.corrected,
                    may_go_without=True,
                )
            else:
                means = with_value(draft.arguments, place.path, {**place.value, key: None})
                means = means if fault.means == "null" else draft.arguments
                yield draft.accepted_shape(
                    fault.kind,
                    path,
                    filled,
                    [(code, path_text(path)) for code in fault.repairs],
                    means=means,
                )


def _swallowed(draft: Draft, place: CallPlace) -> Iterator[AgentShape]:
    """Yield a call in which a text also contains the next argument. A client causes this if a wrong
    tag ends the text.
    """
    text, field = place.value, place.field
    if not isinstance(text, str) or len(place.path) != 1 or field is None or field.verbatim:
        return
    host = str(place.path[0])
    others = [key for key in draft.arguments if key != host]
    # An argument that the correct call leaves out is preferred. Then no argument is missing, and
    # only the tag inside the text shows the fault.
    unsent = [key for key, _ in absent(draft.places[0])] or others
    if unsent and not place.shape.json_text:
        tags = f'</{host}>\n<parameter name="{unsent[0]}">'
        sent = {key: each for key, each in draft.arguments.items() if key != unsent[0]}
        yield draft.refused_shape(
            "swallowed",
            place.path,
            {**sent, host: f"{text}{tags}"},
            [("swallowed-argument", path_text(place.path))],
            corrected=None,
        )


def absent(place: CallPlace) -> Iterator[tuple[str, Field]]:
    """Yield the optional fields that an object leaves out.

    Fields of a flattened model are skipped if none of its fields is sent. Control arguments that
    are never repaired are skipped too. For these, null and "" do not mean "not sent".
    """
    assert place.form is not None
    declared = place.form.fields
    sent = [declared[key] for key in place.value if key in declared]
    groups = {field.model_path[:-1] for field in sent}
    for key in place.form.names:
        field = declared[key]
        is_known = field.required or field.shape.opaque or field.exact or field in sent
        if not is_known and (len(field.model_path) < 2 or field.model_path[:-1] in groups):
            yield key, field


def _faults(place: CallPlace) -> Iterator[Fault]:
    value = place.value
    if isinstance(value, dict | list):
        yield from _container(place)
    # "251" is a valid value if text is declared. If a number is declared, it is the text of a valid
    # value.
    if isinstance(value, dict) and not place.takes("string", "integer", "number"):
        yield Fault(kind="scalar-for-object", value="251", problem="wrong-type")
    if is_array(place.value):
        yield from _list(place, place.value)
    # Before the test for numbers, because `True` is an `int` in Python.
    if isinstance(value, bool):
        yield from _boolean(place, value=value)
    elif isinstance(value, int | float):
        yield from _number(place, value)
    elif isinstance(value, str) and not place.shape.json_text:
        yield from _text(place, value)
    if value is not None and not isinstance(value, dict | list) and not place.takes("array"):
        yield Fault(kind="list-for-scalar", value=[value], problem="wrong-type", reading=value)
    if place.field is None and not place.takes("null"):
        yield Fault(kind="null-item", value=None, problem="wrong-type")
    yield from _nothings(place)


def _container(place: CallPlace) -> Iterator[Fault]:
    """Yield JSON text of an object or array. Its meaning is clear only if no text is declared."""
    text = json.dumps(place.value)
    if place.shape.json_text:
        yield Fault(kind="json-text", value=text)
    elif not place.has_text:
        yield Fault(kind="json-text", value=text, repairs=("json-text",))
        yield Fault(kind="json-text-twice", value=json.dumps(text), repairs=("json-text",))
        # Text that was cut off at a token limit may have lost more than its last bracket. So no
        # value is suggested.
        yield Fault(kind="cut-text", value=text[:-1], problem="wrong-type")
        # Without text inside, Python and JSON write a value in the same way: `[1, 2]`.
        if "'" in (python := repr(place.value)):
            same = place.value
            yield Fault(kind="python-text", value=python, problem="wrong-type", reading=same)


def _list(place: CallPlace, value: list[Any]) -> Iterator[Fault]:
    texts = [each for each in value if isinstance(each, str) and each]
    if len(value) > 1 and len(texts) == len(value) and not place.has_text:
        joined = ",".join(texts)
        yield Fault(kind="comma-text", value=joined, problem="wrong-type", reading=value)
    if value and not place.takes("object"):
        numbered = dict(enumerate(value))
        yield Fault(kind="object-for-list", value=numbered, problem="wrong-type", reading=value)
    first = value[0] if value else None
    alone = isinstance(first, dict) or (
        # "null" and "" mean that the list is left out, and "[1]" is JSON text of a list. These are
        # other kinds of faults.
        isinstance(first, str) and first not in ("", "null") and not _holds_list(first)
    )
    if alone and not place.takes("string", "object"):
        yield Fault(kind="item-for-list", value=first, problem="wrong-type", reading=[first])


def _holds_list(text: str) -> bool:
    try:
        return isinstance(json.loads(text), list | str)
    except ValueError:
        return False


def _boolean(place: CallPlace, *, value: bool) -> Iterator[Fault]:
    if not place.has_text:
        yield _as_text(place, value)
        yield Fault(kind="yes-for-boolean", value="yes", problem="wrong-type", reading=True)
        name = str(value)
        yield Fault(kind="python-boolean", value=name, problem="wrong-type", reading=value)
    if not place.takes("integer", "number"):
        number = int(value)
        yield Fault(kind="number-for-boolean", value=number, problem="wrong-type", reading=value)


def _number(place: CallPlace, value: float) -> Iterator[Fault]:
    if not place.has_text:
        yield _as_text(place, value)
    if not place.takes("boolean"):
        yield Fault(kind="true-for-number", value=True, problem="wrong-type")


def _as_text(place: CallPlace, value: Any) -> Fault:
    text = json.dumps(value)
    if place.shape.strict:
        return Fault(kind="scalar-text", value=text, problem="wrong-type", reading=value)
    return Fault(kind="scalar-text", value=text, repairs=("scalar-text",))


def _text(place: CallPlace, value: str) -> Iterator[Fault]:
    shape = place.shape
    if shape.temporal:
        yield Fault(
            kind="number-text-for-date", value=str(SECONDS), problem="wrong-type", reading=...
        )
    if not place.takes("integer", "number"):
        kind = "number-for-date" if shape.temporal else "number-for-text"
        reading = ... if shape.temporal else str(SECONDS)
        yield Fault(kind=kind, value=SECONDS, problem="wrong-type", reading=reading)
    # Any text is valid where plain text is declared. An additional type such as `number` may also
    # accept the value.
    if shape.types > {"string", "null"} or not (shape.temporal or shape.constants):
        return
    if shape.temporal:
        yield Fault(kind="words-for-date", value="next Friday", problem="invalid")
    # Some enums declare both "ASC" and "asc". Then the other case is another valid value.
    elif value.swapcase() not in (shape.constants or ()):
        yield Fault(kind="enum-case", value=value.swapcase(), problem="invalid", reading=value)
        quoted = json.dumps(value)
        yield Fault(kind="enum-quoted", value=quoted, problem="invalid", reading=value)
    if "" not in (shape.constants or ()):
        yield Fault(kind="empty-date-or-enum", value="", problem="invalid", reading=...)


def _nothings(place: CallPlace) -> Iterator[Fault]:
    """Yield null, "" and similar values. What they mean depends on whether the field is
    optional.
    """
    if place.field is None or place.shape.opaque:
        return
    nullable = place.takes("null")
    if not nullable and place.optional:
        yield Fault(kind="null-optional", value=None, repairs=("null-optional",), means="nothing")
    elif not nullable:
        yield Fault(kind="null-required", value=None, problem="wrong-type")
    if place.has_text:
        return
    if place.optional:
        yield Fault(kind="empty-optional", value="", repairs=("empty-optional",), means="nothing")
        yield _null_text(place, nullable=nullable)
    else:
        yield Fault(kind="empty-required", value="", problem="wrong-type")
    yield Fault(kind="none-text", value="None", problem="wrong-type", reading=...)
    yield Fault(kind="placeholder", value="OMIT", problem="wrong-type")


def _null_text(place: CallPlace, *, nullable: bool) -> Fault:
    read = () if place.shape.json_text else ("json-text",)
    if nullable:
        return Fault(kind="null-text", value="null", repairs=read, means="null")
    return Fault(kind="null-text", value="null", repairs=(*read, "null-optional"), means="nothing")


def _number_bytes(draft: Draft, place: CallPlace) -> Iterator[AgentShape]:
    """Yield calls with numbers that Python's `json` would write differently. So these calls are
    made as bytes.
    """
    value, path = place.value, path_text(place.path)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return
    # From 2**53 on, a double cannot hold every integer, so `9007199254740993.0` might be another
    # number than was meant.
    if isinstance(value, int) and abs(value) < 2**53 and not place.takes("number"):
        yield draft.accepted_shape(
            "whole-float", place.path, _body_with_number(draft, place, f"{value}.0")
        )
    yield draft.refused_shape(
        "nan",
        place.path,
        _body_with_number(draft, place, "NaN"),
        [("not-json", "$")],
        corrected=None,
    )
    if not place.shape.decimal:  # a Decimal keeps all digits
        overflow = _body_with_number(draft, place, "1e999")
        yield draft.refused_shape(
            "overflow", place.path, overflow, [("lossy-number", path)], corrected=None, raw=True
        )


def _body_with_number(draft: Draft, place: CallPlace, literal: str) -> bytes:
    """Return the bytes of the call, with this literal in place of a number."""
    # A text that no correct call contains. Python's `json` has no way to write `NaN` or `1e999` at
    # one place only, so the number replaces it in the text.
    mark = "\0a number\0"
    marked = json.dumps(with_value(draft.arguments, place.path, mark))
    return marked.replace(json.dumps(mark), literal).encode()
