"""Protects tools of the OpenAI Agents SDK: `FunctionTool`, and MCP servers of other makers.

The SDK hands a tool the text that the model wrote, so the law of the bytes holds here. Of an MCP
server (`MCPServerStdio` and the others), the SDK reads the text itself.
"""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

from toolbooth.extras import require

require(
    "toolbooth.adapters.frameworks.openai_agents",
    extra="openai-agents",
    modules={"agents": "the OpenAI Agents SDK"},
)

from agents import FunctionTool, RunContextWrapper, SpanError, get_current_span
from agents.mcp import MCPServer
from agents.tool import invoke_function_tool, with_function_tool_failure_error_handler
from agents.tool_context import ToolContext
from agents.util._approvals import evaluate_needs_approval_setting
from agents.util._custom_data import maybe_extract_custom_data
from mcp.types import CallToolResult

from toolbooth.adapters.agent_tools.call import Call, ErrorAnswer
from toolbooth.adapters.agent_tools.guard import (
    Guard,
    filled_params,
    guard_function,
    guard_schema,
    is_kind,
)
from toolbooth.adapters.agent_tools.options import Options
from toolbooth.boundary.render import json_of
from toolbooth.jsonvalue import Json
from toolbooth.server.registry import ToolRegistry
from toolbooth.server.tool import Tool

Context = ToolContext[Any]
Run = Callable[[Context, Call], Awaitable[Any]]


def is_protected(thing: FunctionTool | MCPServer) -> bool:
    """Whether a tool or an MCP server was protected."""
    return isinstance(thing, _GuardedServer) or hasattr(thing, "toolbooth_guard")


def protect(thing: Any, options: Options) -> Any:
    """Return a protected copy of a tool or of an MCP server."""
    if is_protected(thing):
        return thing
    if isinstance(thing, MCPServer):
        return _protected_server(thing, options)
    return _protected_tool(thing, options)


def registry_tool(registry: ToolRegistry, tool: Tool) -> FunctionTool:
    """Return a tool of a registry as a `FunctionTool`."""

    async def invoke(_context: Context, text: str) -> str:
        result = await registry.call_bytes_async(tool.name, text.encode())
        return "\n".join(each.get("text", "") for each in result["content"])

    listing = tool.listing()
    said = listing.get("description", "")
    return FunctionTool(tool.name, said, listing["inputSchema"], invoke, strict_json_schema=False)


def _protected_tool(tool: FunctionTool, options: Options) -> FunctionTool:
    if tool.needs_approval or tool.tool_input_guardrails:
        options = replace(options, approval=True)
    function = getattr(tool, "__wrapped__", None)
    guard, run = _of_schema(tool, options) if function is None else _of(function, tool, options)
    # The SDK asks for the data of a call after the call, with the same context.
    data: WeakKeyDictionary[Context, Json] = WeakKeyDictionary()

    async def invoke(context: Context, text: str) -> Any:
        try:
            call = await guard.accept_async(text)
            data[context] = call.data
            return await run(context, call)
        except ErrorAnswer as answer:
            data[context] = answer.data
            return answer.text

    async def custom_data(found: Any) -> Json:
        theirs = await maybe_extract_custom_data(tool.custom_data_extractor, found)
        return {**(theirs or {}), **data.pop(found.tool_context, {})}

    async def needs_approval(context: Any, arguments: Json, call_id: str) -> bool:
        # The call will be refused, so there is nothing to approve.
        if not guard.is_exact(arguments):
            return False
        asked = tool.needs_approval
        return await evaluate_needs_approval_setting(asked, context, arguments, call_id)

    made: Any = copy.copy(tool)
    made.toolbooth_guard = guard
    made.params_json_schema = guard.published
    made.strict_json_schema = tool.strict_json_schema and (guard.strict or function is None)
    made.on_invoke_tool = with_function_tool_failure_error_handler(invoke, _on_failure)
    made.custom_data_extractor = custom_data
    made.needs_approval = needs_approval if tool.needs_approval else False
    # The SDK binds the function to its tool, and checks the schema, whenever a tool is copied.
    return copy.copy(made)


def _of(function: Any, tool: FunctionTool, options: Options) -> tuple[Guard, Run]:
    filled = filled_params(function, is_kind(RunContextWrapper))
    guard = guard_function(
        function,
        options,
        name=tool.name,
        description=tool.description,
        injected=filled,
        listed=tool.params_json_schema,
        strict=tool.strict_json_schema,
    )

    async def run(context: Context, call: Call) -> Any:
        return await call.run_async(None, dict.fromkeys(filled, context))

    return guard, run


def _of_schema(tool: FunctionTool, options: Options) -> tuple[Guard, Run]:
    """The guard of a tool that reads the text itself."""
    guard = guard_schema(tool.params_json_schema, options, name=tool.name)

    async def run(context: Context, call: Call) -> Any:
        async def invoke(arguments: Json) -> Any:
            text = json_of(arguments).decode()
            return await invoke_function_tool(function_tool=tool, context=context, arguments=text)

        return await call.run_async(invoke)

    return guard, run


def _on_failure(tool: FunctionTool, _error: Exception, _text: str) -> None:
    if (span := get_current_span()) is not None:
        data = {"tool_name": tool.name}
        span.set_error(SpanError(message="Error running tool (non-fatal)", data=data))


class _GuardedServer(MCPServer):
    """Comes before the class of an MCP server, whose tools are then behind the boundary."""

    toolbooth_options: Options
    toolbooth_guards: dict[str, tuple[Json, Guard]]

    async def list_tools(self, *args: Any, **how: Any) -> list[Any]:
        listed = await super().list_tools(*args, **how)
        for tool in listed:
            self._keep(tool.name, tool.model_dump(by_alias=True)["inputSchema"])
        return listed

    def _keep(self, name: str, schema: Json) -> None:
        if name not in self.toolbooth_guards or self.toolbooth_guards[name][0] != schema:
            guard = guard_schema(schema, self.toolbooth_options, name=name)
            self.toolbooth_guards[name] = schema, guard

    async def call_tool(
        self, tool_name: str, arguments: Json | None, meta: Json | None = None
    ) -> CallToolResult:
        if tool_name not in self.toolbooth_guards:
            await self.list_tools()
        _, guard = self.toolbooth_guards[tool_name]
        call_tool = super().call_tool

        async def invoke(accepted: Json) -> CallToolResult:
            return await call_tool(tool_name, accepted, *([] if meta is None else [meta]))

        try:
            call = await guard.accept_async(arguments)
            return await call.run_async(invoke)
        except ErrorAnswer as answer:
            text = {"type": "text", "text": answer.text}
            failed = {"content": [text], "isError": True, "_meta": answer.data}
            return CallToolResult.model_validate(failed)


@cache
def _guarded_class(plain: type[MCPServer]) -> type[Any]:
    return type(plain.__name__, (_GuardedServer, plain), {})


def _protected_server(server: MCPServer, options: Options) -> Any:
    # The SDK has no public name for the approval that it asks for before a call.
    if server._needs_approval_policy:  # pyright: ignore[reportPrivateUsage]
        options = replace(options, approval=True)
    made: Any = copy.copy(server)
    made.__class__ = _guarded_class(type(server))
    made.toolbooth_options, made.toolbooth_guards = options, {}
    return made
