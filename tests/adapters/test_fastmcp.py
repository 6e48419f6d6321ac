"""All features of FastMCP also work for protected tools, and the boundary refuses calls that
FastMCP would let through.
"""

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Iterator
from datetime import date
from typing import Annotated, Any

import fastmcp
import pytest
from fastmcp import Client, Context, FastMCP
from fastmcp.apps.app import FastMCPApp
from fastmcp.dependencies import Depends
from fastmcp.exceptions import ValidationError
from fastmcp.server import create_proxy
from fastmcp.server.middleware import Middleware
from fastmcp.server.providers import AggregateProvider, LocalProvider, Provider
from fastmcp.server.transforms import Namespace, ToolTransform
from fastmcp.tools import FunctionTool, Tool, ToolResult
from fastmcp.tools.base import InputRequiredToolResult
from fastmcp.tools.tool_transform import ArgTransformConfig, ToolTransformConfig
from mcp_types import CallToolResult, InputRequiredResult, TextContent
from pydantic import BaseModel, Field

from toolbooth import Context as OwnContext
from toolbooth import ContractError, ToolError, Unpack, unpack_pydantic_params
from toolbooth.adapters.fastmcp import protect


class Query(BaseModel):
    text: str
    limit: int = 10


def search(query: Annotated[Query, Unpack()]) -> dict[str, Any]:
    return query.model_dump()


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
REPAIRED = {"toolbooth": {"repairs": [{"code": "scalar-text", "path": "$.number"}]}}


def call(server: FastMCP[Any], tool: str, arguments: dict[str, Any]) -> CallToolResult:
    async def run() -> CallToolResult:
        async with Client(server) as client:
            return await client.call_tool_mcp(tool, arguments)

    return asyncio.run(run())


def listed(server: FastMCP[Any]) -> dict[str, Any]:
    async def run() -> dict[str, Any]:
        async with Client(server) as client:
            return {tool.name: tool for tool in await client.list_tools()}

    return asyncio.run(run())


def schemas(server: FastMCP[Any]) -> dict[str, Any]:
    return {name: tool.input_schema for name, tool in listed(server).items()}


def told(result: CallToolResult) -> str:
    assert result.is_error
    [content] = result.content
    return content.text


def problems(result: CallToolResult) -> list[tuple[str, str]]:
    assert result.is_error
    return [(each["code"], each["path"]) for each in result.meta["toolbooth"]["problems"]]


# --- where tools come from ----------------------------------------------------------------------------------------


def test_protecting_twice_is_harmless():
    server = FastMCP("s")
    server.tool(count)
    assert protect(protect(server)) is server
    result = call(server, "count", {"number": "3"})
    assert result.structured_content == {"number": 3}
    assert result.meta["toolbooth"] == REPAIRED["toolbooth"]


def test_unpack_markers_work_in_mounted_servers_with_and_without_namespace():
    parent, early, late, deep = (FastMCP(name) for name in ("parent", "early", "late", "deep"))
    early.tool(search)
    parent.mount(early, namespace="early")
    protect(parent)
    deep.tool(search, name="deep_search")
    late.mount(deep)
    parent.mount(late, namespace="late")
    early.tool(count)
    assert schemas(parent) == {
        "early_search": SEARCH_SCHEMA,
        "early_count": COUNT_SCHEMA,
        "late_deep_search": SEARCH_SCHEMA,
    }
    assert call(parent, "early_search", {"text": "a"}).structured_content == {
        "text": "a",
        "limit": 10,
    }
    repaired = call(parent, "late_deep_search", {"text": "a", "limit": "3"})
    assert repaired.structured_content == {"text": "a", "limit": 3}
    assert repaired.meta["toolbooth"] == {"repairs": [{"code": "scalar-text", "path": "$.limit"}]}
    refused = call(parent, "early_search", {"query": {"text": "a"}})
    assert problems(refused) == [("nested-wrapper", "$.query")]
    assert refused.meta["toolbooth"]["corrected"] == {"text": "a"}


def test_tools_of_every_kind_of_provider_are_protected():
    class Dynamic(Provider):
        async def _list_tools(self) -> list[Tool]:
            return [Tool.from_function(search, name="dynamic")]

        async def _get_tool(self, name: str, version: Any = None) -> Tool | None:
            return Tool.from_function(search, name="dynamic") if name == "dynamic" else None

    local = LocalProvider()
    local.tool(search, name="local")
    aggregate = AggregateProvider([local])
    server = protect(FastMCP("s", providers=[aggregate]))
    server.add_provider(Dynamic())
    later = LocalProvider()
    aggregate.add_provider(later)
    later.tool(search, name="later")
    names = ("local", "later", "dynamic")
    assert schemas(server) == dict.fromkeys(names, SEARCH_SCHEMA)
    for name in names:
        assert problems(call(server, name, {"text": "a", "colour": 1})) == [
            ("unknown-key", "$.colour")
        ]


