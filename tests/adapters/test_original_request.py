"""A guarded tool receives the arguments exactly as sent, through every layer of the host.

tests/matrix checks this for every shape, over every transport. Here are the other conditions:
sessions and streams, limits, authentication, middleware that changes arguments, tools that call
tools, and the process's stdin.
"""

import http.client
import io
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from typing import Annotated, Any

import pytest
import uvicorn
from fastmcp import Context, FastMCP
from fastmcp.server.auth import StaticTokenVerifier
from fastmcp.server.middleware import Middleware
from mcp.server.mcpserver import MCPServer
from pydantic import Field

from toolbooth.adapters import fastmcp, mcp_sdk
from toolbooth.adapters.sdk.exact_stdin import exact_stdin
from toolbooth.adapters.sdk.original_request import readable_line

PRICE = "0.1000000000000000055511151231257827"
WHOLE_NUMBERS = {
    "123456789012345678.0": "123456789012345678",
    "1.2345678901234567890e19": "12345678901234567890",
    "-9007199254740993.00": "-9007199254740993",
    "90071992547409930E-1": "9007199254740993",
    "5.0": "5",
}
HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


def pay(price: Decimal, note: str = "", tags: dict[str, int] | None = None) -> str:
    return f"{price} {note} {tags}"


def frame(arguments: str, name: str = "pay") -> bytes:
    params = f'{{"name": "{name}", "arguments": {arguments}}}'
    return f'{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {params}}}'.encode()


def request(method: str, params: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 0, "method": method, "params": params}).encode()


# --- over HTTP -------------------------------------------------------------------------------------------------


@contextmanager
def listening(app: Any) -> Iterator[http.client.HTTPConnection]:
    """A connection to an app on loopback."""
    with socket.create_server(("127.0.0.1", 0)) as door:
        server = uvicorn.Server(uvicorn.Config(app, log_level="critical", ws="none"))
        running = threading.Thread(target=server.run, kwargs={"sockets": [door]})
        running.start()
        connection = http.client.HTTPConnection("127.0.0.1", door.getsockname()[1])
        try:
            yield connection
        finally:
            connection.close()
            server.should_exit = True
            running.join()


def post(
    connection: http.client.HTTPConnection, body: bytes, **headers: str
) -> tuple[int, dict[str, str], bytes]:
    connection.request(
        "POST",
        "/mcp",
        body,
        {**HEADERS, **{key.replace("_", "-"): headers[key] for key in headers}},
    )
    answer = connection.getresponse()
    return answer.status, dict(answer.getheaders()), answer.read()


def session(connection: http.client.HTTPConnection, **headers: str) -> dict[str, str]:
    """Return the headers of a session that has been opened."""
    _, answered, _ = post(connection, request("initialize", INITIALIZE), **headers)
    opened = {
        "Mcp-Session-Id": answered["mcp-session-id"],
        "MCP-Protocol-Version": "2025-11-25",
        **headers,
    }
    post(connection, b'{"jsonrpc": "2.0", "method": "notifications/initialized"}', **opened)
    return opened


def last(body: bytes) -> dict[str, Any]:
    """Return the last message of a reply, which may be a stream."""
    *_, data = [
        line.removeprefix(b"data: ")
        for line in body.splitlines()
        if line.startswith((b"data: ", b"{"))
    ]
    return json.loads(data)


def told(reply: dict[str, Any]) -> Any:
    """Return the text of a tool result, or the codes of the problems in it."""
    problems = reply["result"].get("_meta", {}).get("toolbooth", {}).get("problems")
    return (
        [each["code"] for each in problems] if problems else reply["result"]["content"][0]["text"]
    )


def called(
    connection: http.client.HTTPConnection, arguments: str, name: str = "pay", **headers: str
) -> Any:
    return told(last(post(connection, frame(arguments, name), **headers)[2]))


def server_of(host: str, *tools: Any, **how: Any) -> Any:
    if host == "fastmcp":
        server = fastmcp.protect(FastMCP("shop", **how))
        for tool in tools:
            server.tool(tool)
        return server
    made = mcp_sdk.protect(MCPServer("shop", log_level="CRITICAL", **how))
    for tool in tools:
        made.add_tool(tool)
    return made


