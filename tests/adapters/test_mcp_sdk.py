"""All features of the official SDK also work for protected tools, and the boundary keeps values
that the SDK would lose.
"""

import asyncio
import functools
from collections.abc import Callable
from datetime import date
from typing import Annotated, Any

import mcp
import pytest
from mcp.server.mcpserver import Context, MCPServer, Resolve
from mcp.server.mcpserver.exceptions import InvalidSignature
from mcp.server.mcpserver.exceptions import ToolError as HostError
from mcp.server.mcpserver.tools import Tool
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import AfterValidator, BaseModel, Field

from toolbooth import Context as OwnContext
from toolbooth import ContractError, ToolError, Unpack, unpack_pydantic_params
from toolbooth.adapters.mcp_sdk import protect


class Query(BaseModel):
    text: str
    limit: int = 10


def count(number: int) -> dict[str, Any]:
    return {"number": number}


COUNT_SCHEMA = {
    "type": "object",
    "properties": {"number": {"type": "integer"}},
    "required": ["number"],
}
SEARCH_SCHEMA = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "limit": {"type": "integer", "default": 10}},
    "required": ["text"],
}
REPAIRED = {"repairs": [{"code": "scalar-text", "path": "$.number"}]}


def call(server: MCPServer[Any], tool: str, arguments: dict[str, Any]) -> CallToolResult:
    async def run() -> CallToolResult:
        async with mcp.Client(server) as client:
            return await client.call_tool(tool, arguments)

    return asyncio.run(run())


def listed(server: MCPServer[Any]) -> dict[str, Any]:
    return {tool.name: tool for tool in asyncio.run(server.list_tools())}


def schemas(server: MCPServer[Any]) -> dict[str, Any]:
    return {name: tool.input_schema for name, tool in listed(server).items()}


def told(result: CallToolResult) -> str:
    assert result.is_error
    [content] = result.content
    return content.text


def problems(result: CallToolResult) -> list[tuple[str, str]]:
    assert result.is_error
    return [(each["code"], each["path"]) for each in result.meta["toolbooth"]["problems"]]


def test_protecting_twice_is_harmless():
    server = MCPServer("s")
    server.add_tool(count)
    assert protect(protect(server)) is server
    result = call(server, "count", {"number": "3"})
    assert result.structured_content == {"number": 3}
    assert result.meta["toolbooth"] == REPAIRED


# --- values that the SDK loses
# ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["null", '{"a": 1}', "[1, 2]", "5"])
def test_text_that_looks_like_json_stays_text(text: str):
    server = protect(MCPServer("s"))

    @server.tool()
    def echo(either: str | None, both: str | dict[str, int]) -> dict[str, Any]:
        return {"either": either, "both": both}

    sent = {"either": text, "both": text}
    assert call(server, "echo", sent).structured_content == sent


def test_an_unknown_key_is_refused_not_dropped():
    server = protect(MCPServer("s"))
    server.add_tool(count)
    assert problems(call(server, "count", {"number": 1, "colour": "red"})) == [
        ("unknown-key", "$.colour")
    ]


def test_a_parameter_alias_is_the_key_that_works():
    server = protect(MCPServer("s"))

    @server.tool()
    def page(size: Annotated[int, Field(alias="pageSize")], schema: int = 0) -> dict[str, Any]:
        return {"size": size, "schema": schema}

    assert list(schemas(server)["page"]["properties"]) == ["pageSize", "schema"]
    assert call(server, "page", {"pageSize": 3, "schema": 4}).structured_content == {
        "size": 3,
        "schema": 4,
    }


# --- features of the SDK for a tool
# -----------------------------------------------------------------------------------


def test_metadata_of_a_listed_tool_is_kept():
    server = MCPServer("s")

    @server.tool(title="Say it", annotations=ToolAnnotations(read_only_hint=True), meta={"own": 1})
    def say(text: str) -> Query:
        """Say something."""
        return Query(text=text)

    before = listed(server)["say"]
    after = listed(protect(server))["say"]
    assert after.model_copy(update={"input_schema": before.input_schema}) == before
    assert call(server, "say", {"text": "x"}).structured_content == {"text": "x", "limit": 10}


