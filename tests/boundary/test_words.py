"""The messages of refusals about wrong values: whole messages, from real calls."""

import json
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from pydantic import BaseModel, BeforeValidator, Field, field_validator

from toolbooth import compile_function, compile_json_schema, handle_bytes


def lines(tool: Any, arguments: Any) -> list[str]:
    """Return the lines of a refusal after the first one."""
    contract = compile_function(tool) if callable(tool) else tool
    result = handle_bytes(contract, json.dumps(arguments).encode())
    assert result["isError"] is True, result
    return result["content"][0]["text"].splitlines()[1:]


# --- a type, an example, and the advice for an unknown value
# ----------------------------------------


class Address(BaseModel):
    street: str
    number: int = 1


def crm(
    employees: int | None = None,
    price: float = 1.5,
    tags: Annotated[list[str], Field(examples=[["vip"]])] = [],  # noqa: B006
    due: date | None = None,
    at: datetime | None = None,
    hour: time | None = None,
    wait: timedelta | None = None,
    ident: UUID | None = None,
    amount: Annotated[Decimal, Field(max_digits=4, decimal_places=2)] = Decimal(1),
    note: Annotated[str, Field(min_length=3, max_length=5)] = "text",
    sku: Annotated[str, Field(pattern=r"^[A-Z]{2}-\d+$")] = "AA-1",
    seats: Annotated[int, Field(ge=10, le=99, multiple_of=5)] = 10,
    rate: Annotated[float, Field(gt=0, lt=1)] = 0.5,
    few: Annotated[list[int], Field(min_length=1, max_length=2)] = [1],  # noqa: B006
    mode: Literal["a", "b"] = "a",
    address: Address | None = None,
    on: bool = False,
    name: str = "",
    pair: dict[str, int] = {},  # noqa: B006
) -> str:
    raise AssertionError("called")


OPTIONAL = "leave it out if unknown"

WRONG = {
    "words for an integer": (
        {"employees": "forty-five"},
        f'$.employees: must be an integer, got text "forty-five"; e.g. 2; {OPTIONAL}',
    ),
    "a fraction": (
        {"employees": 45.5},
        f"$.employees: must be an integer, got a number 45.5; e.g. 2; {OPTIONAL}",
    ),
    "true": (
        {"employees": True},
        f"$.employees: must be an integer, got true; e.g. 2; {OPTIONAL}",
    ),
    "the author's default": (
        {"price": "cheap"},
        f'$.price: must be a number, got text "cheap"; e.g. 1.5; {OPTIONAL}',
    ),
    "the author's example": (
        {"tags": 5},
        f'$.tags: must be an array, got an integer 5; e.g. ["vip"]; {OPTIONAL}',
    ),
    "a date": (
        {"due": "tomorrow"},
        f'$.due: must be a date; got "tomorrow"; e.g. "2026-11-15"; {OPTIONAL}',
    ),
    "an array for a date": (
        {"due": [1, 2]},
        f'$.due: must be a date as ISO 8601 text, got an array; e.g. "2026-11-15"; {OPTIONAL}',
    ),
    "a date and time": (
        {"at": "soon"},
        "$.at: must be a date and time as ISO 8601 text;"
        f' got "soon"; e.g. "2026-11-15T09:30:00Z"; {OPTIONAL}',
    ),
    "a time": (
        {"hour": "noon"},
        f'$.hour: must be a time as ISO 8601 text; got "noon"; e.g. "09:30:00Z"; {OPTIONAL}',
    ),
    "a duration": (
        {"wait": "5 minutes"},
        f'$.wait: must be a duration as ISO 8601 text; got "5 minutes"; e.g. "PT5M"; {OPTIONAL}',
    ),
    "a UUID": (
        {"ident": "x"},
        '$.ident: must be a UUID; got "x";'
        f' e.g. "0c2d8bd6-7a3c-4c57-9d3f-6f0f5c1a2b3d"; {OPTIONAL}',
    ),
    "a decimal": (
        {"amount": "x"},
        f'$.amount: must be a decimal number; got "x"; e.g. "1"; {OPTIONAL}',
    ),
    "too many digits": (
        {"amount": "12345"},
        f'$.amount: must have at most 4 digits; got "12345"; e.g. "1"; {OPTIONAL}',
    ),
    "too many decimal places": (
        {"amount": "1.234"},
        f'$.amount: must have at most 2 decimal places; got "1.234"; e.g. "1"; {OPTIONAL}',
    ),
    "too short": (
        {"note": "a"},
        f'$.note: must have at least 3 characters; got "a"; e.g. "text"; {OPTIONAL}',
    ),
    "too long": (
        {"note": "abcdef"},
        f'$.note: must have at most 5 characters; got "abcdef"; e.g. "text"; {OPTIONAL}',
    ),
    "a pattern": (
        {"sku": "x"},
        rf'$.sku: must match the pattern ^[A-Z]{{2}}-\d+$; got "x"; e.g. "AA-1"; {OPTIONAL}',
    ),
    "too small": (
        {"seats": 5},
        f"$.seats: must be at least 10; got 5; e.g. 10; {OPTIONAL}",
    ),
    "too large": (
        {"seats": 100},
        f"$.seats: must be at most 99; got 100; e.g. 10; {OPTIONAL}",
    ),
    "not a multiple": (
        {"seats": 12},
        f"$.seats: must be a multiple of 5; got 12; e.g. 10; {OPTIONAL}",
    ),
    "not above": ({"rate": 0}, f"$.rate: must be greater than 0; got 0; e.g. 0.5; {OPTIONAL}"),
    "not below": ({"rate": 1}, f"$.rate: must be less than 1; got 1; e.g. 0.5; {OPTIONAL}"),
    "too few items": ({"few": []}, f"$.few: must have at least 1 item; e.g. [1]; {OPTIONAL}"),
    "too many items": (
        {"few": [1, 2, 3]},
        f"$.few: must have at most 2 items; e.g. [1]; {OPTIONAL}",
    ),
    "a choice": ({"mode": "c"}, f'$.mode: must be "a" or "b"; got "c"; {OPTIONAL}'),
    "a number for a choice": (
        {"mode": 5},
        f'$.mode: must be "a" or "b", got an integer 5; {OPTIONAL}',
    ),
    "an object": (
        {"address": 5},
        f'$.address: must be an object, got an integer 5; e.g. {{"street": "text"}}; {OPTIONAL}',
    ),
    "a required field inside": (
        {"address": {"street": {"a": 1}}},
        "$.address.street: must be text, got an object",
    ),
    "a boolean": ({"on": "maybe"}, f'$.on: must be true or false, got text "maybe"; {OPTIONAL}'),
    "text, for which an example says nothing": (
        {"name": {"a": 1}},
        f"$.name: must be text, got an object; {OPTIONAL}",
    ),
    "a value of an open object": (
        {"pair": {"a": "x"}},
        '$.pair.a: must be an integer, got text "x"; e.g. 2',
    ),
}


