"""A protected server of either host answers every call as our own registry does, on every
transport.
"""

import asyncio
import importlib.util
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any

import fastmcp
import mcp
import pytest
import uvicorn
from mcp import StdioServerParameters

from toolbooth import compile_function, input_schema

_path = Path(__file__).with_name("protected_server.py")
_spec = importlib.util.spec_from_file_location("protected_server", _path)
orders = sys.modules["protected_server"] = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(orders)

HOSTS = ["fastmcp", "mcp_sdk"]
MODES = ["legacy", "auto", "2026-07-28"]

MASKED = {
    "registry": "Tool {!r} failed unexpectedly.",
    "fastmcp": "Error calling tool {!r}",
    "mcp_sdk": "Error executing tool {}",
}
"""The message of each host for a crash: the only text that differs between hosts."""

ORDER = {"customer": "Ada", "address": {"city": "Bern"}, "lines": [{"sku": "a1"}]}
PLACED = {**ORDER, "priority": 0, "note": "", "validator_runs": 1}
TO_BASEL = {"from_city": "Bern", "to_city": "Basel"}


def passed(value: Any, *repairs: tuple[str, str]) -> dict[str, Any]:
    return {"value": value, "repairs": [list(each) for each in repairs]}


def refused(*problems: tuple[str, str], corrected: Any = None) -> dict[str, Any]:
    return {"problems": [list(each) for each in problems], "corrected": corrected}


CASES: dict[str, tuple[str, Any, dict[str, Any]]] = {
    "a correct call": ("place_order", ORDER, passed(PLACED)),
    "JSON text for an object and an array": (
        "place_order",
        {**ORDER, "address": '{"city": "Bern"}', "lines": '[{"sku": "a1"}]'},
        passed(PLACED, ("json-text", "$.address"), ("json-text", "$.lines")),
    ),
    "JSON text inside an array": (
        "place_order",
        {**ORDER, "lines": ['{"sku": "a1"}']},
        passed(PLACED, ("json-text", "$.lines[0]")),
    ),
    "text for an integer": (
        "place_order",
        {**ORDER, "priority": "3"},
        passed({**PLACED, "priority": 3}, ("scalar-text", "$.priority")),
    ),
    "JSON text where text is declared": (
        "place_order",
        {**ORDER, "note": '{"a": 1}'},
        passed({**PLACED, "note": '{"a": 1}'}),
    ),
    "null for what is optional": (
        "place_order",
        {**ORDER, "priority": None},
        passed(PLACED, ("null-optional", "$.priority")),
    ),
    "null for what is nullable": (
        "place_order",
        {**ORDER, "address": {"city": "Bern", "postcode": None}},
        passed({**PLACED, "address": {"city": "Bern", "postcode": None}}),
    ),
    "a wrapper": (
        "place_order",
        {"data": ORDER},
        refused(("nested-wrapper", "$.data"), corrected=ORDER),
    ),
    "an unknown key": (
        "place_order",
        {**ORDER, "colour": "red"},
        refused(("unknown-key", "$.colour")),
    ),
    "an unknown key further down": (
        "place_order",
        {**ORDER, "lines": [{"sku": "a1", "colour": "red"}]},
        refused(("unknown-key", "$.lines[0].colour")),
    ),
    "a typo": (
        "place_order",
        {**ORDER, "prioriti": 1},
        refused(("unknown-key", "$.prioriti")),
    ),
    "another case": (
        "place_order",
        {**ORDER, "address": {"city": "Bern", "postCode": "3000"}},
        refused(
            ("unknown-key", "$.address.postCode"),
            corrected={**ORDER, "address": {"city": "Bern", "postcode": "3000"}},
        ),
    ),
    "nothing sent": (
        "place_order",
        {},
        refused(("missing", "$.customer"), ("missing", "$.address"), ("missing", "$.lines")),
    ),
    "what a validator refuses": (
        "place_order",
        {**ORDER, "lines": [{"sku": "x9"}]},
        refused(("invalid", "$.lines[0].sku")),
    ),
    "a validator that crashes": (
        "place_order",
        {**ORDER, "lines": [{"sku": "broken"}]},
        refused(("invalid", "$.lines[0].sku")),
    ),
    "an alias": ("page_through", {"pageSize": 3}, passed({"page_size": 3})),
    "the name behind an alias": (
        "page_through",
        {"page_size": 3},
        refused(("unknown-key", "$.page_size"), corrected={"pageSize": 3}),
    ),
    "a default factory": ("collect", {"item": "a"}, passed({"into": ["a"]})),
    "a default factory, called again": ("collect", {"item": "b"}, passed({"into": ["b"]})),
    "unpacked models": (
        "move",
        TO_BASEL,
        passed(
            {
                "origin": {"city": "Bern", "street": "Main"},
                "target": {"city": "Basel", "street": "Main"},
            }
        ),
    ),
    "an unpacked model sent whole": (
        "move",
        {"origin": {"city": "Bern"}, "to_city": "Basel"},
        refused(("nested-wrapper", "$.origin"), ("missing", "$.from_city")),
    ),
    "JsonText as text": (
        "find",
        {"where": '{"colour": "red"}'},
        passed({"where": {"colour": "red"}}),
    ),
    "JsonText as an object": (
        "find",
        {"where": {"colour": "red"}},
        passed({"where": {"colour": "red"}}),
    ),
    "a tool's own error": (
        "reserve",
        {"count": 1},
        {"error": "Tool 'reserve' failed: out of stock"},
    ),
    "a crash": ("crash", {"count": 1}, {"masked": True}),
}