def test_context_and_resolved_parameters_are_injected_and_never_on_the_wire():
    server = protect(MCPServer("s"))

    async def doubled(number: int) -> int:
        return 2 * number

    @server.tool()
    def use(
        number: int, context: Context, twice: Annotated[int, Resolve(doubled)]
    ) -> dict[str, Any]:
        return {"number": number, "server": context.mcp_server.name, "twice": twice}

    assert schemas(server) == {"use": COUNT_SCHEMA}
    result = call(server, "use", {"number": "3"})
    assert result.structured_content == {"number": 3, "server": "s", "twice": 6}
    assert result.meta["toolbooth"] == REPAIRED
    assert problems(call(server, "use", {"number": 3, "twice": 1})) == [("unknown-key", "$.twice")]


def test_decorated_function_is_compiled_from_its_original_signature():
    server = protect(MCPServer("s"))

    @server.tool()
    @unpack_pydantic_params
    def find(
        query: Annotated[Query, Unpack()], context: Context, own: OwnContext
    ) -> dict[str, Any]:
        return {**query.model_dump(), "server": context.mcp_server.name, "own": own.client}

    assert schemas(server) == {"find": SEARCH_SCHEMA}
    result = call(server, "find", {"text": "a", "limit": "3"})
    assert result.structured_content == {"text": "a", "limit": 3, "server": "s", "own": "mcp"}


def test_repairs_are_reported_on_a_protocol_result_that_the_tool_made_itself():
    server = protect(MCPServer("s"))

    @server.tool()
    def own(number: int) -> CallToolResult:
        return CallToolResult(
            content=[TextContent(type="text", text=f"{number}")], _meta={"mine": 1}
        )

    result = call(server, "own", {"number": "3"})
    assert result.content == [TextContent(type="text", text="3")]
    assert {key: result.meta[key] for key in ("mine", "toolbooth")} == {
        "mine": 1,
        "toolbooth": REPAIRED,
    }


def test_tool_that_overrides_run_is_validated_against_its_schema():
    class Echo(Tool):
        async def run(
            self, arguments: dict[str, Any], context: Any, convert_result: bool = False
        ) -> Any:
            return self.fn_metadata.convert_result(arguments)

    server = MCPServer("s", tools=[Echo.from_function(count)])
    published = schemas(server)
    protect(server)
    assert schemas(server) == published  # in the words of its author
    result = call(server, "count", {"number": "3"})
    assert result.structured_content == {"number": 3}
    assert result.meta["toolbooth"] == REPAIRED
    assert problems(call(server, "count", {"data": {"number": 3}})) == [
        ("nested-wrapper", "$.data")
    ]


def test_a_call_within_the_process_may_pass_python_values():
    server = protect(MCPServer("s"))

    @server.tool()
    def on(day: date) -> str:
        return day.isoformat()

    result = asyncio.run(server.call_tool("on", {"day": date(2026, 1, 2)}))
    assert result.structured_content == {"result": "2026-01-02"}


def test_second_tool_of_the_same_name_is_ignored_and_a_removed_one_is_unknown():
    server = protect(MCPServer("s"))
    server.add_tool(count)
    server.add_tool(lambda: None, name="count")
    assert schemas(server) == {"count": COUNT_SCHEMA}
    server.remove_tool("count")
    assert schemas(server) == {}


# --- messages for agents
# ----------------------------------------------------------------------------------------------


