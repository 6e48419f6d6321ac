"""One child for all clients (`--shared`): each message reaches only its own client."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import mcp
import pytest

from http_proxied import META, STATELESS, Client, proxied, served
from proxied import FAULTY
from test_booth import MAIN, toolbooth
from toolbooth.proxy import sessions as sessions_of_http
from toolbooth.proxy.child import PAUSES
from toolbooth.proxy.http_server import HttpProxy
from toolbooth.proxy.link import ChildLink
from toolbooth.proxy.session import Server
from toolbooth.proxy.shared import SharedChild

SERVER = str(Path(__file__).with_name("shared_server.py"))


@asynccontextmanager
async def shared(
    seen: Path, command: str = SERVER, pauses: Any = PAUSES
) -> AsyncIterator[tuple[Client, SharedChild]]:
    """A client of a proxy with one child, which writes what it reads to a file."""
    child = SharedChild(
        lambda: ChildLink([sys.executable, command], env={"SEEN": str(seen)}, pauses=pauses)
    )
    async with proxied(connect=child.seat) as client:
        yield client, child


def read(seen: Path) -> list[Any]:
    return [json.loads(line) for line in seen.read_bytes().splitlines()]


def test_all_clients_have_one_handshake_without_client_capabilities(tmp_path: Path):
    async def test() -> None:
        async with shared(tmp_path / "seen") as (client, _):
            params = {"protocolVersion": "2025-11-25", "capabilities": {"sampling": {}}}
            for _ in range(3):
                found = (await client.post(client.message("initialize", params))).json()["result"]
                assert found["capabilities"] == {"tools": {}, "resources": {"subscribe": True}}
            first, second = read(tmp_path / "seen")
            assert first["params"]["capabilities"] == {}
            assert first["params"]["clientInfo"]["name"] == "toolbooth"
            assert second["method"] == "notifications/initialized"

    asyncio.run(test())


async def posted(client: Client, session: str, method: str, params: Any, number: int = 7) -> Any:
    """All messages of the answer to a request, whose id is the same for every client."""
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    found = await client.post(json.dumps(message).encode(), mcp_session_id=session)
    if found.headers["content-type"] == "application/json":
        return [found.json()]
    lines = found.text.splitlines()
    return [json.loads(line[6:]) for line in lines if line.startswith("data: ")]


def test_answers_and_progress_reach_their_own_client_and_logs_reach_none(tmp_path: Path):
    async def test() -> None:
        async with shared(tmp_path / "seen") as (client, child):
            sessions = [await client.initialize() for _ in range(3)]
            calls = [
                posted(
                    client,
                    session,
                    "tools/call",
                    {"name": "meet", "arguments": {"n": n}, "_meta": {"progressToken": "same"}},
                )
                for n, session in enumerate(sessions)
            ]
            for n, found in enumerate(await asyncio.gather(*calls)):
                progress, answer = found
                assert progress["params"] == {"progressToken": "same", "progress": n}
                assert (answer["id"], answer["result"]["content"][0]["text"]) == (7, str(n))
            assert len(child.asked) == 0

    asyncio.run(test())


def test_an_update_of_a_resource_reaches_the_clients_that_subscribed(tmp_path: Path):
    async def test() -> None:
        async with shared(tmp_path / "seen") as (client, _):
            sessions = [await client.initialize() for _ in range(3)]
            for session in sessions[:2]:
                await posted(client, session, "resources/subscribe", {"uri": "a://1"})
            # The child is not told: another client is still subscribed.
            assert (await posted(client, sessions[0], "resources/unsubscribe", {"uri": "a://1"}))[
                0
            ]["result"] == {}
            await posted(client, sessions[2], "tools/call", {"name": "update", "arguments": {}})
            by_name = client.proxy.sessions.by_name
            heard = [len(by_name[session].unheard) for session in sessions]
            assert heard == [0, 1, 0]
            methods = [each.get("method") for each in read(tmp_path / "seen")]
            assert methods.count("resources/subscribe") == 2
            assert "resources/unsubscribe" not in methods
            await posted(client, sessions[1], "resources/unsubscribe", {"uri": "a://1"})
            assert read(tmp_path / "seen")[-1]["method"] == "resources/unsubscribe"

    asyncio.run(test())


@pytest.mark.parametrize(
    ("limit", "most"), [("_MOST_WAITING", 3), ("_MOST_BYTES_WAITING", 300)], ids=["number", "bytes"]
)
def test_messages_that_nobody_reads_are_limited_and_the_log_says_so_once(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    limit: str,
    most: int,
):
    monkeypatch.setattr(sessions_of_http, limit, most)

    async def test() -> None:
        async with shared(tmp_path / "seen") as (client, _):
            reader, writer = [await client.initialize() for _ in range(2)]
            await posted(client, reader, "resources/subscribe", {"uri": "a://1"})
            for _ in range(6):
                await posted(client, writer, "tools/call", {"name": "update", "arguments": {}})
            waiting = client.proxy.sessions.by_name[reader].unheard
            assert len(waiting) == 3
            assert "resources/updated" in str(waiting[0])

    asyncio.run(test())
    lines = [each.getMessage() for each in caplog.records if "does not listen" in each.message]
    assert lines == [
        "a client does not listen, so 3 messages of its server wait for it; "
        "further ones are dropped"
    ]


@pytest.mark.parametrize("method", ["logging/setLevel", "tasks/list"])
def test_methods_that_belong_to_one_client_are_refused(tmp_path: Path, method: str):
    async def test() -> None:
        async with shared(tmp_path / "seen") as (client, _):
            [found] = await posted(client, await client.initialize(), method, {"level": "debug"})
            assert found["error"]["message"] == (
                f"{method} is not available, because all clients of the proxy share one server"
            )

    asyncio.run(test())


def test_questions_of_the_child_are_refused_and_pings_answered(tmp_path: Path):
    async def test() -> None:
        async with shared(tmp_path / "seen") as (client, _):
            session = await client.initialize()
            [found] = await posted(
                client, session, "tools/call", {"name": "question", "arguments": {}}
            )
            answers = json.loads(found["result"]["content"][0]["text"])
            assert answers[0] == {"jsonrpc": "2.0", "id": "p", "result": {}}
            assert answers[1]["error"]["code"] == -32601

    asyncio.run(test())


def test_stateless_clients_share_the_child_without_their_capabilities(tmp_path: Path):
    async def test() -> None:
        async with shared(tmp_path / "seen") as (client, child):
            meta = {**META, "io.modelcontextprotocol/clientCapabilities": {"sampling": {}}}
            routing = {"mcp_protocol_version": STATELESS, "mcp_method": "tools/call"}
            params = {"name": "meet", "arguments": {"n": 1}, "_meta": meta}
            for who in "ab":
                body = client.message("tools/call", params)
                sent = {**routing, "mcp_name": "meet", "authorization": who}
                found = await client.post(body, **sent)
                assert found.json()["result"]["content"][0]["text"] == "1"
            assert len(child.seats) == 2
            for each in read(tmp_path / "seen"):
                assert each["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] == {}

    asyncio.run(test())


def test_when_a_client_leaves_its_calls_are_cancelled_and_the_last_one_ends_the_child(
    tmp_path: Path,
):
    async def test() -> None:
        async with shared(tmp_path / "seen") as (client, child):
            first, second = await client.initialize(), await client.initialize()
            call = posted(client, first, "tools/call", {"name": "hang", "arguments": {}})
            hanging = asyncio.ensure_future(call)
            while not child.asked:
                await asyncio.sleep(0)
            link = child.link
            assert isinstance(link, ChildLink)
            process = link.child.process
            await client.http.delete(client.url, headers={"mcp-session-id": first})
            [found] = await posted(
                client, second, "tools/call", {"name": "meet", "arguments": {"n": 5}}
            )
            assert found["result"]["content"][0]["text"] == "5"
            cancelled = [
                each
                for each in read(tmp_path / "seen")
                if each.get("method") == "notifications/cancelled"
            ]
            assert [each["params"]["reason"] for each in cancelled] == ["the client left"]
            await client.http.delete(client.url, headers={"mcp-session-id": second})
            assert process is not None
            await process.exited.wait()
            hanging.cancel()
            # The next client starts a new child.
            await client.initialize()
            assert child.link is not link

    asyncio.run(test())


def test_a_child_that_crashed_is_restored_for_all_clients(tmp_path: Path):
    async def test() -> None:
        async with shared(tmp_path / "seen", str(FAULTY), (0.05,)) as (client, child):
            sessions = [await client.initialize() for _ in range(2)]
            crash = {"name": "crash", "arguments": {}}
            [found] = await posted(client, sessions[0], "tools/call", crash)
            assert "It may have run" in found["result"]["content"][0]["text"]
            while child.down is not None:
                await asyncio.sleep(0.01)
            for session in sessions:
                echo = {"name": "echo", "arguments": {}}
                found = await posted(client, session, "tools/call", echo)
                assert "isError" not in found[-1]["result"]
            methods = [each.get("method") for each in read(tmp_path / "seen")]
            assert methods.count("initialize") == 2

    asyncio.run(test())


def first_of(error: BaseException) -> BaseException:
    """The first error in a group, at any depth."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


