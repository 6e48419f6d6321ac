"""A pytest plugin for the test suites of other projects: protects each server when it is created,
and records the outcome of each test.

`scripts/peers.py` starts pytest with it. `PEERS_OUTCOMES` is the file to write, a line of JSON for
each test; `PEERS_PROTECT` chooses the servers.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

OUTCOMES = Path(os.environ["PEERS_OUTCOMES"])


SERVERS = {
    "fastmcp": ("fastmcp", "FastMCP", "toolbooth.adapters.fastmcp"),
    "mcp": ("mcp.server.mcpserver", "MCPServer", "toolbooth.adapters.mcp_sdk"),
}


def pytest_configure(config: pytest.Config) -> None:
    OUTCOMES.write_text("", encoding="utf-8")
    # Authors of these suites did not ask for advice.
    config.addinivalue_line("filterwarnings", "ignore::toolbooth.errors.ContractWarning")
    chosen = os.environ.get("PEERS_PROTECT")
    if chosen is not None:
        module, name, adapter = SERVERS[chosen]
        server_class = getattr(importlib.import_module(module), name)
        protect_each(server_class, importlib.import_module(adapter).protect)


def protect_each(server_class: Any, protect: Any) -> None:
    """Protect every server of a class at the end of its `__init__`, before it has any tools."""
    plain = server_class.__init__

    @functools.wraps(plain)
    def protected(self: Any, *args: Any, **how: Any) -> None:
        plain(self, *args, **how)
        protect(self)

    server_class.__init__ = protected


outcomes: dict[str, str] = {}
texts: dict[str, str] = {}


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """A test that fails in any of its phases has failed."""
    test = report.nodeid
    decisive = report.when == "call" or report.outcome != "passed"
    if decisive and outcomes.get(test) != "failed":
        outcomes[test] = report.outcome
    if report.failed:
        texts[test] = report.longreprtext[-2000:]
    if report.when == "teardown":
        outcome = outcomes.pop(test, "skipped")
        line = {"test": test, "outcome": outcome, "text": texts.pop(test, "")}
        with OUTCOMES.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
