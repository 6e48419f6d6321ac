"""The same mistake in many rows, repairs before a refusal, and questions about names."""

import json
from typing import Annotated, Any

from pydantic import BaseModel, Field, field_validator

from toolbooth import Verbatim, compile_function, handle_bytes


def lines(tool: Any, arguments: Any) -> list[str]:
    """Return the lines of a refusal after the first one."""
    result = handle_bytes(compile_function(tool), json.dumps(arguments).encode())
    assert result["isError"] is True, result
    return result["content"][0]["text"].splitlines()[1:]


def crm(
    employees: int | None = None,
    price: float = 1.5,
    tags: Annotated[list[str], Field(examples=[["vip"]])] = [],  # noqa: B006
) -> str:
    raise AssertionError("called")


# --- the same mistake in many rows --------------------------------------------------------------


class Line(BaseModel):
    sku: str
    quantity: int = Field(1, ge=1)


def order(lines: list[Line]) -> str:
    raise AssertionError("called")


def test_same_mistake_in_many_rows_is_reported_once():
    rows = [{"sku": "A", "quantity": f"q{n}"} for n in range(30)]
    assert lines(order, {"lines": rows}) == [
        '- $.lines[0].quantity: must be an integer, got text "q0"; e.g. 1; leave it out if unknown'
        " (the same 30 times, also at $.lines[1].quantity, $.lines[2].quantity)"
    ]


def test_different_mistakes_in_the_same_rows_are_reported_separately():
    rows = [{"sku": "A", "quantity": 0}, {"sku": {}}, {"sku": "A", "quantity": 0}, {}]
    assert lines(order, {"lines": rows}) == [
        "- $.lines[1].sku: must be text, got an object",
        "- $.lines[0].quantity: must be at least 1; got 0; e.g. 1; leave it out if unknown"
        " (the same 2 times, also at $.lines[2].quantity)",
        "- $.lines[3].sku: is required, but was not sent",
    ]


def test_wrapper_in_every_row_is_reported_once_and_corrected():
    rows = [{"data": {"sku": name}} for name in "abcd"]
    assert lines(order, {"lines": rows}) == [
        '- $.lines[0].data: "data" is not a declared field and its value is a nested object. '
        'Likely cause: a wrapper. Send "sku" directly in $.lines[0], not inside "data"'
        " (the same 4 times, also at $.lines[1].data, $.lines[2].data)",
        'Declared fields of $.lines[0]: "sku" (text, required), "quantity" (integer).',
        'Send instead: {"lines":[{"sku":"a"},{"sku":"b"},{"sku":"c"},{"sku":"d"}]}',
    ]


def test_validator_messages_are_reported_for_each_row_that_differs():
    class Row(BaseModel):
        name: str

        @field_validator("name")
        @classmethod
        def check(cls, name: str) -> str:
            raise ValueError(f"{name[:1]} is taken")

    def tool(rows: list[Row]) -> str:
        raise AssertionError("called")

    names = ["a", "b", "a"]
    assert lines(tool, {"rows": [{"name": name} for name in names]}) == [
        '- $.rows[0].name: a is taken; got "a" (the same 2 times, also at $.rows[2].name)',
        '- $.rows[1].name: b is taken; got "b"',
    ]


# --- repairs before the refusal -----------------------------------------------------------------


def test_repairs_are_listed_in_a_refusal():
    body = b'{"employees": "45", "tags": "[\\"a\\"]", "price": "cheap"}'
    result = handle_bytes(compile_function(crm), body)
    assert result["content"][0]["text"].splitlines()[1:] == [
        '- $.price: must be a number, got text "cheap"; e.g. 1.5; leave it out if unknown',
        "Accepted with a repair: $.employees (scalar-text), $.tags (json-text).",
    ]
    assert result["_meta"]["toolbooth"]["repaired"] == [
        {"code": "scalar-text", "path": "$.employees"},
        {"code": "json-text", "path": "$.tags"},
    ]


def test_a_verbatim_text_may_be_a_placeholder():
    def tool(text: Annotated[str, Verbatim()]) -> str:
        return text

    result = handle_bytes(compile_function(tool), b'{"text": "<text>"}')
    assert result["content"][0]["text"] == "<text>"


# --- one unknown key, and one field that is missing ---------------------------------------------


def test_an_unknown_key_whose_value_fits_the_missing_field_is_asked_about():
    def tool(customer: str, rows: list[int]) -> str:
        raise AssertionError("called")

    assert lines(tool, {"customer": "Ann", "items": [1]})[:2] == [
        '- $.items: there is no field "items"; did you mean "rows", which is missing?',
        "- $.rows: is required, but was not sent",
    ]
    assert lines(tool, {"customer": "Ann", "items": ["a"]})[:1] == [
        '- $.items: there is no field "items"'
    ]
