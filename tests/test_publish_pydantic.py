"""The published schemas of Python types: portable, and never longer than FastMCP's."""

import asyncio
import enum
import json
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, NamedTuple, Optional, Union
from uuid import UUID

import pytest
from fastmcp import Client, FastMCP
from published_schemas import ANY, INTEGER, NUMBER, STRING, Tree, assert_portable, exact
from pydantic import BaseModel, ConfigDict, Field, Json, SecretStr, StringConstraints, TypeAdapter

from toolbooth.publish import portable

# --- pydantic ---


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Point(NamedTuple):
    x: float
    y: float


class Address(BaseModel):
    """A postal address."""

    street: str
    zip: Annotated[str, StringConstraints(pattern=r"^\d{5}$")]
    country: Annotated[str, Field(description="ISO code", min_length=2, max_length=2)] = "DE"
    note: Optional[str] = None


class Contact(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str
    email: str | None = None
    address: Address
    tags: list[str] = []


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    breed: str


Pet = Annotated[Union[Cat, Dog], Field(discriminator="kind")]


def test_a_pydantic_signature_in_portable_form():
    def book(
        who: Annotated[Contact, Field(description="The guest")],
        pet: Pet | None,
        where: Point,
        by_colour: dict[Colour, int],
        payload: Json[list[int]],
        token: SecretStr,
        price: Decimal,
        anything: Any = None,
    ): ...

    address = {
        "type": "object",
        "description": "A postal address.",
        "properties": {
            "street": STRING,
            "zip": {**STRING, "pattern": r"^\d{5}$"},
            "country": {
                **STRING,
                "minLength": 2,
                "maxLength": 2,
                "description": "ISO code",
                "default": "DE",
            },
            "note": STRING,
        },
        "required": ["street", "zip"],
    }
    cat = {
        "kind": {**STRING, "enum": ["cat"], "default": "cat"},
        "lives": {**INTEGER, "default": 9},
    }
    dog = {"kind": {**STRING, "enum": ["dog"]}, "breed": STRING}
    decimal = TypeAdapter(Decimal).json_schema()["anyOf"]
    assert portable(exact(book)) == {
        "type": "object",
        "properties": {
            "who": {
                "type": "object",
                "description": "The guest",
                "properties": {
                    "name": STRING,
                    "email": STRING,
                    "address": address,
                    "tags": {"type": "array", "items": STRING, "default": []},
                },
                "required": ["name", "address"],
            },
            "pet": {
                "anyOf": [
                    {"type": "object", "properties": cat, "required": ["kind"]},
                    {"type": "object", "properties": dog, "required": ["kind", "breed"]},
                ],
                "description": "or null",
            },
            "where": {
                "type": "array",
                "minItems": 2,
                "maxItems": 2,
                "items": NUMBER,
                "description": "in order: X, Y",
            },
            "by_colour": {"type": "object", "properties": {"red": INTEGER, "blue": INTEGER}},
            "payload": {
                **STRING,
                "contentMediaType": "application/json",
                "description": 'JSON text: {"items": {"type": "integer"}, "type": "array"}',
            },
            "token": {**STRING, "description": "password"},
            "price": {"anyOf": decimal},
            "anything": ANY,
        },
        "required": ["who", "pet", "where", "by_colour", "payload", "token", "price"],
    }


# --- bytes ---


def scalars(name: str, age: int, weight: float, member: bool): ...
def no_arguments(): ...
def one_string(q: str): ...
def optionals(
    name: str | None = None, age: Optional[int] = None, since: date | None = None, limit: int = 10
): ...
def required_nullable(name: str | None, age: int | None): ...
def lists(ids: list[int], names: list[str], rows: list[list[float]], unique: set[int]): ...
def nested(contact: Contact, reason: Annotated[str, Field(description="Why")] = ""): ...


def described_twice(
    home: Annotated[Address, Field(description="Home")],
    work: Annotated[Address | None, Field(description="Work")] = None,
): ...
def enums(
    colour: Colour, size: Literal["s", "m", "l"], only: Literal["x"], level: Literal[1, 2] = 1
): ...


def dicts(
    counts: dict[str, int],
    headers: dict[str, str] | None,
    contacts: dict[str, Contact],
    free: dict[str, Any],
): ...
def unions(
    key: int | str,
    when: date | datetime | None,
    pet: Pet,
    either: Cat | list[Dog],
    amount: int | float,
): ...
def twice(sender: Contact, receiver: Contact, copies: list[Contact]): ...


def constraints(
    age: Annotated[int, Field(ge=0, le=150)],
    code: Annotated[str, Field(min_length=2, max_length=8, pattern="^[A-Z]+$")],
    share: Annotated[float, Field(gt=0, lt=1, multiple_of=0.05)],
    ids: Annotated[list[UUID], Field(min_length=1, max_length=20)],
): ...
def tuples(
    point: Point, pair: tuple[int, str], box: tuple[Point, Point], tail: tuple[int, ...] = ()
): ...
def recursive(tree: Tree, note: str = ""): ...


def coded(
    by_colour: dict[Colour, int],
    payload: Json[dict[str, int]],
    token: SecretStr,
    raw: bytes,
    price: Decimal,
): ...


# Not here: `Any`, a bare `list` and an enum of mixed types, where typed branches are worth their
# bytes (Claude Code sends text if there is no type, claude-code#82652, 2026-08-15); and a recursive
# model used twice, where FastMCP keeps the `$ref` that Copilot CLI does not resolve
# (copilot-cli#1876, 2026-03-06).
@pytest.mark.parametrize(
    "function",
    [
        scalars,
        no_arguments,
        one_string,
        optionals,
        required_nullable,
        lists,
        nested,
        described_twice,
        enums,
        dicts,
        unions,
        twice,
        constraints,
        tuples,
        recursive,
        coded,
    ],
    ids=lambda function: function.__name__,
)
def test_no_more_bytes_than_fastmcp_publishes(function: Any):
    async def listed() -> Any:
        host = FastMCP("host")
        host.tool(function)
        async with Client(host) as client:
            return (await client.list_tools())[0].input_schema

    made = portable(exact(function))
    assert_portable(made)
    assert len(json.dumps(made)) <= len(json.dumps(asyncio.run(listed())))
