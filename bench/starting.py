"""The costs before the first call -> rows of figures: importing a server, and registering tools
with it.

Also `protect` within one process, without HTTP.
"""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from cases import CONTACT, OFFER
from fastmcp import FastMCP
from figures import Row, Tell, at_most, counting
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer
from measure import Clock, against, process_clock, readings
from servers import official_sdk, ours, stock_fastmcp
from servers.tools import Function, flat, nested

import toolbooth
from toolbooth.adapters import fastmcp, mcp_sdk, proof

Maker = Callable[[list[Function]], object]

ROUNDS = 40
FRESH = 6
"""Tools that are registered for one reading."""
CALLS = 60
"""Calls within the process for one reading."""

SDK = "official SDK"
KINDS: dict[str, tuple[Callable[[str], Function], Any]] = {
    "flat": (flat, OFFER),
    "nested": (nested, CONTACT),
}
REGISTRATION_GOALS = {"flat": 0.4, "nested": 0.8}
"""The goals for a tool that is registered, and for one that is also listed. The SDK writes its
schemas at registration.
"""

PROTECTED: dict[str, tuple[Callable[[list[Function]], Any], Callable[[Any], Any]]] = {
    SDK: (official_sdk.server, mcp_sdk.protect),
    "FastMCP": (stock_fastmcp.server, fastmcp.protect),
}

HOSTS: dict[str, Callable[[str], Any]] = {
    SDK: MCPServer,
    "FastMCP": FastMCP,
    "low-level Server": Server,
}
PROOF_SECONDS = 0.005

IMPORTS = {
    "bare": "pass",
    "ours": "from toolbooth import ToolRegistry; from toolbooth.server.asgi import app",
    "ours, stdio": "from toolbooth import ToolRegistry; import toolbooth.server.stdio",
    SDK: "from mcp.server.mcpserver import MCPServer",
    "FastMCP": "from fastmcp import FastMCP",
}
IMPORT_ROUNDS = 8
IMPORT_SECONDS = 0.150


COMMANDS = {
    "--help": (["--help"], 0.150),
    "explain": (["explain", '{"count": "2"}', "--schema", "SCHEMA"], 0.300),
    "call": (["call", "FOLDER/shop.py:registry", "order", '{"item": "tea"}'], 0.400),
}
"""Commands of `toolbooth`, with the CPU seconds that a whole process may take."""
COMMAND_ROUNDS = 12

SHOP = """
from toolbooth import ToolRegistry

registry = ToolRegistry("shop")


@registry.tool
def order(item: str, count: int = 1) -> str:
    'Order something.'
    return f"{count} {item}"
"""
COUNT_SCHEMA = '{"type": "object", "properties": {"count": {"type": "integer"}}}'


def registration(tell: Tell) -> list[Row]:
    """Time per tool, each with functions and models that are new to the host."""
    rows: list[Row] = []
    for kind, (fresh, arguments) in KINDS.items():
        clocks = {
            name: registration_clock(maker, fresh) for name, maker in _makers(arguments).items()
        }
        found = readings(clocks, ROUNDS, counting(tell, f"registration, {kind}", ROUNDS))
        timings = against(found, SDK)
        goals = dict.fromkeys(("registered", "and listed"), REGISTRATION_GOALS[kind])
        rows += [
            at_most("registration", f"{kind}: {name}", goals.get(name), timings[name], timings[SDK])
            for name in clocks
            if name != SDK
        ]
    return rows


def _makers(arguments: Any) -> dict[str, Maker]:
    def listed(tools: list[Function]) -> object:
        return ours.registry(tools).page(0, None)

    def called(tools: list[Function]) -> object:
        made = ours.registry(tools)
        return made.page(0, None), [made.dispatch(tool, arguments) for tool in made.tools]

    return {
        "registered": ours.registry,
        "and listed": listed,
        "and called once": called,
        SDK: official_sdk.server,
        "FastMCP's own": stock_fastmcp.server,
    }


def registration_clock(maker: Maker, fresh: Callable[[str], Function]) -> Clock:
    def read() -> float:
        tools = [fresh(f"tool_{number}") for number in range(FRESH)]
        gc.collect()
        start = process_time()
        maker(tools)
        return (process_time() - start) / FRESH

    return read


