"""The same mistake in many rows, repairs before a refusal, and questions about names."""

import json
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, field_validator

from toolbooth import Limits, Verbatim, compile_function, handle_bytes


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


@pytest.mark.parametrize("count", [50, 500])
def test_same_mistake_in_very_many_rows_is_counted_in_all_of_them(count: int):
    also = f"(the same {count} times, also at $.lines[1].{{0}}, $.lines[2].{{0}})"
    assert lines(order, {"lines": [{"sku": "A", "colour": 1}] * count}) == [
        f'- $.lines[0].colour: there is no field "colour" {also.format("colour")}',
        'Declared fields of $.lines[0]: "sku" (text, required), "quantity" (integer).',
    ]
    assert lines(order, {"lines": [{"sku": "A", "quantity": "x"}] * count}) == [
        '- $.lines[0].quantity: must be an integer, got text "x"; e.g. 1; leave it out if unknown '
        + also.format("quantity")
    ]
    assert lines(order, {"lines": [{"sku": "A", "quantity": 0}] * count}) == [
        "- $.lines[0].quantity: must be at least 1; got 0; e.g. 1; leave it out if unknown "
        + also.format("quantity")
    ]
    assert lines(order, {"lines": [{"quantity": 1}] * count}) == [
        f"- $.lines[0].sku: is required, but was not sent {also.format('sku')}"
    ]


@pytest.mark.parametrize("count", [50, 500])
def test_typo_in_very_many_rows_is_counted_in_all_of_them_and_corrected(count: int):
    body = json.dumps({"lines": [{"sku": "A", "quantty": 2}] * count}).encode()
    result = handle_bytes(compile_function(order, limits=Limits(max_text=40_000)), body)
    assert result["content"][0]["text"].splitlines()[:2] == [
        f"Refused: {count} problems in the arguments of 'order'. Nothing was done.",
        '- $.lines[0].quantty: there is no field "quantty"; did you mean "quantity"?'
        f" (the same {count} times, also at $.lines[1].quantty, $.lines[2].quantty)",
    ]
    right = {"lines": [{"sku": "A", "quantity": 2}] * count}
    assert result["_meta"]["toolbooth"]["corrected"] == right


def test_other_mistakes_are_listed_after_forty_problems_and_counted_too():
    rows = [{"sku": "A", "colour": 1}] * 60 + [{"sku": {}, "size": 2}, {"size": 2}] * 5
    assert lines(order, {"lines": rows}) == [
        '- $.lines[0].colour: there is no field "colour"'
        " (the same 60 times, also at $.lines[1].colour, $.lines[2].colour)",
        "- $.lines[60].sku: must be text, got an object"
        " (the same 5 times, also at $.lines[62].sku, $.lines[64].sku)",
        '- $.lines[60].size: there is no field "size"'
        " (the same 10 times, also at $.lines[61].size, $.lines[62].size)",
        "- $.lines[61].sku: is required, but was not sent"
        " (the same 5 times, also at $.lines[63].sku, $.lines[65].sku)",
        'Declared fields of $.lines[0]: "sku" (text, required), "quantity" (integer).',
    ]


class Guest(BaseModel):
    address: str
    age: int = 0


def test_a_field_renamed_in_very_many_rows_is_not_missing_in_any_of_them():
    def invite(guests: list[Guest]) -> str:
        raise AssertionError("called")

    rows = [{"adress": "A", "age": {}}] * 60 + [{"adress": "A"}, {"age": 1}]
    text = "\n".join(lines(invite, {"guests": rows}))
    assert '"adress"; did you mean "address"? (the same 61 times' in text
    assert "- $.guests[61].address: is required, but was not sent\n" in text


def test_fields_in_wrappers_in_very_many_rows_are_not_missing():
    rows = [{"data": {"sku": "A"}}] * 100 + [{"data": '{"sku": "A"}', "colour": 1}] * 100
    text = "\n".join(lines(order, {"lines": rows}))
    assert 'not inside "data" (the same 200 times' in text
    assert "is required" not in text


def test_the_count_of_a_mistake_is_a_least_one_if_other_problems_are_not_listed():
    found = lines(order, {"lines": [{"quantity": 1}] * 1_500})
    assert found == [
        "- $.lines[0].sku: is required, but was not sent"
        " (the same at least 1000 times, also at $.lines[1].sku, $.lines[2].sku)",
        "- and 500 more",
    ]
    found = lines(order, {"lines": [{"sku": "A", f"k{n}": 1} for n in range(100)]})
    assert "\n- and " in "\n".join(found)


class Card(BaseModel):
    kind: Literal["card"]
    number: int


class Cash(BaseModel):
    kind: Literal["cash"]
    amount: int


def pay(payments: list[Card | Cash], note: str = "", days: list[int] | list[str] = []) -> str:  # noqa: B006
    raise AssertionError("called")


def test_mistakes_in_rows_of_several_forms_are_counted():
    cards = [{"kind": "card", "number": "x"}] * 45
    rows = [*cards, *[{"kind": "cash", "amount": "y"}] * 20, *cards]
    assert lines(pay, {"payments": rows, "note": {}})[:3] == [
        '- $.payments[0].number: must be an integer, got text "x"'
        " (the same at least 90 times, also at $.payments[1].number, $.payments[2].number)",
        "- $.note: must be text, got an object; leave it out if unknown",
        "- and 20 more",
    ]


class Batch(BaseModel):
    lines: list[Line]
    note: str = ""


