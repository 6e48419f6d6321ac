"""The contracts of the other files of `wire/`, by the names that their cases use, and those cases."""

import base64
import json
from collections import deque
from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Annotated, Any, Literal, Union
from uuid import UUID

from pydantic import (
    AfterValidator,
    AliasChoices,
    AliasPath,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Json,
    PlainValidator,
    SecretStr,
    WrapValidator,
    model_validator,
)
from wire_depths import Other, holding
from wire_outcomes import WIRE

from toolbooth import (
    Contract,
    JsonText,
    Unpack,
    Verbatim,
    compile_function,
    compile_json_schema,
    compile_model,
)


class Colour(Enum):
    red = "red"
    blue = "blue"


class Level(IntEnum):
    low = 1
    high = 2


class Strict(BaseModel):
    model_config = ConfigDict(strict=True)

    count: int
    ratio: float = 0.0
    flag: bool = False
    day: date | None = None
    tags: list[str] = []


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")

    name: str
    count: int = 0


class OpenIntegers(BaseModel):
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, int]

    name: str


class Ignoring(BaseModel):
    model_config = ConfigDict(extra="ignore")

    name: str
    age: int = 0


class Forbidding(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    age: int = 0


class Aliased(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    user_id: int = Field(alias="userId")
    email: str = Field(default="", validation_alias=AliasChoices("email", "mail", "e_mail"))


class ByAliasOnly(BaseModel):
    user_id: int = Field(alias="userId")


class ByPath(BaseModel):
    first: str = Field(validation_alias=AliasPath("names", 0))
    city: str = Field(default="", validation_alias=AliasPath("address", "city"))


class ByLast(BaseModel):
    last: int = Field(validation_alias=AliasPath("numbers", -1))


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    tricks: list[str] = []


class Lengthy(BaseModel):
    name: Annotated[str, AfterValidator(lambda text: text)]
    days: Annotated[
        list[str],
        BeforeValidator(lambda value: value.split(",") if isinstance(value, str) else value),
    ]
    count: Annotated[int, WrapValidator(lambda value, handler: handler(value))] = 0
    anything: Annotated[Any, PlainValidator(lambda value: value)] = None


class Rewritten(BaseModel):
    name: str
    age: int = 0

    @model_validator(mode="before")
    @classmethod
    def unwrap(cls, value: Any) -> Any:
        """An author who takes a wrapper on purpose."""
        return value["data"] if isinstance(value, dict) and list(value) == ["data"] else value


class Credentials(BaseModel):
    user: str
    password: SecretStr


class Node(BaseModel):
    label: str
    children: list["Node"] = []


class Address(BaseModel):
    street: str
    city: str = ""


class Customer(BaseModel):
    name: str
    address: Annotated[Address, Unpack(prefix="address_")]


def contact(email: str, first_name: str, last_name: str = ""): ...


def takes_data(data: dict[str, int], note: str = ""): ...


def takes_data_model(data: Ignoring): ...


def clock(
    day: date, at: datetime | None = None, hour: time | None = None, span: timedelta | None = None
): ...


def exact(price: Decimal, ratio: float = 0.0, count: int = 0): ...


def ids(id: UUID, other: UUID | None = None): ...


def enums(colour: Colour, level: Level = Level.low, either: Literal["a", 1] = "a"): ...


def anything(value: Any, other: Any = None): ...


def unions(
    number: int | float = 0, mixed: Union[int, list[int]] = 0, pet: Cat | Dog | None = None
): ...


def numbered(names: dict[int, str], prices: dict[UUID, int] = {}): ...  # noqa: B006


def many(items: Iterable[Ignoring]): ...


def parsed_item(payload: Json[Other], ratio: Json[float] = 0.0): ...


def by_key_or_listed(items: dict[str, Ignoring] | list[Ignoring] | None = None): ...


def queued(numbers: deque[int] = deque()): ...  # noqa: B006


def one_or_numbers(value: Dog | list[int]): ...


def tagged(pet: Annotated[Cat | Dog, Field(discriminator="kind")]): ...


def day_or_count(value: int | date): ...


def pair(point: tuple[int, int], rest: tuple[str, ...] = (), unique: set[int] = set()): ...  # noqa: B006


def bulk(records: list[Ignoring]): ...


def no_arguments(): ...


def verbatim(
    count: Annotated[int, Verbatim()] = 0,
    name: Annotated[str, Verbatim()] = "",
    tags: Annotated[list[str] | None, Verbatim()] = None,
): ...


def headers(
    url: str,
    headers: Annotated[dict[str, str] | None, JsonText(example={"User-Agent": "MyBot"})] = None,
): ...


def parsed(payload: Annotated[Json[dict[str, int]], Field(description='e.g. {"a": 1}')]): ...


def call_id(tool_call_id: str, meta: str = ""): ...


def declares_client_key(toolCallId: str = ""): ...


def lines(line_1: str = "", line_2: str = "", city: str = ""): ...


def order(customer: Annotated[Customer, Unpack()], quantity: int = 1): ...


def shipping(
    to: Annotated[Address, Unpack(prefix="to_")],
    back: Annotated[Address | None, Unpack(prefix="back_")],
): ...


def tree(root: Node): ...


def takes_open(item: Open): ...


def authored(item: Rewritten, note: str = ""): ...


def nullable_required(count: int | None, tags: list[str] | None): ...


def dates_optional(
    since: date | None = None, id: UUID | None = None, colour: Colour = Colour.red
): ...


FOREIGN_KEY = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "author": {
            "oneOf": [
                {"type": "string"},
                {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]},
            ]
        },
    },
    "required": ["title"],
}
OPEN_SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "count": {"type": "integer"}},
    "additionalProperties": True,
}
OPEN_INTEGERS = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "additionalProperties": {"type": "integer"},
}
COMBINED = {
    "type": "object",
    "allOf": [
        {"properties": {"name": {"type": "string"}}},
        {"properties": {"age": {"type": "integer"}}},
    ],
    "required": ["name"],
}
REFERRED = {
    "type": "object",
    "properties": {"item": {"$ref": "#/$defs/item"}},
    "$defs": {
        "item": {
            "type": "object",
            "properties": {"n": {"type": "integer"}, "next": {"$ref": "#/$defs/item"}},
        }
    },
}

