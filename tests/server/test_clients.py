"""Real clients against the real server: every mode of the official client and of FastMCP's, over
stdio and HTTP.
"""

import asyncio
import contextlib
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import fastmcp
import mcp
import pytest
from fastmcp.client.transports import StdioTransport
from mcp.client.stdio import StdioServerParameters, stdio_client

SERVER = Path(__file__).with_name("shop_server.py")
MODES = {"legacy": "2025-11-25", "auto": "2026-07-28", "2026-07-28": "2026-07-28"}
"""The protocol version that each mode of a client settles on."""

CUSTOMER = {"name": "Ada", "address": {"street": "Long Lane 1", "zip": "01234"}}
LINES = [{"tea": 2}, {"milk": 1}]
RECEIPT = {"customer": CUSTOMER, "lines": LINES}


@contextlib.contextmanager
def over_http(*how: str) -> Iterator[str]:
    """Yield the URL of a server in a process of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, str(SERVER), str(port), *how], stderr=subprocess.DEVNULL
    )
    try:
        _until_listening(server, port)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        server.terminate()
        server.wait(timeout=30)


def _until_listening(server: subprocess.Popen[bytes], port: int) -> None:
    while server.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(timeout=0.1)
    raise AssertionError(f"the server ended with {server.returncode}")


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    with over_http() as found:
        yield found


@contextlib.asynccontextmanager
async def connected(library: str, mode: str, target: Any, log: Path) -> AsyncIterator[Any]:
    """A connected client; `target` is a URL, or for stdio the arguments after the server's file."""
    async with asyncio.timeout(60):
        with log.open("w") as errors:
            if library == "mcp":
                if not isinstance(target, str):
                    parameters = StdioServerParameters(
                        command=sys.executable, args=[str(SERVER), *target]
                    )
                    target = stdio_client(parameters, errlog=errors)
                made = mcp.Client(target, mode=mode, read_timeout_seconds=30)
            else:
                if not isinstance(target, str):
                    arguments = [str(SERVER), *target]
                    target = StdioTransport(
                        sys.executable, arguments, keep_alive=False, log_file=errors
                    )
                made = fastmcp.Client(target, mode=mode, timeout=30)
            async with made as client:
                yield client


@pytest.fixture(params=["stdio", "http"])
def target(request: pytest.FixtureRequest, address: str) -> Any:
    return ["stdio"] if request.param == "stdio" else address


EVERY_CLIENT = pytest.mark.parametrize(
    ("library", "mode"), [(library, mode) for library in ("mcp", "fastmcp") for mode in MODES]
)


async def result_of(
    client: Any, name: str, arguments: Any = None, progress: Any = None
) -> dict[str, Any]:
    """Return the result as it was sent over the wire."""
    if isinstance(client, fastmcp.Client):
        found = await client.call_tool_mcp(name, arguments or {}, progress)
    else:
        found = await client.call_tool(name, arguments, progress_callback=progress)
    return found.model_dump(mode="json", by_alias=True, exclude_none=True)


def told(result: dict[str, Any]) -> tuple[str, bool, Any]:
    """Return the text for the agent, whether it is an error, and the structured content."""
    [content] = result["content"]
    return content["text"], result["isError"], result.get("_meta", {}).get("toolbooth")


@EVERY_CLIENT
def test_a_client_lists_and_calls(library, mode, target, tmp_path):
    received = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        received.append((done, total, message))

    async def session() -> None:
        async with connected(library, mode, target, tmp_path / "log") as client:
            if library == "mcp":
                assert client.protocol_version == MODES[mode]
            if library == "mcp" and mode != "2026-07-28":  # which sends no request before it calls
                assert (client.server_info.name, client.instructions) == ("shop", "Order tea.")
            names = await listed(client)
            assert names == [
                "order",
                "count",
                "loud",
                "wait",
                "seen",
                "hold",
                "let_go",
                "fail",
                "crash",
            ]

            exact = await result_of(client, "order", {"customer": CUSTOMER, "lines": LINES})
            assert (exact["structuredContent"], exact["isError"]) == (RECEIPT, False)
            assert told(exact)[2] is None

            as_text = {"customer": CUSTOMER, "lines": '[{"tea": 2}, {"milk": 1}]'}
            repaired = await result_of(client, "order", as_text)
            assert repaired["structuredContent"] == RECEIPT
            assert told(repaired)[2] == {"repairs": [{"code": "json-text", "path": "$.lines"}]}

            words, refused, data = told(await result_of(client, "order", {"data": RECEIPT}))
            assert refused is True
            assert words.startswith(
                "Refused: 1 problem in the arguments of 'order'. Nothing was done."
            )
            assert [(each["code"], each["path"]) for each in data["problems"]] == [
                ("nested-wrapper", "$.data")
            ]
            assert data["corrected"] == RECEIPT

            assert told(await result_of(client, "count", {"to": 3}, progress))[:2] == (
                "done",
                False,
            )
            assert told(await result_of(client, "fail"))[:2] == (
                "Tool 'fail' failed: out of tea",
                True,
            )
            assert told(await result_of(client, "crash"))[:2] == (
                "Tool 'crash' failed unexpectedly.",
                True,
            )

    asyncio.run(session())
    assert received == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]


