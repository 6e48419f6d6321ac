"""Fields that a server lists and a function does not declare, and schemas that were changed by
hand.

`analyse` does the same as `posthog.mcp.instrument` (posthog 7.79): it adds a field to every listed
tool, and takes it out of every call.
"""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any

import pytest
from fastmcp import Client as HostClient
from fastmcp import FastMCP
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import Tool, ToolResult
from mcp import Client
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.tools import Tool as SdkTool
from mcp_types import CallToolResult, ListToolsResult, PaginatedRequestParams
from pydantic import BaseModel

from toolbooth import Unpack
from toolbooth.adapters import fastmcp, mcp_sdk

CONTEXT = {"type": "string", "minLength": 3, "description": "Why you call this tool."}


def place(customer: str, amount: int = 1) -> str:
    return f"{amount} for {customer}"


def with_context(schema: dict[str, Any]) -> dict[str, Any]:
    return {
        **schema,
        "properties": {**schema.get("properties", {}), "context": CONTEXT},
        "required": [*schema.get("required", ()), "context"],
    }


class Analytics(Middleware):
    """Of FastMCP."""

    def __init__(self, seen: list[Any]) -> None:
        self.seen = seen

    async def on_list_tools(self, context: Any, call_next: CallNext[Any, Any]) -> Sequence[Tool]:
        tools = await call_next(context)
        return [
            tool.model_copy(update={"parameters": with_context(tool.parameters)}) for tool in tools
        ]

    async def on_call_tool(
        self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]
    ) -> ToolResult:
        arguments = dict(context.message.arguments or {})
        self.seen.append(arguments.pop("context", None))
        message = context.message.model_copy(update={"arguments": arguments})
        return await call_next(context.copy(message=message))


def analyse(server: Any) -> list[Any]:
    """Add a field to every tool and take it out of every call. Returns the list of received values."""
    seen: list[Any] = []
    if isinstance(server, FastMCP):
        server.add_middleware(Analytics(seen))
        return seen
    manager, low_level = server._tool_manager, server._lowlevel_server
    call_tool = manager.call_tool

    async def call_without_context(
        name: str, arguments: dict[str, Any], context: Any = None, convert_result: bool = False
    ) -> Any:
        others = {key: value for key, value in arguments.items() if key != "context"}
        seen.append(arguments.get("context"))
        return await call_tool(name, others, context=context, convert_result=convert_result)

    manager.call_tool = call_without_context
    list_tools = low_level.get_request_handler("tools/list").handler

    async def list_with_context(ctx: Any, params: Any) -> ListToolsResult:
        listed = await list_tools(ctx, params)
        for tool in listed.tools:
            tool.input_schema = with_context(tool.input_schema)
        return listed

    low_level.add_request_handler("tools/list", PaginatedRequestParams, list_with_context)
    return seen


def protect(server: Any) -> None:
    (fastmcp if isinstance(server, FastMCP) else mcp_sdk).protect(server)


def add(server: Any) -> None:
    server.add_tool(Tool.from_function(place) if isinstance(server, FastMCP) else place)


STEPS = {"tools": add, "analytics": analyse, "protect": protect}
ORDERS = [
    ("tools", "analytics", "protect"),
    ("tools", "protect", "analytics"),
    ("protect", "tools", "analytics"),
    ("protect", "analytics", "tools"),
    ("analytics", "protect", "tools"),
    ("analytics", "tools", "protect"),
]
HOSTS = pytest.mark.parametrize("host", [FastMCP, MCPServer], ids=["fastmcp", "mcp_sdk"])
ANY_ORDER = pytest.mark.parametrize("order", ORDERS, ids=lambda order: "-".join(order))


def built(host: Any, order: Sequence[str]) -> tuple[Any, list[Any]]:
    server = host("place")
    made = {step: STEPS[step](server) for step in order}
    return server, made["analytics"]


async def called(
    server: Any, *calls: dict[str, Any], listed: bool = True
) -> tuple[Any, list[CallToolResult]]:
    """Return the schema of the only tool, if it is listed first, and the results of calls."""
    schema = None
    if isinstance(server, FastMCP):
        async with HostClient(server) as client:
            if listed:
                [schema] = [tool.input_schema for tool in (await client.list_tools_mcp()).tools]
            name = server.name
            return schema, [await client.call_tool_mcp(name, each) for each in calls]
    async with Client(server) as client:
        if listed:
            [schema] = [tool.input_schema for tool in (await client.list_tools()).tools]
        return schema, [await client.call_tool(server.name, each) for each in calls]


def problems(result: CallToolResult) -> list[tuple[str, str]]:
    found = (result.meta or {}).get("toolbooth", {}).get("problems", ())
    return [(each["code"], each["path"]) for each in found]