def outcome(result: dict[str, Any]) -> dict[str, Any]:
    """Return a result without the text of a value, which each host writes in its own way."""
    kept = {key: result[key] for key in ("isError", "structuredContent") if key in result}
    if result["isError"]:
        kept["content"] = result["content"]
    if "toolbooth" in result.get("_meta", {}):
        kept["toolbooth"] = result["_meta"]["toolbooth"]
    return kept


def in_short(found: dict[str, Any], mask: str) -> dict[str, Any]:
    """Return an outcome in the words of the cases."""
    meta = found.get("toolbooth", {})
    if not found["isError"]:
        repairs = [[each["code"], each["path"]] for each in meta.get("repairs", [])]
        return {"value": found["structuredContent"], "repairs": repairs}
    if meta:
        problems = [[each["code"], each["path"]] for each in meta["problems"]]
        return {"problems": problems, "corrected": meta.get("corrected")}
    [content] = found["content"]
    return {"masked": True} if content["text"] == mask else {"error": content["text"]}


@cache
def registry() -> Any:
    return orders.make("registry")


def ours(tool: str, arguments: Any) -> dict[str, Any]:
    orders.RUNS.clear()
    return outcome(asyncio.run(registry().dispatch_async(tool, arguments)))


async def theirs(client: Any, tool: str, arguments: Any) -> dict[str, Any]:
    call = client.call_tool_mcp if isinstance(client, fastmcp.Client) else client.call_tool
    await call("forget", {})
    result = await call(tool, arguments)
    return outcome(result.model_dump(mode="json", by_alias=True, exclude_none=True))


def client_of(host: str, server: Any, mode: str) -> Any:
    return (fastmcp if host == "fastmcp" else mcp).Client(server, mode=mode)


def agreed(host: str, found: dict[str, Any], case: str) -> None:
    """Check that the outcome is the case's, and equals that of our registry word for word, unless
    the host masks a crash.
    """
    tool, arguments, expected = CASES[case]
    assert in_short(found, MASKED[host].format(tool)) == expected
    if "masked" not in expected:
        assert found == ours(tool, arguments)


@pytest.mark.parametrize("case", CASES)
def test_our_registry_answers_every_case_as_expected(case: str):
    tool, arguments, expected = CASES[case]
    assert in_short(ours(tool, arguments), MASKED["registry"].format(tool)) == expected


async def all_cases(client: Any) -> dict[str, dict[str, Any]]:
    return {case: await theirs(client, *CASES[case][:2]) for case in CASES}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("host", HOSTS)
def test_a_protected_host_answers_as_our_registry_in_memory(host: str, mode: str):
    async def run() -> dict[str, dict[str, Any]]:
        async with client_of(host, orders.make(host), mode) as client:
            return await all_cases(client)

    for case, found in asyncio.run(run()).items():
        agreed(host, found, case)


@pytest.mark.parametrize("host", HOSTS)
def test_a_protected_host_answers_as_our_registry_over_stdio(host: str):
    async def run() -> dict[str, dict[str, Any]]:
        command = StdioServerParameters(command=sys.executable, args=[str(_path), host])
        async with mcp.Client(command) as client:
            return await all_cases(client)

    for case, found in asyncio.run(run()).items():
        agreed(host, found, case)


@asynccontextmanager
async def listening(app: Any) -> AsyncIterator[str]:
    """Yield the URL of an app on loopback. The socket listens before the app runs, so no test has
    to wait for it.
    """
    with socket.create_server(("127.0.0.1", 0)) as door:
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", ws="none"))
        running = asyncio.create_task(server.serve(sockets=[door]))
        try:
            yield f"http://127.0.0.1:{door.getsockname()[1]}/mcp"
        finally:
            server.should_exit = True
            await running


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
@pytest.mark.parametrize("host", HOSTS)
def test_a_protected_host_answers_as_our_registry_over_http(host: str, mode: str):
    async def run() -> dict[str, dict[str, Any]]:
        server = orders.make(host)
        app = server.http_app() if host == "fastmcp" else server.streamable_http_app()
        async with listening(app) as address, mcp.Client(address, mode=mode) as client:
            return await all_cases(client)

    for case, found in asyncio.run(run()).items():
        agreed(host, found, case)


@pytest.mark.parametrize("host", HOSTS)
def test_listed_schema_is_the_schema_of_the_contract(host: str):
    async def run() -> dict[str, Any]:
        async with client_of(host, orders.make(host), "auto") as client:
            listed = await (client.list_tools_mcp() if host == "fastmcp" else client.list_tools())
            return {
                tool.name: tool.model_dump(by_alias=True)["inputSchema"] for tool in listed.tools
            }

    assert asyncio.run(run()) == {
        tool.__name__: input_schema(compile_function(tool)) for tool in orders.TOOLS
    }
