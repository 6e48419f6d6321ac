"""`Mcp-Param-*` headers must agree with the arguments."""

from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from respond_messages import META, answer, error_of, result_of, routed, text, tool_call
from toolbooth import ToolRegistry, compile_json_schema


def regional() -> ToolRegistry:
    registry = ToolRegistry("shop")

    class Place(BaseModel):
        zone: str = Field(default="a", json_schema_extra={"x-mcp-header": "Zone"})

    @registry.tool
    def find(
        region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})],
        count: Annotated[int, Field(json_schema_extra={"x-mcp-header": "Count"})] = 1,
        deep: Annotated[bool, Field(json_schema_extra={"x-mcp-header": "Deep"})] = False,
        share: Annotated[float, Field(json_schema_extra={"x-mcp-header": "Share"})] = 0.5,
        place: Place | None = None,
    ) -> str:
        return f"{region} {count} {deep} {share} {place.zone if place else None}"

    return registry


def asked_with(arguments: Any, **headers: str) -> tuple[int, Any]:
    body = tool_call("find", arguments, _meta=META)
    return answer(regional(), body, routed("tools/call", "find", **headers))


@pytest.mark.parametrize(
    ("arguments", "headers", "words"),
    [
        ({"region": "eu"}, {"mcp_param_region": "eu"}, "eu 1 False 0.5 None"),
        ({"region": "eu", "count": None}, {"mcp_param_region": "eu"}, "eu 1 False 0.5 None"),
        (
            {"region": "eu", "count": 42},
            {"mcp_param_region": "eu", "mcp_param_count": "42"},
            "eu 42 False 0.5 None",
        ),
        (
            {"region": "eu", "count": 42},
            {"mcp_param_region": "eu", "mcp_param_count": "42.0"},
            "eu 42 False 0.5 None",
        ),
        (
            {"region": "eu", "count": 42.0},
            {"mcp_param_region": "eu", "mcp_param_count": "42"},
            "eu 42 False 0.5 None",
        ),
        (
            {"region": "eu", "count": -4},
            {"mcp_param_region": "eu", "mcp_param_count": "-4"},
            "eu -4 False 0.5 None",
        ),
        (
            {"region": "eu", "deep": True},
            {"mcp_param_region": "eu", "mcp_param_deep": "true"},
            "eu 1 True 0.5 None",
        ),
        (
            {"region": "eu", "deep": False},
            {"mcp_param_region": "eu", "mcp_param_deep": "false"},
            "eu 1 False 0.5 None",
        ),
        ({"region": "é"}, {"mcp_param_region": "=?base64?w6k=?="}, "é 1 False 0.5 None"),
        ({"region": "eu", "share": 0.1}, {"mcp_param_region": "eu"}, "eu 1 False 0.1 None"),
    ],
    ids=[
        "same",
        "null-is-absent",
        "integer",
        "integer-with-point",
        "argument-with-point",
        "negative",
        "true",
        "false",
        "base64",
        "number-has-no-header",
    ],
)
def test_param_headers_equal_to_their_arguments_are_accepted(arguments, headers, words):
    status, found = asked_with(arguments, **headers)
    assert (status, found["result"]["content"]) == (200, [{"type": "text", "text": words}])


@pytest.mark.parametrize(
    ("arguments", "headers", "what"),
    [
        ({"region": "eu"}, {}, "Region"),
        ({"region": "eu"}, {"mcp_param_region": "us"}, "Region"),
        ({}, {"mcp_param_region": "eu"}, "Region"),
        ('{"region": "eu"}', {"mcp_param_region": "eu"}, "Region"),
        ({"region": "eu"}, {"mcp_param_region": "=?base64?%%?="}, "Region"),
        ({"region": "eu", "count": 4}, {"mcp_param_region": "eu", "mcp_param_count": "5"}, "Count"),
        (
            {"region": "eu", "count": 4},
            {"mcp_param_region": "eu", "mcp_param_count": "4.5"},
            "Count",
        ),
        ({"region": "eu", "count": 4}, {"mcp_param_region": "eu", "mcp_param_count": "²"}, "Count"),
        (
            {"region": "eu", "count": 4},
            {"mcp_param_region": "eu", "mcp_param_count": "9" * 5000},
            "Count",
        ),
        ({"region": "eu", "deep": True}, {"mcp_param_region": "eu", "mcp_param_deep": "1"}, "Deep"),
    ],
    ids=[
        "absent",
        "different",
        "no-argument",
        "arguments-as-text",
        "no-base64",
        "integer",
        "fraction",
        "superscript",
        "endless",
        "boolean",
    ],
)
def test_param_headers_that_differ_from_their_arguments_are_a_mismatch(arguments, headers, what):
    words = f"the Mcp-Param-{what} header and the argument {what.lower()!r} differ"
    error = {"code": -32020, "message": words}
    assert asked_with(arguments, **headers) == (400, {"jsonrpc": "2.0", "id": 1, "error": error})


def test_a_param_header_may_repeat_a_nested_argument():
    schema = {
        "type": "object",
        "properties": {
            "place": {
                "type": "object",
                "properties": {"zone": {"type": "string", "x-mcp-header": "Zone"}},
            },
            "any": True,
        },
    }
    registry = ToolRegistry("shop")
    registry.add(
        compile_json_schema(schema, name="find"), lambda arguments: arguments["place"]["zone"]
    )
    body = tool_call("find", {"place": {"zone": "b"}}, _meta=META)
    assert (
        result_of(registry, body, routed("tools/call", "find", mcp_param_zone="b"))["isError"]
        is False
    )
    error = {
        "code": -32020,
        "message": "the Mcp-Param-Zone header and the argument 'place.zone' differ",
    }
    assert error_of(registry, body, routed("tools/call", "find")) == (400, 1, error)


def test_param_headers_are_ignored_in_the_handshake_revisions():
    result = result_of(
        regional(), tool_call("find", {"region": "eu"}), {"mcp-protocol-version": "2025-11-25"}
    )
    assert result == text("eu 1 False 0.5 None")
