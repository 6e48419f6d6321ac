"""The kit finds known faults without help: no example is given, no expectation written down.

Two faults: a tool that passes its unit tests and breaks on the first real call (argument-shape
report), and a server that drops unknown keys (the inventory's tools on the official SDK). And the
remedy: the same tools, protected.
"""

import asyncio
from collections.abc import Callable
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fastmcp import FastMCP
from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel

import toolbooth.pytest_plugin.pytest_items  # noqa: F401  each pytest run below forgets what it loads
from toolbooth import ToolRegistry
from toolbooth.adapters import fastmcp, mcp_sdk
from toolbooth.testing.check.boundary import assert_boundary, check_boundary

pytest_plugins = "pytester"

INVENTORY = Path(__file__).resolve().parents[2] / "examples" / "inventory"
QUIET = (
    "-q",
    "--tb=no",
    "-rN",
    "-p",
    "no:inline_snapshot",
    "-p",
    "no:hypothesispytest",
    "-p",
    "no:cacheprovider",
)

Tools = list[Callable[..., Any]]


# --- passes its tests, breaks on the first call -----------------------------------------------------------------


class Payload(BaseModel):
    subject: str
    body: str = ""


def read_as_a_dict(message: str, payload: Payload) -> str:
    """The tool of the argument-shape report: it reads the nested object by keys that are not
    delivered.
    """
    return f"Message: {message}; subject: {payload['subject'].upper()}"


def read_by_number(prices: dict[str, float]) -> str:
    return f"{prices[1]:.2f}"


def read_as_a_day(payload: dict[str, str]) -> str:
    return ", ".join(f"{name} on {day:%A}" for name, day in payload.items())


BREAKING: Tools = [read_as_a_dict, read_by_number, read_as_a_day]


def on_toolbooth(tools: Tools) -> ToolRegistry:
    registry = ToolRegistry("mail")
    for each in tools:
        registry.tool(each)
    return registry


def on_fastmcp(tools: Tools, *, protected: bool) -> FastMCP:
    server = fastmcp.protect(FastMCP("mail")) if protected else FastMCP("mail")
    for each in tools:
        server.tool(each)
    return server


def on_mcp_sdk(tools: Tools, *, protected: bool) -> MCPServer:
    server = MCPServer("mail", log_level="CRITICAL")
    server = mcp_sdk.protect(server) if protected else server
    for each in tools:
        server.add_tool(each)
    return server


EVERY_SERVER = pytest.mark.parametrize(
    "serve",
    [
        on_toolbooth,
        partial(on_fastmcp, protected=True),
        partial(on_fastmcp, protected=False),
        partial(on_mcp_sdk, protected=True),
        partial(on_mcp_sdk, protected=False),
    ],
    ids=["toolbooth", "fastmcp-protected", "fastmcp", "mcp_sdk-protected", "mcp_sdk"],
)


def test_the_unit_tests_of_these_tools_pass():
    assert (
        read_as_a_dict("hi", {"subject": "greet", "body": "..."}) == "Message: hi; subject: GREET"
    )
    assert read_by_number({1: 2.5}) == "2.50"
    assert read_as_a_day({"Ann": date(2026, 12, 1)}) == "Ann on Tuesday"


@EVERY_SERVER
def test_tools_that_break_on_delivered_values_are_found(serve: Callable[[Tools], Any]):
    report = asyncio.run(check_boundary(serve(BREAKING)))
    broken = {
        each.tool
        for each in report.deviations
        if each.shape.kind == "correct" and each.grade == "broken"
    }
    assert broken == {each.__name__ for each in BREAKING}


def test_tools_that_read_delivered_values_hold_the_law():
    def read_as_a_model(message: str, payload: Payload) -> str:
        return f"Message: {message}; subject: {payload.subject.upper()}"

    assert assert_boundary(on_toolbooth([read_as_a_model])).holds


# --- drops unknown keys
# ---------------------------------------------------------------------------------------------


TOOLS = {
    "search_products",
    "get_product",
    "create_product",
    "update_product",
    "adjust_stock",
    "list_movements",
    "list_low_stock",
    "forecast_stock",
    "create_supplier",
    "list_suppliers",
    "create_purchase_order",
    "receive_purchase_order",
    "cancel_purchase_order",
    "list_orders",
}

UNPROTECTED = """
import sys
sys.path.insert(0, {folder!r})

from mcp.server.mcpserver import MCPServer
from store import Store
from tools import Inventory

server = MCPServer("inventory", log_level="CRITICAL")
for tool, _ in Inventory(Store.from_environment()).tools():
    server.add_tool(tool)
"""


@pytest.fixture
def stock(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Return a new shop: the tools are really run."""
    monkeypatch.setenv("INVENTORY_DB", str(pytester.path / "inventory.sqlite3"))


@pytest.mark.usefixtures("stock")
def test_unprotected_official_sdk_server_is_found_to_lose_arguments(
    pytester: pytest.Pytester,
):
    pytester.makepyfile(unprotected=UNPROTECTED.format(folder=str(INVENTORY)))
    result = pytester.runpytest(*QUIET, "--toolbooth=unprotected:server")
    told = {report.nodeid: str(report.longrepr) for report in result.reprec.getfailures()}
    lost = {
        name.partition("[")[2][:-1]: text
        for name, text in told.items()
        if text.startswith("lost: ")
    }
    # No correct call of adjust_stock follows from the published schema: it does not state that a
    # sale is negative.
    assert {name.partition("-")[0] for name in lost} == TOOLS - {"adjust_stock"}
    # The wrapper of the nested-wrapper report: fields that narrow a search are gone, and everything
    # is found.
    assert (
        "8 keys were lost ($.request.data.search_query"
        in lost["search_products-wrapper/data@$.request"]
    )
    assert '"total": ' in lost["search_products-wrapper/data@$.request"]
    # A row is changed, but not as requested.
    assert "4 keys were lost ($.request.data.price" in lost["update_product-wrapper-half@$.request"]
    # Further down, too.
    assert (
        "1 key was lost ($.request.lines[0].zq"
        in lost["create_purchase_order-unknown-key@$.request.lines[0]"]
    )
    assert "To change: toolbooth.protect(server)" in lost["list_orders-misspelt@$.request"]


@pytest.mark.parametrize(
    "target", ["on_toolbooth.py:registry", "on_fastmcp.py:server", "on_mcp_sdk.py:server"]
)
@pytest.mark.usefixtures("stock")
def test_the_protected_servers_follow_the_law(target: str, pytester: pytest.Pytester):
    result = pytester.runpytest(*QUIET, f"--toolbooth={INVENTORY / target}")
    assert result.parseoutcomes().keys() == {"passed"}
    passed = {
        report.nodeid.partition("[")[2].partition("-")[0] for report in result.reprec.getreports()
    }
    assert passed >= TOOLS
