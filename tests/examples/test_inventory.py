"""examples/inventory: three servers, started as in its README, give the same answers and leave the
same rows behind.
"""

import asyncio
import contextlib
import importlib.util
import json
import os
import re
import shlex
import socket
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from datetime import date
from pathlib import Path
from types import ModuleType
from typing import Any

import mcp
import pytest
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "inventory"
README = (EXAMPLE / "README.md").read_text(encoding="utf-8")

STARTED = {
    "toolbooth": "toolbooth serve on_toolbooth.py:registry",
    "fastmcp": "python on_fastmcp.py",
    "mcp_sdk": "python on_mcp_sdk.py",
}
"""The command that starts each server; `--http PORT` after it serves HTTP."""

TODAY = date(2026, 9, 1)
"""The day on which the shop of the cases was filled: on any other day the dates would differ."""

TABLES = ("suppliers", "products", "movements", "orders", "order_lines")

Rows = dict[str, list[tuple[Any, ...]]]


def loaded(path: Path) -> ModuleType:
    """Import a module by its file: neither the examples nor the tests are packages."""
    spec = importlib.util.spec_from_file_location(f"inventory_{path.stem}", path)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


cases = loaded(Path(__file__).with_name("inventory_cases.py"))
store = loaded(EXAMPLE / "store.py")


def rows(database: Path) -> Rows:
    with contextlib.closing(sqlite3.connect(database)) as db:
        return {
            table: db.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall() for table in TABLES
        }


def changes(before: Rows, after: Rows) -> dict[str, Any]:
    return {
        table: (
            [row for row in before[table] if row not in after[table]],
            [row for row in after[table] if row not in before[table]],
        )
        for table in TABLES
        if before[table] != after[table]
    }


# --- servers and clients ----------------------------------------------------------------------------------------


def command(server: str, *more: str) -> list[str]:
    program, *rest = shlex.split(STARTED[server])
    return [str(Path(sys.executable).with_name(program)), *rest, *more]


