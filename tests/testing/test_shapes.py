"""The catalogue: every shape that it creates for a tool gets from the boundary the outcome that the
law requires.
"""

import json
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from hypothesis import given, settings
from inline_snapshot import snapshot
from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

from toolbooth import (
    Contract,
    JsonText,
    Unpack,
    Verbatim,
    compile_function,
    compile_json_schema,
    compile_model,
)
from toolbooth.boundary.accept import accept_bytes
from toolbooth.boundary.repairs import CLIENT_KEYS
from toolbooth.errors import ToolInputError
from toolbooth.testing.client.delivery import NotJson
from toolbooth.testing.shapes import catalogue
from toolbooth.testing.shapes.agent_shapes import agent_shapes
from toolbooth.testing.shapes.catalogue import KINDS
from toolbooth.testing.shapes.expected import AgentShape, ExpectedOutcome
from toolbooth.testing.shapes.generate import arguments_for


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Place(BaseModel):
    street: str
    town: str
    zip_code: int | None = None


class Line(BaseModel):
    sku: str
    quantity: int = Field(1, ge=1)
    gift: bool = False


class Order(BaseModel):
    customer: str
    delivery: Place
    order_lines: list[Line]
    labels: list[str] = []
    priority: int = 0
    colour: Colour = Colour.RED
    due: date | None = None
    ratio: float = 1.5


ORDER = {
    "customer": "Ann",
    "delivery": {"street": "Dam 1", "town": "Utrecht"},
    "order_lines": [{"sku": "A-1", "quantity": 2, "gift": True}, {"sku": "B-2"}],
    "labels": ["urgent", "fragile"],
    "colour": "blue",
    "due": "2026-11-15",
}


def place_order(order: Annotated[Order, Unpack()], notify: bool = True) -> None: ...


def wrapped_order(order: Order) -> None: ...


@dataclass
class Point:
    x: int
    y: int = 0
    note: str = ""


class Strict(BaseModel):
    model_config = ConfigDict(strict=True)
    count: int
    ready: bool = False


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    tricks: list[str]


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    name: str
    size: int = 0


class Authored(BaseModel):
    tags: list[str]
    size: int = 0

    @field_validator("tags", mode="before")
    @classmethod
    def split(cls, value: Any) -> Any:
        return value.split(",") if isinstance(value, str) else value


def odd(
    pet: Annotated[Cat | Dog, Field(discriminator="kind")],
    either: Place | Point,
    text_or_list: str | list[str],
    headers: Annotated[dict[str, str], JsonText(example={"a": "b"})],
    count: Annotated[int, Verbatim()] = 1,
    prices: dict[str, Decimal] | None = None,
    pair: tuple[int, str] = (1, "a"),
    anything: Any = None,
    moment: datetime | None = None,
    ident: UUID | None = None,
) -> None: ...


ODD = {
    "pet": {"kind": "dog", "tricks": ["sit"]},
    "either": {"x": 1},
    "text_or_list": ["a"],
    "headers": {"a": "b"},
    "prices": {"EUR": 1.5},
    "pair": [1, "a"],
    "moment": "2026-11-15T10:00:00Z",
}

FOREIGN = {
    "type": "object",
    "properties": {
        "userId": {"type": "integer"},
        "launch-id": {"type": "string"},
        "filters": {"type": "object", "properties": {"from": {"type": "string", "format": "date"}}},
        "ids": {"type": "array", "items": {"type": "integer"}},
    },
    "required": ["userId"],
}


def login(user: str, password: SecretStr, place: Place | None = None) -> None: ...