def test_the_tools_of_an_app_are_protected():
    app = FastMCPApp("app")
    app.tool(search, model=True)
    server = protect(FastMCP("s", providers=[app]))
    assert schemas(server) == {"search": SEARCH_SCHEMA}
    assert problems(call(server, "search", {"query": {"text": "a"}})) == [
        ("nested-wrapper", "$.query")
    ]


def test_proxied_tool_is_validated_against_its_schema():
    remote = FastMCP("remote")
    remote.tool(count)
    server = FastMCP("s")
    server.mount(create_proxy(remote), namespace="far")
    published = schemas(server)
    protect(server)
    assert schemas(server) == published  # in the words of its author
    repaired = call(server, "far_count", {"number": "3"})
    assert repaired.structured_content == {"number": 3}
    assert repaired.meta["toolbooth"] == REPAIRED["toolbooth"]
    refused = call(server, "far_count", {"data": {"number": 3}})
    assert refused.meta["toolbooth"]["corrected"] == {"number": 3}


@pytest.mark.parametrize("first", ["transform", "protect"])
def test_transformed_tool_is_checked_against_its_published_schema(first: str):
    server = FastMCP("s")
    server.tool(count)
    rename = ToolTransformConfig(
        name="tally", arguments={"number": ArgTransformConfig(name="amount")}
    )
    steps = [
        lambda: protect(server),
        lambda: server.add_transform(ToolTransform({"count": rename})),
    ]
    for step in steps if first == "protect" else reversed(steps):
        step()
    assert schemas(server)["tally"]["properties"] == {"amount": {"type": "integer"}}
    repaired = call(server, "tally", {"amount": "3"})
    assert repaired.structured_content == {"number": 3}
    assert repaired.meta["toolbooth"] == {"repairs": [{"code": "scalar-text", "path": "$.amount"}]}
    refused = call(server, "tally", {"data": {"amount": 3}})
    assert refused.meta["toolbooth"]["corrected"] == {"amount": 3}
    assert "'tally'" in told(refused)


def test_a_refusal_names_the_tool_as_the_agent_knows_it():
    server = protect(FastMCP("s"))
    server.tool(count)
    server.add_transform(Namespace("api"))
    assert "'api_count'" in told(call(server, "api_count", {"n": 1}))


def test_worker_of_a_task_tool_validates_the_arguments():
    server = FastMCP("s")

    @server.tool(task=True)
    async def slow(number: int) -> dict[str, Any]:
        return {"number": number}

    protect(server)

    async def run() -> tuple[Tool, ToolResult]:
        [task] = await server.get_tasks()
        with pytest.raises(ValidationError, match=r'Send instead: {"number":3}'):
            await task.run({"Number": 3})
        return task, await task.run({"number": "3"})

    task, repaired = asyncio.run(run())
    assert (task.name, isinstance(task, FunctionTool), task.task_config.mode) == (
        "slow",
        False,
        "optional",
    )
    assert repaired.structured_content == {"number": 3}
    assert repaired.meta == REPAIRED


def test_tool_that_overrides_run_is_validated_against_its_schema():
    class Echo(Tool):
        async def run(self, arguments: dict[str, Any]) -> ToolResult:
            return ToolResult(structured_content=arguments)

    server = protect(FastMCP("s"))
    server.add_tool(Echo(name="echo", parameters=COUNT_SCHEMA))
    assert call(server, "echo", {"number": "3"}).structured_content == {"number": 3}
    assert problems(call(server, "echo", {"x": 1})) == [
        ("unknown-key", "$.x"),
        ("missing", "$.number"),
    ]


def test_invalid_remote_schema_is_served_unchanged_with_a_warning(
    caplog: pytest.LogCaptureFixture,
):
    class Echo(Tool):
        async def run(self, arguments: dict[str, Any]) -> ToolResult:
            return ToolResult(structured_content=arguments)

    odd = Echo(name="odd", parameters={"type": "array"})

    class Remote(Provider):
        async def _get_tool(self, name: str, version: Any = None) -> Tool | None:
            return odd

    server = protect(FastMCP("s", providers=[Remote()]))
    with caplog.at_level(logging.WARNING, "toolbooth"):
        assert call(server, "odd", {"a": "1"}).structured_content == {"a": "1"}
    assert "tool 'odd' is not protected" in caplog.text


