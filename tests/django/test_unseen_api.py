"""An agent that has never seen the API finds its way by what the server tells it: the list, help, and refusals.

`Newcomer` is a program for any dispatched API. It knows how JSON Schema is read, and nothing of the example: every
name that it sends was in a reply. What it says that it made is then looked for in the database.
"""

import asyncio
import importlib.util
import json
import os
import re
import sqlite3
import sys
from decimal import Decimal
from itertools import count
from pathlib import Path

import httpx2
import mcp
import pytest
from mcp.client.streamable_http import streamable_http_client

HERE = Path(__file__).resolve().parent
_spec = importlib.util.spec_from_file_location("local_server", HERE.parents[1] / "scripts" / "local_server.py")
local_server = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(local_server)

BASIC = {"Authorization": "Basic YW5uOnB3"}
_numbers = count(2)


class Newcomer:
    """Decides only by what it reads."""

    def __init__(self, client, habit):
        self.client = client
        self.habit = habit
        """How it puts the fields of a call, before it is told otherwise."""
        self.refusals = 0
        self.made = {}
        """What came back for each thing that it made, and what it had sent for it."""

    async def call(self, tool, arguments):
        """The reply. A refusal says what to send instead."""
        for _ in range(3):
            reply = await self.client.call_tool(tool, arguments)
            if not reply.is_error:
                return reply.structured_content
            self.refusals += 1
            instead = re.search(r"^Send instead: (.*)$", reply.content[0].text, re.MULTILINE)
            assert instead, reply.content[0].text
            arguments = json.loads(instead[1])
        raise AssertionError(f"refused again and again: {reply.content[0].text}")

    async def asked(self, tool, question):
        """All pages of one answer of help."""
        told = await self.call(tool, question)
        more = told
        while "next_page" in more:
            more = await self.call(tool, more["next_page"])
            for key, each in more.items():
                told[key] = {**told[key], **each} if isinstance(each, dict) else each
        return told

    async def find(self, thing):
        """The dispatcher that knows a thing, and what it says of it: help about its actions."""
        start = thing.lower()[:4]
        for tool in (await self.client.list_tools()).tools:
            fields = tool.input_schema["properties"]
            helps = [name for name in fields.get("action", {}).get("enum", ()) if "help" in name]
            if not helps:
                continue
            told = await self.asked(tool.name, {"action": helps[0]})
            found = [name for name in told.get("resources", ()) if name.startswith(start)]
            if found:
                return tool.name, await self.asked(tool.name, follow(told["next_step"], found[0]))
            if "actions" in told and start in f"{tool.name} {tool.description}".lower():
                return tool.name, told
        raise LookupError(f"no tool knows of {thing!r}")

    async def create(self, thing):
        """Make one, with everything that it can be given, and the rows that it refers to. The reply to it."""
        tool, told = await self.find(thing)
        action = next(each for each, about in told["actions"].items() if about["description"].startswith("Create"))
        about = await self.asked(tool, follow(told["next_step"], action))
        way = {key: about[key] for key in ("resource", "action") if key in about}
        fields = await self.values(about["fields"], about, "")
        for each in about.get("protocol", ()):
            fields.pop(each, None)
        assert set(about["required"]) <= set(fields)
        assert set(about["example"]) - set(way) <= set(fields), "the example shows fields that there are"
        made = await self.call(tool, {**way, **self.habit(fields)})
        self.made[thing] = (made, fields)
        return made

    async def values(self, fields, about, path):
        return {name: await self.value(name, each, about, f"{path}{name}") for name, each in fields.items()}

    async def value(self, name, schema, about, path):
        if path in about.get("relations", {}):
            row = await self.create(name)
            keys = [each for each in about["relations"][path]["names"] if each in row]
            return {keys[-1]: row[keys[-1]]}  # by something that was told to name it
        if "$ref" in schema:
            schema = about["$defs"][schema["$ref"].rpartition("/")[2]]
        match schema.get("type"):
            case "array":
                return [await self.value(name, schema["items"], about, f"{path}[]") for _ in range(2)]
            case "object":
                return await self.values(schema.get("properties", {}), about, f"{path}.")
            case kind:
                return scalar(kind, schema)


def follow(step, name):
    """The question that a reply shows, asked about this one."""
    shown = json.loads(re.match(r"\{.*\}", step)[0])
    return {key: name if each == "…" else each for key, each in shown.items()}


def scalar(kind, schema):
    if "enum" in schema:
        return schema["enum"][-1]
    number = next(_numbers)
    if kind == "string":
        texts = {"date": f"2027-01-{number % 27 + 1:02}", "uri": f"https://example.org/{number}"}
        return texts.get(schema.get("format"), f"value {number}")[: schema.get("maxLength")]
    return {"integer": number, "number": number + 0.25, "boolean": True}[kind]


@pytest.fixture(scope="module", params=["app", {"people": ["con*", "comp*"], "work": ["deal*"]}], ids=repr)
def served(request, tmp_path_factory):
    """The example on a real server, and its database."""
    folder = tmp_path_factory.mktemp("crm")
    environment = {**os.environ, "CRM_DATABASE": str(folder / "crm.sqlite3"), "CRM_DEBUG": "0"}
    environment |= {"CRM_DISPATCH": json.dumps(request.param), "DJANGO_SETTINGS_MODULE": "bare_settings"}
    program = [sys.executable, str(HERE / "project" / "bare_server.py"), "gunicorn"]
    with local_server.serving(lambda port: [*program, str(port), ""], folder / "log", environment) as url:
        yield f"{url}/", folder / "crm.sqlite3"


HABITS = {
    "flat": lambda fields: fields,
    "in params": lambda fields: {"params": fields},
    "wrapped, as elsewhere": lambda fields: {"data": fields},
    "wrapped as text": lambda fields: {"payload": json.dumps(fields)},
}


@pytest.mark.parametrize("habit", HABITS)
def test_a_newcomer_makes_a_deal_with_its_lines(served, habit):
    url, database = served

    async def visit():
        async with (
            asyncio.timeout(60),
            httpx2.AsyncClient(headers=BASIC, timeout=30) as http,
            mcp.Client(streamable_http_client(url, http_client=http)) as client,
        ):
            newcomer = Newcomer(client, HABITS[habit])
            await newcomer.create("deal")
            return newcomer

    newcomer = asyncio.run(visit())
    assert newcomer.refusals == (2 if habit.startswith("wrapped") else 0)
    company, sent = newcomer.made["company"]
    deal, asked = newcomer.made["deal"]
    with sqlite3.connect(database) as db:
        (row,) = db.execute("select name, website, employees from sales_company where id = ?", [company["id"]])
        assert row == (sent["name"], sent["website"], sent["employees"])
        (row,) = db.execute("select title, company_id, closes_on from sales_deal where id = ?", [deal["id"]])
        assert row == (asked["title"], company["id"], asked["closes_on"])
        lines = db.execute("select product, quantity, price from sales_line where deal_id = ?", [deal["id"]]).fetchall()
    expected = [(each["product"], each["quantity"], Decimal(str(each["price"]))) for each in asked["lines"]]
    assert [(product, quantity, Decimal(str(price))) for product, quantity, price in lines] == expected
    assert len(lines) == 2
