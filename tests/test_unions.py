"""The branch of a union is the one that Pydantic's `validate_json` chooses on the closed type.

Every difference from that is of one of the kinds below, and the law requires each of them.
"""

import json
import re
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, is_dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cached_property
from ipaddress import IPv4Address
from typing import Annotated, Any
from uuid import UUID

import jsonschema_rs
import pytest
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    Json,
    OnErrorOmit,
    SecretStr,
    TypeAdapter,
    ValidationError,
)
from typing_extensions import TypeAliasType, TypedDict
from union_kinds import VALUES, WRAPPED, Level, Making, UnionKind, unions

from toolbooth import Contract, compile_function, handle_bytes

TYPES, CLOSED, STRICT = (
    Making(extra="ignore").types(),
    Making(extra="forbid").types(),
    Making(extra="forbid", strict=True).types(),
)
REFUSED = ("refused",)


def described(value: Any) -> tuple[Any, ...]:
    """Return a value with the types of all its parts."""
    name = type(value).__name__.partition("[")[0]
    if isinstance(value, BaseModel):
        fields = {key: described(each) for key, each in vars(value).items()}
        return name, fields, sorted(value.model_fields_set)
    if isinstance(value, dict):
        return name, [(described(key), described(each)) for key, each in value.items()]
    if isinstance(value, list | tuple | deque):
        return name, [described(each) for each in value]
    if isinstance(value, set | frozenset):
        return name, sorted(repr(described(each)) for each in value)
    if is_dataclass(value):
        return name, described(vars(value))
    if isinstance(value, SecretStr):
        return name, value.get_secret_value()
    return name, repr(value)


def judged(reference: TypeAdapter[Any], body: str) -> tuple[Any, ...]:
    """Return the value that a reference makes of JSON."""
    try:
        return described(reference.validate_json(body))
    except ValidationError:
        return REFUSED


@dataclass(frozen=True)
class Case:
    """One union, one value, and the outcome."""

    kind: UnionKind
    body: str
    contract: Contract
    ours: tuple[Any, ...]
    theirs: tuple[Any, ...]
    notes: dict[str, Any]

    @cached_property
    def codes(self) -> set[str]:
        """Return the codes of the problems or repairs."""
        return {
            each["code"] for part in ("problems", "repairs") for each in self.notes.get(part, ())
        }


def is_repaired(case: Case) -> bool:
    """A recorded repair was made, so the JSON that was validated is not the JSON that was sent."""
    return case.ours != REFUSED and bool(case.codes)


def is_not_published(case: Case) -> bool:
    """Pydantic accepts another JSON type than it publishes, such as a number for a date. We do not."""
    schema = jsonschema_rs.validator_for(case.contract.schema, validate_formats=True)
    return case.codes == {"wrong-type"} and not schema.is_valid({"v": json.loads(case.body)})


def is_strict(case: Case) -> bool:
    """Neither text nor a boolean is a number, and neither text nor a number is a boolean."""
    return case.ours == judged(TypeAdapter(case.kind.annotation(STRICT)), case.body)


def is_whole_number(case: Case) -> bool:
    """1e3 and 5.0 are the integers 1000 and 5, and so is a whole number that a float would change."""
    whole = re.sub(r"\b(5|\d{16,})\.0\b", r"\1", case.body.replace("1e3", "1000"))
    return case.ours == judged(TypeAdapter(case.kind.annotation(CLOSED)), whole)


def has_more_digits(case: Case) -> bool:
    """Digits beyond a float are kept in a Decimal and in an integer."""
    return REFUSED not in (case.ours, case.theirs) and rounded(case.ours) == rounded(case.theirs)


def rounded(value: tuple[Any, ...]) -> str:
    """Return a description with floats for Decimals and for long integers."""

    def as_float(found: re.Match[str]) -> str:
        return repr(float(found[1] or found[2]))

    return re.sub(r"Decimal\('([^']*)'\)|\b(\d{15,})\b", as_float, repr(value))


def has_merged_keys(case: Case) -> bool:
    """Pydantic keeps one of two values whose keys are equal; we refuse, or keep both."""
    return '"01"' in case.body and case.theirs != REFUSED


KINDS: list[Callable[[Case], bool]] = [
    has_more_digits,
    is_repaired,
    is_not_published,
    is_strict,
    is_whole_number,
    has_merged_keys,
]


def compiled(annotation: Any) -> tuple[Contract, list[Any]]:
    """The contract of a tool with one argument, and the argument it was called with."""
    received: list[Any] = []

    def take(v: Any) -> str:
        received.append(v)
        return "done"

    take.__annotations__["v"] = annotation
    return compile_function(take), received


