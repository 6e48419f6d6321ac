"""Protects the tools of the Claude Agent SDK: `SdkMcpTool`, and servers of `create_sdk_mcp_server`.

The SDK checks the arguments of a tool against its JSON Schema before it calls the tool. So if you
protect a single tool, the SDK may refuse a call before the tool can repair it. If you protect the
whole server, repairs are made before this check.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any, is_typeddict

from toolbooth.extras import require_framework

require_framework("claude-agent-sdk")

from claude_agent_sdk import (
    SdkMcpTool,
    _build_input_schema,  # pyright: ignore[reportPrivateUsage]
)

from toolbooth.adapters.agent_tools.call import ErrorAnswer
from toolbooth.adapters.agent_tools.guard import Guard, guard_function, guard_schema
from toolbooth.adapters.agent_tools.options import Options
from toolbooth.adapters.agent_tools.registered import Registered
from toolbooth.compile.hints import Hints
from toolbooth.jsonvalue import Json, is_array, is_object
from toolbooth.server.registry import ToolRegistry
from toolbooth.server.tool import Tool

_DICTS = (Any, dict, dict[str, Any])


class _Handler:
    """The handler of a protected tool. It checks the arguments before it calls the original
    handler.
    """

    def __init__(self, guard: Guard, tool: SdkMcpTool[Any], options: Options) -> None:
        self.guard = guard
        self.origin = (tool, options)

    def __reduce__(self) -> Any:
        # A compiled contract cannot be pickled, so it is compiled again.
        return _handler, self.origin

    async def __call__(self, arguments: Json) -> Json:
        tool, _ = self.origin
        try:
            call = await self.guard.accept_async(arguments)
            made = await call.run_async(None if _has_values(tool) else tool.handler)
        except ErrorAnswer as answer:
            return {"content": [{"type": "text", "text": answer.text}], "is_error": True}
        return made if is_object(made) else {"content": [{"type": "text", "text": str(made)}]}


def is_protected(tool: SdkMcpTool[Any]) -> bool:
    """Return True if a tool is protected."""
    return isinstance(tool.handler, _Handler)


def protect(tool: SdkMcpTool[Any], options: Options) -> SdkMcpTool[Any]:
    """Return a protected copy of a tool."""
    if is_protected(tool):
        return tool
    handler = _handler(tool, options)
    return replace(tool, input_schema=_open(handler.guard.published), handler=handler)


def _handler(tool: SdkMcpTool[Any], options: Options) -> _Handler:
    if not _has_values(tool):
        schema = _build_input_schema(tool)
        guard = guard_schema(schema, options, name=tool.name, description=tool.description)
    else:
        function: Callable[..., Any] = tool.handler
        guard = guard_function(function, options, name=tool.name, description=tool.description)
    return _Handler(guard, tool, options)


def _has_values(tool: SdkMcpTool[Any]) -> bool:
    """Return True if each parameter of the handler is one of the arguments. Return False if the
    only parameter is the dict of all arguments, which the SDK passes.
    """
    function: Any = tool.handler
    params = list(inspect.signature(function).parameters.values())
    if len(params) != 1:
        return True
    hint = Hints(function).of(params[0])
    return hint not in _DICTS and not is_typeddict(hint)


def _open(schema: Any) -> Any:
    """Return the schema without `additionalProperties: false`. Otherwise the SDK itself would
    refuse a call with an unknown key, and would not tell the model how to correct the call.
    """
    if is_array(schema):
        return [_open(each) for each in schema]
    if not is_object(schema):
        return schema
    kept = {key: _open(each) for key, each in schema.items()}
    if kept.get("additionalProperties") is False:
        del kept["additionalProperties"]
    return kept


def registry_tool(registry: ToolRegistry, tool: Tool) -> SdkMcpTool[Any]:
    """Return a tool of a registry as an `SdkMcpTool`."""
    found = Registered(registry, tool)

    async def handler(arguments: Json) -> Json:
        answer = await found.call_async(arguments)
        return {"content": answer.result["content"], "is_error": answer.is_error}

    return SdkMcpTool(found.name, found.description, found.schema, handler)
