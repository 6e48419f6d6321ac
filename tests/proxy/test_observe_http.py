"""The trial run over HTTP: bodies and `Mcp-Param-*` headers arrive as the client sent them."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from http_proxied import META, STATELESS, Upstream, proxied
from proxied import FAULTY
from proxied import proxied as over_stdio
from test_booth import toolbooth
from toolbooth.proxy.http_link import HttpLink
from toolbooth.proxy.link import ChildLink
from toolbooth.proxy.records import Records
from toolbooth.proxy.report import by_tool, lines
from toolbooth.proxy.rules import Rules
from toolbooth.proxy.session import Server
from toolbooth.recording import read_calls, record_calls

TRIAL = Rules(observe=True)
ROUTING = {"mcp_protocol_version": STATELESS, "mcp_method": "tools/call", "mcp_name": "book"}


def observed(file: Path) -> Records:
    records = Records()
    record_calls(records, file)
    return records


def call(arguments: str, request_id: str = "1") -> bytes:
    meta = json.dumps(META)
    return (
        f'{{ "id":{request_id},"jsonrpc":"2.0","method":"tools/call",'
        f'"params":{{"_meta":{meta},"name":"book","arguments":{arguments}}}}}'
    ).encode()


async def answered(message: Any, upstream: Upstream, event: Any) -> Any:
    if message["params"]["arguments"].get("city") == "slow":
        await upstream.left.wait()
    return {"content": [], "resultType": "complete"}


def test_bodies_and_headers_arrive_unchanged_and_calls_are_judged(tmp_path: Path):
    file = tmp_path / "calls.jsonl"

    async def test() -> None:
        upstream = Upstream(answered)
        async with proxied(upstream, rules=TRIAL, records=observed(file)) as client:
            listing = f'{{"jsonrpc":"2.0","id":"l","method":"tools/list","params":{{"_meta":{json.dumps(META)}}}}}'
            routing = {"mcp_protocol_version": STATELESS, "mcp_method": "tools/list"}
            found = await client.post(listing.encode(), **routing)
            assert found.json()["id"] == "l"
            for body in (call('{"nights": "2"}', '"x"'), call('{"nigts": 2}')):
                found = await client.post(body, **ROUTING, mcp_param_nights="whatever")
                assert found.json()["id"] == json.loads(body)["id"]
                _, headers, sent = upstream.requests[-1]
                assert (sent, headers["mcp-param-nights"]) == (body, "whatever")

    asyncio.run(test())
    assert lines(by_tool(read_calls(file).values()))[:4] == [
        "book: 2 calls, 1 refused, 1 repaired",
        "  problems: unknown-key (1)",
        "  repairs: scalar-text (1)",
        "  undeclared keys: nigts (1)",
    ]


def test_two_clients_without_a_session_may_use_the_same_id():
    async def test() -> None:
        upstream = Upstream(answered)
        async with proxied(upstream, rules=TRIAL) as client:
            slow = asyncio.ensure_future(client.post(call('{"city": "slow"}'), **ROUTING))
            while not upstream.requests:
                await asyncio.sleep(0)
            found = await client.post(call("{}"), **ROUTING)
            assert found.json()["result"]["content"] == []
            # A stateless client cancels a call by closing its connection.
            slow.cancel()
            await upstream.left.wait()

    asyncio.run(test())


def test_a_child_is_observed_over_http(tmp_path: Path):
    seen, file = tmp_path / "seen", tmp_path / "calls.jsonl"

    def connect() -> ChildLink:
        return ChildLink([sys.executable, str(FAULTY)], env={"SEEN": str(seen)}, pauses=())

    async def test() -> None:
        async with proxied(connect=connect, rules=TRIAL, records=observed(file)) as client:
            session = await client.initialize()
            for method, params in (
                ("tools/list", {}),
                ("tools/call", {"name": "echo", "arguments": {"n": "5"}}),
            ):
                body = client.message(method, params)
                found = await client.post(body, mcp_session_id=session)
                assert found.json()["id"] == client.ids
                assert seen.read_bytes().splitlines()[-1] == body
            body = client.message("tools/call", {"name": "crash", "arguments": {}})
            found = await client.post(body, mcp_session_id=session)
            assert "the server ended with exit code 3" in found.json()["error"]["message"]
            gone = await client.post(client.message("ping", {}), mcp_session_id=session)
            assert gone.status_code == 404
            assert await client.initialize()  # with a new child

    asyncio.run(test())
    assert lines(by_tool(read_calls(file).values()))[0] == "crash: 1 calls, all passed"


def test_questions_and_progress_of_a_child_reach_the_client(tmp_path: Path):
    def connect() -> ChildLink:
        return ChildLink([sys.executable, str(FAULTY)], pauses=())

    async def test() -> None:
        async with proxied(connect=connect, rules=TRIAL) as client:
            session = await client.initialize()
            body = client.message("tools/call", {"name": "ask", "arguments": {}})
            headers = {
                "accept": "application/json, text/event-stream",
                "content-type": "application/json",
                "mcp-session-id": session,
            }
            found: list[Any] = []
            async with client.http.stream(
                "POST", client.url, content=body, headers=headers
            ) as stream:
                async for line in stream.aiter_lines():
                    if line.startswith("data: "):
                        found.append(json.loads(line[6:]))
                        if found[-1].get("id") == "q-1":
                            answer = b'{"jsonrpc":"2.0","id":"q-1","result":{"text":1.50}}'
                            await client.post(answer, mcp_session_id=session)
            assert found[0]["method"] == "sampling/createMessage"
            assert found[-1]["result"]["content"][0]["text"] == "asked"

    asyncio.run(test())


def test_a_server_over_http_is_observed_over_stdio():
    async def test() -> None:
        upstream = Upstream(answered)
        async with proxied(upstream, rules=TRIAL) as other:
            url = other.proxy.sessions.servers[0].connect().client.address  # type: ignore[attr-defined]
            link = f"http://{url.authority}{url.path}"
            server = Server(connect=lambda: HttpLink(link), rules=TRIAL)
            async with over_stdio(servers=[server]) as client:
                client.send(call("{}", '"a"'))
                assert (await client.next())["id"] == "a"
                assert upstream.requests[-1][2] == call("{}", '"a"')
                client.send(b"not json")
                assert (await client.next())["error"]["code"] == -32700

    asyncio.run(test())


def test_a_server_that_cannot_be_reached_is_reported_over_http():
    async def test() -> None:
        async with proxied(connect=lambda: HttpLink("http://127.0.0.1:1/mcp"), rules=TRIAL) as c:
            found = await c.post(call("{}"), **ROUTING)
            assert found.json()["error"]["message"].startswith("the request was not handled:")

    asyncio.run(test())


@pytest.mark.parametrize("words", [["--shared", "--http", "0"]])
def test_a_trial_run_cannot_share_a_child(tmp_path: Path, words: list[str]):
    done = toolbooth("proxy", "--observe", *words, "--", "x", cwd=tmp_path)
    assert b"--shared has to change ids" in done.stderr
