"""The proxy over HTTP: headers, sessions, credentials, streams and cancellation."""

import asyncio
import json
import sys
from base64 import b64encode
from typing import Any

import pytest

from http_proxied import META, STATELESS, Client, Upstream, proxied, served
from proxied import FAULTY
from toolbooth.proxy.http_link import HttpLink
from toolbooth.proxy.link import ChildLink

UNCLEAR = {"code": "unanswered", "repeatable": False}
NOT_CALLED = {"code": "not-called"}


def run(test: Any) -> None:
    asyncio.run(test)


def own(response: Any) -> Any:
    """The proxy's part of a result's `_meta`."""
    return response.json()["result"]["_meta"]["toolbooth"]


async def calls_book(message: Any, upstream: Upstream, event: Any) -> Any:
    return {"content": [], "resultType": "complete"}


def test_a_stateless_call_arrives_with_its_bytes_and_headers_of_this_side():
    async def test() -> None:
        upstream = Upstream(calls_book)
        async with proxied(upstream, headers={"X-Key": "configured"}) as client:
            found = await client.call(
                '{ "city" : "Z\\u00fcrich","nights":2.0}',
                authorization="Bearer client",
                cookie="a=b",
                mcp_param_city="=?base64?WsO8cmljaA==?=",
                mcp_param_nights="2",
            )
            assert found.json()["result"] == {"content": [], "resultType": "complete"}
            _, headers, body = upstream.requests[-1]
            assert b'"arguments":{ "city" : "Z\\u00fcrich","nights":2.0}' in body
            assert headers["mcp-method"] == "tools/call"
            assert headers["mcp-name"] == "book"
            assert headers["mcp-protocol-version"] == STATELESS
            assert headers["mcp-param-city"] == "=?base64?WsO8cmljaA==?="
            assert headers["x-key"] == "configured"
            assert "authorization" not in headers
            assert "cookie" not in headers

    run(test())


def test_the_user_of_a_url_is_sent_as_a_header():
    async def test() -> None:
        upstream = Upstream(calls_book)
        async with served(upstream) as url:
            with_user = url.replace("//", "//ann:p%40ss@")
            async with proxied(connect=lambda: HttpLink(with_user)) as client:
                await client.call('{"city": "Bern"}')
        _, headers, _ = upstream.requests[-1]
        assert headers["authorization"] == f"Basic {b64encode(b'ann:p@ss').decode()}"
        assert "@" not in headers["host"]

    run(test())


def test_param_headers_are_made_again_after_a_repair():
    async def test() -> None:
        upstream = Upstream(calls_book)
        async with proxied(upstream) as client:
            found = await client.call('{"nights": "3"}', mcp_param_nights="3")
            assert own(found) == {"repairs": [{"code": "scalar-text", "path": "$.nights"}]}
            assert upstream.headers_of("tools/call")["mcp-param-nights"] == "3"
            assert upstream.messages[-1]["params"]["arguments"] == {"nights": 3}

    run(test())


@pytest.mark.parametrize(
    "headers",
    [
        {"mcp_param_city": "Bern"},
        {},
        {"mcp_param_city": "Basel", "mcp_param_nights": "1"},
    ],
    ids=["other", "missing", "too-many"],
)
def test_headers_that_contradict_the_arguments_are_refused(headers: Any):
    async def test() -> None:
        upstream = Upstream(calls_book)
        async with proxied(upstream) as client:
            found = await client.call('{"city": "Basel"}', **headers)
            assert (found.status_code, found.json()["error"]["code"]) == (400, -32020)
            assert "tools/call" not in [each.get("method") for each in upstream.messages]

    run(test())


def test_a_handshake_session_has_ids_of_its_own_on_each_side_and_ends_on_both():
    async def test() -> None:
        upstream = Upstream()
        async with proxied(upstream) as client:
            first, second = await client.initialize(), await client.initialize()
            assert len({first, second, "upstream-1", "upstream-2"}) == 4
            await client.post(client.message("ping", {}), mcp_session_id=second)
            headers = upstream.headers_of("ping")
            assert headers["mcp-session-id"] == "upstream-2"
            assert headers["mcp-protocol-version"] == "2025-11-25"
            gone = await client.http.delete(client.url, headers={"mcp-session-id": first})
            assert gone.status_code == 204
            again = await client.post(client.message("ping", {}), mcp_session_id=first)
            assert again.status_code == 404
            while ("DELETE", "upstream-1") not in [
                (method, headers.get("mcp-session-id")) for method, headers, _ in upstream.requests
            ]:
                await client.post(client.message("ping", {}), mcp_session_id=second)

    run(test())


