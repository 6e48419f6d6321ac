"""schema_honesty on servers whose schemas describe the arguments that their tools accept, and on
servers whose schemas do not.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from fastmcp import FastMCP
from inline_snapshot import snapshot
from mcp.server.mcpserver import MCPServer
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Json,
    SecretStr,
    field_validator,
    model_validator,
)

from toolbooth import (
    JsonText,
    ToolError,
    ToolRegistry,
    Unpack,
    compile_function,
    compile_json_schema,
    input_schema,
)
from toolbooth.adapters import fastmcp, mcp_sdk
from toolbooth.cli.target import load_registry
from toolbooth.testing import assert_boundary
from toolbooth.testing.check.schema_honesty import Search, schema_honesty
from toolbooth.testing.client.tools import ServedTool


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Place(BaseModel):
    model_config = ConfigDict(populate_by_name=True)
    street: str
    zip_code: int | None = Field(None, alias="zipCode", ge=1000)


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    tricks: list[str] = []


class Node(BaseModel):
    value: int
    children: list["Node"] = []


class Order(BaseModel):
    customer: Annotated[str, Field(min_length=1)]
    due: date | None = None
    price: Decimal = Decimal(1)
    place: Place | None = None

    @model_validator(mode="after")
    def is_not_for_bob(self) -> "Order":
        if self.customer == "x":
            raise ValueError("not for him")
        return self


def place_order(order: Annotated[Order, Unpack()], notify: bool = False) -> None: ...


def many_types(
    pet: Annotated[Cat | Dog, Field(discriminator="kind")],
    tree: Node,
    pair: tuple[int, str],
    either: int | list[int] | None,
    table: Annotated[dict[str, float], Field(description='e.g. {"a": 1}', default_factory=dict)],
    colour: Colour = Colour.RED,
    headers: Annotated[dict[str, str] | None, JsonText(example={"a": "b"})] = None,
    secret: SecretStr | None = None,
    anything: Any = None,
) -> None: ...


class Authored(BaseModel):
    tags: list[str]

    @field_validator("tags", mode="before")
    @classmethod
    def split(cls, value: Any) -> Any:
        return value.split(",") if isinstance(value, str) else value


def tag(request: Annotated[Authored, Unpack()], parsed: Json[list[int]] | None = None) -> None: ...


FOREIGN = {
    "type": "object",
    "properties": {
        "ids": {"type": "array", "items": {"type": "integer"}},
        "q": {"type": "string", "minLength": 1},
    },
    "anyOf": [{"required": ["ids"]}, {"required": ["q"]}],
}


def registry(*functions: Callable[..., Any]) -> ToolRegistry:
    made = ToolRegistry("shop")
    for each in functions:
        made.tool(each)
    return made


def lie(server: Any) -> str:
    with pytest.raises(AssertionError) as caught:
        schema_honesty(server, max_examples=40)
    return str(caught.value)


# --- honest ones ------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::toolbooth.errors.ContractWarning")
def test_our_own_schemas_are_honest():
    server = registry(place_order, many_types, tag)
    server.add(compile_json_schema(FOREIGN, name="query"), dict)
    assert schema_honesty(server, max_examples=40) == 4 * 3 * 40


FOREIGN_KEYS: dict[str, dict[str, Any]] = {
    "required": {"properties": {"a": {"type": "string"}}, "required": ["a", "id"]},
    "pattern": {
        "properties": {"p": {"type": "object", "patternProperties": {"^x": {"type": "string"}}}},
        "patternProperties": {"^x": {"type": "integer"}},
    },
    "anchor": {
        "properties": {"p": {"$ref": "#number"}},
        "$defs": {"n": {"$anchor": "number", "type": "integer"}},
    },
    "condition": {
        "properties": {"kind": {"enum": ["a", "b"]}},
        "required": ["kind"],
        "if": {"properties": {"kind": {"const": "a"}}},
        "then": {"properties": {"value": {"type": "string"}}},
        "else": {"properties": {"value": {"type": "integer"}}},
    },
    "dependency": {
        "properties": {"card": {"type": "string"}},
        "dependentSchemas": {"card": {"properties": {"number": {"type": "integer"}}}},
    },
    "opened": {
        "properties": {"a": {"type": "string"}},
        "allOf": [{"additionalProperties": True}],
    },
}


@pytest.mark.parametrize("schema", FOREIGN_KEYS.values(), ids=FOREIGN_KEYS)
def test_schemas_of_json_schema_tools_are_honest_about_other_keys(schema: dict[str, Any]):
    def in_order(arguments: dict[str, Any]) -> dict[str, Any]:
        return dict(sorted(arguments.items()))

    server = ToolRegistry("foreign")
    server.add(compile_json_schema({"type": "object", **schema}, name="tool"), in_order)
    assert schema_honesty(server, max_examples=20) == 60
    assert_boundary(server)


@pytest.mark.parametrize("host", ["fastmcp", "mcp_sdk"])
def test_schemas_of_protected_servers_are_honest_and_no_tool_runs(host: str):
    def never(customer: str, size: Annotated[int, Field(ge=1)] = 1) -> None:
        raise AssertionError("the tool was run")

    server: Any = (
        fastmcp.protect(FastMCP("shop"))
        if host == "fastmcp"
        else mcp_sdk.protect(MCPServer("shop"))
    )
    server.tool()(never)
    assert schema_honesty(server, max_examples=40) == 120


def test_schemas_of_the_inventory_example_are_honest(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("INVENTORY_DB", str(tmp_path / "inventory.sqlite3"))
    example = Path(__file__).resolve().parents[2] / "examples" / "inventory" / "on_toolbooth.py"
    assert schema_honesty(load_registry(f"{example}:registry"), max_examples=10) == 14 * 3 * 10


# --- dishonest ones ---------------------------------------------------------------------------------------------


def test_schema_wider_than_the_validation_is_found():
    contract = compile_function(place_order)
    wider = {**contract.schema, "required": []}
    server = registry()
    server.add(replace(contract, describe=lambda: wider))
    assert lie(server) == snapshot("""\