def test_a_tool_error_is_shown_also_from_a_resolver_and_a_crash_is_masked():
    server = protect(MCPServer("s"))

    def refuse() -> int:
        raise ToolError("guarded", "not today", {"until": "Monday"})

    @server.tool()
    def guarded(number: int, allowed: Annotated[int, Resolve(refuse)]) -> int:
        return number

    @server.tool()
    def theirs(number: int) -> int:
        raise HostError("as the SDK shows it")

    @server.tool()
    def broken(number: int) -> int:
        return Query.model_validate({"secret": number}).limit

    result = call(server, "guarded", {"number": 1})
    assert told(result) == "Tool 'guarded' failed: not today"
    assert result.structured_content == {"details": {"until": "Monday"}}
    assert (
        told(call(server, "theirs", {"number": 1}))
        == "Error executing tool theirs: as the SDK shows it"
    )
    assert told(call(server, "broken", {"number": 1})) == "Error executing tool broken"


def test_a_protocol_error_that_a_validator_raises_stays_one():
    server = protect(MCPServer("s"))

    def check(number: int) -> int:
        raise MCPError(code=-32000, message="come back later")

    @server.tool()
    def guarded(number: Annotated[int, AfterValidator(check)]) -> int:
        return number

    with pytest.raises(MCPError, match="come back later"):
        asyncio.run(server.call_tool("guarded", {"number": 1}))


# --- functions that the SDK rejects -------------------------------------------------------------------------------


def underscored(_number: int) -> dict[str, Any]:
    return {"number": _number}


def positional(number: int, /) -> dict[str, Any]:
    return {"number": number}


async def asking(number: int, own: OwnContext, context: Context) -> dict[str, Any]:
    return {"number": number, "own": own.client, "server": context.mcp_server.name}


@pytest.mark.parametrize(
    ("function", "arguments", "value"),
    [
        (underscored, {"_number": "3"}, {"number": 3}),
        (positional, {"number": "3"}, {"number": 3}),
        (asking, {"number": "3"}, {"number": 3, "own": "mcp", "server": "s"}),
        (functools.partial(count), {"number": "3"}, {"number": 3}),
    ],
    ids=["underscore", "positional", "our-context", "partial"],
)
def test_signature_the_sdk_cannot_describe_is_accepted_once_protected(
    function: Callable[..., Any], arguments: dict[str, Any], value: Any
):
    server = protect(MCPServer("s"))
    server.add_tool(function, name="tool", description="A tool")
    assert listed(server)["tool"].description == "A tool"
    result = call(server, "tool", arguments)
    assert result.structured_content == value
    assert [each["code"] for each in result.meta["toolbooth"]["repairs"]] == ["scalar-text"]


def test_function_rejected_by_the_sdk_for_other_reasons_stays_rejected():
    server = protect(MCPServer("s"))
    with pytest.raises(ValueError, match="name for lambda"):
        server.add_tool(lambda: None)
    with pytest.raises(InvalidSignature, match="return annotation required"):
        server.add_tool(lambda number: number, name="bare", structured_output=True)

    def twice(
        one: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Same"})],
        other: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Same"})],
    ) -> None: ...

    with pytest.raises(InvalidSignature, match="Tool 'twice' has an invalid x-mcp-header"):
        server.add_tool(twice)
    assert schemas(server) == {}


# --- the author's mistakes ----------------------------------------------------------------------------------------


def test_mistakes_of_all_tools_are_raised_at_once_without_any_change():
    server = MCPServer("s")

    @server.tool()
    def first(config: int) -> int: ...

    @server.tool()
    def second(query: Annotated[Query, Unpack()], text: str) -> int: ...

    before = schemas(server)
    with pytest.raises(ContractError) as caught:
        protect(server)
    assert caught.value.owner == "s"
    assert [each.partition(":")[0] for each in caught.value.mistakes] == [
        "tool 'first'",
        "tool 'second'",
    ]
    assert schemas(server) == before


def test_mistake_raises_when_a_tool_is_registered():
    server = protect(MCPServer("s"))

    def bad(number: int, **more: int) -> int: ...

    def unresolved(number: "Missing") -> int: ...  # noqa: F821

    with pytest.raises(ContractError, match="accepts undeclared names"):
        server.add_tool(bad)
    with pytest.raises(ContractError, match="'Missing' in its annotation cannot be resolved"):
        server.add_tool(unresolved)
    assert schemas(server) == {}
