"""Scalars, named values, optionals and containers."""

from __future__ import annotations

import enum
import uuid
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from ipaddress import IPv4Address
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from constructs.construct import calls, construct
from pydantic import AnyUrl, Base64Bytes, Field, JsonValue, SecretStr

# --- scalars ------------------------------------------------------------------------------------


@construct([{}, {}], [{"p": 1}])
def no_parameters() -> None: ...


@construct(calls("p", "tea", ""), calls("p", 1, True, ["tea"]))
def string(p: str) -> None: ...


@construct(calls("p", 5, -1), calls("p", 1.5, True, "x"))
def integer(p: int) -> None: ...


@construct(calls("p", 1.5, 2), calls("p", True, "x", [1]))
def number(p: float) -> None: ...


@construct(calls("p", True, False), calls("p", 1, "yes"))
def boolean(p: bool) -> None: ...


@construct(calls("p", "1.10", 2.5), calls("p", "x", True, [1]))
def decimal(p: Decimal) -> None: ...


@construct(calls("p", "19.99", 3), calls("p", "0", "1.234", 100000))
def decimal_of_money(
    p: Annotated[Decimal, Field(gt=0, max_digits=6, decimal_places=2)],
) -> None: ...


@construct(calls("p", "2026-11-15", "2000-02-29"), calls("p", "tomorrow", 20261115))
def day(p: date) -> None: ...


@construct(calls("p", "2026-11-15T12:00:00Z", "2026-11-15T12:00:00+01:00"), calls("p", "noon", 5))
def moment(p: datetime) -> None: ...


@construct(calls("p", "12:30:00", "23:59:59"), calls("p", "noon", 5))
def time_of_day(p: time) -> None: ...


@construct(calls("p", "PT1H", "P1DT2H"), calls("p", "soon", [1]))
def duration(p: timedelta) -> None: ...


@construct(
    calls("p", "6f1c2a34-8f5b-4f5e-9a53-2f0c7a3f9b10", "00000000-0000-4000-8000-000000000000"),
    calls("p", "x", 1),
)
def identifier(p: uuid.UUID) -> None: ...


@construct(calls("p", "https://example.org/a?b=1", "http://localhost"), calls("p", "no url", 1))
def web_address(p: AnyUrl) -> None: ...


@construct(calls("p", "127.0.0.1", "10.0.0.1"), calls("p", "localhost"))
def ip_address(p: IPv4Address) -> None: ...


@construct(calls("p", "a/b.txt", "c"), calls("p", 1))
def file_path(p: Path) -> None: ...


@construct(calls("p", "aGk=", ""), calls("p", 1))
def base64_bytes(p: Base64Bytes) -> None: ...


@construct(calls("p", "hunter2", "x"), calls("p", 1))
def secret(p: SecretStr) -> None: ...


# --- literal values -----------------------------------------------------------------------------


class Colour(enum.StrEnum):
    RED = "red"
    GREEN = "green"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Mixed(enum.Enum):
    NAME = "name"
    NUMBER = 7


@construct(calls("p", "red", "green"), calls("p", "Red", 1, ""))
def enum_of_strings(p: Colour) -> None: ...


@construct(calls("p", 1, 2), calls("p", 3, "1"))
def enum_of_integers(p: Level) -> None: ...


@construct(calls("p", "name", 7), calls("p", "7", 8))
def enum_of_both(p: Mixed) -> None: ...


@construct(calls("p", "fast", "slow"), calls("p", "medium", 1))
def literal_strings(p: Literal["fast", "slow"]) -> None: ...


@construct([{"p": "fast"}, {"p": "fast", "note": "x"}], [{"p": "slow"}, {}])
def literal_of_one(p: Literal["fast"], note: str = "") -> None: ...


@construct(calls("p", 1, "auto", True), calls("p", 2, "manual", False))
def literal_of_several_types(p: Literal[1, "auto", True]) -> None: ...


@construct([{}, {"p": "fast"}], calls("p", "slow", 1))
def literal_or_null(p: Literal["fast"] | None = None) -> None: ...


