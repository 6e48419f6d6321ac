"""Pydantic's types as shapes: the JSON that each kind of type accepts on the wire, and the value
that the tool then gets.
"""

import re
from collections.abc import Callable
from datetime import date
from enum import Enum
from ipaddress import IPv4Address
from typing import Annotated, Any, NamedTuple

import pytest
from pydantic import (
    MISSING,
    AliasChoices,
    AliasPath,
    BaseModel,
    ConfigDict,
    Field,
    RootModel,
    Tag,
)
from pydantic.experimental.pipeline import validate_as
from pydantic_core import CoreSchema, core_schema

from toolbooth import (
    ContractError,
    Unpack,
    compile_function,
    compile_model,
    handle_bytes,
    input_schema,
)


class Address(BaseModel):
    city: str


class Person(BaseModel):
    name: str


def outcome(function: Callable[..., Any], body: bytes) -> Any:
    """Return the value that the tool received, with the repairs; or the problems, with the
    corrected call.
    """
    received: list[Any] = []
    result = handle_bytes(
        compile_function(function), body, lambda **values: received.append(values)
    )
    meta = result.get("_meta", {}).get("toolbooth", {})
    if result["isError"]:
        assert received == []
        problems = [(each["code"], each["path"], each["message"]) for each in meta["problems"]]
        return problems, meta.get("corrected")
    return received[0], [(each["code"], each["path"]) for each in meta.get("repairs", [])]


def test_a_number_is_accepted_if_the_author_reads_numbers_as_text():
    def tool(code: Annotated[str, Field(coerce_numbers_to_str=True)]): ...

    assert outcome(tool, b'{"code": 12}') == ({"code": "12"}, [])
    assert outcome(tool, b'{"code": "012"}') == ({"code": "012"}, [])
    assert outcome(tool, b'{"code": true}') == (
        [("wrong-type", "$.code", 'must be a number or text, got true; e.g. "text"')],
        None,
    )


def test_a_whole_model_may_read_numbers_as_text():
    class Part(BaseModel):
        model_config = ConfigDict(coerce_numbers_to_str=True)
        code: str

    def tool(part: Part): ...

    assert outcome(tool, b'{"part": {"code": 12}}') == ({"part": Part(code="12")}, [])


class Point(NamedTuple):
    x: int
    y: int = 0


def test_a_named_tuple_is_accepted_as_an_array_and_as_an_object():
    def tool(at: Point): ...

    assert outcome(tool, b'{"at": [1, 2]}') == ({"at": Point(1, 2)}, [])
    assert outcome(tool, b'{"at": {"x": 1}}') == ({"at": Point(1, 0)}, [])
    assert outcome(tool, b'{"at": ["1"]}') == ({"at": Point(1, 0)}, [("scalar-text", "$.at[0]")])


def test_a_named_tuple_is_guarded_like_any_object():
    def tool(at: Point): ...

    assert outcome(tool, b'{"at": {"x": 1, "z": 2}}') == (
        [("unknown-key", "$.at.z", 'there is no field "z"')],
        None,
    )
    problems, corrected = outcome(tool, b'{"at": {"data": {"x": 1}}}')
    assert [each[:2] for each in problems] == [("nested-wrapper", "$.at.data")]
    assert corrected == {"at": {"x": 1}}


class IntegersAndText:
    """Any number of integers, then one text: Pydantic has no annotation for it."""

    @classmethod
    def __get_pydantic_core_schema__(cls, *_: Any) -> CoreSchema:
        items = [core_schema.int_schema(), core_schema.str_schema()]
        return core_schema.tuple_schema(items, variadic_item_index=0)


def test_a_tuple_with_a_repeated_item_before_the_last_is_left_to_its_validation():
    def tool(row: IntegersAndText): ...

    assert outcome(tool, b'{"row": [1, 2, "a"]}') == ({"row": (1, 2, "a")}, [])
    problems, _ = outcome(tool, b'{"row": ["a", 1]}')
    assert [(code, path) for code, path, _ in problems] == [("invalid", "$.row[0]")]


