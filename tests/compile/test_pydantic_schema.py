"""The exact JSON Schema of the wire form."""

from decimal import Decimal
from typing import Annotated, Any

import pytest
from pydantic import (
    AliasPath,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    WithJsonSchema,
    computed_field,
)
from pydantic.experimental.pipeline import validate_as
from typing_extensions import TypeAliasType

from toolbooth import (
    ContractWarning,
    JsonText,
    Unpack,
    compile_function,
    compile_model,
    handle_arguments,
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


class Priced(BaseModel):
    net: int = 1
    kept: int = Field(default=2, validation_alias="stored")

    @computed_field
    @property
    def gross(self) -> int:
        return self.net * 2


class Counted(BaseModel):
    net: int = 1

    @computed_field
    @property
    def gross(self) -> int:
        return self.net * 2


def test_a_default_that_the_schema_itself_refuses_is_not_published():
    class Basket(BaseModel):
        first: Counted = Counted()
        more: list[Counted] = [Counted()]
        ids: list[int] = [1, 2]

    def buy(
        priced: Priced = Priced(),  # noqa: B008
        basket: Basket = Basket(),  # noqa: B008
        text: Annotated[Counted, JsonText()] = Counted(),  # noqa: B008
        limits: dict[str, int] = {"most": 3},  # noqa: B006
    ) -> str:
        return f"{priced} {basket} {text} {limits}"

    contract = compile_function(buy, description="Buy.")
    found = contract.schema["properties"]
    basket = found["basket"]["properties"]
    assert "default" not in found["priced"] | found["basket"] | basket["first"] | basket["more"]
    assert basket["ids"]["default"] == [1, 2]
    assert found["limits"]["default"] == {"most": 3}
    assert found["text"]["default"] == '{"net": 1}'
    assert found["priced"]["properties"]["stored"]["default"] == 2
    defaults = {name: each["default"] for name, each in found.items() if "default" in each}
    sent = handle_arguments(contract, defaults)
    assert sent == handle_arguments(contract, {})
    assert sent["isError"] is False


def test_a_default_stays_where_the_author_has_written_an_invalid_schema():
    Sizes = Annotated[list[int], WithJsonSchema({"type": "array", "items": {"pattern": "("}})]

    def pack(sizes: Sizes = [1]) -> str:  # noqa: B006
        return f"{sizes}"

    found = compile_function(pack, description="Pack.").schema["properties"]
    assert found == {"sizes": {"type": "array", "items": {"pattern": "("}, "default": [1]}}


def test_arguments_are_described_as_they_are_validated_although_a_model_overrides_the_mode():
    class Node(BaseModel):
        model_config = ConfigDict(
            json_schema_mode_override="serialization",
            json_schema_serialization_defaults_required=True,
        )
        price: Decimal = Decimal(1)
        below: list["Node"] = []

    def keep(node: Node) -> str:
        return f"{node.price}"

    contract = compile_function(keep, description="Keep.")
    price = {"anyOf": [{"type": "number"}, {"type": "string"}], "default": "1"}
    node = contract.schema["$defs"]["Node"]
    assert node["properties"]["price"] == price
    assert "required" not in node
    assert handle_arguments(contract, {"node": {"price": 2}})["isError"] is False