CALLS: dict[str, tuple[Contract, dict[str, Any]]] = {
    "unpacked model": (compile_function(place_order), ORDER),
    "model as parameter": (compile_function(wrapped_order), {"order": ORDER}),
    "model": (compile_model(Order), ORDER),
    "only required": (
        compile_model(Order),
        {key: ORDER[key] for key in ("customer", "delivery", "order_lines")},
    ),
    "dataclass": (compile_model(Point), {"x": 1, "note": "n"}),
    "strict model": (compile_model(Strict), {"count": 1, "ready": True}),
    "open model": (compile_model(Open), {"name": "Ann", "further": {"a": 1}}),
    "author's validator": (compile_model(Authored), {"tags": ["a"], "size": 2}),
    "odd types": (compile_function(odd), ODD),
    "secret": (
        compile_function(login),
        {"user": "ann", "password": "s3cr3t", "place": ORDER["delivery"]},
    ),
    "JSON Schema": (
        compile_json_schema(FOREIGN, name="query"),
        {"userId": 1, "launch-id": "l", "filters": {"from": "2026-01-02"}, "ids": [1, 2]},
    ),
    "nothing to send": (compile_json_schema({"type": "object"}, name="now"), {}),
}


def became(contract: Contract, body: bytes) -> dict[str, Any]:
    """Return the boundary's outcome of a call."""
    try:
        values, repairs = accept_bytes(contract, body)
    except ToolInputError as error:
        return {
            "problems": sorted((each.code, each.where) for each in error.problems),
            "corrected": error.corrected,
        }
    return {"values": values, "repairs": sorted((each.code, each.where) for each in repairs)}


def prescribed(contract: Contract, shape: AgentShape, seen: dict[str, Any]) -> dict[str, Any]:
    """Return the outcome that the law requires; where the law leaves it open, the actual one."""
    law = shape.law
    if law.outcome != "refused":
        meant = became(contract, json.dumps(law.means).encode())
        return meant if "problems" in meant else {**meant, "repairs": sorted(law.repairs)}
    problems = seen.get("problems", "a refusal") if law.problems is None else sorted(law.problems)
    return {
        "problems": problems,
        "corrected": _corrected(law, seen.get("corrected")),
    }


def _corrected(law: ExpectedOutcome, seen: Any) -> Any:
    goes_without = law.may_go_without and seen is None
    return seen if law.corrected is ... or goes_without else law.corrected


def assert_all_as_prescribed(contract: Contract, arguments: dict[str, Any]) -> list[AgentShape]:
    shapes = agent_shapes(contract, arguments)
    for shape in shapes:
        seen = became(contract, shape.body)
        assert seen == prescribed(contract, shape, seen), f"{shape.id}: {shape.body.decode()}"
    return shapes


@pytest.mark.parametrize("name", CALLS)
def test_every_agent_shape_has_its_prescribed_outcome(name: str):
    contract, arguments = CALLS[name]
    shapes = assert_all_as_prescribed(contract, arguments)
    assert len({shape.id for shape in shapes}) == len(shapes)
    assert shapes[0].id == "correct"


@settings(derandomize=True, database=None, deadline=None, max_examples=25)
@given(arguments_for({**compile_function(odd).schema}))
def test_agent_shapes_of_any_correct_call_have_their_outcome(arguments: dict[str, Any]):
    contract = CALLS["odd types"][0]
    if "problems" not in became(contract, json.dumps(arguments).encode()):
        assert_all_as_prescribed(contract, arguments)


def test_every_kind_of_the_catalogue_is_made_for_some_tool():
    made = {
        shape.kind
        for contract, arguments in CALLS.values()
        for shape in agent_shapes(contract, arguments)
    }
    assert made == set(KINDS)


def test_the_client_keys_are_those_named_in_the_law():
    assert set(catalogue.CLIENT_KEYS) == CLIENT_KEYS


def test_every_shape_has_its_evidence_and_a_date():
    contract, arguments = CALLS["unpacked model"]
    for shape in agent_shapes(contract, arguments):
        assert shape.source
        assert date.fromisoformat(shape.date) <= date(2026, 11, 15)