def can_be_made(annotation: Any) -> bool:
    """Pydantic has no `left_to_right` for a union that collapses into one type."""
    try:
        TypeAdapter(annotation)
    except RuntimeError:
        return False
    return True


def cases(kind: UnionKind) -> list[Case]:
    """Send all values to one union."""
    contract, received = compiled(kind.annotation(TYPES))
    reference = TypeAdapter[Any](kind.annotation(CLOSED))
    made: list[Case] = []
    for value in VALUES:
        body = WRAPPED[kind.place](value)
        received.clear()
        result = handle_bytes(contract, b'{"v": %b}' % body.encode())
        notes = result.get("_meta", {}).get("toolbooth", {})
        ours = described(received[0]) if received else REFUSED
        made.append(Case(kind, body, contract, ours, judged(reference, body), notes))
    return made


def kind_of_difference(case: Case) -> str | None:
    return next((each.__name__ for each in KINDS if each(case)), None)


@pytest.mark.filterwarnings("ignore")  # from `ipaddress`, which gets booleans
@pytest.mark.parametrize(
    ("seed", "count"), [(13, 240), pytest.param(14, 1_000, marks=pytest.mark.long)]
)
def test_the_branch_of_a_union_is_the_one_that_validate_json_chooses(seed, count):
    compared, differences = 0, Counter[str]()
    for kind in unions(seed, count):
        if not can_be_made(kind.annotation(TYPES)):
            continue
        for case in cases(kind):
            compared += 1
            if case.ours != case.theirs:
                found = kind_of_difference(case)
                assert found is not None, (
                    kind.annotation(TYPES),
                    case.body,
                    case.ours,
                    case.theirs,
                )
                differences[found] += 1
    assert compared >= 10_000
    assert len(KINDS) <= 10


# --- single rules -----------------------------------------------------------------------------------------------


def outcome(annotation: Any, body: str) -> Any:
    """Return the value that the tool received, or the problems."""
    contract, received = compiled(annotation)
    result = handle_bytes(contract, b'{"v": %b}' % body.encode())
    if received:
        return received[0]
    return [(each["code"], each["path"]) for each in result["_meta"]["toolbooth"]["problems"]]


class Count(BaseModel):
    x: int


class Price(BaseModel):
    x: Decimal
    day: date | str = ""


UUID_TEXT = "12345678-1234-5678-1234-567812345678"
EXAMPLES: list[tuple[Any, str, Any]] = [
    (datetime | date, '"2026-01-01"', date(2026, 1, 1)),
    (UUID | str, f'"{UUID_TEXT}"', UUID(UUID_TEXT)),
    (str | UUID, f'"{UUID_TEXT}"', UUID(UUID_TEXT)),
    (date | str, '"2026-01-01"', date(2026, 1, 1)),
    (str | date, '"2026-01-01"', "2026-01-01"),
    (Decimal | str, '"1.50"', Decimal("1.50")),
    (timedelta | str, '"P1D"', timedelta(days=1)),
    (IPv4Address | int, "5", 5),
    (IPv4Address | bool, "true", True),
    (Count | dict[str, int], '{"x": 1}', Count(x=1)),
    (dict[str, int] | Count, '{"x": 1}', {"x": 1}),
    (Count | dict[str, int], '{"x": 1, "z": 2}', {"x": 1, "z": 2}),
    (set[str] | list[str], '["a"]', {"a"}),
    (dict[str | UUID, int], f'{{"{UUID_TEXT}": 1}}', {UUID(UUID_TEXT): 1}),
    (Json[date | str] | int, '"\\"2026-01-01\\""', date(2026, 1, 1)),
]


@pytest.mark.parametrize(
    ("annotation", "body", "value"), EXAMPLES, ids=[f"{each[0]}-{each[1]}" for each in EXAMPLES]
)
def test_a_value_that_fits_several_branches_gets_the_one_of_pydantics_json_mode(
    annotation, body, value
):
    received = outcome(annotation, body)
    assert (received, type(received)) == (value, type(value))


