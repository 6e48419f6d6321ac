"""The HTTP shell: the ASGI application driven directly with real bytes.

`test_asgi_real_server.py` has a real server on loopback.
"""

import asyncio
import json
from typing import Any

import pytest

from asgi_requests import JSON, META, PING, PONG, Connection, events_of, reply, shop, tool_call
from toolbooth import Context, ToolRegistry
from toolbooth.server.asgi import STOPPED, app
from toolbooth.server.revisions import STATELESS


def refusal(found: Connection) -> tuple[int, str, str]:
    assert found.headers["content-length"] == str(len(found.body))
    return found.status, found.headers["content-type"], found.body.decode()


PLAIN = "text/plain; charset=utf-8"


# --- requests -----------------------------------------------------------------------------------------------------


def test_a_request_is_answered_in_two_events():
    body = tool_call("add", {"a": 1, "b": 2})
    answer = b'{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"3"}],"isError":false}}'
    length = str(len(answer)).encode()
    assert reply(body).sent == [
        {
            "type": "http.response.start",
            "status": 200,
            "headers": [(b"content-type", b"application/json"), (b"content-length", length)],
        },
        {"type": "http.response.body", "body": answer},
    ]


def test_a_notification_is_accepted_without_a_body():
    assert reply(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}').sent == [
        {"type": "http.response.start", "status": 202, "headers": [(b"content-length", b"0")]},
        {"type": "http.response.body", "body": b""},
    ]


@pytest.mark.parametrize(
    "parts",
    [
        (PING,),
        (PING[:9], PING[9:]),
        (b"", PING),
        (PING, b""),
        tuple(PING[index : index + 1] for index in range(45)),
    ],
    ids=["whole", "halves", "empty-first", "empty-last", "byte-by-byte"],
)
def test_a_body_may_arrive_in_chunks(parts):
    found = reply(*parts)
    assert (found.status, json.loads(found.body)) == (200, PONG)


def test_errors_of_the_protocol_have_their_status():
    found = reply(b"{")
    assert (found.status, json.loads(found.body)["error"]["code"]) == (400, -32700)
    assert found.headers["content-type"] == "application/json"
    routed = {**JSON, "mcp-protocol-version": STATELESS[0], "mcp-method": "nothing"}
    body = json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "nothing", "params": {"_meta": META}}
    ).encode()
    found = reply(body, headers=routed)
    assert (found.status, json.loads(found.body)["error"]["code"]) == (404, -32601)


def test_routing_headers_are_read():
    routed = {
        **JSON,
        "mcp-protocol-version": STATELESS[0],
        "mcp-method": "tools/call",
        "mcp-name": "add",
    }
    found = reply(tool_call("add", {"a": 1}, META), headers=routed)
    assert (found.status, json.loads(found.body)["result"]["resultType"]) == (200, "complete")
    found = reply(tool_call("add", {"a": 1}, META), headers={**routed, "mcp-name": "count"})
    assert (found.status, json.loads(found.body)["error"]["code"]) == (400, -32020)


def test_white_space_after_a_header_value_is_ignored():
    routed = {
        **JSON,
        "mcp-protocol-version": STATELESS[0],
        "mcp-method": "tools/call ",
        "mcp-name": "add \t",
    }
    assert reply(tool_call("add", {"a": 1}, META), headers=routed).status == 200


@pytest.mark.parametrize(
    "name", ["mcp-protocol-version", "mcp-method", "mcp-name", "mcp-param-region", "origin"]
)
@pytest.mark.parametrize("second", ["same", "other"])
def test_a_routing_header_that_is_sent_twice_is_refused(name, second):
    headers = [*JSON.items(), (name, "same"), (name, second)]
    assert refusal(reply(PING, headers=headers)) == (400, PLAIN, f"header {name} is sent twice")


def test_a_host_that_is_sent_twice_is_refused():
    found = reply(PING, headers=[*JSON.items(), ("host", "evil.example")])
    assert refusal(found) == (400, PLAIN, "header host is sent twice")


def test_invalid_host_raises_a_value_error():
    with pytest.raises(
        ValueError, match=r"^'http://a' is not a host; valid hosts are, for example,"
    ):
        app(shop(), hosts=["http://a"])


def test_any_other_header_may_be_sent_twice():
    assert (
        reply(PING, headers=[*JSON.items(), ("accept", "a"), ("accept", "b"), ("x-né", "ü")]).status
        == 200
    )


# --- requests that HTTP itself refuses
# --------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/mcp/x", "/other", "/mcpx"])
def test_another_path_is_not_found(path):
    assert refusal(reply(PING, path=path)) == (404, PLAIN, "MCP is served at /mcp")