# --- optional and null --------------------------------------------------------------------------


@construct([{}, {"p": 3}, {"p": 20}], calls("p", "x", 1.5))
def optional_with_default(p: int = 10) -> None: ...


@construct([{}, {"p": "x"}, {"p": None}], calls("p", 1, [1]))
def optional_or_null(p: str | None = None) -> None: ...


@construct([{"p": "x"}, {"p": ""}, {"p": None}], [{}, {"p": 1}])
def required_or_null(p: str | None) -> None: ...


@construct([{"a": 1}, {"a": 1, "b": 2, "c": "x", "d": True}], [{}, {"a": 1, "c": 2}])
def several_optionals(a: int, b: int = 0, c: str | None = None, d: bool = False) -> None: ...


@construct([{}, {"p": ["a"]}], calls("p", [1], {"a": 1}))
def optional_list(p: list[str] | None = None) -> None: ...


@construct([{}, {"p": {"a": 1}}], calls("p", {"a": "x"}, [1]))
def optional_dict(p: dict[str, int] | None = None) -> None: ...


# --- containers ---------------------------------------------------------------------------------


@construct(calls("p", [1, 2], []), calls("p", ["x"], [1.5], {"a": 1}))
def list_of_integers(p: list[int]) -> None: ...


@construct(calls("p", ["a"], ["a", "b", "c"]), calls("p", [], ["a"] * 4, [1]))
def list_with_bounds(p: Annotated[list[str], Field(min_length=1, max_length=3)]) -> None: ...


@construct(calls("p", [[1], [2, 3]], []), calls("p", [1], [["x"]]))
def list_of_lists(p: list[list[int]]) -> None: ...


@construct(calls("p", [1, "a", {"b": 2}], []), calls("p", 5, {"a": 1}))
def list_of_anything(p: list) -> None: ...  # type: ignore[type-arg]


@construct(calls("p", [1, None], [None, 2, 3]), calls("p", ["x"], [1.5]))
def list_with_nulls(p: list[int | None]) -> None: ...


@construct(calls("p", ["a", "b"], []), calls("p", ["a", 1], "a"))
def set_of_strings(p: set[str]) -> None: ...


@construct(calls("p", [1, "a"], [2, ""]), calls("p", ["a", 1], [1], [1, "a", 2]))
def pair(p: tuple[int, str]) -> None: ...


@construct(calls("p", [1.5], [1, 2, 3]), calls("p", ["x"], 1))
def tuple_of_any_length(p: tuple[float, ...]) -> None: ...


class Point(NamedTuple):
    x: int
    y: int


@construct(calls("p", [1, 2], [0, 0]), calls("p", [1], ["a", "b"]))
def named_tuple(p: Point) -> None: ...


@construct(calls("p", {"a": 1}, {}), calls("p", {"a": "x"}, [1]))
def dict_of_integers(p: dict[str, int]) -> None: ...


@construct(calls("p", {"a": [1], "b": {"c": None}}, {}), calls("p", 5, [1]))
def dict_of_anything(p: dict[str, Any]) -> None: ...


@construct(
    calls("p", {"a": ["x", "y"]}, {"a": [], "b": ["z"]}), calls("p", {"a": "x y"}, {"a": [1]})
)
def dict_of_lists(p: dict[str, list[str]]) -> None: ...


@construct(calls("p", {"red": 1}, {"red": 1, "green": 2}), calls("p", {"blue": 1}, {"red": "x"}))
def dict_with_keys_of_an_enum(p: dict[Colour, int]) -> None: ...


@construct(calls("p", {"a": 1.5}, {"b": 2}), calls("p", {"a": "x"}, {}))
def mapping_with_bounds(p: Annotated[Mapping[str, float], Field(min_length=1)]) -> None: ...


@construct(calls("p", 1, "a", [1, "b"], {"c": 2}), [{}])
def anything(p: Any) -> None: ...


@construct(calls("p", 1, "a", [True], {"c": 2}), [{}])
def json_value(p: JsonValue) -> None: ...