LONG = "0.12345678901234567890123"
DIGITS: list[tuple[Any, str, Any]] = [
    (Decimal | str, LONG, Decimal(LONG)),
    (Decimal | str, "1e400", Decimal("1e400")),
    (list[Decimal | str], f"[{LONG}1, {LONG}2, 0.12345678901234568]", None),
    (list[Decimal | str], f"[{LONG}, 0.25, 0.1, 0.1000000000000000000000001]", None),
    (list[Decimal | str], "[1e400, 1e401, 1e-400, 1e-401, -1e400]", None),
    (Price | dict[str, Decimal], f'{{"x": {LONG}}}', Price(x=Decimal(LONG))),
    (dict[str, Decimal] | Count, f'{{"y": {LONG}}}', {"y": Decimal(LONG)}),
    (float | Decimal, LONG, float(LONG)),
    (float | Decimal, "1e400", Decimal("1e400")),
    (list[int] | list[str], "[12345678901234567890.0, 1e0]", [12345678901234567890, 1]),
    (list[int] | set[str], "[123456789012345678901234567890]", [123456789012345678901234567890]),
    (list[int] | list[str], "[1e400]", [("lossy-number", "$.v[0]")]),
    (Annotated[Decimal, Field(gt=Decimal(LONG))] | str, LONG, [("invalid", "$.v")]),
    (Annotated[str, Field(coerce_numbers_to_str=True)] | list[int], LONG, LONG),
]


@pytest.mark.parametrize(
    ("annotation", "body", "value"), DIGITS, ids=[f"{each[0]}-{each[1]}" for each in DIGITS]
)
def test_every_digit_of_a_decimal_and_of_an_integer_is_kept_in_a_union(annotation, body, value):
    expected = json.loads(body, parse_float=Decimal) if value is None else value
    received = outcome(annotation, body)
    assert (received, type(received)) == (expected, type(expected))


def test_a_decimal_in_a_union_with_code_of_the_author_is_still_validated_once():
    calls: list[Any] = []

    def note(value: Any) -> Any:
        calls.append(value)
        return value

    annotation = Annotated[Decimal | str, AfterValidator(note)]
    assert outcome(list[annotation] | set[annotation], f"[{LONG}]") == [Decimal(LONG)]
    # Pydantic tries every branch; each of the two runs the validator once.
    assert calls == [Decimal(LONG), Decimal(LONG)]
    calls.clear()
    assert outcome(Annotated[UUID | str, BeforeValidator(note)], '"a"') == "a"
    assert calls == ["a"]


def test_float_made_by_a_validator_is_accepted_as_is():
    annotation = Annotated[float | str, BeforeValidator(lambda value: 0.25)]
    assert outcome(dict[str, Decimal | annotation], f'{{"a": {LONG}, "b": "x"}}')["b"] == 0.25


Whole = list[int] | list[float]


@pytest.mark.parametrize(
    ("annotation", "body", "value"),
    [
        (Whole, "[5.0]", [5.0]),
        (Whole, "[5]", [5]),
        (list[int] | set[str], "[5.0]", [5]),
        (Level | int, "5.0", Level.HIGH),
        (Level | int, "5", 5),
        (Count | list[str], '{"x": 5.0}', Count(x=5)),
    ],
    ids=str,
)
def test_a_whole_number_with_a_point_does_not_choose_the_branch_for_integers(
    annotation, body, value
):
    received = outcome(annotation, body)
    assert repr(received) == repr(value)


def test_equal_keys_are_reported_beside_an_omitted_value():
    annotation = dict[int, OnErrorOmit[Annotated[int, Field(gt=0)]]]
    assert outcome(annotation, '{"9": -5, "1": 5, "01": 6}') == [("conflicting-keys", '$.v["01"]')]
    assert outcome(annotation, '{"1": -5, "01": 6}') == {1: 6}


def test_equal_keys_are_named_even_if_another_branch_is_nearer():
    annotation = list[timedelta | dict[int, str] | dict[str, int]]
    assert ("conflicting-keys", '$.v[0]["01"]') in outcome(annotation, '[{"1": "a", "01": "b"}]')


def test_equal_keys_of_a_named_type_are_refused_without_their_names():
    number = TypeAliasType("number", int)
    annotation = tuple[dict[number, int], number]
    assert outcome(annotation, '[{"1": 5, "01": 6}, 5]') == [("conflicting-keys", "$.v[0]")]


def test_a_dict_of_another_class_keeps_its_class():
    received = outcome(Counter[int], '{"1": 5}')
    assert (received, type(received)) == (Counter({1: 5}), Counter)
    received = outcome(OrderedDict[int, str], '{"1": "a"}')
    assert (received, type(received)) == (OrderedDict({1: "a"}), OrderedDict)


Nested = TypeAliasType("Nested", "list[Nested] | IPv4Address | int")


def test_a_recursive_union_is_validated_like_any_other():
    assert outcome(Nested, '[5, ["127.0.0.1"]]') == [5, [IPv4Address("127.0.0.1")]]


def test_a_typed_dict_used_in_two_places_is_published():
    class Table(TypedDict):
        x: int

    schema = compiled(list[Table] | Table)[0].schema
    assert schema["properties"]["v"] == {
        "anyOf": [{"items": {"$ref": "#/$defs/Table"}, "type": "array"}, {"$ref": "#/$defs/Table"}]
    }
