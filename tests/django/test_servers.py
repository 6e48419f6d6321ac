"""The example on real servers, WSGI and ASGI, called by the official client in all of its modes;
nothing hangs.
"""

import asyncio
import contextlib
import http.client
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import mcp
import pytest
from mcp.client.streamable_http import streamable_http_client

PROGRAM = Path(__file__).parent / "project" / "bare_server.py"
MODES = {"legacy": "2025-11-25", "auto": "2026-07-28", "2026-07-28": "2026-07-28"}
BASIC = {"Authorization": "Basic YW5uOnB3"}


@contextlib.contextmanager
def served(server: str, folder: Path, root: str = "") -> Iterator[int]:
    """The port of a server in a process of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "CRM_DATABASE": str(folder / "crm.sqlite3"), "CRM_DEBUG": "0"}
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    command = [sys.executable, str(PROGRAM), server, str(port), root]
    process = subprocess.Popen(
        command, env=environment, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    try:
        while process.poll() is None:
            with (
                contextlib.suppress(OSError),
                socket.create_connection(("127.0.0.1", port), timeout=1),
            ):
                break
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=0.1)
        assert process.poll() is None, f"the server ended with {process.returncode}"
        yield port
    finally:
        process.terminate()
        process.wait(timeout=30)


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


def post(port: int, message: dict, headers: dict | None = None, path: str = "/mcp/"):
    sent = {"Content-Type": "application/json", **(BASIC if headers is None else headers)}
    with contextlib.closing(
        http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    ) as connection:
        connection.request("POST", path, json.dumps(message), sent)
        reply = connection.getresponse()
        return reply.status, reply.headers, reply.read()


def call(tool, **arguments):
    return {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    }


def test_nobody_in_particular_is_asked_who_they_are(port):
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


def test_what_is_too_long_is_refused_and_the_server_goes_on(port):
    status, _, _ = post(port, call("companies__create", name="x" * 5_000_000))
    assert status == 413
    assert post(port, call("companies__list"))[0] == 200


def test_a_missing_slash_is_told_and_not_turned_into_another_request(port):
    assert post(port, call("companies__list"), path="/mcp")[0] == 404


@pytest.mark.parametrize(("server", "path"), [("gunicorn", "/app/mcp/"), ("uvicorn", "/mcp/")])
def test_links_are_right_below_a_prefix(server, path, tmp_path):
    """A proxy in front of uvicorn takes the prefix away; gunicorn takes it away itself."""
    with served(server, tmp_path, root="/app") as port:
        rows = [{"name": f"c{number}"} for number in range(21)]
        post(port, call("companies__create", objects=rows), path=path)
        _, _, body = post(port, call("companies__list"), path=path)
        following = json.loads(body)["result"]["structuredContent"]["next"]
        assert following == f"http://127.0.0.1:{port}/app/api/companies/?page=2"
