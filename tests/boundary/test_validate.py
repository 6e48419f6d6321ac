"""The author's validation: hoisted fields return to their models at every depth, and its messages
use wire names.
"""

import sys
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from types import FrameType
from typing import Annotated, Any

import pytest
from pydantic import AliasPath, BaseModel, ConfigDict, Field, model_validator

from toolbooth import (
    Contract,
    Unpack,
    compile_function,
    compile_model,
    handle_arguments,
    handle_bytes,
)


class Address(BaseModel):
    city: str
    zip: str = ""


class Order(BaseModel):
    id: int
    address: Annotated[Address, Unpack(prefix="to_")]


class OpenOrder(BaseModel):
    model_config = ConfigDict(extra="allow")
    id: int
    address: Annotated[Address | None, Unpack(prefix="to_")] = None


class Ledger(BaseModel):
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Order]
    name: str


class Plain(BaseModel):
    id: int
    note: str = ""


def outcome(function: Callable[..., Any], body: bytes) -> Any:
    """Return the value that the tool received, or the problems."""
    received: list[Any] = []
    result = handle_bytes(
        compile_function(function), body, lambda **values: received.append(values)
    )
    if not result["isError"]:
        return received[0]
    assert received == []
    return [
        (each["code"], each["path"], each["message"])
        for each in result["_meta"]["toolbooth"]["problems"]
    ]


# --- hoisted fields below the top level ---


def in_a_parameter(it: Order): ...
def in_an_optional(it: Order | None = None): ...
def in_a_list(it: list[Order]): ...
def in_a_union_of_models(it: Plain | Order): ...
def in_a_union_of_lists(it: list[int] | list[Order]): ...
def in_a_tuple(it: tuple[Order, int]): ...
def in_an_open_tuple(it: tuple[Order, ...]): ...
def in_a_dict(it: dict[str, Order]): ...
def in_a_dict_of_lists(it: dict[str, list[Order]]): ...
def in_the_rest_of_an_open_model(it: Ledger): ...
def in_an_open_model(it: OpenOrder): ...


SENT = b'{"id": 1, "to_city": "Bern"}'
MEANT = Order(id=1, address=Address(city="Bern"))


@pytest.mark.parametrize(
    ("tool", "sent", "meant"),
    [
        (in_a_parameter, SENT, MEANT),
        (in_an_optional, SENT, MEANT),
        (in_a_list, b"[%b]" % SENT, [MEANT]),
        (in_a_union_of_models, SENT, MEANT),
        (in_a_union_of_lists, b"[%b]" % SENT, [MEANT]),
        (in_a_tuple, b"[%b, 2]" % SENT, (MEANT, 2)),
        (in_an_open_tuple, b"[%b]" % SENT, (MEANT,)),
        (in_a_dict, b'{"a": %b}' % SENT, {"a": MEANT}),
        (in_a_dict_of_lists, b'{"a": [%b]}' % SENT, {"a": [MEANT]}),
        (in_the_rest_of_an_open_model, b'{"name": "n", "a": %b}' % SENT, Ledger(name="n", a=MEANT)),
        (in_an_open_model, SENT, OpenOrder(id=1, address=Address(city="Bern"))),
        (
            in_an_open_model,
            b'{"id": 1, "to_city": "Bern", "note": "n"}',
            OpenOrder(id=1, address=Address(city="Bern"), note="n"),
        ),
    ],
    ids=lambda value: value.__name__ if isinstance(value, Callable) else "",
)
def test_unpacked_field_returns_to_its_model_at_any_depth(tool, sent, meant):
    assert outcome(tool, b'{"it": %b}' % sent) == {"it": meant}


def test_a_plain_dict_beside_an_unpacked_field_is_left_as_it_is():
    def tool(it: Order, notes: dict[str, dict[str, int]]): ...

    assert outcome(tool, b'{"it": %b, "notes": {"a": {"b": 1}}}' % SENT) == {
        "it": MEANT,
        "notes": {"a": {"b": 1}},
    }


def test_object_for_a_number_is_reported_beside_an_unpacked_field():
    def tool(it: Order, count: int): ...

    assert outcome(tool, b'{"it": %b, "count": {"a": 1}}' % SENT) == [
        ("wrong-type", "$.count", "must be an integer, got an object; e.g. 2")
    ]


def test_an_array_where_an_object_with_an_unpacked_field_belongs_is_refused():
    def tool(it: Order): ...

    assert outcome(tool, b'{"it": [1]}') == [
        (
            "wrong-type",
            "$.it",
            'must be an object, got an array; e.g. {"id": 2, "to_city": "text"}',
        )
    ]