@HOSTS
@ANY_ORDER
def test_a_listed_field_reaches_the_code_that_added_it_in_any_order(host, order):
    server, seen = built(host, order)
    schema, [result] = asyncio.run(called(server, {"customer": "Ann", "context": "a test"}))
    assert schema["properties"] == {
        "customer": {"type": "string"},
        "amount": {"type": "integer", "default": 1},
        "context": CONTEXT,
    }
    assert schema["required"] == ["customer", "context"]
    assert (result.is_error, result.content[0].text) == (False, "1 for Ann")
    assert "toolbooth" not in (result.meta or {})
    assert seen == ["a test"]


@HOSTS
@ANY_ORDER
@pytest.mark.parametrize("listed", [True, False], ids=["listed-before", "never-listed"])
def test_listed_field_is_validated_against_its_schema(host, order, listed):
    server, _ = built(host, order)
    calls = [
        {"customer": "Ann", "context": 5},
        {"customer": "Ann", "context": "a"},
        {"custmr": "Ann", "context": "a"},
        {"customer": "Ann", "cntxt": "a test"},
    ]
    _, results = asyncio.run(called(server, *calls, listed=listed))
    assert [problems(each) for each in results] == [
        [("wrong-type", "$.context")],
        [("invalid", "$.context")],
        [
            ("invalid", "$.context"),
            ("unknown-key", "$.custmr"),
            ("missing", "$.customer"),
        ],
        [("unknown-key", "$.cntxt")],
    ]
    assert all(each.is_error for each in results)


@HOSTS
def test_a_corrected_call_contains_the_listed_field(host):
    server, _ = built(host, ORDERS[0])
    _, [result] = asyncio.run(called(server, {"Customer": "Ann", "context": "a test"}))
    assert result.meta["toolbooth"]["corrected"] == {"customer": "Ann", "context": "a test"}


@HOSTS
def test_a_listed_field_that_is_not_sent_is_left_to_the_code_that_added_it(host):
    server, seen = built(host, ORDERS[0])
    _, [result] = asyncio.run(called(server, {"customer": "Ann"}))
    assert (result.content[0].text, seen) == ("1 for Ann", [None])


@HOSTS
def test_an_unlisted_field_that_middleware_takes_out_is_not_refused(host):
    server, seen = built(host, ORDERS[0])
    if isinstance(server, FastMCP):
        server.middleware[-1].on_list_tools = lambda context, call_next: call_next(context)
    else:
        listing = server._handle_list_tools
        server._lowlevel_server.add_request_handler("tools/list", PaginatedRequestParams, listing)
    _, [result] = asyncio.run(called(server, {"customer": "Ann", "context": 5}))
    assert (result.content[0].text, seen) == ("1 for Ann", [5])


# --- schemas that were changed by hand ------------------------------------------------------------


def pick(colour: str, number: int = 1) -> str:
    return f"{number} {colour}"


def tool_of(host: Any) -> Any:
    return Tool.from_function(pick) if host is FastMCP else SdkTool.from_function(pick)


def stored(server: Any) -> Any:
    """Return the tool that the host itself keeps."""
    if isinstance(server, FastMCP):
        return next(iter(server.local_provider._components.values()))
    return server._tool_manager._tools["pick"]


def server_with(host: Any, tool: Any) -> Any:
    if host is MCPServer:
        return host("pick", tools=[tool])
    server = host("pick")
    server.add_tool(tool)
    return server


def set_enum(tool: Any) -> None:
    tool.parameters["properties"]["colour"]["enum"] = ["red", "blue"]


def replace_parameters(tool: Any) -> None:
    colour = {**tool.parameters["properties"]["colour"], "enum": ["red", "blue"]}
    properties = {**tool.parameters["properties"], "colour": colour}
    tool.parameters = {**tool.parameters, "properties": properties}


@HOSTS
@pytest.mark.parametrize("change", [set_enum, replace_parameters], ids=["in-place", "replaced"])
@pytest.mark.parametrize("when", ["before-adding", "before-protect", "after-protect", "while-used"])
def test_a_hand_set_enum_is_listed_and_enforced_whenever_it_is_set(host, change, when):
    tool = tool_of(host)
    if when == "before-adding":
        change(tool)
    server = server_with(host, tool)
    if when == "before-protect":
        change(stored(server))
    protect(server)
    if when == "while-used":
        asyncio.run(called(server, {"colour": "green"}))
    if when in ("after-protect", "while-used"):
        change(stored(server))
    calls = [{"colour": "red", "number": "2"}, {"colour": "green"}, {"colour": 5}]
    schema, results = asyncio.run(called(server, *calls))
    listed = schema["properties"]
    assert listed["colour"]["enum"] == ["red", "blue"]
    assert [each.content[0].text.splitlines()[-1] for each in results] == [
        "2 red",
        '- $.colour: must be one of "red", "blue"; got "green"; e.g. "red"',
        '- $.colour: must be text, got an integer 5; e.g. "red"',
    ]