@pytest.mark.parametrize(("arguments", "told"), WRONG.values(), ids=WRONG)
def test_wrong_value_is_reported_with_the_expected_type_and_an_example(arguments, told):
    assert lines(crm, arguments) == [f"- {told}"]


@pytest.mark.parametrize(("arguments", "told"), WRONG.values(), ids=WRONG)
def test_every_example_is_accepted(arguments, told):
    def accepted(**kwargs: Any) -> str:
        return "called"

    name, _, rest = told.partition(": ")
    if "; e.g. " not in rest or "." in name.removeprefix("$."):
        return
    value = json.loads(rest.partition("; e.g. ")[2].removesuffix(f"; {OPTIONAL}"))
    body = json.dumps({name.removeprefix("$."): value}).encode()
    assert handle_bytes(compile_function(crm), body, accepted)["isError"] is False


def test_nullable_required_field_suggests_null_last():
    def tool(employees: int | None) -> str:
        raise AssertionError("called")

    assert lines(tool, {"employees": "many"}) == [
        '- $.employees: must be an integer, got text "many"; e.g. 2; null if unknown'
    ]


def test_an_authors_own_message_is_sent_unchanged():
    class Stay(BaseModel):
        nights: int = 1

        @field_validator("nights")
        @classmethod
        def check(cls, nights: int) -> int:
            raise ValueError("no rooms are free.")

    def tool(stay: Stay) -> str:
        raise AssertionError("called")

    assert lines(tool, {"stay": {"nights": 2}}) == ["- $.stay.nights: no rooms are free.; got 2"]


def test_an_example_that_the_boundary_would_refuse_is_not_shown():
    def tool(
        sku: Annotated[str, Field(pattern=r"^\p{Lu}{2}$", examples=["aa"])],
        long: Annotated[list[int], Field(min_length=60)],
    ) -> str:
        raise AssertionError("called")

    assert lines(tool, {"sku": "a", "long": [1]}) == [
        '- $.sku: must match the pattern ^\\p{Lu}{2}$; got "a"',
        "- $.long: must have at least 60 items",
    ]


def test_a_foreign_schema_gets_the_same_messages():
    schema = {
        "type": "object",
        "properties": {
            "page": {"type": "integer", "minimum": 1, "description": "from 1"},
            "when": {"type": "string", "format": "date"},
            "sort": {"enum": ["up", "down"]},
        },
    }
    tool = compile_json_schema(schema, lambda arguments: "called", name="tool")
    assert lines(tool, {"page": 0}) == [f"- $.page: must be at least 1; got 0; e.g. 2; {OPTIONAL}"]
    assert lines(tool, {"when": ["a", "b"], "sort": 1}) == [
        f'- $.when: must be a date as ISO 8601 text, got an array; e.g. "2026-11-15"; {OPTIONAL}',
        f'- $.sort: must be "up" or "down", got an integer 1; {OPTIONAL}',
    ]


