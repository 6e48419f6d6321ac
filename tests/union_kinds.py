"""Types, unions of them and JSON values, for `test_unions.py`.

Each type exists as an author writes it, and as the reference has it: closed (`extra="forbid"`). A
second reference has strict numbers and booleans: it shows the effect of the strictness of the law.
"""

import random
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from ipaddress import IPv4Address, IPv6Network
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, Optional, Union
from uuid import UUID

from pydantic import (
    AnyUrl,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Json,
    RootModel,
    SecretStr,
    Strict,
    StringConstraints,
    Tag,
    create_model,
    with_config,
)
from pydantic.dataclasses import dataclass as pydantic_dataclass
from typing_extensions import TypedDict

Extra = Literal["ignore", "forbid"]


class Level(IntEnum):
    LOW = 1
    HIGH = 5


class Colour(StrEnum):
    RED = "red"
    DAY = "2026-01-01"


class Odd(Enum):
    ONE = 1
    TEXT = "5"


def kind_of(value: Any) -> str:
    """A discriminator by the author's own code."""
    return "list" if isinstance(value, list) else "object"


@dataclass(frozen=True)
class Making:
    """Options for creating the types."""

    extra: Extra
    strict: bool = False

    def types(self) -> list[Any]:
        """All types that the unions contain."""
        strict = [Strict()] if self.strict else []
        # Not `bool`, `int`, `float` themselves, so that they can be made strict.
        whole: Any = Annotated[int, Field(), *strict]
        number: Any = Annotated[float, Field(), *strict]
        truth: Any = Annotated[bool, Field(), *strict]
        config = ConfigDict(extra=self.extra)

        def model(name: str, **fields: Any) -> Any:
            return create_model(name, __config__=config, **fields)

        count = model("Count", x=(whole, ...), y=(whole, 0))
        ratio = model("Ratio", x=(number, ...))
        day = model("Day", x=(date, ...), y=(number, 0.5))
        money = model("Money", x=(Decimal, ...), y=(str, ""))
        text = model("Words", x=(str, ...))
        mixed = model("Mixed", x=(datetime | date | whole | None, None), z=(UUID | str, ""))
        strict_model = create_model(
            "Exacting", __config__=ConfigDict(extra=self.extra, strict=True), x=(date, ...)
        )

        @pydantic_dataclass(config=config)
        class Pair:
            x: whole
            y: str = ""

        @with_config(config)
        class Table(TypedDict):
            x: whole
            y: NotRequired[number]

        class Point(NamedTuple):
            x: whole
            y: whole = 0

        cat = model("Cat", kind=(Literal["cat"], "cat"), x=(whole, 0))
        dog = model("Dog", kind=(Literal["dog"], "dog"), x=(date | str, ""))
        tagged: Any = Annotated[cat | dog, Field(discriminator="kind")]
        called: Any = Annotated[
            Annotated[list[whole], Tag("list")] | Annotated[count, Tag("object")],
            Discriminator(kind_of),
        ]
        return [
            whole,
            number,
            truth,
            str,
            None,
            Any,
            bytes,
            Decimal,
            date,
            datetime,
            time,
            timedelta,
            UUID,
            IPv4Address,
            IPv6Network,
            AnyUrl,
            Path,
            SecretStr,
            Level,
            Colour,
            Odd,
            Literal["a", "red", 5],
            Literal[1, True],
            Annotated[whole, Field(gt=3)],
            Annotated[str, Field(max_length=3)],
            Annotated[str, StringConstraints(to_upper=True, strip_whitespace=True)],
            Annotated[Decimal, Field(max_digits=4)],
            Json[whole | date],
            list[whole],
            list[number],
            list[str],
            list[date | whole],
            set[str],
            frozenset[whole],
            deque[whole],
            tuple[whole, str],
            tuple[number, ...],
            dict[str, whole],
            dict[str, Any],
            dict[str, Decimal],
            dict[int, str],
            dict[date | str, whole],
            dict[int | bytes, str],
            dict[UUID, datetime | date],
            count,
            ratio,
            day,
            money,
            text,
            mixed,
            strict_model,
            Pair,
            Table,
            Point,
            RootModel[whole],
            RootModel[list[date | str]],
            tagged,
            called,
            Annotated[UUID | str, BeforeValidator(lambda value: value)],
        ]


PLACES: list[Callable[[Any], Any]] = [
    lambda union: union,
    lambda union: list[union],
    lambda union: dict[str, union],
    lambda union: Optional[union],
    lambda union: tuple[union, int],
    lambda union: Annotated[union, Field(union_mode="left_to_right")],
    lambda union: Annotated[union, BeforeValidator(lambda value: value)],
    lambda union: Union[list[union], union],
    lambda union: create_model("Holder", x=(union, ...), y=(union | None, None)),
]
WRAPPED: list[Callable[[str], str]] = [
    lambda value: value,
    lambda value: f"[{value}, {value}]",
    lambda value: f'{{"k": {value}}}',
    lambda value: value,
    lambda value: f"[{value}, 5]",
    lambda value: value,
    lambda value: value,
    lambda value: f"[{value}]",
    lambda value: f'{{"x": {value}, "y": {value}}}',
]
"""The JSON for each of PLACES, around the JSON of a value."""


@dataclass(frozen=True)
class UnionKind:
    """Some types, by their index, and the place of their union."""

    members: tuple[int, ...]
    place: int

    def annotation(self, types: list[Any]) -> Any:
        union: Any = types[self.members[0]]
        for index in self.members[1:]:
            union = Union[union, types[index]]
        return PLACES[self.place](union)


def unions(seed: int, count: int) -> Iterator[UnionKind]:
    """Yield random unions of two to four types, at random places."""
    total = len(Making("ignore").types())
    chosen = random.Random(seed)
    for _ in range(count):
        members = tuple(chosen.sample(range(total), chosen.choice([2, 2, 2, 3, 3, 4])))
        yield UnionKind(members, chosen.choice([0, 0, *range(len(PLACES))]))


VALUES = [
    "0",
    "1",
    "5",
    "5.0",
    "-1.5",
    "86400",
    "1e3",
    "0.1234567890123456789",
    "12345678901234567890123",
    "9007199254740993.0",
    "true",
    "null",
    '""',
    '"a"',
    '"red"',
    '"5"',
    '" 5 "',
    '"true"',
    '"1.50"',
    '"2026-01-01"',
    '"2026-01-01T00:00:00"',
    '"2026-01-01T10:00:00Z"',
    '"10:00"',
    '"P1D"',
    '"12345678-1234-5678-1234-567812345678"',
    '"127.0.0.1"',
    '"2001:db8::/32"',
    '"https://example.com"',
    '"notes/x.txt"',
    "[]",
    "[1, 2]",
    "[1.0, 2]",
    '["a", "b"]',
    '[1, "a"]',
    '["2026-01-01", 5]',
    "[0.1234567890123456781, 0.1234567890123456782, 0.12345678901234568]",
    "{}",
    '{"x": 1}',
    '{"x": 1.0}',
    '{"x": 1, "y": 2}',
    '{"x": 1, "z": 2}',
    '{"x": "2026-01-01"}',
    '{"x": 0.1234567890123456789}',
    '{"x": "a", "y": "b"}',
    '{"1": "a"}',
    '{"1": "a", "01": "b"}',
    '{"2026-01-01": 5}',
    '{"12345678-1234-5678-1234-567812345678": "2026-01-01"}',
    '{"kind": "dog", "x": "2026-01-01"}',
    '{"kind": "cat", "x": 5.0}',
]
