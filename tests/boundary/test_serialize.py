"""The JSON of results: two keys that are one key in JSON are never written."""

import json
from collections import OrderedDict
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Annotated, Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, RootModel, Tag, computed_field, field_serializer

from toolbooth import ToolError, ToolRegistry, compile_function, handle_bytes
from toolbooth.boundary.render import json_of, tool_error_result
from toolbooth.boundary.serialize import SameKey
from toolbooth.server.respond import respond_sync

UUID_TEXT = "12345678-1234-5678-1234-567812345678"


class Colour(Enum):
    RED = "red"


class Level(IntEnum):
    LOW = 1


class Typed(BaseModel):
    counts: dict[int | str, int]


class Untyped(BaseModel):
    counts: Any = None


class Text(BaseModel):
    counts: dict[str, int] = {}


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")


class Outer(BaseModel):
    parts: list[Typed]


class Twins(BaseModel):
    one: int = Field(default=1, serialization_alias="both")
    other: int = Field(default=2, serialization_alias="both")


class Written(BaseModel):
    total: int

    @field_serializer("total")
    def write(self, total: int) -> Any:
        return {total: 1, str(total): 2}


class Computed(BaseModel):
    @computed_field
    def counts(self) -> Any:
        return {1: 1, "1": 2}


@dataclass
class Held:
    counts: Any


TWINS: dict[str, tuple[Any, str]] = {
    "integer": ({1: 1, "1": 2}, "1 and '1' are the same key in JSON: \"1\""),
    "boolean": ({True: 1, "true": 2}, "True and 'true' are the same key in JSON: \"true\""),
    "null": ({None: 1, "None": 2}, "None and 'None' are the same key in JSON: \"None\""),
    "float": ({1.5: 1, "1.5": 2}, "1.5 and '1.5' are the same key in JSON: \"1.5\""),
    "enum": (
        {Colour.RED: 1, "red": 2},
        "<Colour.RED: 'red'> and 'red' are the same key in JSON: \"red\"",
    ),
    "int-enum": ({Level.LOW: 1, "1": 2}, "<Level.LOW: 1> and '1' are the same key in JSON: \"1\""),
    "date": (
        {date(2026, 1, 1): 1, "2026-01-01": 2},
        "datetime.date(2026, 1, 1) and '2026-01-01' are the same key in JSON: \"2026-01-01\"",
    ),
    "uuid": (
        {UUID(UUID_TEXT): 1, UUID_TEXT: 2},
        f"UUID('{UUID_TEXT}') and '{UUID_TEXT}' are the same key in JSON: \"{UUID_TEXT}\"",
    ),
    "ordered": (OrderedDict({1: 1, "1": 2}), "1 and '1' are the same key in JSON: \"1\""),
    "field-names": (Twins(), 'two keys are the same key in JSON: "both"'),
    "serializer": (Written(total=5), 'two keys are the same key in JSON: "5"'),
    "computed": (Computed(), 'two keys are the same key in JSON: "1"'),
    "long": (
        {2**400: 1, str(2**400): 2},
        None,
    ),
}
PLACES: dict[str, Any] = {
    "itself": lambda twins: twins,
    "list": lambda twins: [1, twins],
    "tuple": lambda twins: (twins,),
    "dict": lambda twins: {"a": {"b": [twins]}},
    "dataclass": lambda twins: Held(twins),
    "model": lambda twins: Untyped(counts=twins),
    "models": lambda twins: [Untyped(), Untyped(counts=[Untyped(counts=twins)])],
    "extra": lambda twins: Open(counts=twins),
    "root": lambda twins: RootModel[Any](twins),
    "beside-digits": lambda twins: {"a": 2**70, "b": twins},
    "very-deep": lambda twins: deep(twins),
}


def deep(value: Any) -> Any:
    for _ in range(220):
        value = [value]
    return value


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize(("twins", "words"), TWINS.values(), ids=TWINS)
def test_two_keys_that_are_one_key_in_json_are_not_sent_and_named(twins, words, place):
    value = place(twins)
    with pytest.raises(SameKey) as raised:
        json_of(value)
    assert words in (None, str(raised.value))
    result = handle_bytes(compile_function(lambda: value, name="buy"), b"{}")
    assert result == {
        "content": [
            {
                "type": "text",
                "text": f"The tool ran, but its result cannot be sent: {raised.value}."
                " Before you call it again, check what it did.",
            }
        ],
        "isError": True,
    }
    registry = ToolRegistry("shop")
    registry.tool(name="buy")(lambda: value)
    assert registry.dispatch("buy", {}) == result
    body = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "buy"}}'
    assert json.loads(respond_sync(registry, body).body)["result"] == result


def test_duplicate_keys_in_models_are_found_despite_their_types():
    changed = Text()
    changed.counts.update({1: 1, "1": 2})  # type: ignore[dict-item]
    for value in (
        changed,
        Typed(counts={1: 1, "1": 2}),
        Outer(parts=[Typed(counts={1: 1, "1": 2})]),
    ):
        with pytest.raises(SameKey):
            json_of(value)


class Tagged(BaseModel):
    value: Annotated[int, Tag("number")] | str


class Plain(BaseModel):
    name: str
    price: Decimal
    day: date | None = None
    parts: "list[Plain]" = []


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ({1: 1, "2": 2}, '{"1":1,"2":2}'),
        ([{1: 1}, {"1": 2}], '[{"1":1},{"1":2}]'),
        ({"a": {1}}, '{"a":[1]}'),
        ({"a": Decimal("1.50"), "b": b"x"}, '{"a":"1.50","b":"x"}'),
        ({1: float("nan"), "b": 2**70}, '{"1":null,"b":1180591620717411303424}'),
        (Untyped(counts=float("inf")), '{"counts":null}'),
        (Tagged(value=1), '{"value":1}'),
        (Typed(counts={1: 1, "2": 2}), '{"counts":{"1":1,"2":2}}'),
        (
            Plain(name="a", price=Decimal("1.5"), parts=[Plain(name="b", price=Decimal(2))]),
            '{"name":"a","price":"1.5","day":null,"parts":'
            '[{"name":"b","price":"2","day":null,"parts":[]}]}',
        ),
    ],
    ids=repr,
)
def test_other_values_are_serialised_unchanged(value, written):
    assert json_of(value) == written.encode()


def test_the_details_of_an_error_have_no_key_twice_either():
    assert tool_error_result(ToolError("buy", "no", {1: "a"}))["structuredContent"] == {
        "details": {"1": "a"}
    }
    registry = ToolRegistry("shop")

    @registry.tool
    def buy() -> str:
        raise ToolError("buy", "no", {1: "a", "1": "b"})

    expected = {"content": [{"type": "text", "text": "Tool 'buy' failed: no"}], "isError": True}
    assert registry.dispatch("buy", {}) == expected
    assert handle_bytes(compile_function(buy), b"{}") == expected


keys = st.one_of(
    st.integers(0, 9), st.sampled_from("0123456789"), st.booleans(), st.just("true"), st.dates()
)
values = st.recursive(
    st.integers(), lambda inner: st.dictionaries(keys, inner) | st.lists(inner), max_leaves=9
)


@given(values)
def test_serialised_json_never_has_a_key_twice(value):
    def no_twins(pairs: list[tuple[str, Any]]) -> Any:
        assert len({name for name, _ in pairs}) == len(pairs)
        return dict(pairs)

    for whole in (value, Untyped(counts=value), Held(counts=[value])):
        try:
            text = json_of(whole)
        except SameKey:
            continue
        json.loads(text, object_pairs_hook=no_twins)