def app_of(server: Any, **how: Any) -> Any:
    return (
        server.http_app(**how) if isinstance(server, FastMCP) else server.streamable_http_app(**how)
    )


HOSTS = pytest.mark.parametrize("host", ["fastmcp", "mcp_sdk"])


@HOSTS
def test_bytes_are_read_exactly_in_a_session_that_answers_by_a_stream(host: str):
    with listening(app_of(server_of(host, pay))) as connection:
        headers = session(connection)
        assert called(connection, f'{{"price": {PRICE}}}', **headers) == f"{PRICE}  None"
        assert called(connection, '{"price": 1, "price": 2}', **headers) == ["duplicate-key"]
        assert (
            called(connection, f'{{"price": 1, "tags": {{"a": {2**64}}}}}', **headers)
            == f"1  {{'a': {2**64}}}"
        )


def count(n: int, note: str = "", tags: dict[str, int] | None = None) -> str:
    return str(n)


@HOSTS
def test_whole_numbers_are_read_exactly_in_every_spelling(host: str):
    with listening(app_of(server_of(host, count))) as connection:
        headers = session(connection)
        for written, number in WHOLE_NUMBERS.items():
            assert called(connection, f'{{"n": {written}}}', "count", **headers) == number


@HOSTS
def test_an_unknown_session_gets_404(host: str):
    with listening(app_of(server_of(host, pay))) as connection:
        headers = {**session(connection), "Mcp-Session-Id": "0" * 32}
        assert post(connection, frame('{"price": 1}'), **headers)[0] == 404


@HOSTS
def test_a_batch_of_messages_is_refused_as_by_the_bare_host(host: str):
    body = b"[" + frame('{"price": 1}') + b"," + frame('{"price": 2}') + b"]"
    bare = FastMCP("shop") if host == "fastmcp" else MCPServer("shop", log_level="CRITICAL")
    with listening(app_of(server_of(host, pay))) as ours, listening(app_of(bare)) as theirs:
        answers = [post(each, body, **session(each)) for each in (ours, theirs)]
        assert answers[0][0] == answers[1][0] == 400
        assert answers[0][2] == answers[1][2]


@HOSTS
def test_a_body_past_the_hosts_limit_is_not_read(host: str):
    long = f'{{"price": 1, "note": "{"x" * 5_000_000}"}}'
    with listening(app_of(server_of(host, pay))) as connection:
        headers = session(connection)
        assert post(connection, frame(long), **headers)[0] == 413
        assert called(connection, '{"price": 1}', **headers) == "1  None"


def test_a_limit_lowered_by_the_author_applies():
    app = app_of(server_of("mcp_sdk", pay), max_request_body_size=1_000)
    with listening(app) as connection:
        headers = session(connection)
        assert (
            post(connection, frame(f'{{"price": 1, "note": "{"x" * 1_000}"}}'), **headers)[0] == 413
        )
        assert called(connection, '{"price": 1}', **headers) == "1  None"


def test_request_without_a_token_gets_401():
    verifier = StaticTokenVerifier(tokens={"letmein": {"client_id": "ann", "scopes": []}})
    with listening(app_of(server_of("fastmcp", pay, auth=verifier))) as connection:
        assert post(connection, request("initialize", INITIALIZE))[0] == 401
        headers = session(connection, Authorization="Bearer letmein")
        assert called(connection, f'{{"price": {PRICE}}}', **headers) == f"{PRICE}  None"


@HOSTS
def test_arguments_sent_as_text_are_an_object_for_middleware(host: str):
    seen: list[Any] = []

    class Watching(Middleware):
        async def on_call_tool(self, context: Any, call_next: Any) -> Any:
            seen.append(dict(context.message.arguments))
            return await call_next(context)

    how = {"middleware": [Watching()]} if host == "fastmcp" else {}
    with listening(app_of(server_of(host, pay, **how))) as connection:
        headers = session(connection)
        text = json.dumps(f'{{"price": {PRICE}}}')
        assert called(connection, text, **headers) == f"{PRICE}  None"
        assert called(connection, '"{\\"price\\": 1, \\"price\\": 2}"', **headers) == [
            "duplicate-key"
        ]
        assert called(connection, '["price"]', **headers) == ["not-an-object"]
    assert seen == ([{"price": 0.1}, {"price": 2}, {}] if host == "fastmcp" else [])


