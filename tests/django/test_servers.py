"""The example on real servers, WSGI and ASGI, called by the official client in all of its modes;
nothing hangs.
"""

import asyncio
import contextlib
import http.client
import json
import socket

import httpx2
import mcp
import pytest
from mcp.client.streamable_http import streamable_http_client

from real_server import BASIC, call, post, served

MODES = {"legacy": "2025-11-25", "auto": "2026-07-28", "2026-07-28": "2026-07-28"}


@pytest.fixture(scope="module", params=["gunicorn", "uvicorn"])
def port(request, tmp_path_factory):
    with served(request.param, tmp_path_factory.mktemp(request.param)) as found:
        yield found


@pytest.mark.parametrize("mode", MODES)
def test_the_official_client_lists_and_calls(port, mode):
    async def visit():
        async with (
            asyncio.timeout(60),
            httpx2.AsyncClient(headers=BASIC, timeout=30) as http,
            mcp.Client(
                streamable_http_client(f"http://127.0.0.1:{port}/mcp/", http_client=http), mode=mode
            ) as client,
        ):
            listed = await client.list_tools()
            name = f"Acme {mode}"
            made = await client.call_tool("companies__create", {"name": name})
            refused = await client.call_tool("companies__create", {"data": {"name": name}})
            found = await client.call_tool("companies__list", {"search": name})
            return client.protocol_version, listed.tools, made, refused, found

    version, tools, made, refused, found = asyncio.run(visit())
    assert version == MODES[mode]
    assert "contacts__create" in {tool.name for tool in tools}
    assert (made.is_error, refused.is_error) == (False, True)
    assert [each["name"] for each in found.structured_content["results"]] == [f"Acme {mode}"]


def test_anonymous_call_gets_401_from_every_server(port):
    status, headers, _ = post(port, call("companies__list"), {})
    assert (status, headers["WWW-Authenticate"]) == (401, 'Basic realm="api"')


def test_a_get_is_answered_at_once_and_holds_no_worker(port):
    for _ in range(3):
        with contextlib.closing(
            http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        ) as connection:
            connection.request("GET", "/mcp/", headers={**BASIC, "Accept": "text/event-stream"})
            assert connection.getresponse().status == 405
    assert post(port, call("companies__list"))[0] == 200


def test_too_long_request_gets_413_and_the_server_keeps_running(port):
    status, _, _ = post(port, call("companies__create", name="x" * 5_000_000))
    assert status == 413
    assert post(port, call("companies__list"))[0] == 200


def chunked(message: bytes, size: int = 1000) -> bytes:
    """A request in chunks, as Node.js and proxies send it."""
    head = (
        b"POST /mcp/ HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
        b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
        + b"".join(f"{name}: {value}\r\n".encode() for name, value in BASIC.items())
    )
    parts = [message[start : start + size] for start in range(0, len(message), size)]
    framed = [b"%x\r\n%s\r\n" % (len(part), part) for part in [*parts, b""]]
    return head + b"\r\n" + b"".join(framed)


def exchange(port: int, sent: bytes) -> tuple[int, str]:
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(sent)
        reply = http.client.HTTPResponse(connection)
        reply.begin()
        with contextlib.closing(reply):
            return reply.status, reply.read().decode()


@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_chunked_requests_are_answered_like_others(port, size):
    name = f"sized{size}on{port}"
    message = json.dumps(call("companies__create", name=name)).encode()
    status, body = exchange(port, chunked(message, size))
    made = json.loads(body)["result"]
    assert (status, made["isError"], made["structuredContent"]["name"]) == (200, False, name)
    _, _, listed = post(port, call("companies__list", search=name))
    rows = json.loads(listed)["result"]["structuredContent"]["results"]
    assert [row["name"] for row in rows] == [name]


@pytest.mark.parametrize("size", [3_000_000, 5_000_000])
def test_chunked_requests_that_are_too_long_are_refused_like_others(port, size):
    message = call("companies__create", name="x" * size)
    status, _, _ = post(port, message)
    chunks = chunked(json.dumps(message).encode(), 60_000)
    assert exchange(port, chunks)[0] == status == 413
    assert exchange(port, chunked(json.dumps(call("companies__list")).encode()))[0] == 200


def test_malformed_chunked_request_gets_400_and_the_server_keeps_running(port):
    whole = chunked(json.dumps(call("companies__list")).encode())
    head, blank, _ = whole.partition(b"\r\n\r\n")
    status, words = exchange(port, head + blank + b"zz\r\n{}\r\n0\r\n\r\n")
    told = ("the request could not be read", "Invalid HTTP request received.")
    assert (status, words in told) == (400, True)
    assert exchange(port, head + blank + b"0\r\n\r\n")[0] == 400
    assert exchange(port, whole)[0] == 200


def test_huge_content_length_gets_413_before_the_body_is_read(tmp_path):
    """On WSGI. On ASGI, Django reads the body before it calls the view."""
    head, blank, _ = chunked(b"").partition(b"\r\n\r\n")
    sent = head.replace(b"Transfer-Encoding: chunked", b"Content-Length: 100000000000") + blank
    message = json.dumps(call("companies__create", name="x" * 5_000_000)).encode()
    with served("gunicorn", tmp_path) as port:
        assert exchange(port, sent) == (413, "a request may have at most 4,194,304 bytes")
        assert exchange(port, chunked(message)) == (
            413,
            "a request may have at most 4,194,304 bytes",
        )


@pytest.mark.parametrize(("server", "path"), [("gunicorn", "/app/mcp/"), ("uvicorn", "/mcp/")])
def test_links_are_correct_below_a_prefix(server, path, tmp_path):
    """A proxy in front of uvicorn removes the prefix; gunicorn removes it itself."""
    with served(server, tmp_path, root="/app") as port:
        rows = [{"name": f"c{number}"} for number in range(21)]
        post(port, call("companies__create", objects=rows), path=path)
        _, _, body = post(port, call("companies__list"), path=path)
        following = json.loads(body)["result"]["structuredContent"]["next"]
        assert following == f"http://127.0.0.1:{port}/app/api/companies/?page=2"
