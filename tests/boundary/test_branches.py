"""Refusals of objects that may have several forms name every possible form."""

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, create_model

from toolbooth import compile_function, handle_bytes


class Card(BaseModel):
    kind: Literal["card"]
    number: str


class Cash(BaseModel):
    kind: Literal["cash", "coins"]
    amount: float
    note: str = ""


class Point(BaseModel):
    x: int
    label: str = ""


class Place(BaseModel):
    street: str
    city: str
    label: str = ""


def pay(method: Card | Cash) -> str:
    raise AssertionError("called")


def pay_tagged(method: Annotated[Card | Cash, Field(discriminator="kind")]) -> str:
    raise AssertionError("called")


def go(there: Point | Place) -> str:
    raise AssertionError("called")


FORMS = '"card" with "number"; "cash" or "coins" with "amount"'


def lines(tool: Any, arguments: Any) -> list[str]:
    result = handle_bytes(compile_function(tool), json.dumps(arguments).encode())
    return result["content"][0]["text"].splitlines()[1:]


def test_wrong_tag_is_reported_with_all_valid_tags():
    assert lines(pay, {"method": {"kind": "gold"}}) == [
        f'- $.method.kind: must be one of: {FORMS}; got "gold"'
    ]
    assert lines(pay_tagged, {"method": {"kind": "gold"}}) == [
        f'- $.method.kind: must be one of: {FORMS}; got "gold"'
    ]


def test_missing_tag_is_reported_with_all_valid_tags():
    assert lines(pay, {"method": {}})[:1] == [
        f"- $.method.kind: is required, but was not sent: {FORMS}"
    ]
    assert lines(pay_tagged, {"method": {"number": "1"}})[:1] == [
        f"- $.method.kind: is required, but was not sent: {FORMS}"
    ]


def test_a_valid_tag_limits_the_refusal_to_its_own_form():
    assert lines(pay, {"method": {"kind": "coins"}}) == [
        "- $.method.amount: is required, but was not sent"
    ]


def test_untagged_forms_are_reported_by_their_required_fields():
    assert lines(go, {"there": {"label": "home"}}) == [
        '- $.there.x: one of these is required, but none was sent: "x"; or "street" and "city"'
    ]
    assert lines(go, {"there": {"city": "Utrecht"}}) == [
        "- $.there.street: is required, but was not sent"
    ]


def test_unknown_key_in_a_union_is_reported_with_the_fields_of_all_forms():
    assert lines(go, {"there": {"zq": 1}})[:3] == [
        '- $.there.zq: there is no field "zq"',
        '- $.there.x: one of these is required, but none was sent: "x"; or "street" and "city"',
        'Declared fields of $.there: "x" (integer), "label" (text), "street" (text), "city" (text).',
    ]


def test_problems_in_a_recognised_form_are_reported_unchanged():
    assert lines(go, {"there": {"x": "far"}}) == ['- $.there.x: must be an integer, got text "far"']


def test_forms_beyond_the_listed_ones_are_counted():
    forms: Any = None
    for number in range(10):
        tag: Any = Literal[f"k{number}"]
        form: Any = create_model(f"Form{number}", kind=(tag, ...))
        forms = form if forms is None else forms | form

    def tool(it: forms) -> str:
        raise AssertionError("called")

    [line] = lines(tool, {"it": {"kind": "k"}})
    assert line.endswith('"k6"; "k7"; or 2 others; got "k"')