def go(tenant: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Tenant"})]) -> str:
    return tenant


@HOSTS
def test_arguments_sent_as_text_are_checked_against_the_param_headers(host: str):
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    routing = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "go"}

    def sent(arguments: Any) -> bytes:
        return request("tools/call", {"_meta": meta, "name": "go", "arguments": arguments})

    with listening(app_of(server_of(host, go))) as connection:
        for claimed in ({}, {"Mcp-Param-Tenant": "ann"}):
            assert told(
                last(post(connection, sent('{"tenant": "bob"}'), **routing, **claimed)[2])
            ) == ["not-an-object"]
            assert (
                last(post(connection, sent({"tenant": "bob"}), **routing, **claimed)[2])["error"][
                    "code"
                ]
                == -32020
            )
        agreed = post(connection, sent({"tenant": "bob"}), **routing, Mcp_Param_Tenant="bob")
        assert told(last(agreed[2])) == "bob"
        # Before 2026-07-28 there are no such headers.
        assert (
            called(connection, '"{\\"tenant\\": \\"bob\\"}"', "go", **session(connection)) == "bob"
        )


BESIDE = [
    ({"input": {"price": 1}}, ["input"]),
    ({"args": {"price": 1}, "arguments": None}, ["args"]),
    ({"parameters": {"price": 1}, "arguments": {"price": 1}}, ["parameters"]),
    ({"price": 1, "note": "x"}, ["price", "note"]),
    ({"arguments": {"price": 1}, "note": "x"}, ["note"]),
    ({"arguments": '{"price": 1}', "note": "x"}, ["note"]),
    ({"arguments": {"nonsense": 1}, "Task": {}}, ["Task"]),
]


def said_of(keys: list[str]) -> list[dict[str, str]]:
    text = 'the call has "{}" outside "arguments"; put the fields of the tool inside "arguments"'
    return [{"code": "unknown-key", "path": "$", "message": text.format(key)} for key in keys]


def problems_of(reply: dict[str, Any]) -> Any:
    assert reply["result"]["isError"]
    return reply["result"]["_meta"]["toolbooth"]["problems"]


@HOSTS
def test_keys_beside_the_arguments_are_refused(host: str):
    with listening(app_of(server_of(host, pay))) as connection:
        headers = session(connection)
        for given, keys in BESIDE:
            reply = last(
                post(connection, request("tools/call", {"name": "pay", **given}), **headers)[2]
            )
            assert problems_of(reply) == said_of(keys)
        outside = frame('{"price": 1}').replace(b'"id": 1', b'"id": 1, "arguments": {"note": "x"}')
        assert problems_of(last(post(connection, outside, **headers)[2])) == said_of(["arguments"])
        allowed = {
            "name": "pay",
            "arguments": {"price": 1},
            "_meta": {"progressToken": 1},
            "task": {"ttl": 1},
        }
        assert (
            told(last(post(connection, request("tools/call", allowed), **headers)[2])) == "1  None"
        )


def test_keys_beside_the_arguments_of_a_mounted_tool_are_refused():
    child, parent = FastMCP("child"), fastmcp.protect(FastMCP("parent"))
    child.tool(pay)
    parent.mount(child, namespace="child")
    with listening(parent.http_app()) as connection:
        sent = request("tools/call", {"name": "child_pay", "arguments": {"price": 1}, "note": "x"})
        reply = last(post(connection, sent, **session(connection))[2])
        assert problems_of(reply) == said_of(["note"])
        assert reply["result"]["content"][0]["text"].startswith(
            "Refused: 1 problem in the arguments of 'child_pay'."
        )


# --- layers in between
# ----------------------------------------------------------------------------------------------


class Renoting(Middleware):
    """Changes the arguments it receives, in place and a level down."""

    async def on_call_tool(self, context: Any, call_next: Any) -> Any:
        if context.message.arguments.get("note") == "change":
            context.message.arguments["tags"]["a"] = 7
        return await call_next(context)


async def renoting(ctx: Any, call_next: Any) -> Any:
    if ctx.method == "tools/call" and ctx.params["arguments"].get("note") == "change":
        arguments = {**ctx.params["arguments"], "tags": {"a": 7}}
        return await call_next(replace(ctx, params={**ctx.params, "arguments": arguments}))
    return await call_next(ctx)