def test_an_exact_number_beside_an_unpacked_field_keeps_every_digit_in_a_union():
    class Priced(BaseModel):
        price: Decimal
        address: Annotated[Address, Unpack(prefix="to_")]

    def tool(it: Plain | Priced): ...

    for price in ("1e2", "0.1234567890123456789"):
        expected = Priced(price=Decimal(price), address=Address(city="Bern"))
        assert outcome(tool, b'{"it": {"price": %b, "to_city": "Bern"}}' % price.encode()) == {
            "it": expected
        }


def test_missing_hoisted_field_is_reported_by_its_wire_name():
    assert outcome(in_a_list, b'{"it": [{"id": 1}]}') == [
        ("missing", "$.it[0].to_city", "is required, but was not sent")
    ]


# --- the messages of the author's validation ---


class Both(BaseModel):
    low: Annotated[int, Field(gt=0)]
    high: Annotated[int, Field(gt=0)]


class High(BaseModel):
    low: int
    high: Annotated[int, Field(gt=10)]


def test_nearest_form_of_a_union_is_reported():
    def both_first(it: Both | High): ...
    def high_first(it: High | Both): ...

    for tool in (both_first, high_first):
        assert outcome(tool, b'{"it": {"low": -1, "high": -1}}') == [
            ("invalid", "$.it.high", "must be greater than 10; got -1")
        ]


def test_key_refused_by_its_type_is_reported_as_a_key():
    def tool(counts: dict[int, int], days: dict[date, int]): ...

    problems = outcome(tool, b'{"counts": {"a": 1}, "days": {"someday": 1}}')
    assert [each[:2] for each in problems] == [
        ("invalid", "$.counts.a"),
        ("invalid", "$.days.someday"),
    ]
    assert all(each[2].startswith("as a key: must be a") for each in problems)


class Checked(BaseModel):
    size: int

    @model_validator(mode="before")
    @classmethod
    def look(cls, given: Any) -> Any:
        return given


def test_undeclared_object_behind_a_validator_is_reported_as_a_wrapper():
    def tool(it: Checked): ...

    message = (
        '"data" is not a declared field and its value is a nested object. Likely cause: a wrapper. '
        'Send "size" directly in $.it, not inside "data"'
    )
    assert outcome(tool, b'{"it": {"data": {"size": 1}}}') == [
        ("nested-wrapper", "$.it.data", message)
    ]
    assert outcome(tool, rb'{"it": {"data": "{\"size\": 1}"}}') == [
        (
            "nested-wrapper",
            "$.it.data",
            message.replace("a nested object.", "a nested object as JSON text."),
        )
    ]
    assert outcome(tool, b'{"it": {"size": 1, "colour": "red"}}') == [
        ("unknown-key", "$.it.colour", 'there is no field "colour"')
    ]


def test_a_field_is_missing_if_the_wrapper_beside_it_does_not_contain_it():
    def tool(it: Checked): ...

    problems = outcome(tool, b'{"it": {"data": {"colour": "red"}}}')
    assert [each[:2] for each in problems] == [
        ("missing", "$.it.size"),
        ("nested-wrapper", "$.it.data"),
    ]


class Unwrapped(BaseModel):
    size: int

    @model_validator(mode="before")
    @classmethod
    def unwrap(cls, given: Any) -> Any:
        return given["data"]


def test_validator_that_fails_on_the_corrected_call_keeps_the_refusal():
    def tool(it: Annotated[Unwrapped, Unpack()]): ...

    problems = outcome(tool, b'{"data": {"size": 1}}')
    assert [each[:2] for each in problems] == [("nested-wrapper", "$.data")]


@pytest.mark.parametrize("step", [0, -1])
@pytest.mark.parametrize("sent", ['{"names": []}', '{"names": null}', "{}"])
def test_unresolved_alias_path_is_reported_only_as_missing(step: int, sent: str):
    class Picked(BaseModel):
        name: str = Field(validation_alias=AliasPath("names", step))

    contract = compile_model(Picked, lambda request: request.name)
    found = handle_bytes(contract, sent.encode())["_meta"]["toolbooth"]["problems"]
    assert [(each["code"], each["path"]) for each in found] == [("missing", f"$.names[{step}]")]


def frames_entered(contract: Contract, arguments: Any) -> int:
    """Count how often a Python frame is entered or resumed in one call."""
    entered = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal entered
        entered += event == "call"

    sys.setprofile(count)
    try:
        handle_arguments(contract, arguments)
    finally:
        sys.setprofile(None)
    return entered


@pytest.mark.parametrize(
    "record", [{"nmae": "x"}, {"data": {"name": "x"}}], ids=["typo", "wrapper"]
)
def test_the_work_of_a_refusal_grows_with_the_number_of_records_only(record: dict[str, Any]):
    class Record(BaseModel):
        name: str

    def tool(records: list[Record]): ...

    contract = compile_function(tool)
    few, many = ({"records": [record] * number} for number in (100, 400))
    assert frames_entered(contract, few) > 100
    assert frames_entered(contract, many) < 4.5 * frames_entered(contract, few)
