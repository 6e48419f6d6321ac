"""Protects tools of the OpenAI Agents SDK: `FunctionTool`, and MCP servers such as
`MCPServerStdio`.

The SDK passes a `FunctionTool` the text that the model wrote, so Toolbooth checks the exact bytes.
For the tools of an MCP server, the SDK parses the text itself, and Toolbooth gets the values.
"""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable
from typing import Any
from weakref import WeakKeyDictionary

from toolbooth.extras import require_framework

require_framework("openai-agents")

from agents import FunctionTool, RunContextWrapper, SpanError, get_current_span
from agents.mcp import MCPServer
from agents.tool import invoke_function_tool, with_function_tool_failure_error_handler
from agents.tool_context import ToolContext
from agents.util._approvals import evaluate_needs_approval_setting
from agents.util._custom_data import maybe_extract_custom_data
from mcp.types import CallToolResult

from toolbooth.adapters.agent_tools.call import Call, ErrorAnswer
from toolbooth.adapters.agent_tools.derived import derived_copy
from toolbooth.adapters.agent_tools.filled import filled_params, is_kind
from toolbooth.adapters.agent_tools.guard import Guard, guard_function, guard_schema
from toolbooth.adapters.agent_tools.options import Options
from toolbooth.adapters.agent_tools.registered import Registered
from toolbooth.adapters.agent_tools.toolset import SchemaGuards
from toolbooth.boundary.render import json_of
from toolbooth.jsonvalue import Json
from toolbooth.server.registry import ToolRegistry
from toolbooth.server.tool import Tool

Context = ToolContext[Any]
Run = Callable[[Context, Call], Awaitable[Any]]


def is_protected(thing: FunctionTool | MCPServer) -> bool:
    """Return True if a tool or an MCP server is protected."""
    return isinstance(thing, _GuardedServer) or hasattr(thing, "toolbooth_guard")


def protect(thing: Any, options: Options) -> Any:
    """Return a protected copy of a tool or of an MCP server."""
    if is_protected(thing):
        return thing
    if not isinstance(thing, MCPServer):
        return _protected_tool(thing, options)
    # The SDK has no public name for the approval that it asks for before a call.
    policy = thing._needs_approval_policy  # pyright: ignore[reportPrivateUsage]
    guards = SchemaGuards(options.asked(bool(policy)))
    changed = {"toolbooth_guards": guards, "toolbooth_schemas": dict[str, Json]()}
    return derived_copy(thing, _GuardedServer, protect, options, **changed)


def registry_tool(registry: ToolRegistry, tool: Tool) -> FunctionTool:
    """Return a tool of a registry as a `FunctionTool`."""
    found = Registered(registry, tool)

    async def invoke(_context: Context, text: str) -> str:
        return (await found.call_text(text)).text

    schema = found.schema
    return FunctionTool(found.name, found.description, schema, invoke, strict_json_schema=False)


def _protected_tool(tool: FunctionTool, options: Options) -> FunctionTool:
    options = options.asked(bool(tool.needs_approval or tool.tool_input_guardrails))
    function = getattr(tool, "__wrapped__", None)
    guard, run = _of_schema(tool, options) if function is None else _of(function, tool, options)
    # After a call, the SDK requests the data of this call, with the same context object.
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
    # Copying a tool makes the SDK bind the function to the copy and check the schema.
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
    """Return the guard of a tool that parses the text of the model itself, and a function that runs
    the tool.
    """
    guard = guard_schema(tool.params_json_schema, options, name=tool.name)

    async def run(context: Context, call: Call) -> Any:
        text = json_of(call.values).decode()
        running = invoke_function_tool(function_tool=tool, context=context, arguments=text)
        return await call.awaited(running)

    return guard, run


def _on_failure(tool: FunctionTool, _error: Exception, _text: str) -> None:
    if (span := get_current_span()) is not None:
        data = {"tool_name": tool.name}
        span.set_error(SpanError(message="Error running tool (non-fatal)", data=data))


class _GuardedServer(MCPServer):
    """The first base class of a protected MCP server. The second one is the original class of the
    server.
    """

    toolbooth_guards: SchemaGuards
    toolbooth_schemas: dict[str, Json]

    async def list_tools(self, *args: Any, **how: Any) -> list[Any]:
        listed = await super().list_tools(*args, **how)
        for tool in listed:
            self.toolbooth_schemas[tool.name] = tool.model_dump(by_alias=True)["inputSchema"]
        return listed

    async def call_tool(
        self, tool_name: str, arguments: Json | None, meta: Json | None = None
    ) -> CallToolResult:
        if tool_name not in self.toolbooth_schemas:
            await self.list_tools()
        guard = self.toolbooth_guards.guard(tool_name, self.toolbooth_schemas[tool_name])
        try:
            call = await guard.accept_async(arguments)
            more = [] if meta is None else [meta]
            return await call.awaited(super().call_tool(tool_name, call.values, *more))
        except ErrorAnswer as answer:
            return CallToolResult.model_validate(answer.result)