@HOSTS
def test_arguments_changed_by_middleware_reach_the_tool(host: str):
    how: Any = {"middleware": [Renoting() if host == "fastmcp" else renoting]}
    with listening(app_of(server_of(host, pay, count, **how))) as connection:
        headers = session(connection)
        changed = '{"price": 2.5, "note": "change", "tags": {"a": 1}}'
        assert called(connection, changed, **headers) == "2.5 change {'a': 7}"
        left = f'{{"price": {PRICE}, "note": "leave", "tags": {{"a": 1}}}}'
        assert called(connection, left, **headers) == f"{PRICE} leave {{'a': 1}}"
        # No change to them may make two keys out of one.
        twice = '{"price": 1, "price": 2, "note": "change", "tags": {"a": 1}}'
        assert called(connection, twice, **headers) == ["duplicate-key"]
        # Only a float is known of a number then.
        for number, answer in (("123456789012345678.0", ["lossy-number"]), ("5.0", "5")):
            large = f'{{"n": {number}, "note": "change", "tags": {{"a": 1}}}}'
            assert called(connection, large, "count", **headers) == answer


class Taking(Middleware):
    async def on_call_tool(self, context: Any, call_next: Any) -> Any:
        context.message.arguments.pop("reason", None)
        return await call_next(context)


async def taking(ctx: Any, call_next: Any) -> Any:
    if ctx.method == "tools/call":
        arguments = {key: ctx.params["arguments"][key] for key in ("price",)}
        ctx = replace(ctx, params={**ctx.params, "arguments": arguments})
    return await call_next(ctx)


@HOSTS
def test_arguments_are_read_exactly_after_middleware_removed_a_field(host: str):
    how: Any = {"middleware": [Taking() if host == "fastmcp" else taking]}
    with listening(app_of(server_of(host, pay, **how))) as connection:
        headers = session(connection)
        taken = f'{{"price": {PRICE}, "reason": "a test"}}'
        assert called(connection, taken, **headers) == f"{PRICE}  None"
        twice = '{"price": 1, "reason": "a", "price": 2}'
        assert called(connection, twice, **headers) == ["duplicate-key"]
        as_text = json.dumps('{"price": 1, "reason": "a"}')
        assert called(connection, as_text, **headers) == "1  None"


def test_a_retried_call_is_read_exactly_again():
    tries: list[Decimal] = []

    def fail_once(price: Decimal) -> str:
        tries.append(price)
        if len(tries) == 1:
            raise OSError("not now")
        return str(price)

    class Again(Middleware):
        async def on_call_tool(self, context: Any, call_next: Any) -> Any:
            try:
                return await call_next(context)
            except Exception:
                return await call_next(context)

    with listening(app_of(server_of("fastmcp", fail_once, middleware=[Again()]))) as connection:
        headers = session(connection)
        assert called(connection, f'{{"price": {PRICE}}}', "fail_once", **headers) == PRICE
    assert tries == [Decimal(PRICE)] * 2


def test_call_made_by_another_tool_does_not_use_the_original_request():
    async def pay_in_cents(price: Decimal, ctx: Context) -> str:
        result = await ctx.fastmcp.call_tool("pay", {"price": float(price)})
        return result.content[0].text

    with listening(app_of(server_of("fastmcp", pay, pay_in_cents))) as connection:
        headers = session(connection)
        assert called(connection, f'{{"price": {PRICE}}}', "pay_in_cents", **headers) == "0.1  None"


def test_refusal_of_a_nested_call_names_the_inner_tool():
    async def forward(ctx: Context) -> str:
        return (await ctx.fastmcp.call_tool("gr_pay", {"Price": 1})).content[0].text

    grandchild, child, parent = (
        FastMCP("grandchild"),
        FastMCP("child"),
        fastmcp.protect(FastMCP("parent")),
    )
    grandchild.tool(pay)
    child.tool(forward)
    child.mount(grandchild, namespace="gr")
    parent.mount(child, namespace="ch")
    with listening(parent.http_app()) as connection:
        headers = session(connection)
        reply = last(post(connection, frame('{"Price": 1}', "ch_gr_pay"), **headers)[2])
        assert reply["result"]["content"][0]["text"].startswith(
            "Refused: 1 problem in the arguments of 'ch_gr_pay'."
        )
        reply = last(post(connection, frame("{}", "ch_forward"), **headers)[2])
        assert reply["result"]["content"][0]["text"].startswith(
            "Refused: 1 problem in the arguments of 'gr_pay'."
        )


