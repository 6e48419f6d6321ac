"""The official client calls ARA on gunicorn, with one worker that handles one request at a time, in
all of its modes.

Run by `make hosts`, which sets ARA up; its name keeps this file out of `make test`.
"""

import asyncio
import contextlib
import importlib.util
import json
import sqlite3
import subprocess
from pathlib import Path

import httpx2
import mcp
import pytest
from mcp.client.streamable_http import streamable_http_client

ROOT = Path(__file__).resolve().parents[2]
MODES = {"legacy": "2025-11-25", "auto": "2026-07-28", "2026-07-28": "2026-07-28"}
BASIC = httpx2.BasicAuth("root", "pw")


def loaded(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


hosts, local_server = (
    loaded(ROOT / "scripts" / f"{name}.py") for name in ("hosts", "local_server")
)
newcomer = loaded(ROOT / "tests" / "newcomer.py")


@contextlib.contextmanager
def served(log, **chosen):
    """Yield the URL of ARA with a fresh database."""
    python, environment = hosts.python("ara"), {**hosts.environment("ara"), **chosen}
    subprocess.run([python, hosts.TESTS / "prepare.py"], env=environment, check=True)
    command = [str(python), "-m", "gunicorn", "--workers=1", "ara_wsgi:application", "--bind"]
    with local_server.serving(
        lambda port: [*command, f"127.0.0.1:{port}"], log, environment
    ) as found:
        yield found + "/"


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    with served(tmp_path_factory.mktemp("gunicorn") / "log") as found:
        yield found


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
    assert (made.structured_content["playbook"], made.structured_content["value"]) == (
        2,
        {"firstName": "Ann"},
    )
    assert refused.is_error
    assert found.structured_content["count"] == 1


@pytest.mark.parametrize("dispatch", ["app", {"run": ["play*", "task"], "rest": ["*"]}], ids=repr)
def test_a_newcomer_makes_a_task_in_its_play_of_its_playbook(tmp_path, dispatch):
    """Use an API that we did not write, behind dispatchers; one of its fields is called `action`."""

    async def visit(url):
        async with (
            asyncio.timeout(60),
            httpx2.AsyncClient(auth=BASIC, timeout=30) as http,
            mcp.Client(streamable_http_client(url, http_client=http)) as client,
        ):
            agent = newcomer.Newcomer(client, lambda fields: {"params": fields})
            await agent.create("task")
            return agent

    with served(tmp_path / "log", ARA_DISPATCH=json.dumps(dispatch)) as url:
        agent = asyncio.run(visit(url))
    (task, sent), (play, _) = agent.made["task"], agent.made["play"]
    with sqlite3.connect(hosts.HOME / "ara" / "state" / "db.sqlite3") as db:
        (row,) = db.execute(
            "select action, lineno, handler, play_id from tasks where id = ?", [task["id"]]
        )
        assert row == (sent["action"], sent["lineno"], True, play["id"])
        (row,) = db.execute("select playbook_id from plays where id = ?", [play["id"]])
        assert row == (agent.made["playbook"][0]["id"],)
    assert agent.refusals == 0
