"""The exact JSON Schema of the wire form."""

from typing import Annotated, Any

from pydantic import BaseModel, Field
from pydantic.experimental.pipeline import validate_as
from typing_extensions import TypeAliasType

from toolbooth import Unpack, compile_function, compile_model, handle_bytes, input_schema


class Engine: ...


def test_a_default_that_json_cannot_carry_is_not_published_and_nobody_is_warned():
    class Car(BaseModel):
        seats: int = 4
        engine: Any = Field(default=Engine(), description="e.g. {}")

    assert input_schema(compile_model(Car), "exact")["properties"] == {
        "seats": {"default": 4, "type": "integer"},
        "engine": {"description": "e.g. {}"},
    }


def test_what_a_pipeline_makes_of_text_is_not_on_the_wire():
    class Place(BaseModel):
        city: Annotated[str, Unpack()]  # would be a mistake where the wire brings it

    def tool(place: Annotated[str, validate_as(str).transform(lambda city: {"city": city}).validate_as(Place)]):
        return place.city

    contract = compile_function(tool)
    assert input_schema(contract, "exact")["properties"] == {"place": {"type": "string"}}
    assert handle_bytes(contract, b'{"place": "Bern"}') == {
        "content": [{"type": "text", "text": "Bern"}],
        "isError": False,
    }


Nested = TypeAliasType("Nested", "list[Nested] | int")


def test_lists_that_hold_themselves_stand_beside_an_unpacked_model():
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
        "$defs": {"Nested": {"anyOf": [{"items": {"$ref": "#/$defs/Nested"}, "type": "array"}, {"type": "integer"}]}},
        "additionalProperties": False,
        "properties": {"tree": {"$ref": "#/$defs/Nested"}, "name": {"type": "string"}},
        "required": ["tree", "name"],
        "type": "object",
    }
