"""A pytest plugin for the suites of others: protects each server as it is made, and notes what
became of each test.

`scripts/peers.py` starts pytest with it. `PEERS_OUTCOMES` is the file to write, a line of JSON for
each test; `PEERS_PROTECT` chooses the servers.
"""

from __future__ import annotations

import functools
import json
import os
from pathlib import Path
from typing import Any

import pytest

OUTCOMES = Path(os.environ["PEERS_OUTCOMES"])


def pytest_configure(config: pytest.Config) -> None:
    OUTCOMES.write_text("", encoding="utf-8")
    protected = os.environ.get("PEERS_PROTECT")
    if protected == "fastmcp":
        from fastmcp import FastMCP
        from toolbooth.adapters.fastmcp import protect

        protect_each(FastMCP, protect)
    elif protected == "mcp":
        from mcp.server.mcpserver import MCPServer
        from toolbooth.adapters.mcp_sdk import protect

        protect_each(MCPServer, protect)


def protect_each(server_class: Any, protect: Any) -> None:
    """Protect every server of a class at the end of its `__init__`, before it has any tools."""
    plain = server_class.__init__

    @functools.wraps(plain)
    def protected(self: Any, *args: Any, **how: Any) -> None:
        plain(self, *args, **how)
        protect(self)

    server_class.__init__ = protected


class Outcomes:
    """The outcome of each test. One that fails in any of its phases has failed."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.outcome: dict[str, str] = {}


noted = Outcomes()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call" or report.outcome != "passed":
        worse = noted.outcome.get(report.nodeid) != "failed"
        if worse:
            noted.outcome[report.nodeid] = report.outcome
    if report.failed:
        noted.texts[report.nodeid] = report.longreprtext[-2000:]
    if report.when == "teardown":
        outcome = noted.outcome.pop(report.nodeid, "skipped")
        line = {"test": report.nodeid, "outcome": outcome}
        line["text"] = noted.texts.pop(report.nodeid, "")
        with OUTCOMES.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
