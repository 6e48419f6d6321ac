"""Constraints, names that are keywords elsewhere, and the markers of Toolbooth."""

from __future__ import annotations

from typing import Annotated

from constructs.construct import calls, construct
from constructs.models import ANN, Address, Contact
from pydantic import BaseModel, Field, Json, WithJsonSchema

from toolbooth import JsonText, Unpack

# --- constraints --------------------------------------------------------------------------------


@construct(calls("p", "TEA-001", "COF-900"), calls("p", "tea-001", "", 1))
def pattern(p: Annotated[str, Field(pattern="^[A-Z]{3}-[0-9]{3}$")]) -> None: ...


@construct(calls("p", "ab", "abcd"), calls("p", "a", "abcde", ""))
def length(p: Annotated[str, Field(min_length=2, max_length=4)]) -> None: ...


@construct(calls("p", 1, 100), calls("p", 0, 101))
def minimum_and_maximum(p: Annotated[int, Field(ge=1, le=100)]) -> None: ...


@construct(calls("p", 0.5, 0.99), calls("p", 0, 1, -1))
def exclusive_bounds(p: Annotated[float, Field(gt=0, lt=1)]) -> None: ...


@construct(calls("p", 5, 10), calls("p", 7, 1))
def multiple_of(p: Annotated[int, Field(multiple_of=5)]) -> None: ...


@construct([{"p": "ab"}, {"p": "abc", "q": 5}], [{"p": "a"}, {"p": "ab", "q": 6}])
def described_with_examples(
    p: Annotated[str, Field(min_length=2, description="A code", examples=["ab"], title="Code")],
    q: Annotated[int, Field(le=5, description="How many")] = 1,
) -> None: ...


@construct(
    calls("p", ["ab"], ["ab", "cd"]),
    calls("p", ["a"], [], ["AB"]),
)
def constraints_on_items(
    p: Annotated[list[Annotated[str, Field(pattern="^[a-z]{2}$")]], Field(min_length=1)],
) -> None: ...


@construct(calls("p", {"a_1": 1}, {}), calls("p", {"A": 1}, {"a_1": "x"}))
def constraints_on_keys(p: dict[Annotated[str, Field(pattern="^[a-z_0-9]+$")], int]) -> None: ...


@construct(calls("p", "a", "b"), calls("p", 1))
def schema_by_hand(
    p: Annotated[
        str, WithJsonSchema({"type": ["string", "null"], "not": {"const": "c"}, "x-shown": True})
    ],
) -> None: ...


# --- names --------------------------------------------------------------------------------------


@construct(
    [
        {"properties": "a", "title": "b", "type": "c"},
        {"properties": "", "title": "", "type": "", "items": 1},
    ],
    [{}],
)
def names_of_keywords(properties: str, title: str, type: str, items: int = 0) -> None: ...


@construct(
    [{"arguments": "a", "data": 1}, {"arguments": "", "data": 2, "name": "x", "input": ["y"]}], [{}]
)
def names_that_frameworks_use(
    arguments: str, data: int, name: str = "", input: list[str] | None = None
) -> None: ...


class OddNames(BaseModel):
    first: int = Field(alias="a-b")
    second: int = Field(0, alias="ü.$x")


@construct(calls("p", {"a-b": 1}, {"a-b": 1, "ü.$x": 2}), calls("p", {"a_b": 1}, {"a-b": "x"}))
def odd_names_below_the_root(p: OddNames) -> None: ...


# --- markers of Toolbooth -----------------------------------------------------------------------


@construct([ANN, {**ANN, "phones": ["1"]}], [{"p": ANN}, {**ANN, "address": 1}], ours=True)
def unpacked_model(p: Annotated[Contact, Unpack()]) -> None: ...


@construct(
    [
        {"from_street": "a", "to_street": "b"},
        {"from_street": "a", "to_street": "b", "to_city": "Delft"},
    ],
    [{"from_street": "a"}, {"street": "a"}],
    ours=True,
)
def unpacked_with_prefix(
    origin: Annotated[Address, Unpack(prefix="from_")],
    target: Annotated[Address, Unpack(prefix="to_")],
) -> None: ...


@construct([{}, {"street": "Dam 1"}, {"note": "x"}], [{"street": 1}], ours=True)
def unpacked_optional_model(
    p: Annotated[Address | None, Unpack()] = None, note: str = ""
) -> None: ...


@construct(calls("p", '{"a": 1}', "{}"), calls("p", "{", '{"a": "x"}', 5), ours=True)
def json_text_of_a_dict(p: Annotated[dict[str, int], JsonText(example={"a": 1})]) -> None: ...


@construct([{}, {"p": '{"street": "Dam 1"}'}], calls("p", "Dam 1", "{}"), ours=True)
def json_text_of_a_model(p: Annotated[Address | None, JsonText()] = None) -> None: ...


@construct(calls("p", "[1, 2]", "[]"), calls("p", "1, 2", '["x"]'))
def json_of_pydantic(p: Json[list[int]]) -> None: ...