@pytest.mark.parametrize(
    ("served", "request_scope"),
    [
        ({}, {"path": "/mcp/"}),
        ({"path": "/"}, {"path": "/"}),
        ({"path": "/tools/"}, {"path": "/tools"}),
        ({}, {"path": "/api/mcp", "root_path": "/api"}),
        ({}, {"path": "/mcp", "root_path": ""}),
    ],
    ids=["slash", "root", "own-path", "mounted", "mounted-nowhere"],
)
def test_the_path_is_served_with_or_without_a_slash_and_below_a_mount(served, request_scope):
    assert reply(PING, served=served, **request_scope).status == 200


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "OPTIONS", "HEAD"])
def test_other_http_methods_get_405_with_an_allow_header(method):
    found = reply(method=method)
    assert refusal(found) == (405, PLAIN, "send JSON-RPC messages by POST")
    assert found.headers["allow"] == "POST"


@pytest.mark.parametrize(
    "kind",
    ["", "text/plain", "application/jsonp", "application/json-patch+json", "multipart/form-data"],
    ids=["none", "text", "jsonp", "patch", "form"],
)
def test_another_content_type_is_unsupported(kind):
    headers = {"host": "localhost", **({"content-type": kind} if kind else {})}
    assert refusal(reply(PING, headers=headers)) == (415, PLAIN, "send application/json")


@pytest.mark.parametrize(
    "kind", ["application/json", "Application/JSON", "application/json; charset=utf-8"]
)
def test_every_spelling_of_the_json_content_type_is_accepted(kind):
    assert reply(PING, headers={"host": "localhost", "content-type": kind}).status == 200


@pytest.mark.parametrize(
    ("host", "served", "status"),
    [
        ("localhost", {}, 200),
        ("LOCALHOST:80", {}, 200),
        ("127.0.0.1:8000", {}, 200),
        ("[::1]:8000", {}, 200),
        ("[::1]", {}, 200),
        ("evil.example", {}, 421),
        ("localhost.evil.example", {}, 421),
        ("[::2]:80", {}, 421),
        ("[::1", {}, 421),
        ("[0:0:0:0:0:0:0:1]:80", {}, 200),
        ("localhost:", {}, 200),
        ("127.0.0.1:80@evil.example", {}, 421),
        ("localhost@evil.example", {}, 421),
        ("evil.example@localhost", {}, 421),
        ("localhost:80:90", {}, 421),
        ("localhost:evil", {}, 421),
        ("localhost:99999", {}, 421),
        ("localhost/evil", {}, 421),
        ("localhost?evil", {}, 421),
        ("localhost#evil", {}, 421),
        ("localhost#", {}, 421),
        ("local\thost", {}, 421),
        ("//localhost", {}, 421),
        ("http://localhost", {}, 421),
        ("localhost\\evil.example", {}, 421),
        ("[::1]evil.example", {}, 421),
        ("::1", {}, 421),
        ("[::1]:80", {"hosts": ["::1"]}, 200),
        ("", {}, 421),
        ("tools.example:443", {"hosts": ["Tools.example"]}, 200),
        ("localhost", {"hosts": ["tools.example"]}, 421),
        ("anything", {"hosts": ["*"]}, 200),
    ],
)
def test_only_configured_hosts_are_served(host, served, status):
    found = reply(PING, headers={**JSON, "host": host}, served=served)
    assert found.status == status
    if status == 421:
        assert refusal(found) == (
            421,
            PLAIN,
            "this host is not served here; name it in hosts= or with --allow-host",
        )


def test_a_request_without_a_host_is_not_served():
    assert reply(PING, headers={"content-type": "application/json"}).status == 421


@pytest.mark.parametrize(
    ("origin", "served", "status"),
    [
        (None, {}, 200),
        ("http://localhost:3000", {}, 200),
        ("http://[::1]:3000", {}, 200),
        ("https://evil.example", {}, 403),
        ("http://localhost.evil.example", {}, 403),
        ("null", {}, 403),
        ("http://evil.example//localhost", {}, 403),
        ("http://localhost/", {}, 403),
        ("http://localhost/evil", {}, 403),
        ("http://localhost@evil.example", {}, 403),
        ("http://evil.example@localhost", {}, 403),
        ("http://localhost?evil", {}, 403),
        ("http://localhost#", {}, 403),
        ("http://localhost:evil", {}, 403),
        ("http:localhost", {}, 403),
        ("//localhost", {}, 403),
        ("localhost", {}, 403),
        ("http://", {}, 403),
        ("http://[::1", {}, 403),
        ("HTTP://LOCALHOST", {}, 200),
        ("https://app.example", {"origins": ["https://app.example"]}, 200),
        ("http://app.example", {"origins": ["https://app.example"]}, 403),
        ("https://evil.example", {"hosts": ["*"]}, 200),
    ],
)
def test_an_origin_may_be_absent_but_not_foreign(origin, served, status):
    headers = {**JSON, **({"origin": origin} if origin else {})}
    found = reply(PING, headers=headers, served=served)
    assert found.status == status
    if status == 403:
        words = "requests from this origin are not accepted; add it to origins="
        assert refusal(found) == (403, PLAIN, words)


