"""The Claude Agent SDK: its in-process server, called as the SDK calls it, over MCP."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import claude_agent_sdk
import shapes
from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    SdkMcpTool,
    UserMessage,
    create_sdk_mcp_server,
)
from claude_agent_sdk._internal.transport import subprocess_cli
from host import NOT_AN_OBJECT, NOT_MADE, NOT_READ, NOT_UTF8, READ, Answer, Json
from mcp import Client
from mcp_types import CallToolRequestParams
from pydantic import TypeAdapter
from scripted_anthropic import scripted

CHECKED = "arguments that the SDK refuses by its own check of the JSON Schema"
"""A protected tool cannot repair these; a protected server can."""

CODE = "Claude Code, the program in `claude_agent_sdk/_bundled/`"

ROWS = {
    NOT_MADE: (claude_agent_sdk._build_input_schema, '"properties" in tool_def.input_schema'),
    READ: (subprocess_cli, "json.loads(line)"),
    NOT_READ: (subprocess_cli, "json.loads(line)"),
    NOT_AN_OBJECT: (subprocess_cli, "json.loads(line)"),
    NOT_UTF8: (json.JSONDecoder, "def decode"),
    CHECKED: (create_sdk_mcp_server, "jsonschema.validate("),
    "JSON text where more than text is allowed, decoded, in the loop": CODE,
    "an integer over 2**53, rounded, in the loop": CODE,
    "a key `__proto__`, removed, in the loop": CODE,
    "Infinity and NaN, refused, in the loop": CODE,
}
UNMADE = frozenset(("combined", "bare_schema"))

name = "claude-agent-sdk"
reads_text = False


def tool(function: Callable[..., Any], name: str) -> SdkMcpTool[Any]:
    """A tool whose handler has parameters with types. The SDK alone cannot call it."""
    return SdkMcpTool(name, "A tool.", {}, function)


def plain(function: Callable[..., Any], name: str) -> SdkMcpTool[Any]:
    """The same as the SDK takes it: a JSON Schema, and a handler of one dict."""
    schema = TypeAdapter(function).json_schema()
    del schema["additionalProperties"]

    async def handler(arguments: Json) -> Json:
        contact = arguments.get("contact")
        if isinstance(contact, dict):
            arguments = {**arguments, "contact": shapes.Contact(**contact)}
        known = {key: arguments[key] for key in schema["properties"] if key in arguments}
        return {"content": [{"type": "text", "text": function(**known)}]}

    return SdkMcpTool(name, "A tool.", schema, handler)


def foreign(schema: Json, name: str, answer: Callable[[Any], str]) -> SdkMcpTool[Any]:
    async def handler(arguments: Json) -> Json:
        return {"content": [{"type": "text", "text": answer(arguments)}]}

    if "properties" not in schema:
        raise TypeError("the SDK takes such a dict for the names and types of fields")
    return SdkMcpTool(name, "A tool.", schema, handler)


def schema(tool: SdkMcpTool[Any]) -> Json:
    return tool.input_schema


def subclassed(function: Callable[..., Any], name: str) -> SdkMcpTool[Any]:
    class Own(SdkMcpTool[Any]):
        pass

    return Own(name, "A tool.", {}, function)


def picklable(function: Callable[..., Any], name: str) -> SdkMcpTool[Any]:
    return tool(function, name)


_SERVERS: dict[int, tuple[Any, Any]] = {}
"""The handler of the server that was made of each tool."""


def stopped(text: str) -> str | None:
    """The reason for which the SDK has refused a call before the tool was called."""
    return CHECKED if text.startswith("Input validation error: ") else None


async def step(tool: SdkMcpTool[Any], arguments: Any) -> Answer:
    """The function that the SDK's server calls for `tools/call`."""
    if id(tool) not in _SERVERS:
        server: Any = create_sdk_mcp_server("tools", tools=[tool])["instance"]
        _SERVERS[id(tool)] = tool, server.get_request_handler("tools/call").handler
    _, handler = _SERVERS[id(tool)]
    params = CallToolRequestParams(name=tool.name, arguments=arguments)
    return _answer(await handler(None, params))


def _answer(result: Any) -> Answer:
    return Answer(result.content[0].text, bool(result.is_error), result.meta or {})


async def call(config: Any, name: str, *arguments: Any) -> list[Answer]:
    """Calls of a server over MCP, in one connection."""
    async with Client(config["instance"]) as client:
        return [_answer(await client.call_tool(name, each)) for each in arguments]


async def converse(
    config: Any, calls: Sequence[tuple[str, Any]], home: Path, **how: Any
) -> list[Answer]:
    """Runs Claude Code, the program that comes with the SDK, with a model that makes these calls of
    the server's tools. It needs no network.
    """
    texts = [(f"mcp__tools__{name}", json.dumps(each)) for name, each in calls]
    found: list[Answer] = []
    with scripted(texts) as url:
        environment = {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "none",
            "HOME": str(home),
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            # Otherwise a model has to look for a tool before it can call it.
            "ENABLE_TOOL_SEARCH": "false",
        }
        chosen = {"allowed_tools": sorted({name for name, _ in texts}), **how}
        options = ClaudeAgentOptions(
            mcp_servers={"tools": config},
            tools=[],
            max_turns=len(calls) + 2,
            cwd=home,
            setting_sources=[],
            env=environment,
            **chosen,
        )
        async with ClaudeSDKClient(options) as client:
            await client.query("go")
            async for message in client.receive_response():
                if isinstance(message, UserMessage) and isinstance(message.content, list):
                    found += [_result(each) for each in message.content]
    return found


def _result(block: Any) -> Answer:
    content = block.content
    text = content if isinstance(content, str) else content[0]["text"]
    return Answer(text, bool(block.is_error))


async def loop(tools: Sequence[Any], calls: Sequence[tuple[str, Any]]) -> list[Answer]:
    config = create_sdk_mcp_server("tools", tools=list(tools))
    with TemporaryDirectory() as home:
        return await converse(config, calls, Path(home))


def loop_names(tools: Json) -> Json:
    return {name: re.sub(r"[^\w-]", "_", name) for name in tools}


def carries(arguments: Any) -> bool:
    """Whether the loop carries these arguments to the tool as they are. Claude Code is written in
    JavaScript, which has no other numbers than floating-point ones, writes 1 for 1.0, and takes
    `__proto__` for no key. It decodes JSON text where the schema allows more than text.
    """
    changed = r'"__proto__":|Infinity|NaN|[0-9]{16}|\.0\b|[0-9]e[+-]?[0-9]'
    texts = [each for each in arguments.values() if isinstance(each, str)]
    has_json = any(each.startswith("{") for each in texts)
    return not has_json and re.search(changed, json.dumps(arguments)) is None