def test_all_shapes_of_a_small_tool_are_listed():
    def rename(ident: int, new_name: str = "") -> None: ...

    shapes = agent_shapes(compile_function(rename), {"ident": 7, "new_name": "Ann"})
    assert {
        shape.id: (shape.body.decode(), str(shape.law))
        for shape in shapes
        if shape.path == "$.ident"
    } == snapshot(
        {
            "scalar-text@$.ident": (
                '{"ident": "7", "new_name": "Ann"}',
                "repaired: scalar-text at $.ident",
            ),
            "true-for-number@$.ident": (
                '{"ident": true, "new_name": "Ann"}',
                "refused: wrong-type at $.ident",
            ),
            "list-for-scalar@$.ident": (
                '{"ident": [7], "new_name": "Ann"}',
                'refused: wrong-type at $.ident; send instead {"ident": 7, "new_name": "Ann"}',
            ),
            "null-required@$.ident": (
                '{"ident": null, "new_name": "Ann"}',
                "refused: wrong-type at $.ident",
            ),
            "empty-required@$.ident": (
                '{"ident": "", "new_name": "Ann"}',
                "refused: wrong-type at $.ident",
            ),
            "none-text@$.ident": (
                '{"ident": "None", "new_name": "Ann"}',
                "refused: wrong-type at $.ident",
            ),
            "placeholder@$.ident": (
                '{"ident": "OMIT", "new_name": "Ann"}',
                "refused: wrong-type at $.ident",
            ),
            "whole-float@$.ident": ('{"ident": 7.0, "new_name": "Ann"}', "passed as it is"),
            "nan@$.ident": ('{"ident": NaN, "new_name": "Ann"}', "refused: not-json at $"),
            "overflow@$.ident": (
                '{"ident": 1e999, "new_name": "Ann"}',
                "refused: lossy-number at $.ident",
            ),
            "missing@$.ident": ('{"new_name": "Ann"}', "refused: missing at $.ident"),
            "duplicate-key@$.ident": (
                '{"ident": 7, "new_name": "Ann", "ident": 0}',
                "refused: duplicate-key at $",
            ),
        }
    )
    assert [shape.id for shape in shapes if shape.path == "$"] == snapshot(
        [
            "correct",
            "key-order",
            "arguments-text",
            "arguments-text-twice",
            "arguments-list",
            "no-arguments",
            "null-arguments",
            "empty-arguments",
            "arguments-as-key",
            "client-key/toolCallId",
            "client-key/_meta",
            "client-key/tool_call_description",
            "client-key/_as_extra",
            "unknown-key",
            "wrapper/data",
            "wrapper-text/data",
            "wrapper/params",
            "wrapper/request",
            "wrapper/arguments",
            "wrapper/args",
            "wrapper-text/args",
            "wrapper/input",
            "wrapper/body",
            "wrapper/payload",
            "wrapper/attributes",
            "wrapper/fields",
            "wrapper/parameters",
            "wrapper/rename",
            "wrapper-half",
            "wrapper-double",
            "camel-case",
            "pascal-case",
            "kebab-case",
            "misspelt",
        ]
    )


def test_shapes_without_a_call_use_an_example_from_the_schema():
    shapes = agent_shapes(CALLS["strict model"][0])
    assert shapes[0].arguments == {"count": 2, "ready": True}
    assert agent_shapes(CALLS["strict model"][0], {"count": 2, "ready": True}) == shapes


def test_call_that_is_not_json_is_refused_as_correct_call():
    with pytest.raises(NotJson, match="date is not JSON"):
        agent_shapes(CALLS["model"][0], {"due": date(2026, 11, 15)})


def test_a_corrected_call_that_would_show_a_secret_is_not_prescribed():
    contract, arguments = CALLS["secret"]
    laws = {shape.id: shape.law for shape in agent_shapes(contract, arguments)}
    assert laws["wrapper/data"].problems == (("nested-wrapper", "$.data"),)
    assert laws["wrapper/data"].corrected is None


def test_of_a_union_without_a_tag_only_the_refusal_is_prescribed():
    contract, arguments = CALLS["odd types"]
    laws = {shape.id: shape.law for shape in agent_shapes(contract, arguments)}
    assert laws["unknown-key@$.either"].problems is None
    assert laws["unknown-key@$.pet"].problems == (("unknown-key", "$.pet.zq_unheard_of"),)
    assert not [name for name in laws if name.endswith("@$.either.x")]