# --- features of FastMCP for a tool
# ---------------------------------------------------------------------------------------


def test_metadata_of_a_listed_tool_is_kept():
    server = FastMCP("s")

    @server.tool(
        tags={"a"},
        title="Say it",
        annotations={"readOnlyHint": True},
        meta={"own": 1},
        version="2",
        timeout=5,
    )
    def say(text: str, *, loud: Annotated[bool, Field(description="Shout")] = False) -> Query:
        """Say something.

        Args:
            text: What to say
            loud: Not this
        """
        return Query(text=text)

    before = listed(server)["say"]
    after = listed(protect(server))["say"]
    assert after.input_schema == {
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": "What to say"},
            "loud": {"type": "boolean", "description": "Shout", "default": False},
        },
        "required": ["text"],
    }
    assert after.model_copy(update={"input_schema": before.input_schema}) == before
    assert call(server, "say", {"text": "x"}).structured_content == {"text": "x", "limit": 10}


def test_context_and_dependencies_are_injected_and_never_on_the_wire():
    server = FastMCP("s")

    async def connection() -> Any:
        return "open"

    @server.tool
    async def use(
        query: Annotated[Query, Unpack()],
        context: Context,
        link: str = Depends(connection),
        *,
        extra: int = 0,
    ) -> dict[str, Any]:
        return {"text": query.text, "server": context.fastmcp.name, "link": link, "extra": extra}

    @server.tool
    def use_sync(
        number: int, link: Annotated[str, Depends(connection)], context: Context | None = None
    ) -> Any:
        return {"number": number, "server": context.fastmcp.name, "link": link}

    protect(server)
    assert list(schemas(server)["use"]["properties"]) == ["text", "limit", "extra"]
    assert list(schemas(server)["use_sync"]["properties"]) == ["number"]
    expected = {"text": "a", "server": "s", "link": "open", "extra": 0}
    assert call(server, "use", {"text": "a"}).structured_content == expected
    assert call(server, "use_sync", {"number": 1}).structured_content == {
        "number": 1,
        "server": "s",
        "link": "open",
    }
    assert problems(call(server, "use", {"text": "a", "link": "mine"})) == [
        ("unknown-key", "$.link")
    ]


def test_middleware_sees_the_sent_arguments_and_the_final_result():
    seen: list[Any] = []

    class Watch(Middleware):
        async def on_call_tool(self, context: Any, call_next: Any) -> ToolResult:
            result = await call_next(context)
            seen.append((context.message.arguments, result.is_error, result.meta))
            return result

    server = protect(FastMCP("s", middleware=[Watch()]))
    server.tool(count)
    call(server, "count", {"number": "3"})
    assert seen == [({"number": "3"}, False, REPAIRED)]


def test_a_timeout_still_ends_a_tool():
    server = protect(FastMCP("s"))

    @server.tool(timeout=0.01)
    async def hang(number: int) -> int:
        await asyncio.Event().wait()
        return number

    assert told(call(server, "hang", {"number": 1})) == (
        "Error calling tool 'hang': Tool 'hang' execution timed out after 0.01s"
    )


def test_return_values_of_every_kind_are_sent_as_without_protection():
    server = FastMCP("s")

    @server.tool
    def each(number: int) -> Iterator[int]:
        yield from range(number)

    @server.tool
    async def each_async(number: int) -> AsyncIterator[int]:
        yield number

    @server.tool
    def double(number: int) -> int:
        return 2 * number

    @server.tool(run_in_thread=False)
    def nothing(number: int) -> None: ...

    names = ("each", "each_async", "double", "nothing")
    before = [call(server, name, {"number": 3}) for name in names]
    protect(server)
    assert [call(server, name, {"number": 3}) for name in names] == before


def test_repairs_are_reported_on_a_protocol_result_that_the_tool_made_itself():
    server = protect(FastMCP("s"))

    @server.tool
    def own(number: int) -> CallToolResult:
        return CallToolResult(
            content=[TextContent(type="text", text=f"{number}")], _meta={"mine": 1}
        )

    result = call(server, "own", {"number": "3"})
    assert result.content == [TextContent(type="text", text="3")]
    assert {key: result.meta[key] for key in ("mine", "toolbooth")} == {"mine": 1, **REPAIRED}


def test_a_request_for_input_reaches_the_client_unchanged():
    server = protect(FastMCP("s"))
    question = InputRequiredResult(request_state="asked")

    @server.tool
    def ask(number: int) -> InputRequiredResult:
        return question

    result = asyncio.run(server.call_tool("ask", {"number": "3"}))
    assert result == InputRequiredToolResult(question)