def protection(tell: Tell) -> list[Row]:
    """A call within the process with the server's own `call_tool`, which is a small part of a call
    from a client.
    """
    rows: list[Row] = []
    for host, (build, protect) in PROTECTED.items():
        for kind, (fresh, arguments) in KINDS.items():
            servers = {
                "plain": build([fresh("tool")]),
                "protected": protect(build([fresh("tool")])),
            }
            tell(f"protect, {host}, {kind}")
            with asyncio.Runner() as runner:
                clocks = {
                    name: _call_clock(runner, server, arguments) for name, server in servers.items()
                }
                timings = against(readings(clocks, ROUNDS), "plain")
            name = f"call_tool, {kind}: {host}"
            rows.append(at_most("protect", name, None, timings["protected"], timings["plain"]))
    return rows


def proofs(tell: Tell) -> list[Row]:
    """The self-test of `protect`, which runs once per process and host.

    The first one in a process also loads modules that the host's first request would load.
    """
    clocks = {host: _proof_clock(make) for host, make in HOSTS.items()}
    found = readings(clocks, ROUNDS, counting(tell, "proof of protect", ROUNDS))
    rows: list[Row] = []
    for host, times in found.items():
        rows.append(_bound_row(f"proof of protect, {host}", times, PROOF_SECONDS))
    return rows


def _proof_clock(make: Callable[[str], Any]) -> Clock:
    def read() -> float:
        server = make("bench")
        proof.forget()
        gc.collect()
        start = process_time()
        toolbooth.protect(server)
        return process_time() - start

    read()  # once before it counts: modules are loaded
    return read


def _call_clock(runner: asyncio.Runner, server: Any, arguments: Any) -> Clock:
    call: Callable[..., Awaitable[object]] = server.call_tool

    async def calls() -> float:
        start = process_time()
        for _ in range(CALLS):
            await call("tool", arguments)
        return (process_time() - start) / CALLS

    return lambda: runner.run(calls())


def imports(tell: Tell) -> list[Row]:
    """The import statement alone, and the whole process without the cost of the bare
    interpreter.
    """
    clocks: dict[tuple[str, str], Clock] = {}
    for name, code in IMPORTS.items():
        clocks["statement", name] = _statement_clock(code)
        clocks["process", name] = process_clock(code)
    found = readings(clocks, IMPORT_ROUNDS, counting(tell, "import", IMPORT_ROUNDS))
    # The best of the bare ones, because subtracting a noisy one would add noise to the result.
    bare = {"statement": 0.0, "process": min(found["process", "bare"])}
    found = {
        (what, name): [each - bare[what] for each in times] for (what, name), times in found.items()
    }
    rows = [
        _bound_row(
            f"import of the server for {transport}", found["statement", name], IMPORT_SECONDS
        )
        for transport, name in (("HTTP", "ours"), ("stdio", "ours, stdio"))
    ]
    for what, words in (
        ("statement", "the statement alone"),
        ("process", "whole process, less a bare one"),
    ):
        for host in (SDK, "FastMCP"):
            timings = against({name: found[what, name] for name in ("ours", host)}, host)
            rows.append(
                at_most("import", f"{words} ÷ {host}", None, timings["ours"], timings[host])
            )
    return rows


def commands(tell: Tell) -> list[Row]:
    """Whole processes of the command line, the interpreter's start included."""
    with TemporaryDirectory() as folder:
        Path(folder, "shop.py").write_text(SHOP, encoding="utf-8")
        clocks = {name: _command_clock(words, folder) for name, (words, _) in COMMANDS.items()}
        found = readings(clocks, COMMAND_ROUNDS, counting(tell, "toolbooth", COMMAND_ROUNDS))
    return [_bound_row(f"toolbooth {name}", found[name], COMMANDS[name][1]) for name in COMMANDS]


def _command_clock(words: list[str], folder: str) -> Clock:
    given = [word.replace("FOLDER", folder).replace("SCHEMA", COUNT_SCHEMA) for word in words]
    silent = "import os, sys; sys.stdout = open(os.devnull, 'w')"
    code = f"{silent}; sys.argv = {['toolbooth', *given]!r}; "
    return process_clock(code + "from toolbooth.cli.entry import main; main()")


def _bound_row(name: str, times: list[float], seconds: float) -> Row:
    timings = against({"ours": times, "allowed": [seconds] * len(times)}, "allowed")
    return at_most(
        "bounds", f"{name} ÷ {seconds * 1000:g} ms", 1, timings["ours"], timings["allowed"]
    )


def _statement_clock(code: str) -> Clock:
    """A clock for a statement in a new process."""
    timed = f"import time; start = time.process_time(); {code}; print(time.process_time() - start)"

    def read() -> float:
        return float(
            subprocess.run([sys.executable, "-c", timed], check=True, capture_output=True).stdout
        )

    read()  # once before it counts, as in `process_clock`
    return read