@pytest.mark.parametrize(
    "parts", [(b"x" * 101,), (b"x" * 60, b"x" * 60), (b"x" * 101, b"y")], ids=len
)
def test_a_body_past_the_limit_is_too_large(parts):
    assert refusal(reply(*parts, served={"max_body": 100})) == (
        413,
        PLAIN,
        "a request may have at most 100 bytes",
    )


def test_reading_stops_when_a_body_is_known_to_be_too_large():
    async def exchange() -> tuple[int, int]:
        connection = Connection(*[b"x" * 60] * 5)
        await connection.run(app(shop(), max_body=100))
        return connection.status, connection.incoming.qsize()

    assert asyncio.run(exchange()) == (413, 3)


def test_a_body_of_exactly_the_limit_is_accepted():
    assert reply(PING, served={"max_body": len(PING)}).status == 200


def test_a_body_that_does_not_end_in_time_gets_an_error_reply():
    async def exchange() -> Connection:
        connection = Connection()
        connection.incoming.put_nowait(
            {"type": "http.request", "body": PING[:9], "more_body": True}
        )
        await connection.run(app(shop(), max_seconds=0.01))
        return connection

    words = "the rest of the request did not arrive within 0.01 s"
    assert refusal(asyncio.run(exchange())) == (408, PLAIN, words)


@pytest.mark.parametrize("before", [None, PING[:9]], ids=["at-once", "in-the-body"])
def test_a_client_that_leaves_before_its_request_is_complete_is_not_answered(before):
    async def exchange() -> list[Any]:
        connection = Connection()
        if before is not None:
            connection.incoming.put_nowait(
                {"type": "http.request", "body": before, "more_body": True}
            )
        connection.incoming.put_nowait({"type": "http.disconnect"})
        await connection.run(app(shop()))
        return connection.sent

    assert asyncio.run(exchange()) == []


# --- streams ------------------------------------------------------------------------------------------------------


def test_progress_is_a_stream_of_events_that_ends_with_the_response():
    found = reply(tool_call("count", {"to": 2}, {"progressToken": "t"}))
    assert (found.status, found.headers["content-type"]) == (200, "text/event-stream")
    assert [event.get("more_body", False) for event in found.sent[1:]] == [True, True, True, False]
    assert events_of(found.body) == [
        {
            "jsonrpc": "2.0",
            "method": "notifications/progress",
            "params": {"progressToken": "t", "progress": done, "total": 2},
        }
        for done in (1, 2)
    ] + [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "result": {"content": [{"type": "text", "text": "done"}], "isError": False},
        }
    ]


def test_reply_is_plain_json_without_progress():
    assert reply(tool_call("count", {"to": 2})).headers["content-type"] == "application/json"
    assert (
        reply(tool_call("add", {"a": 2}, {"progressToken": "t"})).headers["content-type"]
        == "application/json"
    )


def waiting() -> tuple[ToolRegistry, list[str]]:
    """A tool that reports once and waits until it is cancelled."""
    registry = ToolRegistry("shop")
    ended: list[str] = []

    @registry.tool
    async def wait(ctx: Context) -> None:
        ctx.progress(1)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    return registry, ended


def test_a_client_that_closes_the_stream_cancels_the_call():
    registry, ended = waiting()

    async def exchange() -> list[Any]:
        connection = Connection(tool_call("wait", None, {"progressToken": "t"}))
        served = asyncio.ensure_future(connection.run(app(registry)))
        async with asyncio.timeout(10), connection.arrived:
            await connection.arrived.wait_for(lambda: len(connection.sent) == 2)
        connection.incoming.put_nowait({"type": "http.request", "body": b"", "more_body": False})
        connection.incoming.put_nowait({"type": "http.disconnect"})
        await served
        await asyncio.gather(
            *asyncio.all_tasks() - {asyncio.current_task()}, return_exceptions=True
        )
        return connection.sent

    sent = asyncio.run(exchange())
    assert (len(sent), ended) == (2, ["cancelled"])


