"""A registry lists its tools in the profile that it was given."""

from datetime import date
from pathlib import Path
from typing import Any, Literal
from uuid import UUID

import nullable_profile
import pytest
from nullable_profile import NullableProfile
from pydantic import BaseModel

from respond_messages import message, result_of, tool_call
from toolbooth import ToolRegistry, compile_json_schema
from toolbooth.publish import Exact


class Line(BaseModel):
    sku: str
    quantity: int | None = None


def place_order(
    lines: list[Line], note: str | None, day: date | None = None, key: UUID | int | None = None
) -> str:
    """Place an order."""
    return "placed"


LINE = {
    "type": "object",
    "properties": {"sku": {"type": "string"}, "quantity": {"type": "integer", "nullable": True}},
    "required": ["sku"],
}
NULLABLE = {
    "type": "object",
    "properties": {
        "lines": {"type": "array", "items": LINE},
        "note": {"type": "string", "nullable": True},
        "day": {"type": "string", "format": "date", "nullable": True},
        "key": {"anyOf": [{"type": "string"}, {"type": "integer"}], "nullable": True},
    },
    "required": ["lines", "note"],
}


def listed(registry: ToolRegistry) -> dict[str, Any]:
    """Return the tools that a client receives from `tools/list`."""
    tools = result_of(registry, message("tools/list"))["tools"]
    return {tool["name"]: tool["inputSchema"] for tool in tools}


def test_a_custom_profile_takes_at_most_40_lines():
    assert len(Path(nullable_profile.__file__).read_text(encoding="utf-8").splitlines()) <= 40


@pytest.mark.parametrize("profile", [NullableProfile, NullableProfile()], ids=["class", "instance"])
def test_custom_profile_is_listed_and_does_not_change_validation(profile):
    registry = ToolRegistry("shop", profile=profile)
    registry.tool(place_order)
    assert listed(registry) == {"place_order": NULLABLE}
    order = {"lines": [{"sku": "a1", "quantity": None}], "note": None, "key": 2}
    result = result_of(registry, tool_call("place_order", order))
    assert result["content"] == [{"type": "text", "text": "placed"}]
    result = result_of(registry, tool_call("place_order", {"lines": [], "note": 5}))
    [problem] = result["_meta"]["toolbooth"]["problems"]
    assert problem["path"] == "$.note"


def test_dispatchers_are_listed_in_the_profile_too():
    class Terse(NullableProfile):
        def write_typed(self, node: dict[str, Any]) -> dict[str, Any]:
            return {key: value for key, value in node.items() if key != "description"}

    registry = ToolRegistry("shop", profile=Terse)
    registry.tool(place_order)
    registry.dispatcher("orders", {"place": "place_order"})
    assert listed(registry) == {
        "orders": {
            "type": "object",
            "properties": {
                "action": {"type": "string", "enum": ["place"]},
                "params": {
                    "type": "string",
                    "description": 'Fields as JSON text, e.g. {"name": "A"}',
                },
                "help": {"type": "boolean"},
            },
        }
    }


def test_exact_lists_the_full_schema():
    def paint(color: Literal["red"] | None = None) -> str:
        return "painted"

    registry = ToolRegistry("shop", profile="exact")
    registry.tool(paint)
    assert listed(registry) == {
        "paint": {
            "type": "object",
            "properties": {
                "color": {
                    "anyOf": [{"const": "red", "type": "string"}, {"type": "null"}],
                    "default": None,
                }
            },
            "additionalProperties": False,
        }
    }


def test_header_parameters_are_those_of_the_listed_schema():
    schema = {
        "type": "object",
        "properties": {"any": True, "region": {"type": "string", "x-mcp-header": "Region"}},
    }
    contract = compile_json_schema(schema, name="find", function=lambda **sent: "found")
    tools = {
        profile: ToolRegistry("shop", profile=profile).add(contract)
        for profile in (Exact, NullableProfile)
    }
    assert tools[Exact].header_params == {("region",): ("Region", "string")}
    assert tools[NullableProfile].header_params == {}


def test_an_unknown_profile_is_refused_when_the_registry_is_made():
    with pytest.raises(
        ValueError, match="there is no profile 'gemini'; the profiles are 'portable'"
    ):
        ToolRegistry("shop", profile="gemini")