class Plan(BaseModel):
    lines: list[Line]
    title: str = ""


def test_mistakes_in_one_form_of_a_union_are_counted():
    def tool(batch: Batch | Plan, days: list[int] = []) -> str:  # noqa: B006
        raise AssertionError("called")

    rows = [{"sku": "A", "quantity": "x"}] * 60
    batch = {"batch": {"lines": rows, "note": {}}, "days": [{}] * 10}
    for sent in (batch, {"days": batch["days"], "batch": batch["batch"]}):
        found = "\n".join(lines(tool, sent))
        assert "(the same 60 times, also at $.batch.lines[1].quantity" in found
        assert "(the same 10 times, also at $.days[1], $.days[2])" in found
        assert "$.batch.note: must be text, got an object" in found


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


# --- an empty wrapper, and the fields of an item ------------------------------------------------


def note(content: str, tags: list[str] = []) -> str:  # noqa: B006
    return content


def test_an_empty_object_under_an_unknown_name_is_left_out():
    contract = compile_function(note)
    result = handle_bytes(contract, b'{"content": "x", "arguments": {}}')
    assert result["content"][0]["text"].splitlines() == [
        "Refused: 1 problem in the arguments of 'note'. Nothing was done.",
        '- $.arguments: "arguments" is not a declared field and its value is a nested object. '
        'Leave "arguments" out',
        'Declared fields: "content" (text, required), "tags" (array of text).',
        "Left out: $.arguments ({} means no value).",
        'Send instead: {"content":"x"}',
    ]
    corrected = result["_meta"]["toolbooth"]["corrected"]
    assert handle_bytes(contract, json.dumps(corrected).encode())["content"][0]["text"] == "x"


def test_an_empty_object_that_may_mean_a_field_is_not_left_out():
    def tool(content: str, tags: list[str] = [], guest: Guest | None = None) -> str:  # noqa: B006
        raise AssertionError("called")

    for sent in ({"Tags": {}}, {"tgas": {}}, {"guest": {"address": "A", "content": {}}}):
        body = json.dumps({"content": "x", **sent}).encode()
        result = handle_bytes(compile_function(tool), body)
        assert "corrected" not in result["_meta"]["toolbooth"]


def test_a_call_with_nothing_but_an_empty_object_gets_the_form():
    assert lines(note, {"arguments": {}})[-1] == 'Form: {"content": "<text>"}'


def test_fields_of_an_item_beside_a_missing_array_belong_in_an_item():
    def tool(customer: str, lines: list[Line]) -> str:
        raise AssertionError("called")

    found = lines(tool, {"customer": "Ann", "sku": "A", "quantity": 2})
    assert found[:3] == [
        '- $.sku: there is no field "sku"; send it in an item of "lines", which is missing',
        '- $.quantity: there is no field "quantity"; send it in an item of "lines", '
        "which is missing",
        "- $.lines: is required, but was not sent",
    ]
    for other in ({"colour": 1}, {"data": {"a": 1}}):
        found = lines(tool, {"customer": "Ann", "sku": "A", **other})
        assert found[0] == '- $.sku: there is no field "sku"'


def test_no_item_is_suggested_for_an_array_without_objects():
    def tool(customer: str, rows: list[int]) -> str:
        raise AssertionError("called")

    assert lines(tool, {"customer": "Ann", "sku": "A", "size": 1})[0] == (
        '- $.sku: there is no field "sku"'
    )


# --- the same mistake in several places ---------------------------------------------------------


class Node(BaseModel):
    name: str = ""
    below: list["Node"] = []


def test_the_same_mistake_in_other_arrays_is_counted_apart():
    def tool(left: list[Node], right: list[Node]) -> str:
        raise AssertionError("called")

    wrong: dict[str, Any] = {"colour": 1}
    sent = {"left": [wrong] * 50 + [{"below": [wrong] * 50}], "right": [wrong] * 50}
    found = lines(tool, sent)[:3]
    assert [each.partition(":")[0] for each in found] == [
        "- $.left[0].colour",
        "- $.left[50].below[0].colour",
        "- $.right[0].colour",
    ]
    assert all("(the same 50 times, " in each for each in found)


def test_a_field_that_no_edit_fills_is_missing():
    def invite(customer: str, guests: list[Guest]) -> str:
        raise AssertionError("called")

    found = lines(invite, {"guests": [{"adress": "A", "age": {}}] * 60})
    assert [each for each in found if "is required" in each] == [
        "- $.customer: is required, but was not sent"
    ]


def test_a_wrong_item_of_an_array_of_two_forms_is_counted_after_many_problems():
    def tool(rows: list[Line], box: list[int] | tuple[str, str]) -> str:
        raise AssertionError("called")

    sent = {"rows": [{"sku": "A", "colour": 1}] * 60, "box": [1, "x", {}]}
    found = [each.partition(":")[0] for each in lines(tool, sent) if each.startswith("- ")]
    assert found == ["- $.rows[0].colour", "- and 2 more"]


class Address(BaseModel):
    street: str = ""


def test_a_key_that_three_objects_declare_is_not_moved_into_one_of_them():
    def ship(sender: Address, receiver: Address, payer: Address) -> str:
        raise AssertionError("called")

    found = lines(ship, {"sender": {}, "receiver": {}, "payer": {}, "street": "High Street"})
    assert found[0] == '- $.street: there is no field "street"'
    assert not any(each.startswith("Send instead") for each in found)