def test_a_parameter_may_have_several_aliases():
    def tool(count: Annotated[int, Field(validation_alias=AliasChoices("count", "number"))]): ...

    assert outcome(tool, b'{"number": 1}') == ({"count": 1}, [])
    assert outcome(tool, b'{"count": 1}') == ({"count": 1}, [])


def test_pipeline_accepts_the_input_of_its_first_step():
    def tool(count: Annotated[int, validate_as(int).validate_as(float)]): ...

    assert outcome(tool, b'{"count": 5}') == ({"count": 5.0}, [])
    assert outcome(tool, b'{"count": "5"}') == ({"count": 5.0}, [("scalar-text", "$.count")])
    assert outcome(tool, b'{"count": 5.5}') == (
        [("wrong-type", "$.count", "must be an integer, got a number 5.5; e.g. 2")],
        None,
    )


class Window(Enum):
    MORNING = (8, 12)
    HOLIDAY = date(2026, 1, 1)


def test_enum_with_values_outside_json_is_validated_by_pydantic():
    def tool(window: Window, note: str = ""): ...

    assert [each[:2] for each in outcome(tool, b'{"window": [8, 12]}')[0]] == [
        ("invalid", "$.window")
    ]
    assert [each[:2] for each in outcome(tool, b'{"window": 5}')[0]] == [("invalid", "$.window")]


def test_function_based_pydantic_types_accept_the_values_of_their_schema():
    def tool(host: IPv4Address, pattern: re.Pattern[str] = re.compile("")): ...

    body = b'{"host": "10.0.0.1", "pattern": "a+"}'
    assert outcome(tool, body) == (
        {"host": IPv4Address("10.0.0.1"), "pattern": re.compile("a+")},
        [],
    )
    assert outcome(tool, b'{"host": "10.0.0.1", "pattern": 5}') == (
        [("wrong-type", "$.pattern", "must be text, got an integer 5")],
        {"host": "10.0.0.1", "pattern": "5"},
    )


def test_a_model_with_its_own_init_accepts_the_keywords_of_that_init():
    class Scaled(BaseModel):
        size: int

        def __init__(self, *, scale: int = 1, **given: Any) -> None:
            super().__init__(size=given.pop("size") * scale, **given)

    def tool(it: Scaled): ...

    (received, repairs) = outcome(tool, b'{"it": {"size": 2, "scale": 3}}')
    assert (received["it"].size, repairs) == (6, [])
    assert outcome(tool, b'{"it": {"size": 2, "Scale": 3}}') == (
        [("unknown-key", "$.it.Scale", 'there is no field "Scale"; did you mean "scale"?')],
        {"it": {"size": 2, "scale": 3}},
    )


def test_the_labels_of_a_union_change_nothing_on_the_wire():
    def tool(who: Annotated[Person, Tag("person")] | Address): ...

    assert outcome(tool, b'{"who": {"name": "Ann"}}') == ({"who": Person(name="Ann")}, [])
    assert outcome(tool, b'{"who": {"city": "Bern"}}') == ({"who": Address(city="Bern")}, [])
    problems, corrected = outcome(tool, b'{"who": {"data": {"city": "Bern"}}}')
    assert [each[:2] for each in problems] == [("nested-wrapper", "$.who.data")]
    assert corrected == {"who": {"city": "Bern"}}


class Ends(BaseModel):
    first: Annotated[int, Field(validation_alias=AliasPath("range", 0))]
    last: Annotated[int, Field(validation_alias=AliasPath("range", -1))]


class Either(BaseModel):
    first: Annotated[int, Field(validation_alias=AliasPath("place", 0))] = 0
    named: Annotated[int, Field(validation_alias=AliasPath("place", "x"))] = 0


