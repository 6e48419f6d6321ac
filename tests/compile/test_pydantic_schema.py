"""The exact JSON Schema of the wire form."""

from typing import Annotated, Any

import pytest
from pydantic import AliasPath, BaseModel, ConfigDict, Discriminator, Field, Tag
from pydantic.experimental.pipeline import validate_as
from typing_extensions import TypeAliasType

from toolbooth import (
    ContractWarning,
    Unpack,
    compile_function,
    compile_model,
    handle_bytes,
    input_schema,
)


class Engine: ...


def test_default_that_is_not_json_is_not_published_and_raises_no_warning():
    class Car(BaseModel):
        seats: int = 4
        engine: Any = Field(default=Engine(), description="e.g. {}")

    assert input_schema(compile_model(Car), "exact")["properties"] == {
        "seats": {"default": 4, "type": "integer"},
        "engine": {"description": "e.g. {}"},
    }


def test_value_made_by_a_pipeline_is_not_in_the_schema():
    class Place(BaseModel):
        city: Annotated[str, Unpack()]  # would be a mistake in a type that is sent over the wire

    def tool(
        place: Annotated[
            str, validate_as(str).transform(lambda city: {"city": city}).validate_as(Place)
        ],
    ):
        return place.city

    contract = compile_function(tool)
    assert input_schema(contract, "exact")["properties"] == {"place": {"type": "string"}}
    assert handle_bytes(contract, b'{"place": "Bern"}') == {
        "content": [{"type": "text", "text": "Bern"}],
        "isError": False,
    }


Nested = TypeAliasType("Nested", "list[Nested] | int")


def test_lists_that_contain_themselves_work_beside_an_unpacked_model():
    class Owner(BaseModel):
        name: str

    def tool(tree: Nested, owner: Annotated[Owner, Unpack()]):
        return [tree, owner.name]

    contract = compile_function(tool)
    assert handle_bytes(contract, b'{"tree": [[1], ["2"], 3], "name": "Ann"}') == {
        "content": [{"type": "text", "text": '[[[1],[2],3],"Ann"]'}],
        "isError": False,
        "_meta": {"toolbooth": {"repairs": [{"code": "scalar-text", "path": "$.tree[1][0]"}]}},
    }
    assert input_schema(contract, "exact") == {
        "$defs": {
            "Nested": {
                "anyOf": [
                    {"items": {"$ref": "#/$defs/Nested"}, "type": "array"},
                    {"type": "integer"},
                ]
            }
        },
        "additionalProperties": False,
        "properties": {"tree": {"$ref": "#/$defs/Nested"}, "name": {"type": "string"}},
        "required": ["tree", "name"],
        "type": "object",
    }


def test_sets_are_published_without_unique_items():
    def tool(many: set[int], fixed: frozenset[str] = frozenset()) -> int:
        return len(many)

    contract = compile_function(tool)
    assert input_schema(contract, "exact")["properties"] == {
        "many": {"type": "array", "items": {"type": "integer"}},
        "fixed": {"type": "array", "items": {"type": "string"}, "default": []},
    }
    assert handle_bytes(contract, b'{"many": [1, 1, 2]}') == {
        "content": [{"type": "text", "text": "2"}],
        "isError": False,
    }


class Cat(BaseModel):
    name: str


class Dog(BaseModel):
    name: str
    tricks: int = 0


def test_branches_with_a_callable_discriminator_may_overlap():
    def which(value: Any) -> str:
        return "dog" if isinstance(value, dict) and "tricks" in value else "cat"

    def tool(
        pet: Annotated[
            Annotated[Cat, Tag("cat")] | Annotated[Dog, Tag("dog")], Discriminator(which)
        ],
    ) -> str:
        return type(pet).__name__

    pet = input_schema(compile_function(tool), "exact")["properties"]["pet"]
    assert len(pet["anyOf"]) == 2
    assert "oneOf" not in pet


def test_an_alias_path_is_published_as_it_is_sent():
    class Picked(BaseModel):
        first: str = Field(validation_alias=AliasPath("names", 0))
        city: str = Field(validation_alias=AliasPath("address", "city"))

    assert input_schema(compile_model(Picked), "exact")["properties"] == {
        "names": {"type": "array", "items": {"type": "string"}},
        "address": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
            "additionalProperties": False,
        },
    }


def test_author_changes_to_a_model_schema_are_checked_at_registration():
    class Loose(BaseModel):
        model_config = ConfigDict(json_schema_extra={"properties": {"table": {"type": "object"}}})
        table: dict[str, int] = {}

    def tool(loose: Loose) -> int:
        return len(loose.table)

    with pytest.warns(ContractWarning, match="nothing shows what to write in 'loose.table'"):
        compile_function(tool)