@pytest.mark.parametrize("change", [set_enum, replace_parameters], ids=["in-place", "replaced"])
@pytest.mark.parametrize("strict", [True, False], ids=["strict", "lenient"])
def test_changes_to_a_looked_up_tool_are_listed_and_enforced(change, strict):
    server = fastmcp.protect(FastMCP("pick", strict_input_validation=strict))
    server.tool(pick)
    tool: Any = asyncio.run(server.get_tool("pick"))
    change(tool)
    tool.description = "Picks."
    schema, results = asyncio.run(called(server, {"colour": "red"}, {"colour": "green"}))
    assert schema["properties"]["colour"]["enum"] == ["red", "blue"]
    assert [problems(each) for each in results] == [[], [("invalid", "$.colour")]]
    assert asyncio.run(server.get_tool("pick")).description == "Picks."


@HOSTS
def test_a_change_that_is_not_a_schema_is_not_used(host, caplog):
    server = server_with(host, tool_of(host))
    protect(server)
    stored(server).parameters["properties"]["colour"] = {"type": "colour"}
    schema, results = asyncio.run(called(server, {"colour": "red"}, {"color": "red"}))
    assert schema["properties"]["colour"] == {"type": "string"}
    assert [problems(each) for each in results] == [
        [],
        [("unknown-key", "$.color"), ("missing", "$.colour")],
    ]
    assert "the changed schema of 'pick' is ignored" in caplog.text


@HOSTS
def test_a_hand_set_description_default_and_required_name_are_listed(host):
    tool = tool_of(host)
    tool.parameters["properties"]["number"] |= {"description": "How many.", "maximum": 9}
    tool.parameters["required"] = ["colour", "number"]
    server = server_with(host, tool)
    protect(server)
    calls = [{"colour": "red"}, {"colour": "red", "number": 10}, {"colour": "red", "number": 9}]
    schema, results = asyncio.run(called(server, *calls))
    listed = schema["properties"]
    assert (listed["number"]["description"], listed["number"]["maximum"]) == ("How many.", 9)
    assert [problems(each) for each in results] == [
        [("missing", "$.number")],
        [("invalid", "$.number")],
        [],
    ]


@HOSTS
def test_a_hand_set_schema_may_refer_to_its_own_definitions(host):
    tool = tool_of(host)
    tool.parameters["$defs"] = {"Colour": {"enum": ["red"], "type": "string"}}
    tool.parameters["properties"]["colour"] = {"$ref": "#/$defs/Colour"}
    server = server_with(host, tool)
    protect(server)
    _, results = asyncio.run(called(server, {"colour": "red"}, {"colour": "blue"}))
    assert [problems(each) for each in results] == [[], [("invalid", "$.colour")]]


@HOSTS
def test_a_schema_that_was_replaced_as_a_whole_is_listed_unchanged(host):
    tool = tool_of(host)
    tool.parameters = {
        "$defs": {"Colour": {"enum": ["red"], "type": "string", "title": "Colour"}},
        "properties": {
            "colour": {"$ref": "#/$defs/Colour"},
            "number": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        },
        "type": "object",
    }
    server = server_with(host, tool)
    if isinstance(server, FastMCP):
        server.middleware.clear()  # which would inline the definitions
    protect(server)
    schema, results = asyncio.run(called(server, {"colour": "red"}, {"colour": "blue"}))
    assert schema == tool.parameters
    assert [problems(each) for each in results] == [[], [("invalid", "$.colour")]]


class Choice(BaseModel):
    colour: str
    number: int = 1


def choose(choice: Annotated[Choice, Unpack()], note: str = "") -> str:
    return f"{choice.number} {choice.colour}"


def test_a_required_name_of_a_flattened_field_is_found_where_it_was_sent():
    tool = Tool.from_function(choose)
    tool.parameters["properties"]["note"]["maxLength"] = 2
    tool.parameters["required"] = ["choice", "number"]
    server = FastMCP("choose")
    server.add_tool(tool)
    protect(server)
    calls = [{"colour": "red", "number": 2}, {"colour": "red"}, {"colour": "red", "note": "abc"}]
    schema, results = asyncio.run(called(server, *calls))
    listed = schema["properties"]
    assert list(listed) == ["colour", "number", "note"]
    assert [problems(each) for each in results] == [
        [],
        [("missing", "$.number")],
        [("missing", "$.number"), ("invalid", "$.note")],
    ]