@pytest.mark.parametrize(
    ("model", "body", "expected"),
    [
        pytest.param(
            Ends, b'{"it": {"range": [1, 9]}}', {"first": 1, "last": 9}, id="from-both-ends"
        ),
        pytest.param(
            Ends, b'{"it": {"range": [1]}}', {"first": 1, "last": 1}, id="one-item-for-both"
        ),
        pytest.param(Either, b'{"it": {"place": [5]}}', {"first": 5, "named": 0}, id="by-position"),
        pytest.param(
            Either, b'{"it": {"place": {"x": 5}}}', {"first": 0, "named": 5}, id="by-name"
        ),
    ],
)
def test_alias_paths_of_different_kinds_below_one_key_are_read(model, body, expected):
    def tool(it: model): ...

    received, repairs = outcome(tool, body)
    assert (received["it"].model_dump(), repairs) == (expected, [])


@pytest.mark.parametrize(
    ("model", "body"),
    [
        pytest.param(Ends, b'{"it": {"range": [1, 5, 9]}}', id="an-item-between-both-ends"),
        pytest.param(Either, b'{"it": {"place": [5, 6]}}', id="an-item-past-the-position"),
        pytest.param(Either, b'{"it": {"place": {"x": 5, "y": 6}}}', id="a-name-beside-the-name"),
    ],
)
def test_item_that_no_alias_path_reads_is_refused(model, body):
    def tool(it: model): ...

    result = handle_bytes(compile_function(tool), body)
    assert result["isError"]


class Engine: ...


class Holder(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    engine: Engine | None = None


@pytest.mark.parametrize(
    "hint",
    [Callable[[], int], list[Callable[[], int]], Holder],
    ids=["itself", "in-a-list", "in-a-model"],
)
def test_a_type_that_json_cannot_carry_is_the_authors_mistake(hint):
    def tool(run: hint): ...

    with pytest.raises(ContractError, match=r"tool: .*'(run|engine)'"):
        compile_function(tool)


class Numbers(RootModel[list[int]]):
    pass


@pytest.mark.parametrize(
    "hint", [int, dict[str, int], Numbers], ids=["scalar", "dict", "root-model"]
)
def test_unpack_on_a_type_without_fields_is_reported_with_other_mistakes(hint):
    def tool(it: Annotated[hint, Unpack()], config: int): ...

    with pytest.raises(ContractError) as raised:
        compile_function(tool)
    assert raised.value.mistakes == (
        "parameter 'it' is marked Unpack() but is not a model with fields; remove the marker",
        "'config' is reserved: LangChain swallows it on the way; rename it or give it an alias",
    )


class Unfinished(BaseModel):
    part: "NeverDefined"  # noqa: F821


@pytest.mark.parametrize(
    ("model", "mistake"),
    [
        pytest.param(Unfinished, "name 'NeverDefined' is not defined", id="undefined-name"),
        pytest.param(Engine, "Unable to generate pydantic-core schema for", id="no-schema"),
    ],
)
def test_a_model_that_pydantic_cannot_use_is_the_authors_mistake(model, mistake):
    with pytest.raises(ContractError, match=f"{model.__name__}: {mistake}"):
        compile_model(model)


def test_compiling_another_type_as_a_model_is_an_error_that_does_not_mention_unpack():
    with pytest.raises(ContractError, match="not a model with fields") as raised:
        compile_model(int)
    assert "Unpack" not in str(raised.value)


def test_a_missing_sentinel_is_a_field_that_may_be_left_out():
    class Patch(BaseModel):
        """Notes for those who read the code."""

        name: str | MISSING = MISSING

    def change(patch: Annotated[Patch, Unpack()]) -> str:
        return "nothing" if patch.name is MISSING else patch.name

    contract = compile_function(change)
    assert input_schema(contract) == {"type": "object", "properties": {"name": {"type": "string"}}}
    found = [
        handle_bytes(contract, body)["content"][0]["text"]
        for body in (b"{}", b'{"name": "Ada"}', b'{"name": 1}')
    ]
    assert found[:2] == ["nothing", "Ada"]
    assert "$.name: must be text" in found[2]