FUNCTIONS = [
    contact, takes_data, takes_data_model, clock, exact, ids, enums, anything, unions, one_or_numbers, tagged,
    numbered, many, parsed_item, by_key_or_listed, queued, day_or_count, pair, bulk,
    no_arguments, verbatim, headers, parsed, call_id, declares_client_key, lines, order, shipping, tree, takes_open,
    authored, nullable_required, dates_optional,
]  # fmt: skip
CONTRACTS: dict[str, Contract] = {
    **{each.__name__: compile_function(each) for each in FUNCTIONS},
    **{
        each.__name__: compile_model(each)
        for each in (
            *(
                Strict,
                Open,
                OpenIntegers,
                Ignoring,
                Forbidding,
                Aliased,
                ByAliasOnly,
                ByPath,
                ByLast,
                Lengthy,
                Rewritten,
            ),
            Credentials,
        )
    },
    "foreign_key": compile_json_schema(FOREIGN_KEY),
    "open_schema": compile_json_schema(OPEN_SCHEMA),
    "open_integers": compile_json_schema(OPEN_INTEGERS),
    "combined": compile_json_schema(COMBINED),
    "referred": compile_json_schema(REFERRED),
    "nullable_schema": compile_json_schema(
        holding("n", {"anyOf": [{"type": "integer"}, {"type": "null"}]})
    ),
    "bare_schema": compile_json_schema({"type": "object"}),
}


def body_of(case: dict[str, Any]) -> bytes:
    if "base64" in case:
        return base64.b64decode(case["base64"])
    return case["text"].encode() if "text" in case else json.dumps(case["arguments"]).encode()


def single_cases() -> list[dict[str, Any]]:
    return [
        {"file": path.stem, **case}
        for path in sorted(WIRE.glob("*.json"))
        if path.stem != "everywhere"
        for case in json.loads(path.read_bytes())
    ]