def test_messages_of_a_session_reach_only_its_own_client():
    async def test() -> None:
        upstream = Upstream()
        async with proxied(upstream) as client:
            first, second = await client.initialize(), await client.initialize()
            while len(upstream.streams) < 2:
                await client.post(client.message("ping", {}), mcp_session_id=first)
            for number in (1, 2):
                note = {
                    "jsonrpc": "2.0",
                    "method": "notifications/message",
                    "params": {"n": number},
                }
                upstream.streams[f"upstream-{number}"].put_nowait(json.dumps(note).encode())
            for session, number in ((second, 2), (first, 1)):
                assert (await listened(client, session))["params"] == {"n": number}

    run(test())


async def listened(client: Client, session: str) -> Any:
    """The first message on the stream of a session."""
    headers = {"accept": "text/event-stream", "mcp-session-id": session}
    async with client.http.stream("GET", client.url, headers=headers) as response:
        async for line in response.aiter_lines():
            if line.startswith("data: "):
                return json.loads(line[6:])


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 421),
        ({"origin": "https://evil.example"}, 403),
        ({"content_type": "text/plain"}, 415),
        ({"mcp_session_id": "unknown"}, 404),
        ({"mcp_protocol_version": "2031-01-01"}, 400),
    ],
    ids=["host", "origin", "content-type", "session", "version"],
)
def test_requests_that_must_not_pass_are_refused(headers: Any, status: int):
    async def test() -> None:
        upstream = Upstream()
        async with proxied(upstream) as client:
            found = await client.post(client.message("ping", {}), **headers)
            assert found.status_code == status
            assert upstream.requests == []

    run(test())


# --- one child for each client ------------------------------------------------------------------


def child() -> ChildLink:
    return ChildLink([sys.executable, str(FAULTY)])


def test_each_credential_has_a_child_of_its_own_and_there_are_only_so_many():
    async def test() -> None:
        async with proxied(connect=child, most_sessions=2) as client:
            params = {"_meta": META}
            routing = {"mcp_protocol_version": STATELESS, "mcp_method": "tools/list"}
            for token in ("a", "b", "a"):
                body = client.message("tools/list", params)
                found = await client.post(body, authorization=token, **routing)
                assert found.status_code == 200
            assert len(client.proxy.sessions.by_name) == 2
            found = await client.post(
                client.message("tools/list", params), authorization="c", **routing
            )
            assert (found.status_code, found.headers["retry-after"]) == (503, "5")
            found = await client.call("{}", authorization="c")
            assert own(found) == {"code": "busy", "retry_after": 5}

    run(test())


def test_an_idle_session_ends_with_its_child():
    async def test() -> None:
        async with proxied(connect=child, idle_seconds=0.2) as client:
            session = await client.initialize()
            link = client.proxy.sessions.by_name[session].upstream.links[0]
            assert isinstance(link, ChildLink)
            process = link.child.process
            assert process is not None
            await process.exited.wait()
            found = await client.post(client.message("ping", {}), mcp_session_id=session)
            assert found.status_code == 404

    run(test())


# --- faults -------------------------------------------------------------------------------------


def test_a_server_that_is_not_there_was_not_called():
    async def test() -> None:
        async with proxied(connect=lambda: HttpLink("http://127.0.0.1:9/mcp")) as client:
            found = await client.call("{}")
            assert own(found) == NOT_CALLED
            assert "It is safe to repeat the call." in found.json()["result"]["content"][0]["text"]

    run(test())


@pytest.mark.parametrize(
    ("status", "expected"), [(500, UNCLEAR), (503, UNCLEAR), (401, NOT_CALLED), (302, NOT_CALLED)]
)
def test_a_status_without_a_message(status: int, expected: Any):
    async def answer(message: Any, upstream: Upstream, event: Any) -> int:
        return status

    async def test() -> None:
        async with proxied(Upstream(answer)) as client:
            found = await client.call("{}")
            assert own(found) == expected
            text = found.json()["result"]["content"][0]["text"]
            assert f"the server answered with HTTP status {status}" in text

    run(test())


def test_a_stream_that_ends_without_an_answer_may_have_run():
    async def answer(message: Any, upstream: Upstream, event: Any) -> None:
        await event(b'{"jsonrpc":"2.0","method":"notifications/message","params":{}}')

    async def test() -> None:
        async with proxied(Upstream(answer)) as client:
            found = await client.call("{}")
            *_, last = [line for line in found.text.splitlines() if line.startswith("data: ")]
            assert json.loads(last[6:])["result"]["_meta"]["toolbooth"] == UNCLEAR

    run(test())


