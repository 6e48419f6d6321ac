"""Unions of models that contain each other: what the validation will object to is found without
trying a form twice on one value.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import (
    AfterValidator,
    AliasChoices,
    AliasPath,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    RootModel,
    Tag,
    TypeAdapter,
    WrapValidator,
)
from pydantic_core import core_schema
from typing_extensions import TypedDict

from toolbooth import compile_function, handle_bytes
from toolbooth.contract import InvalidValues


class Left(BaseModel):
    x: Annotated[int, Field(le=9)] = 0
    child: Left | Right | None = None
    other: Left | Right | None = None
    below: list[Left | Right] = []
    named: dict[str, Left | Right] = {}


class Right(BaseModel):
    y: Annotated[int, Field(le=9)] = 0
    child: Left | Right | None = None
    other: Left | Right | None = None
    kind: Literal["a", "b"] = "a"
    name: Annotated[str, Field(min_length=1)]


def plant(tree: Left | Right) -> Any:
    return tree.model_dump(exclude_unset=True)


def nested(depth: int, leaf: Any, key: str = "child") -> Any:
    for _ in range(depth):
        leaf = {key: leaf}
    return leaf


def problems(function: Any, arguments: Any) -> dict[str, str]:
    """The problems of a call, by path. The call has so many forms that they are counted."""
    result = handle_bytes(compile_function(function), json.dumps(arguments).encode())
    found = result["_meta"]["toolbooth"]["problems"] if result["isError"] else []
    return {each["path"]: each["message"] for each in found}


HIGH = "must be at most 9; got 10; leave it out if unknown"
LEAF = "$.tree" + ".child" * 12


@pytest.mark.parametrize(
    ("leaf", "found"),
    [
        pytest.param({"x": 10}, {f"{LEAF}.x": HIGH}, id="out of bounds"),
        pytest.param({"y": 10, "name": "a"}, {f"{LEAF}.y": HIGH}, id="in the second form"),
        pytest.param({"y": 1}, {f"{LEAF}.name": "is required, but was not sent"}, id="missing"),
        pytest.param(
            {"y": 10, "name": ""},
            {
                f"{LEAF}.y": HIGH,
                f"{LEAF}.name": 'must have at least 1 character; got ""',
            },
            id="two objections",
        ),
        pytest.param(
            {"below": [{"x": 1}, {"x": 10}]}, {f"{LEAF}.below[1].x": HIGH}, id="in a list"
        ),
        pytest.param(
            {"named": {"a": {"x": 1}, "b": {"x": 10}}},
            {f"{LEAF}.named.b.x": HIGH},
            id="in a dict",
        ),
        pytest.param(
            {"x": 5, "child": {"x": 10}, "other": {"x": 10}},
            {f"{LEAF}.child.x": HIGH, f"{LEAF}.other.x": HIGH},
            id="two leaves",
        ),
    ],
)
def test_a_wrong_leaf_is_named_by_the_nearest_form(leaf: Any, found: dict[str, str]):
    assert problems(plant, {"tree": nested(12, leaf)}) == found


def test_all_wrong_leaves_are_counted_and_some_are_listed():
    def plant_all(forest: list[Left | Right]) -> None: ...

    body = json.dumps({"forest": [nested(6, {"x": 10})] * 300}).encode()
    result = handle_bytes(compile_function(plant_all), body)
    text = result["content"][0]["text"]
    assert text.startswith("Refused: 300 problems in the arguments of 'plant_all'.")
    listed = result["_meta"]["toolbooth"]["problems"]
    assert [each["path"] for each in listed] == [
        f"$.forest[{index}]{'.child' * 6}.x" for index in range(40)
    ]


# --- what is left to the validation --------------------------------------------------------------


def odd(value: int) -> int:
    if value % 2:
        raise ValueError("must be even")
    return value


def nine_at_most(value: Any) -> Any:
    return min(value, 9) if isinstance(value, int) else value


def five_if_wrong(value: Any, handler: Any) -> Any:
    try:
        return handler(value)
    except ValueError:
        return 5


class ZeroIfWrong:
    """An integer of at most 9; anything else becomes 0."""

    @classmethod
    def __get_pydantic_core_schema__(cls, *_: Any) -> Any:
        inner = core_schema.int_schema(le=9)
        return core_schema.with_default_schema(inner, default=0, on_error="default")


Small = Annotated[int, Field(le=9)]


class Kinds(BaseModel):
    """A field of every kind that decides about its value in its own way."""

    after: Annotated[Small, AfterValidator(odd)] = 0
    before: Annotated[Small, BeforeValidator(nine_at_most)] = 0
    wrapped: Annotated[Small, WrapValidator(five_if_wrong)] = 0
    replaced: Annotated[int, ZeroIfWrong] = 0
    exact: Annotated[Decimal, Field(le=9)] = Decimal(0)
    renamed: Annotated[Small, Field(validation_alias=AliasChoices("first", "second"))] = 0
    deep: Annotated[Small, Field(validation_alias=AliasPath("path", "to"))] = 0
    made: Small = Field(default_factory=int)
    pair: tuple[Small, str] = (0, "")
    inner: Plain = Field(default_factory=lambda: Plain())
    root: Root | None = None
    own: Own | None = None
    free: Free | None = None
    child: Kinds | Point | Row | None = None
    chosen: Chosen = 0
    several: Sequence[Small] = ()
    tagged: Annotated[Up | Down, Field(discriminator="kind")] | None = None


def kind_of(value: Any) -> str:
    return "text" if isinstance(value, str) else "small"


Chosen = Annotated[
    Annotated[Small, Tag("small")] | Annotated[str, Tag("text")], Discriminator(kind_of)
]


class Plain(BaseModel):
    model_config = ConfigDict(str_max_length=3)
    text: str = ""


class Free(BaseModel):
    model_config = ConfigDict(extra="allow")
    number: Small = 0


class Root(RootModel[list[Small]]):
    pass


class Own(BaseModel):
    number: Small = 0

    def __init__(self, **values: Any) -> None:
        super().__init__(**{key: nine_at_most(value) for key, value in values.items()})


@dataclass
class Point:
    across: Small
    up: Small = 0
    made: int = field(default=0, init=False)
    child: Kinds | Point | Row | None = None


class Row(TypedDict, total=False):
    across: Small
    child: Kinds | Point | Row | None


class Up(BaseModel):
    kind: Literal["up"]
    step: Small = 0


class Down(BaseModel):
    kind: Literal["down"]
    step: Small = 0


Kinds.model_rebuild()


def take(value: Kinds | Point | Row) -> Any:
    return TypeAdapter(Kinds | Point | Row).dump_python(value, mode="json")


TAKE = compile_function(take)
NUMBERS = st.integers(7, 12)
SCALARS = st.one_of(NUMBERS, st.sampled_from(["", "text", None, True, 9.5, "2026-01-01"]))
OF_KINDS = {
    **dict.fromkeys(
        ("after", "before", "wrapped", "replaced", "exact", "first", "second"), SCALARS
    ),
    **dict.fromkeys(("made", "across", "up", "other", "chosen"), SCALARS),
    "path": st.fixed_dictionaries({}, optional={"to": SCALARS}),
    "pair": st.lists(SCALARS, min_size=1, max_size=3),
    "inner": st.fixed_dictionaries({}, optional={"text": SCALARS}),
    **dict.fromkeys(("root", "several"), st.lists(NUMBERS, max_size=2)),
    "own": st.fixed_dictionaries({}, optional={"number": SCALARS}),
    "free": st.fixed_dictionaries({}, optional={"number": SCALARS, "more": SCALARS}),
    "tagged": st.fixed_dictionaries(
        {}, optional={"kind": st.sampled_from(["up", "down", "left", 1]), "step": SCALARS}
    ),
}
VALUES = st.recursive(
    st.fixed_dictionaries({}, optional=OF_KINDS),
    lambda below: st.fixed_dictionaries({}, optional={**OF_KINDS, "child": below | SCALARS}),
    max_leaves=4,
)


@given(VALUES)
def test_only_arguments_that_the_validation_refuses_are_refused_before_it(value: Any):
    arguments = {"value": value}
    assert TAKE.check_unions is not None
    try:
        TAKE.check_unions(arguments)
    except InvalidValues:
        with pytest.raises(InvalidValues):
            TAKE.validate(arguments)


@pytest.mark.parametrize(
    ("leaf", "refused"),
    [
        ({"after": 10}, ["$.value.after"]),
        ({"before": 10}, []),
        ({"wrapped": 10}, []),
        ({"replaced": 10}, []),
        ({"exact": 10}, ["$.value.exact"]),
        ({"second": 10}, ["$.value.second"]),
        ({"own": {"number": 10}}, []),
        ({"free": {"number": 10, "more": 1}}, ["$.value.free.number"]),
        ({"several": [1, 10]}, ["$.value.several[1]"]),
        ({"root": [1, 10]}, ["$.value.root[1]"]),
        ({"pair": [10, "a"]}, ["$.value.pair[0]"]),
        ({"inner": {"text": "four"}}, ["$.value.inner.text"]),
        ({"tagged": {"kind": "up", "step": 10}}, ["$.value.tagged.step"]),
        ({"across": 10, "up": 1}, ["$.value.across"]),
    ],
)
def test_a_value_of_each_kind_is_judged_as_the_validation_does(leaf: Any, refused: list[str]):
    found = problems(take, {"value": nested(6, leaf)})
    at = "$.value" + ".child" * 6
    assert list(found) == [path.replace("$.value", at, 1) for path in refused]


@pytest.mark.parametrize("leaf", [{"after": 9}, {"path": {"to": 10}}, {"chosen": 10}])
def test_a_value_that_only_the_validation_can_judge_is_refused_by_it(leaf: Any):
    arguments = {"value": nested(6, leaf)}
    assert TAKE.check_unions is not None
    TAKE.check_unions(arguments)
    assert problems(take, arguments)


def test_a_number_with_many_digits_is_left_to_the_validation():
    leaf = b'{"exact": 9.000000000000000000001}'
    for _ in range(6):
        leaf = b'{"child": %s}' % leaf
    result = handle_bytes(TAKE, b'{"value": %s}' % leaf)
    assert result["_meta"]["toolbooth"]["problems"][0]["code"] == "invalid"
    assert not handle_bytes(TAKE, b'{"value": %s}' % leaf.replace(b"9.0", b"8.0"))["isError"]


def test_beyond_its_limits_the_check_leaves_values_to_the_validation():
    def plant_all(tree: Left | Right, forest: list[Left] = []) -> None: ...  # noqa: B006

    contract = compile_function(plant_all)
    assert contract.check_unions is not None
    contract.check_unions({"tree": nested(100, {"x": 10})})
    forest = [{"x": 1} for _ in range(20_000)]
    contract.check_unions({"forest": [*forest, {"x": 10}], "tree": {}})
    with pytest.raises(InvalidValues):
        contract.check_unions({"forest": [{"x": 10}, *forest], "tree": {}})
