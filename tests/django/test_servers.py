"""The example on real servers, WSGI and ASGI, called by the official client in all of its modes;
nothing hangs.
"""

import asyncio
import contextlib
import http.client
import json

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