def test_mounted_tool_reads_the_original_request():
    child = FastMCP("child")
    child.tool(pay)
    parent = fastmcp.protect(FastMCP("parent"))
    parent.mount(child, namespace="child")
    with listening(parent.http_app()) as connection:
        headers = session(connection)
        assert (
            called(connection, f'{{"price": {PRICE}}}', "child_pay", **headers) == f"{PRICE}  None"
        )


# --- stdin -----------------------------------------------------------------------------------------------------

PROGRAM = """
import os, sys
from decimal import Decimal
from fastmcp import FastMCP
from mcp.server.mcpserver import MCPServer
from pydantic import Field
from toolbooth.adapters import fastmcp, mcp_sdk

host = sys.argv[1]
server = fastmcp.protect(FastMCP("shop")) if host == "fastmcp" else mcp_sdk.protect(MCPServer("shop"))
before = sys.stdin

async def pay(price: Decimal) -> str:
    return str(price)

async def steal() -> str:
    return repr(os.read(0, 100))

def ask() -> str:
    try:
        return repr(sys.stdin.readline()) + repr(list(sys.stdin)) + input()
    except EOFError:
        return f"nobody there, {sys.stdin.fileno()}"

for tool in (pay, steal, ask):
    (server.tool if host == "fastmcp" else server.add_tool)(tool)
server.run("stdio")
print(sys.stdin is before, repr(sys.stdin.read()), file=sys.stderr)
"""


@HOSTS
def test_a_protected_server_takes_over_stdin_and_restores_it(host: str):
    command = [sys.executable, "-c", PROGRAM, host]
    environment = {
        **os.environ,
        "FASTMCP_SHOW_SERVER_BANNER": "false",
        "FASTMCP_LOG_LEVEL": "CRITICAL",
    }
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    ) as process:
        answers: list[Any] = []
        calls = [
            frame("{}", "steal"),
            frame("{}", "ask"),
            frame(f'{{"price": {PRICE}}}'),
            frame("{}", "ask"),
        ]
        calls += [
            frame('{"price": 1}, "note": "x"'),
            frame("{}").replace(b'"id"', b'"arguments": {"price": 1}, "id"'),
        ]
        for line in (request("initialize", INITIALIZE), *calls):
            process.stdin.write(line + b"\r\n")
            process.stdin.flush()
            answers.append(json.loads(process.stdout.readline()))
        rest, said = process.communicate()
    assert [problems_of(each) for each in answers[-2:]] == [
        said_of(["note"]),
        said_of(["arguments"]),
    ]
    assert [told(each) for each in answers[1:-2]] == [
        "b''",
        "nobody there, 0",
        PRICE,
        "nobody there, 0",
    ]
    assert rest == b""
    assert said.decode().splitlines()[-1] == "True ''"


def test_stdin_that_is_not_a_file_is_read_only_by_the_host(monkeypatch: pytest.MonkeyPatch):
    given = io.TextIOWrapper(io.BytesIO(b"first\nsecond\n"))
    monkeypatch.setattr(sys, "stdin", given)
    with exact_stdin():
        taken = sys.stdin
        assert taken.readline() == "first\n"
        assert sys.stdin.read() == ""
        assert taken.readline() == "second\n"
    assert sys.stdin is given


@pytest.mark.parametrize(
    "line",
    [
        frame('{"price": 1}'),
        frame('{"price": 1}').replace(b"tools/call", b"tools\\/call") + b"\r",
        b'{"jsonrpc": "2.0", "id": 1, "method": "prompts/get", "params": {"name": "\xff", "n": 1e5}}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": [1e5]}',
        b'[{"method": "tools/call"}, 1e5]',
        b'{"method": "tools/call",}',
        b"",
    ],
    ids=[
        "exact",
        "CRLF",
        "another method",
        "params that are no object",
        "a batch",
        "no JSON",
        "the end",
    ],
)
def test_lossless_or_unrelated_line_is_passed_on_unchanged(line: bytes):
    assert readable_line(line) == line
