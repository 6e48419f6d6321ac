"""`toolbooth serve` of a file with ten tools, from its start to its first answers over stdio."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from figures import Row, Tell, at_least, at_most, counting
from load import cpu_seconds, message
from measure import Clock, against, readings

ROUNDS = 12
GOAL = 0.350
"""Seconds to the first answer."""

TOOLS = 10
HEAD = {
    "ours": """
from pydantic import BaseModel
from toolbooth import ToolRegistry

server = ToolRegistry("ten")
""",
    "official_sdk": """
from pydantic import BaseModel
from mcp.server.mcpserver import MCPServer

server = MCPServer("ten", log_level="ERROR")
""",
}
FLAT = '''

@server.tool{brackets}
def offer_{number}(title: str, quantity: int, price: float, urgent: bool) -> dict[str, str]:
    """Make an offer."""
    return {{"title": title}}
'''
NESTED = '''

class Address{number}(BaseModel):
    street: str
    city: str


class Contact{number}(BaseModel):
    email: str
    age: int
    address: Address{number}


@server.tool{brackets}
def create_{number}(contact: Contact{number}, notify: bool = True) -> dict[str, str]:
    """Create a contact."""
    return {{"email": contact.email}}
'''

Started = tuple[subprocess.Popen[bytes], float]
"""A process, and the time at which it began."""


def first_answers(tell: Tell) -> list[Row]:
    """CPU and wall time of the process up to its first answer; then up to its list too."""
    with TemporaryDirectory() as folder:
        commands = {host: _command(host, Path(folder)) for host in HEAD}
        clocks: dict[Any, Clock] = {
            (host, what): _clock(command, what)
            for host, command in commands.items()
            for what in ("CPU", "wall time", "CPU, and list")
        }
        found = readings(clocks, ROUNDS, counting(tell, "toolbooth serve", ROUNDS))
    return list(_rows(found))


def _rows(found: dict[Any, list[float]]) -> Iterator[Row]:
    for what in ("CPU", "wall time"):
        times = found["ours", what]
        timings = against({"ours": times, "allowed": [GOAL] * len(times)}, "allowed")
        name = f"toolbooth serve, {TOOLS} tools, first answer, {what} ÷ {GOAL * 1000:g} ms"
        yield at_most("bounds", name, 1, timings["ours"], timings["allowed"])
    for what in ("CPU", "CPU, and list"):
        timings = against({host: found[host, what] for host in HEAD}, "ours")
        name = f"stdio, first answer, {what}: official SDK"
        yield at_least("stdio", name, None, timings["ours"], timings["official_sdk"])


def _command(host: str, folder: Path) -> list[str]:
    """The command that serves ten tools in a file of their own."""
    path = folder / f"{host}_ten.py"
    brackets = "" if host == "ours" else "()"
    tools = [
        (FLAT, NESTED)[number % 2].format(number=number, brackets=brackets)
        for number in range(TOOLS)
    ]
    path.write_text(HEAD[host] + "".join(tools), encoding="utf-8")
    if host == "ours":
        serve = f"sys.argv = ['toolbooth', 'serve', '{path}:server']"
        return ["-c", f"import sys; {serve}; from toolbooth.cli.entry import main; main()"]
    with path.open("a", encoding="utf-8") as file:
        file.write('\n\nserver.run("stdio")\n')
    return [str(path)]


def _clock(command: list[str], what: str) -> Clock:
    begins = message(
        "initialize",
        protocolVersion="2025-11-25",
        capabilities={},
        clientInfo={"name": "bench", "version": "1"},
    )
    asked = [begins]
    if what == "CPU, and list":
        asked += [b'{"jsonrpc":"2.0","method":"notifications/initialized"}', message("tools/list")]

    def read() -> float:
        with _started(command) as (process, start):
            _ask(process, asked)
            took = time.perf_counter() - start
            return took if what == "wall time" else cpu_seconds(process.pid)

    read()  # once before it counts: bytecode is written, files are cached
    return read


@contextmanager
def _started(command: list[str]) -> Iterator[Started]:
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, *command], stderr=subprocess.DEVNULL, **pipes)
    try:
        yield process, start
    finally:
        process.kill()
        process.communicate()


def _ask(process: subprocess.Popen[bytes], asked: list[bytes]) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    for sent in asked:
        process.stdin.write(sent + b"\n")
        process.stdin.flush()
        # A notification has no id and gets no answer.
        if b'"id"' in sent and "result" not in json.loads(process.stdout.readline()):
            raise AssertionError(f"no result for {sent!r}")