@pytest.mark.parametrize("modes", [["legacy", "auto", "legacy"], ["2026-07-28", "2026-07-28"]])
def test_the_official_client_works_with_a_shared_child(modes: list[str]):
    """The first client chooses the era of the child. A client that knows both follows it."""
    full = str(Path(__file__).parents[1] / "conformance" / "full_server.py")
    child = SharedChild(lambda: ChildLink([sys.executable, full, "stdio"]))

    async def test() -> None:
        proxy = HttpProxy([Server(connect=child.seat)])
        async with asyncio.timeout(60), served(proxy) as url, AsyncExitStack() as stack:
            clients = [
                await stack.enter_async_context(mcp.Client(url, mode=mode)) for mode in modes
            ]
            calls = (client.call_tool("test_simple_text", {}) for client in clients)
            for result in await asyncio.gather(*calls):
                assert result.content[0].text == "This is a simple text response for testing."
            other = "legacy" if modes[0] == "2026-07-28" else "2026-07-28"
            with pytest.raises(Exception) as caught:  # noqa: PT011
                async with mcp.Client(url, mode=other) as client:
                    await client.list_prompts()
            assert "share one server" in str(first_of(caught.value))
        await proxy.sessions.close()

    asyncio.run(test())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--shared", "--", "x"], b"--shared is for HTTP; add --http PORT"),
        (["--shared", "--http", "0", "http://127.0.0.1:1/mcp"], b"--shared is for servers that a"),
    ],
    ids=["stdio", "url"],
)
def test_shared_without_an_effect_is_refused(tmp_path: Path, words: list[str], message: bytes):
    assert message in toolbooth("proxy", *words, cwd=tmp_path).stderr


def test_the_command_starts_one_process_for_all_clients(tmp_path: Path):
    command = [*MAIN, "proxy", "--http", "0", "--shared", "--", sys.executable, SERVER]
    env = {**os.environ, "SEEN": str(tmp_path / "seen")}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, env=env, text=True)
    assert process.stderr is not None
    try:
        url = process.stderr.readline().split()[-1]

        async def test() -> None:
            async with mcp.Client(url, mode="legacy") as one, mcp.Client(url, mode="legacy") as two:
                for client in (one, two):
                    result: Any = await client.call_tool("meet", {"n": 3})
                    assert result.content[0].text == "3"

        asyncio.run(test())
    finally:
        process.terminate()
        process.communicate(timeout=30)
    assert [each["method"] for each in read(tmp_path / "seen")].count("initialize") == 1
