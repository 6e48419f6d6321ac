"""The official client calls ARA on gunicorn, with one worker that does one thing at a time, in all of its modes.

Run by `make hosts`, which sets ARA up; its name keeps this file out of `make test`.
"""

import asyncio
import importlib.util
import subprocess
from pathlib import Path

import httpx2
import mcp
import pytest
from mcp.client.streamable_http import streamable_http_client

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
MODES = {"legacy": "2025-11-25", "auto": "2026-07-28", "2026-07-28": "2026-07-28"}
BASIC = httpx2.BasicAuth("root", "pw")


def script(name):
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


hosts, local_server = script("hosts"), script("local_server")


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    python, environment = hosts.python("ara"), hosts.environment("ara")
    subprocess.run([python, hosts.TESTS / "prepare.py"], env=environment, check=True)
    command = [str(python), "-m", "gunicorn", "--workers=1", "ara_wsgi:application", "--bind"]
    log = tmp_path_factory.mktemp("gunicorn") / "log"
    with local_server.serving(lambda port: [*command, f"127.0.0.1:{port}"], log, environment) as found:
        yield found + "/"


@pytest.mark.parametrize("mode", MODES)
def test_the_official_client_lists_and_calls(url, mode):
    async def visit():
        async with (
            asyncio.timeout(60),
            httpx2.AsyncClient(auth=BASIC, timeout=30) as http,
            mcp.Client(streamable_http_client(url, http_client=http), mode=mode) as client,
        ):
            listed = await client.list_tools()
            record = {
                "key": f"from {mode}",
                "type": "json",
                "playbook": {"name": "book 2"},
                "value": {"firstName": "Ann"},
            }
            made = await client.call_tool("record__create", {**record, "verify": True})
            refused = await client.call_tool("record__create", {"data": record})
            found = await client.call_tool("record__list", {"key": record["key"]})
            return client.protocol_version, listed.tools, made, refused, found

    version, tools, made, refused, found = asyncio.run(visit())
    assert version == MODES[mode]
    assert len(tools) == 51
    assert (made.structured_content["playbook"], made.structured_content["value"]) == (2, {"firstName": "Ann"})
    assert refused.is_error
    assert found.structured_content["count"] == 1