def test_decorated_function_is_compiled_from_its_original_signature():
    server = protect(FastMCP("s"))

    @server.tool
    @unpack_pydantic_params
    def find(
        query: Annotated[Query, Unpack()], context: Context, own: OwnContext
    ) -> dict[str, Any]:
        return {**query.model_dump(), "server": context.fastmcp.name, "own": own.client}

    assert schemas(server) == {"find": SEARCH_SCHEMA}
    result = call(server, "find", {"text": "a", "limit": "3"})
    assert result.structured_content == {"text": "a", "limit": 3, "server": "s", "own": "mcp"}
    assert result.meta["toolbooth"] == {"repairs": [{"code": "scalar-text", "path": "$.limit"}]}


def test_a_call_within_the_process_may_pass_python_values():
    server = protect(FastMCP("s"))

    @server.tool
    def on(day: date) -> str:
        return day.isoformat()

    async def run(arguments: dict[str, Any]) -> ToolResult:
        return await server.call_tool("on", arguments)

    assert asyncio.run(run({"day": date(2026, 1, 2)})).structured_content == {
        "result": "2026-01-02"
    }
    with pytest.raises(ValidationError, match=re.escape("- $.day: ")):
        asyncio.run(run({"day": object()}))


# --- messages for agents
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mask", [True, False], ids=["masked", "open"])
def test_tool_error_is_shown_with_any_mask_also_from_a_dependency(mask: bool):
    server = protect(FastMCP("s", mask_error_details=mask))

    def refuse() -> int:
        raise ToolError("guarded", "not today")

    @server.tool
    def guarded(number: int, allowed: int = Depends(refuse)) -> int:
        return number

    @server.tool
    def failing(number: int) -> int:
        raise ToolError("failing", "no more", {"left": 0})

    assert told(call(server, "guarded", {"number": 1})) == "Tool 'guarded' failed: not today"
    result = call(server, "failing", {"number": 1})
    assert told(result) == "Tool 'failing' failed: no more"
    assert result.structured_content == {"details": {"left": 0}}


def test_host_errors_and_validation_errors_in_the_body_are_unchanged():
    server = protect(FastMCP("s", mask_error_details=True))

    @server.tool
    def theirs(number: int) -> int:
        raise fastmcp.exceptions.ToolError("as FastMCP shows it")

    @server.tool
    def broken(number: int) -> int:
        return Query.model_validate({"secret": number}).limit

    assert told(call(server, "theirs", {"number": 1})) == "as FastMCP shows it"
    assert told(call(server, "broken", {"number": 1})) == "Error calling tool 'broken'"


# --- the author's mistakes ----------------------------------------------------------------------------------------


def test_mistakes_of_all_tools_are_raised_at_once_without_any_change():
    child, server = FastMCP("child"), FastMCP("s")
    server.mount(child)

    @child.tool
    def first(config: int) -> int: ...

    @server.tool
    def second(query: Annotated[Query, Unpack()], text: str) -> int: ...

    server.tool(count)
    before = schemas(server)
    with pytest.raises(ContractError) as caught:
        protect(server)
    assert caught.value.owner == "s"
    assert [each.partition(":")[0] for each in caught.value.mistakes] == [
        "tool 'second'",
        "tool 'first'",
    ]
    assert schemas(server) == before


def test_mistake_raises_when_a_tool_is_registered_or_a_server_mounted():
    server, child = protect(FastMCP("s")), FastMCP("child")

    def bad(config: int) -> int: ...

    with pytest.raises(ContractError, match="'config' is reserved"):
        server.tool(bad)
    child.tool(bad)
    with pytest.raises(ContractError, match="'config' is reserved"):
        server.mount(child)
    assert schemas(server) == {}


# --- the schema lookup --------------------------------------------------------------------------------------------


def lookup(server: FastMCP[Any]) -> Any:
    return server._mcp_server.get_tool_input_schema


def test_the_schema_of_a_local_tool_is_found_without_a_listing():
    server = protect(FastMCP("s"))
    server.tool(count, version="1")
    server.tool(search, name="count", version="2")
    assert lookup(server)("count") == SEARCH_SCHEMA
    assert lookup(server)("nothing") is None
    server.disable(tags={"never"})
    assert lookup(server)("count") == SEARCH_SCHEMA


@pytest.mark.parametrize("how", ["mounted", "renamed"])
def test_a_tool_whose_schema_needs_an_awaited_lookup_is_left_to_the_host(how: str):
    server = protect(FastMCP("s"))
    if how == "mounted":
        server.mount(FastMCP("child"))
    else:
        server.add_transform(Namespace("api"))
    assert lookup(server) is None