def test_a_stateless_call_is_cancelled_by_closing_its_stream():
    async def answer(message: Any, upstream: Upstream, event: Any) -> None:
        await event(b'{"jsonrpc":"2.0","method":"notifications/message","params":{}}')
        await upstream.left.wait()

    async def test() -> None:
        upstream = Upstream(answer)
        async with proxied(upstream) as client:
            body = client.message("tools/call", {"_meta": META, "name": "book", "arguments": {}})
            headers = {
                "content-type": "application/json",
                "mcp-protocol-version": STATELESS,
                "mcp-method": "tools/call",
                "mcp-name": "book",
            }
            async with client.http.stream(
                "POST", client.url, content=body, headers=headers
            ) as response:
                async for line in response.aiter_lines():
                    if line.startswith("data: "):
                        break
            await upstream.left.wait()

    run(test())


def test_an_expired_session_is_made_again_and_its_call_was_not_made():
    async def answer(message: Any, upstream: Upstream, event: Any) -> Any:
        return 404 if upstream.sessions == 1 else {"ok": upstream.sessions}

    async def test() -> None:
        upstream = Upstream(answer)
        async with proxied(upstream) as client:
            session = await client.initialize()
            params = {"name": "book", "arguments": {}}
            found = await client.post(client.message("tools/call", params), mcp_session_id=session)
            assert own(found) == NOT_CALLED
            found = await client.post(client.message("tools/call", params), mcp_session_id=session)
            assert found.json()["result"] == {"ok": 2}

    run(test())


def test_a_late_error_of_an_expired_session_does_not_end_the_new_one():
    arrived, released = asyncio.Event(), asyncio.Event()

    async def answer(message: Any, upstream: Upstream, event: Any) -> Any:
        if message["params"]["arguments"] == {"city": "late"}:
            arrived.set()
            await released.wait()
            return 404
        return 404 if upstream.sessions == 1 else {"ok": upstream.sessions}

    async def test() -> None:
        async with proxied(Upstream(answer)) as client:
            session = await client.initialize()

            async def call(**arguments: Any) -> Any:
                params = {"name": "book", "arguments": arguments}
                body = client.message("tools/call", params)
                return await client.post(body, mcp_session_id=session)

            late = asyncio.ensure_future(call(city="late"))
            await arrived.wait()
            assert own(await call()) == NOT_CALLED
            assert (await call()).json()["result"] == {"ok": 2}
            released.set()
            assert own(await late) == NOT_CALLED
            assert (await call()).json()["result"] == {"ok": 2}

    run(test())


def test_frames_of_a_subscription_carry_the_id_of_the_clients_own_request():
    key = "io.modelcontextprotocol/subscriptionId"

    async def answer(message: Any, upstream: Upstream, event: Any) -> Any:
        meta = {"_meta": {key: message["id"]}}
        note = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": meta}
        await event(json.dumps(note).encode())
        return meta

    async def test() -> None:
        async with proxied(Upstream(answer)) as client:
            client.ids = 41
            body = client.message("subscriptions/listen", {"_meta": META})
            routing = {"mcp_protocol_version": STATELESS, "mcp_method": "subscriptions/listen"}
            found = await client.post(body, **routing)
            frames = [
                json.loads(line[6:]) for line in found.text.splitlines() if line[:5] == "data:"
            ]
            assert frames[0]["params"]["_meta"] == {key: 42}
            assert frames[1] == {"jsonrpc": "2.0", "id": 42, "result": {"_meta": {key: 42}}}

    run(test())


def test_clients_without_a_session_may_use_the_same_ids_at_the_same_time():
    async def test() -> None:
        waiting = asyncio.Event()

        async def answer(message: Any, upstream: Upstream, event: Any) -> Any:
            city = message["params"]["arguments"]["city"]
            if city == "Bern":
                await waiting.wait()
            else:
                waiting.set()
            return {"content": [{"type": "text", "text": city}], "resultType": "complete"}

        async with proxied(Upstream(answer)) as client:
            first = asyncio.ensure_future(client.call('{"city": "Bern"}', mcp_param_city="Bern"))
            while not client.proxy.sessions.by_name or not any(
                each.client_side.is_waiting for each in client.proxy.sessions.by_name.values()
            ):
                await asyncio.sleep(0)
            client.ids = 0
            second = await client.call('{"city": "Rome"}', mcp_param_city="Rome")
            assert second.json()["id"] == (await first).json()["id"] == 1
            assert second.json()["result"]["content"][0]["text"] == "Rome"
            assert first.result().json()["result"]["content"][0]["text"] == "Bern"

    run(test())
