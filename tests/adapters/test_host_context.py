"""A tool with our Context parameter gets the same on a host as on our own server: the caller,
`_meta`, progress.
"""

import asyncio
import threading
from typing import Any

import fastmcp
import mcp
import pytest
from fastmcp import FastMCP
from mcp.server.mcpserver import MCPServer

from toolbooth import Context, ToolError
from toolbooth.adapters import fastmcp as fastmcp_adapter
from toolbooth.adapters import mcp_sdk as sdk_adapter

HOSTS = pytest.mark.parametrize("host", ["fastmcp", "mcp_sdk"])
MODES = pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
STEPS = [(1, 2, "one"), (2, 2, "two")]


def in_a_thread(ctx: Context) -> str:
    for step in STEPS:
        ctx.progress(*step)
    return str(ctx.client)


async def on_the_loop(ctx: Context) -> str:
    await ctx.progress(*STEPS[0])
    ctx.progress(*STEPS[1])
    return str(ctx.client)


async def in_a_thread_of_its_own(ctx: Context) -> str:
    def report() -> None:
        in_a_thread(ctx)

    running = threading.Thread(target=report)
    running.start()
    await asyncio.to_thread(running.join)
    return str(ctx.client)


async def failing(ctx: Context) -> str:
    ctx.progress(*STEPS[0])
    ctx.progress(*STEPS[1])
    raise ToolError("failing", "no more")


def client_of(host: str, mode: str, *tools: Any) -> Any:
    """A client of a protected server, by name."""
    info = mcp.types.Implementation(name="inspector", version="1")
    if host == "fastmcp":
        server = fastmcp_adapter.protect(FastMCP("shop"))
        for tool in tools:
            server.tool(tool)
        return fastmcp.Client(server, mode=mode, client_info=info)
    made = sdk_adapter.protect(MCPServer("shop", log_level="CRITICAL"))
    for tool in tools:
        made.add_tool(tool)
    return mcp.Client(made, mode=mode, client_info=info)


async def called(client: Any, tool: Any, seen: list[Any] | None) -> str:
    """Return the text of the result; progress is added to `seen`."""

    async def see(*said: Any) -> None:
        seen.append(said)

    how = (
        {}
        if seen is None
        else {
            "progress_handler" if isinstance(client, fastmcp.Client) else "progress_callback": see
        }
    )
    call = client.call_tool_mcp if isinstance(client, fastmcp.Client) else client.call_tool
    async with client:
        result = await call(tool.__name__, {}, **how)
    return result.content[0].text


@pytest.mark.parametrize(
    "tool",
    [in_a_thread, on_the_loop, in_a_thread_of_its_own, failing],
    ids=lambda tool: tool.__name__,
)
@MODES
@HOSTS
def test_progress_is_sent_before_the_tool_ends(host: str, mode: str, tool: Any):
    seen: list[Any] = []
    text = asyncio.run(called(client_of(host, mode, tool), tool, seen))
    assert seen == STEPS
    assert text == ("Tool 'failing' failed: no more" if tool is failing else "inspector")


@MODES
@HOSTS
def test_unrequested_progress_is_not_sent(host: str, mode: str):
    text = asyncio.run(called(client_of(host, mode, on_the_loop), on_the_loop, None))
    assert text == "inspector"


@MODES
@HOSTS
def test_a_tool_sees_the_requests_own_meta(host: str, mode: str):
    async def trace(ctx: Context) -> str:
        return ctx.meta["trace"]

    async def run() -> Any:
        client = client_of(host, mode, trace)
        call = client.call_tool_mcp if host == "fastmcp" else client.call_tool
        async with client:
            return await call("trace", {}, meta={"trace": "0af7"})

    assert asyncio.run(run()).content[0].text == "0af7"
