"""An agent without prior knowledge of the API finds its way by the server's replies: the list,
help, and refusals.

The test looks in the database for the rows that tests/newcomer.py reports as created.
"""

import asyncio
import importlib.util
import json
import os
import sqlite3
import sys
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import httpx2
import mcp
import pytest
from mcp.client.streamable_http import streamable_http_client

HERE = Path(__file__).resolve().parent


def module(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


local_server = module(HERE.parents[1] / "scripts" / "local_server.py")
newcomer = module(HERE.parent / "newcomer.py")

BASIC = {"Authorization": "Basic YW5uOnB3"}


@pytest.fixture(
    scope="module", params=["app", {"people": ["con*", "comp*"], "work": ["deal*"]}], ids=repr
)
def served(request, tmp_path_factory):
    """The example on a real server, and its database."""
    folder = tmp_path_factory.mktemp("crm")
    environment = {**os.environ, "CRM_DATABASE": str(folder / "crm.sqlite3"), "CRM_DEBUG": "0"}
    environment |= {
        "CRM_DISPATCH": json.dumps(request.param),
        "DJANGO_SETTINGS_MODULE": "bare_settings",
    }
    program = [sys.executable, str(HERE / "project" / "bare_server.py"), "gunicorn"]
    with local_server.serving(
        lambda port: [*program, str(port), ""], folder / "log", environment
    ) as url:
        yield f"{url}/", folder / "crm.sqlite3"


HABITS = {
    "flat": lambda fields: fields,
    "in params": lambda fields: {"params": fields},
    "wrapped, as elsewhere": lambda fields: {"data": fields},
    "wrapped as text": lambda fields: {"payload": json.dumps(fields)},
}


@pytest.mark.parametrize("habit", HABITS)
def test_an_agent_without_prior_knowledge_creates_a_deal_with_its_lines(served, habit):
    url, database = served

    async def visit():
        async with (
            asyncio.timeout(60),
            httpx2.AsyncClient(headers=BASIC, timeout=30) as http,
            mcp.Client(streamable_http_client(url, http_client=http)) as client,
        ):
            agent = newcomer.Newcomer(client, HABITS[habit])
            await agent.create("deal")
            return agent

    agent = asyncio.run(visit())
    assert agent.refusals == (2 if habit.startswith("wrapped") else 0)
    company, sent = agent.made["company"]
    deal, asked = agent.made["deal"]
    with closing(sqlite3.connect(database)) as db:
        assert db.execute(
            "select name from sales_company where id = ?", [company["id"]]
        ).fetchall() == [(sent["name"],)]
        (row,) = db.execute("select title, company_id from sales_deal where id = ?", [deal["id"]])
        assert row == (asked["title"], company["id"])
        lines = db.execute(
            "select product, quantity, price from sales_line where deal_id = ?", [deal["id"]]
        ).fetchall()
    expected = [
        (each["product"], each["quantity"], Decimal(str(each["price"]))) for each in asked["lines"]
    ]
    assert [
        (product, quantity, Decimal(str(price))) for product, quantity, price in lines
    ] == expected
    assert len(lines) == 2