def test_declared_type_of_a_validated_field_is_reported_with_an_example():
    def tool(count: Annotated[int, BeforeValidator(lambda value: value)]) -> str:
        raise AssertionError("called")

    assert lines(tool, {"count": "x"}) == ['- $.count: must be an integer; got "x"; e.g. 2']


# --- possible meanings of a value, in words
# ---------------------------------------------------------

MEANINGS = {
    "thousands or a decimal comma": ({"price": "1,000"}, "send 1000 or 1.0, whichever is meant"),
    "thousands with a fraction": ({"price": "1,000.50"}, "send 1000.50 if that is the number"),
    "a decimal comma": ({"price": "12,5"}, "send 12.5 if that is the number"),
    "a currency": ({"price": "€ 5"}, "send 5 if that is the number"),
    "a currency code": ({"price": "EUR 5.50"}, "send 5.50 if that is the number"),
    "a currency behind": ({"price": "5 €"}, "send 5 if that is the number"),
    "a percentage": ({"price": "10%"}, "send 10 or 0.1, whichever is meant"),
    "a unit": ({"price": "3 kg"}, "send 3 if that is the number"),
    "a unit without a space": ({"price": "+3kg"}, "send 3 if that is the number"),
    "people": ({"employees": "45 people"}, "send 45 if that is the number"),
    "a unit within bounds": ({"seats": "20 seats"}, "send 20 if that is the number"),
    "names with commas": (
        {"tags": "vip, new"},
        'send ["vip", "new"] for 2 values, ["vip, new"] for one',
    ),
    "seconds": ({"due": 1798711200}, 'send "2026-12-31" if these are seconds since 1970 (UTC)'),
    "milliseconds as text": (
        {"due": "1798711200000"},
        'send "2026-12-31" if these are milliseconds since 1970 (UTC)',
    ),
}


@pytest.mark.parametrize(("arguments", "meaning"), MEANINGS.values(), ids=MEANINGS)
def test_a_value_with_more_than_one_reading_is_explained_in_words(arguments, meaning):
    [line] = lines(crm, arguments)
    assert line.endswith(f"; {meaning}")


NO_MEANING = {
    "a unit out of bounds": {"seats": "7 seats"},
    "a fraction for an integer": {"employees": "4.5 people"},
    "an identifier": {"employees": "x5"},
    "a version": {"price": "1.2.3"},
    "digits that are not a time": {"due": 17987},
    "digits for a duration": {"wait": 1798711200},
    "no names": {"tags": "a,,b"},
    "a long list": {"tags": "name, " * 30 + "name"},
}


@pytest.mark.parametrize("arguments", NO_MEANING.values(), ids=NO_MEANING)
def test_other_values_get_an_example(arguments):
    [line] = lines(crm, arguments)
    assert "; e.g. " in line
    assert "; send " not in line


def update(
    closes: Annotated[date | None, Field()] = date(2026, 1, 1),
    kind: Literal["a", "b"] | None = "a",
) -> str:
    raise AssertionError("called")


def test_placeholder_text_for_a_nullable_field_suggests_the_default_or_null():
    assert lines(update, {"closes": "N/A"}) == [
        '- $.closes: must be a date; got "N/A"; leave it out for "2026-01-01", null for none'
    ]
    assert lines(update, {"kind": ""}) == [
        '- $.kind: must be "a" or "b"; got ""; leave it out for "a", null for none'
    ]


def test_placeholder_for_an_optional_nullable_field_suggests_null():
    schema = {
        "type": "object",
        "properties": {
            "closes": {"type": ["string", "null"], "format": "date"},
            "count": {"type": ["integer", "null"]},
            "lines": {"type": ["array", "null"]},
            "place": {"type": ["object", "null"]},
        },
    }
    tool = compile_json_schema(schema, lambda arguments: "called", name="tool")
    for name, value in (("closes", 12.5), ("count", "N/A"), ("lines", "none"), ("place", "-")):
        [line] = lines(tool, {name: value})
        assert ("leave it out if unknown, null if there is none" in line) is isinstance(value, str)


def test_placeholder_text_for_a_required_nullable_value_suggests_null():
    def tool(count: int | None, closes: date | None) -> str:
        raise AssertionError("called")

    assert lines(tool, {"count": "none", "closes": "unknown"}) == [
        '- $.count: must be an integer, got text "none"; send null if there is none',
        '- $.closes: must be a date; got "unknown"; send null if there is none',
    ]
