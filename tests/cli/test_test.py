"""`toolbooth test`: the calls it makes, and its report."""

import json
from pathlib import Path
from typing import Any

import pytest

from commands import SHOP, TOOLBOOTH, toolbooth

UNPROTECTED = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("open")

@server.tool()
def delete(item: str, really: bool = False) -> str:
    '''Delete something.'''
    with open("deleted.txt", "a") as deleted:
        deleted.write(item)
    return "deleted"
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(SHOP)
    (tmp_path / "open.py").write_text(UNPROTECTED)
    return tmp_path


def rows(shown: str, kind: str) -> list[dict[str, Any]]:
    return [row for line in shown.splitlines() if (row := json.loads(line))["kind"] == kind]


def test_a_tool_that_may_write_gets_only_calls_that_must_be_refused(shop: Path):
    code, shown, error = toolbooth(shop, "test", "shop.py:server", "--json")
    assert code == 0
    plans = {row["tool"]: row for row in rows(shown, "plan")}
    assert (plans["price"]["mode"], plans["price"]["not_sent"]) == ("all", 0)
    assert plans["order"]["mode"] == "refusals"
    for case in rows(shown, "case"):
        if case["tool"] == "order":
            is_refused = case["law"].startswith("refused")
            assert case["outcome"] == ("held" if is_refused else "not-sent")
    summary = rows(shown, "summary")[0]
    assert (summary["deviations"], summary["exit_code"]) == (0, 0)
    assert not (shop / "orders.txt").exists()
    assert error.startswith(f"shop: {summary['calls']} calls to 2 tools will be made.")


@pytest.mark.parametrize("options", [["--allow-writes"], ["--allow", "order"]], ids=" ".join)
def test_a_tool_that_may_write_is_called_if_allowed(options: list[str], shop: Path):
    code, shown, _ = toolbooth(shop, "test", "shop.py:server", *options)
    assert code == 0
    assert "order: all" in shown
    assert (shop / "orders.txt").exists()


def test_nothing_is_sent_to_an_unprotected_tool_that_may_write(shop: Path):
    code, shown, _ = toolbooth(shop, "test", "open.py:server")
    assert code == 0
    assert shown.startswith("open: 0 calls to 0 tools will be made.\n  delete: none; it may write")
    assert 'would send  {"data": {' in shown
    assert shown.endswith("Nothing was sent.\n")
    assert not (shop / "deleted.txt").exists()


def test_a_remote_server_is_treated_as_unprotected(shop: Path):
    served = ["--", TOOLBOOTH, "serve", "shop.py:server"]
    code, shown, _ = toolbooth(shop, "test", *served)
    assert code == 0
    assert "price: all" in shown
    assert "order: none; it may write and is not known to be protected" in shown
    assert not (shop / "orders.txt").exists()


def test_lost_arguments_are_reported_with_exit_code_1(shop: Path):
    code, shown, _ = toolbooth(shop, "test", "open.py:server", "--allow", "delete")
    assert code == 1
    assert "lost: the tool ran, and something that was sent got lost" in shown
    assert "toolbooth.protect(server) puts every tool behind the boundary" in shown


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ["shop.py:server", "--allow", "oder"],
            "--allow: there is no tool 'oder'; did you mean 'order'?",
        ),
        (
            ["http://127.0.0.1:9/mcp", "--allow-writes"],
            "--allow-writes is for a server in this process; for this one, name tools with --allow",
        ),
        (
            ["shop.py:server", "--examples", "none.json"],
            "--examples none.json should hold a JSON object, {TOOL: ARGUMENTS}: No such file or directory",
        ),
    ],
    ids=["allow", "writes", "examples"],
)
def test_a_mistake_is_reported_in_one_sentence(words: list[str], told: str, shop: Path):
    assert toolbooth(shop, "test", *words) == (2, "", f"Error: {told}")