async def listed(client: Any) -> list[str]:
    """Return the names of all tools; the server lists them in pages of five."""
    if isinstance(client, fastmcp.Client):
        return [tool.name for tool in await client.list_tools()]
    first = await client.list_tools()
    assert first.next_cursor is not None
    second = await client.list_tools(cursor=first.next_cursor)
    assert second.next_cursor is None
    return [tool.name for tool in (*first.tools, *second.tools)]


@pytest.mark.parametrize("mode", MODES)
def test_protocol_errors_reach_the_caller_with_their_own_message(mode, target, tmp_path):
    async def session() -> None:
        async with connected("mcp", mode, target, tmp_path / "log") as client:
            with pytest.raises(mcp.MCPError) as caught:
                await client.call_tool("ordr", {})
            assert (caught.value.error.code, caught.value.error.message) == (
                -32602,
                "there is no tool 'ordr'; did you mean 'order'?",
            )
            with pytest.raises(mcp.MCPError) as caught:
                await client.list_prompts()
            assert (caught.value.error.code, caught.value.error.message) == (
                -32601,
                "there is no method 'prompts/list' here",
            )
            assert told(await result_of(client, "count", {"to": 0}))[:2] == ("done", False)

    asyncio.run(session())


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_refusals_as_protocol_errors_reach_the_caller_with_the_corrected_call(
    mode, transport, tmp_path
):
    async def session(target: Any) -> None:
        async with connected("mcp", mode, target, tmp_path / "log") as client:
            with pytest.raises(mcp.MCPError) as caught:
                await client.call_tool("order", {"data": RECEIPT})
            assert caught.value.error.code == -32602
            assert caught.value.error.data["toolbooth"]["corrected"] == RECEIPT

    if transport == "stdio":
        asyncio.run(session(["stdio", "protocol"]))
    else:
        with over_http("protocol") as found:
            asyncio.run(session(found))


async def given_up(client: Any) -> None:
    """Make a call and cancel it once it is known to run."""
    reached = asyncio.Event()

    async def progress(*_: Any) -> None:
        reached.set()

    waiting = asyncio.ensure_future(client.call_tool("wait", {}, progress_callback=progress))
    await reached.wait()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)


@pytest.mark.parametrize(
    ("mode", "transport"),
    [
        ("legacy", "stdio"),
        *((mode, each) for mode in ("auto", "2026-07-28") for each in ("stdio", "http")),
    ],
)
def test_a_call_that_is_given_up_is_cancelled_on_the_server(mode, transport, address, tmp_path):
    async def session() -> None:
        target = ["stdio"] if transport == "stdio" else address
        async with connected("mcp", mode, target, tmp_path / "log") as client:
            before = told(await result_of(client, "seen"))[0]
            await given_up(client)
            while told(await result_of(client, "seen"))[0] == before:
                pass

    asyncio.run(session())


def test_a_handshake_client_over_http_cancels_its_calls_by_leaving(address, tmp_path):
    """Its notification names a request by an id that other clients use, too; without sessions it
    does not identify a client.
    """

    async def session() -> None:
        async with connected("mcp", "legacy", address, tmp_path / "log") as client:
            before = told(await result_of(client, "seen"))[0]
            await given_up(client)
        async with connected("mcp", "legacy", address, tmp_path / "log") as client:
            while told(await result_of(client, "seen"))[0] == before:
                pass

    asyncio.run(session())