shop: schemas that do not say what is taken: 1

place_order: the schema admits a call that is refused or repaired, not by the author's validation
    call  {}
    but   missing at $.customer\
""")


def test_schema_narrower_than_the_validation_is_found():
    def ring(loud: bool = False) -> None: ...

    contract = compile_function(ring)
    narrower = {**contract.schema, "properties": {"loud": {"const": True}}}
    server = registry()
    server.add(replace(contract, describe=lambda: narrower))
    assert lie(server) == snapshot("""\
shop: schemas that do not say what is taken: 1

ring: the schema excludes a call that passes, unrecorded
    call  {"loud": false}
    but   $.loud: true was expected\
""")


def test_a_published_form_that_excludes_a_correct_call_is_found():
    contract = compile_function(place_order)
    published = {**input_schema(contract), "required": ["customer", "due"]}
    tool = ServedTool(name="place_order", contract=contract, published=published, guarded=True)
    assert "\n".join(map(str, Search(40).contract(tool))) == snapshot("""\
place_order: the published schema excludes a correct call
    call  {"customer": "0"}
    but   $: "due" is a required property\
""")


def test_a_validator_that_raises_an_exception_counts_as_a_refusal():
    def count(size: Annotated[int, BeforeValidator(lambda value: value + 1)]) -> None: ...

    assert schema_honesty(registry(count)) > 0


def test_a_validator_that_raises_a_tool_error_is_reported():
    def even(value: Any) -> Any:
        if isinstance(value, list):
            raise ToolError("count", "no lists")
        return value

    def count(size: Annotated[int, BeforeValidator(even)]) -> None: ...

    assert lie(registry(count)) == snapshot("""\
shop: schemas that do not say what is taken: 1

count: a call is neither accepted nor refused: validation breaks on it
    call  {"size": [0]}
    but   ToolError: Tool 'count' failed: no lists\
""")


# --- unprotected hosts, whose tools are called ------------------------------------------------------------------


def search(query: str = "", limit: int = 5) -> str:
    return f"{limit} of {query}"


def test_official_sdk_drops_undeclared_keys():
    server = MCPServer("shop")
    server.add_tool(search)
    assert lie(server) == snapshot("""\
shop: schemas that do not say what is taken: 1

search: the schema excludes a call that passes, unrecorded
    call  {"zq": null}
    but   the tool ran; $: Additional properties are not allowed ('zq' was unexpected)\
""")


def test_fastmcp_coerces_values_outside_the_schema():
    server = FastMCP("shop")
    server.tool(search)
    assert lie(server) == snapshot("""\
shop: schemas that do not say what is taken: 1

search: the schema excludes a call that passes, unrecorded
    call  {"query": "", "limit": "0"}
    but   the tool ran; $.limit: "0" is not of type "integer"\
""")


def test_the_official_sdk_publishes_a_name_that_it_does_not_accept():
    def fetch(user_id: Annotated[int, Field(alias="userId")]) -> str:
        return str(user_id)

    server = MCPServer("shop", log_level="CRITICAL")
    server.add_tool(fetch)
    assert lie(server) == snapshot("""\
shop: schemas that do not say what is taken: 1

fetch: the schema admits a call that is refused or repaired, not by the author's validation
    call  {"userId": 0}
    but   it failed: Error executing tool fetch\
""")
    assert schema_honesty(mcp_sdk.protect(server), max_examples=20) == 60


@pytest.mark.parametrize("authors", ["note", "zzz"])
def test_lie_about_a_field_is_found_beside_author_validators(authors):
    # A field of the author's own code is exempt; a field whose name merely begins with that name is
    # not.
    namespace = {"Annotated": Annotated, "BeforeValidator": BeforeValidator}
    exec(
        f"def tool(notes: int, {authors}: Annotated[str, BeforeValidator(lambda value: value)]): ...",
        namespace,
    )
    contract = compile_function(namespace["tool"])
    lying = {
        **contract.schema,
        "properties": {**contract.schema["properties"], "notes": {"type": "string"}},
    }
    registry = ToolRegistry("shop")
    registry.add(replace(contract, describe=lambda: lying))
    with pytest.raises(AssertionError, match=r"wrong-type at \$\.notes"):
        schema_honesty(registry, max_examples=40)