@contextlib.contextmanager
def listening(server: str, environment: dict[str, str]) -> Iterator[str]:
    """Yield the URL of a server in a process of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    started = command(server, "--http", str(port))
    process = subprocess.Popen(started, cwd=EXAMPLE, env=environment, stderr=subprocess.DEVNULL)
    try:
        _until_listening(process, port)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait(timeout=30)


def _until_listening(process: subprocess.Popen[bytes], port: int) -> None:
    while process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=0.1)
    raise AssertionError(f"the server ended with {process.returncode}")


@contextlib.asynccontextmanager
async def connected(server: str, transport: str, database: Path) -> AsyncIterator[mcp.Client]:
    """The official client, on a handshake revision over stdio and on 2026-07-28 over HTTP."""
    environment = {**os.environ, "INVENTORY_DB": str(database)}
    async with asyncio.timeout(120):
        with contextlib.ExitStack() as stack:
            if transport == "http":
                client = mcp.Client(
                    stack.enter_context(listening(server, environment)), mode="2026-07-28"
                )
            else:
                program, *rest = command(server)
                how = StdioServerParameters(
                    command=program, args=rest, cwd=EXAMPLE, env=environment
                )
                log = stack.enter_context(database.with_suffix(".log").open("w"))
                client = mcp.Client(stdio_client(how, errlog=log), mode="legacy")
            async with client as entered:
                yield entered


def outcome(result: mcp.types.CallToolResult) -> dict[str, Any]:
    """Return all parts of a result that an agent or a program reads."""
    found = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    [content] = found["content"]
    text = (
        content["text"] if found["isError"] else json.loads(content["text"])
    )  # which each host formats in its own way
    meta = found.get("_meta", {}).get("toolbooth", {})
    return {
        "isError": found["isError"],
        "text": text,
        "value": found.get("structuredContent"),
        "meta": meta,
    }


def in_short(found: dict[str, Any]) -> dict[str, Any]:
    """Return an outcome in the words of the cases."""
    meta = found["meta"]
    if "problems" in meta:
        problems = [[each["code"], each["path"]] for each in meta["problems"]]
        return {"problems": problems, "corrected": meta.get("corrected")}
    if found["isError"]:
        return {"failed": found["text"], "details": found["value"] and found["value"]["details"]}
    assert found["text"] == found["value"]
    return {
        "value": found["value"],
        "repairs": [[each["code"], each["path"]] for each in meta.get("repairs", [])],
    }


# --- tests ------------------------------------------------------------------------------------------------------

Found = dict[str, tuple[dict[str, Any], Any]]
"""By case: its outcome in full, and the rows that it changed."""


def every_case(server: str, transport: str, database: Path) -> Found:
    store.Store(database, TODAY)
    found: Found = {}

    async def session() -> None:
        async with connected(server, transport, database) as client:
            for name, case in cases.CASES.items():
                before = rows(database)
                told = outcome(await client.call_tool(case.tool, case.arguments))
                found[name] = told, changes(before, rows(database))

    asyncio.run(session())
    return found


@pytest.fixture(scope="session")
def told_by_ours(tmp_path_factory) -> Found:
    """The messages that every other server must send, word for word."""
    return every_case("toolbooth", "stdio", tmp_path_factory.mktemp("ours") / "inventory.sqlite3")


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("server", STARTED)
def test_every_server_gives_the_same_answers_and_leaves_the_same_rows(
    server, transport, tmp_path, told_by_ours
):
    database = tmp_path / "inventory.sqlite3"
    found = every_case(server, transport, database)
    for name, case in cases.CASES.items():
        told, changed = found[name]
        assert (name, in_short(told), changed) == (name, case.answer, case.changes)
    assert found == told_by_ours
    assert stock_by_movements(database) == stock(database)


def stock(database: Path) -> dict[str, int]:
    return {row[0]: row[4] for row in rows(database)["products"]}


def stock_by_movements(database: Path) -> dict[str, int]:
    moved = dict.fromkeys(stock(database), 0)
    for _, sku, change, *_ in rows(database)["movements"]:
        moved[sku] += change
    return moved


def test_every_server_publishes_the_same_tools(tmp_path):
    async def listed(server: str) -> dict[str, Any]:
        async with connected(server, "stdio", tmp_path / f"{server}.sqlite3") as client:
            tools = [
                tool.model_dump(by_alias=True, exclude_none=True)
                for tool in (await client.list_tools()).tools
            ]
            kept = ("description", "inputSchema", "annotations")
            return {tool["name"]: {key: tool[key] for key in kept} for tool in tools}

    ours, *theirs = [asyncio.run(listed(server)) for server in STARTED]
    assert len(ours) == 14
    assert theirs == [ours, ours]
    assert ours["list_orders"] == {
        "description": "Purchase orders with their lines, the latest first.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "status": {
                    "type": "array",
                    "items": {
                        "type": "string",
                        "enum": ["open", "partly_received", "received", "cancelled"],
                    },
                    "default": [],
                    "description": "Any of these; all if empty",
                },
                "supplier_id": {"type": "integer", "minimum": 1, "maximum": 2**31 - 1},
                "from": {
                    "type": "string",
                    "description": "Ordered on this day or later (YYYY-MM-DD)",
                },
                "to": {
                    "type": "string",
                    "description": "Ordered on this day or earlier (YYYY-MM-DD)",
                },
                "limit": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 100,
                    "default": 20,
                    "description": "How many to return",
                },
            },
        },
        "annotations": {"readOnlyHint": True},
    }


def test_the_first_start_fills_the_database_and_the_second_keeps_it(tmp_path):
    database = tmp_path / "inventory.sqlite3"

    async def sell() -> Any:
        async with connected("toolbooth", "stdio", database) as client:
            sold = {"sku": "PKG-001", "change": -1, "reason": "sale"}
            return (await client.call_tool("adjust_stock", sold)).structured_content

    days = {date.today().isoformat()}
    assert asyncio.run(sell())["stock"] == 999
    assert asyncio.run(sell())["stock"] == 998
    days.add(date.today().isoformat())  # midnight may have passed
    assert {row[4] for row in rows(database)["movements"][-2:]} <= days
    assert stock_by_movements(database) == stock(database)


def test_servers_that_share_a_file_sell_each_piece_once(tmp_path):
    database = tmp_path / "inventory.sqlite3"

    async def sell() -> list[str]:
        piece = {"sku": "TEA-002", "change": -1, "reason": "sale"}
        async with (
            connected("toolbooth", "http", database) as one,
            connected("mcp_sdk", "http", database) as other,
        ):
            sold = await asyncio.gather(
                *(client.call_tool("adjust_stock", piece) for client in [one, other] * 20)
            )
        return [outcome(each)["text"] for each in sold if each.is_error]

    too_late = "Tool 'adjust_stock' failed: not enough stock of TEA-002: 1 asked for, 0 there"
    assert asyncio.run(sell()) == [too_late] * 6  # of 40: 34 were there
    assert stock(database)["TEA-002"] == 0


def test_the_readme_starts_the_servers_as_these_tests_do():
    for started in STARTED.values():
        assert f"\n{started}\n" in README
        assert f"\n{started} --http 8000\n" in README


def test_readme_shows_the_output_of_its_commands(tmp_path):
    shown = re.findall(r"^\$ toolbooth (call .+)\n((?:(?!```|\$ ).*\n)*)", README, re.MULTILINE)
    assert len(shown) >= 4
    toolbooth = Path(sys.executable).with_name("toolbooth")
    environment = {**os.environ, "INVENTORY_DB": str(tmp_path / "inventory.sqlite3")}
    for call, printed in shown:
        found = subprocess.run(
            [toolbooth, *shlex.split(call)],
            cwd=EXAMPLE,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert (call, found.stdout + found.stderr) == (call, printed)