def test_a_server_that_cancels_the_request_cancels_the_call():
    registry, ended = waiting()

    async def exchange() -> bool:
        connection = Connection(tool_call("wait", None, {"progressToken": "t"}))
        served = asyncio.ensure_future(connection.run(app(registry)))
        async with asyncio.timeout(10), connection.arrived:
            await connection.arrived.wait_for(lambda: len(connection.sent) == 2)
        served.cancel()
        await asyncio.gather(
            *asyncio.all_tasks() - {asyncio.current_task()}, return_exceptions=True
        )
        return served.cancelled()

    assert asyncio.run(exchange()) is True
    assert ended == ["cancelled"]


def test_a_connection_that_breaks_while_sending_ends_the_call_and_raises():
    registry, ended = waiting()

    async def exchange() -> None:
        connection = Connection(tool_call("wait", None, {"progressToken": "t"}))

        async def broken(event: dict[str, Any]) -> None:
            if event["type"] == "http.response.body":
                raise OSError("connection lost")

        async with asyncio.timeout(10):
            with pytest.raises(OSError, match="connection lost"):
                await app(registry)(connection.scope, connection.incoming.get, broken)
            await asyncio.gather(
                *asyncio.all_tasks() - {asyncio.current_task()}, return_exceptions=True
            )

    asyncio.run(exchange())
    assert ended == ["cancelled"]


@pytest.mark.parametrize("meta", [None, META], ids=["handshake", "stateless"])
def test_a_call_whose_client_leaves_is_cancelled(meta):
    cancelled = []

    async def exchange() -> Connection:
        registry = ToolRegistry("shop")

        @registry.tool
        async def wait() -> str:
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.append(True)
            return "never"

        routed = (
            {"mcp-protocol-version": STATELESS[0], "mcp-method": "tools/call", "mcp-name": "wait"}
            if meta
            else {}
        )
        connection = Connection(tool_call("wait", meta=meta), headers={**JSON, **routed})
        connection.incoming.put_nowait({"type": "http.disconnect"})
        await connection.run(app(registry))
        return connection

    assert (asyncio.run(exchange()).sent, cancelled) == ([], [True])


def test_call_cancelled_by_its_server_ends_as_cancelled():
    async def exchange() -> None:
        registry = ToolRegistry("shop")
        running = asyncio.Event()

        @registry.tool
        async def wait() -> str:
            running.set()
            await asyncio.Event().wait()
            return "never"

        serving = asyncio.ensure_future(Connection(tool_call("wait")).run(app(registry)))
        await running.wait()
        serving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await serving

    asyncio.run(exchange())


@pytest.mark.parametrize("is_stream", [False, True])
def test_a_call_that_is_cancelled_because_the_server_stops_is_answered(is_stream):
    async def exchange() -> tuple[Connection, int]:
        registry = ToolRegistry("shop")
        running = asyncio.Event()

        @registry.tool
        async def wait(ctx: Context) -> None:
            running.set()
            await asyncio.Event().wait()

        meta = {"progressToken": "t"} if is_stream else None
        connection = Connection(tool_call("wait", None, meta))
        serving = asyncio.ensure_future(connection.run(app(registry)))
        await running.wait()
        serving.cancel(STOPPED)
        await serving
        return connection, serving.cancelling()

    connection, cancelling = asyncio.run(exchange())
    error = {"code": -32603, "message": "the server is stopping; the tool may have run"}
    answer = {"jsonrpc": "2.0", "id": 1, "error": error}
    assert cancelling == 0
    if is_stream:
        assert (connection.status, events_of(connection.body)) == (200, [answer])
        assert "more_body" not in connection.sent[-1]
    else:
        assert (connection.status, json.loads(connection.body)) == (503, answer)
        assert connection.headers["content-type"] == "application/json"


# --- lifespan -----------------------------------------------------------------------------------------------------


def test_lifespan_is_completed():
    async def exchange() -> list[Any]:
        messages = iter([{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}])
        sent: list[Any] = []

        async def receive() -> dict[str, Any]:
            return next(messages)

        async def send(event: dict[str, Any]) -> None:
            sent.append(event)

        await app(shop())({"type": "lifespan"}, receive, send)
        return sent

    assert asyncio.run(exchange()) == [
        {"type": "lifespan.startup.complete"},
        {"type": "lifespan.shutdown.complete"},
    ]


def test_a_web_socket_scope_is_ignored():
    async def exchange() -> None:
        async def never(*_: Any) -> Any:
            raise AssertionError("not called")

        await app(shop())({"type": "websocket", "path": "/mcp"}, never, never)

    asyncio.run(exchange())
