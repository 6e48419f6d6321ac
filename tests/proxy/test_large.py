"""Large arguments are examined in a thread, so that other calls do not wait for them."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from http_proxied import Upstream, proxied
from proxied import FAULTY, text_of
from proxied import proxied as over_stdio
from toolbooth.boundary import run
from toolbooth.proxy.rules import Rules

TOOLS = [
    {
        "name": "rows",
        "inputSchema": {
            "type": "object",
            "properties": {
                "rows": {
                    "type": "array",
                    "items": {"type": "object", "properties": {"n": {"type": "integer"}}},
                },
            },
        },
    },
    {"name": "hang", "inputSchema": {"type": "object"}},
    {"name": "small", "inputSchema": {"type": "object"}},
]


def message(request_id: int, name: str, arguments: str = "{}") -> bytes:
    params = f'{{"name":"{name}","arguments":{arguments}}}'
    return f'{{"jsonrpc":"2.0","id":{request_id},"method":"tools/call","params":{params}}}'.encode()


def rows(count: int, last: str = '{"n": 1}') -> str:
    return '{"rows": [' + '{"n": 1}, ' * count + last + "]}"


def test_a_small_call_overtakes_a_large_one_that_arrived_before(tmp_path: Path):
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))
    seen = tmp_path / "seen"
    env = {"TOOLS": str(tmp_path / "tools.json"), "SEEN": str(seen)}

    async def test() -> None:
        async with over_stdio(env=env) as client:
            await client.call("small")
            # Each of the threads for large calls is busy until the small call is answered, so a
            # call of 2 MB cannot be examined before.
            gate = asyncio.Event()
            loop = asyncio.get_running_loop()
            held = [
                asyncio.ensure_future(run.off_the_loop(lambda: _wait(loop, gate)))
                for _ in range(64)
            ]
            await asyncio.to_thread(client.send, message(100, "rows", rows(40_000)))
            client.send(message(101, "small"))
            assert (await client.next())["id"] == 101
            gate.set()
            await asyncio.gather(*held)
            assert (await client.next())["id"] == 100

    asyncio.run(test())
    assert rows(40_000).encode() in seen.read_bytes()


def _wait(loop: asyncio.AbstractEventLoop, gate: asyncio.Event) -> None:
    asyncio.run_coroutine_threadsafe(gate.wait(), loop).result(30)


@pytest.mark.parametrize(
    ("last", "expected"),
    [('{"m": 1}', "unknown-key"), ('{"n": "1"}', "scalar-text")],
    ids=["refused", "repaired"],
)
def test_a_large_call_is_refused_or_repaired_as_a_small_one(
    tmp_path: Path, last: str, expected: str
):
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))

    async def test() -> None:
        async with over_stdio(env={"TOOLS": str(tmp_path / "tools.json")}) as client:
            await asyncio.to_thread(client.send, message(1, "rows", rows(20_000, last)))
            result = (await client.next())["result"]
            own = result["_meta"]["toolbooth"]
            codes = [each["code"] for each in own.get("repairs") or own["problems"]]
            assert codes == [expected]

    asyncio.run(test())


def test_a_large_call_that_is_cancelled_or_whose_server_ends_is_not_written(tmp_path: Path):
    tools = [*TOOLS, {"name": "crash", "inputSchema": {"type": "object"}}]
    (tmp_path / "tools.json").write_text(json.dumps(tools))
    seen = tmp_path / "seen"
    env = {"TOOLS": str(tmp_path / "tools.json"), "SEEN": str(seen)}

    async def test() -> None:
        async with over_stdio(env=env, command=[sys.executable, str(FAULTY)], pauses=()) as client:
            await client.call("small")
            gate = asyncio.Event()
            loop = asyncio.get_running_loop()
            held = [
                asyncio.ensure_future(run.off_the_loop(lambda: _wait(loop, gate)))
                for _ in range(64)
            ]
            for number in (1, 2):
                await asyncio.to_thread(client.send, message(number * 100, "rows", rows(20_000)))
            params = {"requestId": 100}
            client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
            client.send(message(300, "crash"))
            assert "It may have run" in text_of((await client.next())["result"])
            gate.set()
            await asyncio.gather(*held)
            found = await client.next()
            assert found["id"] == 200
            assert "It is safe to repeat the call" in text_of(found["result"])

    asyncio.run(test())
    assert b'"rows"' not in seen.read_bytes()


def test_arguments_that_quote_the_protocol_reach_a_server_with_a_handshake():
    """A text in the arguments that names a key of the stateless revisions changes no header."""

    async def answer(found: Any, upstream: Upstream, event: Any) -> Any:
        return {"content": []}

    async def test() -> None:
        upstream = Upstream(answer)
        async with proxied(upstream, rules=Rules(policy="lenient")) as client:
            session = await client.initialize()
            for count in (1, 20_000):
                arguments = {"city": "io.modelcontextprotocol/protocolVersion " * count}
                body = client.message("tools/call", {"name": "book", "arguments": arguments})
                found = await client.post(body, mcp_session_id=session)
                assert found.json()["result"] == {"content": []}
                headers = upstream.headers_of("tools/call")
                assert headers["mcp-protocol-version"] == "2025-11-25"
                assert headers["mcp-session-id"] == "upstream-1"

    asyncio.run(test())
