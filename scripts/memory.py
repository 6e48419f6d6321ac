"""The part `memory` of `make long`: 200,000 calls to one server process, and its memory meanwhile.

The server is `toolbooth serve` on a port of loopback or on two pipes. The calls are of six kinds,
in turn, and no two have the same values. Linux only: the size of the process is read from /proc.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from measured import Figures, Part, Step, StepFailed

SERVER = Path(__file__).with_name("memory_server.py")
TOOLBOOTH = "from toolbooth.cli.entry import main; main()"
CALLS, WARM = 200_000, 20_000
AT_ONCE = 100
"""The number of calls sent over stdio before the first answer is read, and over one HTTP
connection.
"""
MOST_GROWTH = 0.05
"""The share of the memory after the first calls. One leaked byte per call would add 0.2 MB, so a
leak of a small object per call is far above this.
"""

SIZES = ("first_mb", "half_mb", "most_mb", "last_mb")

Ask = Callable[[list[bytes]], list[bytes]]


def message(number: int) -> bytes:
    """One call: right, repaired, of a sync tool, refused, of a tool that fails, or a listing."""
    line = {"sku": f"A{number}", "quantity": number}
    calls: tuple[tuple[str, Any], ...] = (
        ("add", {"left": number, "right": 1}),
        ("add", {"left": str(number), "right": "1"}),
        ("place_order", {"customer": f"Ann {number}", "lines": [line]}),
        ("place_order", {"data": {"customer": f"Ann {number}"}, f"key_{number}": 1}),
        ("fail", {"reason": f"reason {number}"}),
    )
    kind = number % 6
    sent: dict[str, Any] = {"jsonrpc": "2.0", "id": number, "method": "tools/list"}
    if kind < len(calls):
        name, arguments = calls[kind]
        sent |= {"method": "tools/call", "params": {"name": name, "arguments": arguments}}
    return json.dumps(sent).encode()


# --- transports ---------------------------------------------------------------------------------


@contextmanager
def over_stdio() -> Iterator[tuple[int, Ask]]:
    """A server on two pipes: its process, and a function that sends messages to it."""
    pipe = subprocess.PIPE
    with started(stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL) as child:
        source, sink = child.stdout, child.stdin
        assert source is not None
        assert sink is not None

        def ask(messages: list[bytes]) -> list[bytes]:
            sink.write(b"\n".join(messages) + b"\n")
            sink.flush()
            return [source.readline() for _ in messages]

        yield child.pid, ask


@contextmanager
def over_http() -> Iterator[tuple[int, Ask]]:
    """A server on loopback. Each list of messages is sent over its own connection."""
    with started("--http", "0", stderr=subprocess.PIPE) as child:
        log = child.stderr
        assert log is not None
        found = re.search(rb":(\d+)/mcp\n", log.readline())
        assert found is not None
        port = int(found[1])
        # The traceback of each failed tool is logged. Unless the pipe is read, it fills up and
        # blocks the server.
        drain = subprocess.Popen(["cat"], stdin=log, stdout=subprocess.DEVNULL)

        def ask(messages: list[bytes]) -> list[bytes]:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            answers: list[bytes] = []
            for each in messages:
                connection.request("POST", "/mcp", each, {"Content-Type": "application/json"})
                answers.append(connection.getresponse().read())
            connection.close()
            return answers

        try:
            yield child.pid, ask
        finally:
            drain.kill()
            drain.wait()


@contextmanager
def started(*words: str, **pipes: Any) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-c", TOOLBOOTH, "serve", f"{SERVER}:registry", *words]
    with subprocess.Popen(command, **pipes) as child:
        try:
            yield child
        finally:
            child.kill()


TRANSPORTS = {"stdio": over_stdio, "HTTP": over_http}


# --- figures ------------------------------------------------------------------------------------


def measure(transport: str, calls: int = CALLS, warm: int = WARM) -> Figures:
    """The memory of a server after `warm` calls and after all. StepFailed if it has grown."""
    sizes: list[float] = []
    with TRANSPORTS[transport]() as (process, ask):
        for start in range(0, calls, AT_ONCE):
            sent = [message(number) for number in range(start, start + AT_ONCE)]
            check(start, ask(sent))
            if (start + AT_ONCE) % warm == 0:
                sizes.append(resident(process))
    figures = {
        "calls": calls,
        "first_mb": round(sizes[0], 1),
        "half_mb": round(sizes[(len(sizes) - 1) // 2], 1),
        "most_mb": round(max(sizes), 1),
        "last_mb": round(sizes[-1], 1),
    }
    if sizes[-1] > sizes[0] * (1 + MOST_GROWTH):
        raise StepFailed(f"the memory of the server grows: {sizes} MB")
    return figures


def check(start: int, answers: list[bytes]) -> None:
    """StepFailed unless each message has its own answer."""
    ids = sorted(json.loads(each)["id"] for each in answers)
    if ids != list(range(start, start + AT_ONCE)):
        raise StepFailed(f"the messages from {start} on were answered with the ids {ids}")


def resident(process: int) -> float:
    """Megabytes in memory."""
    pages = Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE") / 1e6


def steps() -> dict[str, Step]:
    return {name: partial(measure, name) for name in TRANSPORTS}


def table(figures: Mapping[str, Figures]) -> str:
    lines = [
        f"| transport | calls | after {WARM:,} | halfway | most | at the end | seconds |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name, each in figures.items():
        sizes = " | ".join(f"{each[key]} MB" for key in SIZES)
        lines.append(f"| {name} | {each['calls']:,} | {sizes} | {each['seconds']} |")
    return "\n".join(lines) + "\n"


PART = Part(
    name="memory",
    title="The memory of a server over many calls",
    about="""One process of `toolbooth serve`, over stdio and over HTTP, gets 200,000 messages:
calls that are right, repaired or refused, calls of sync and async tools and of one that raises, and
listings. No two have the same values. Over stdio, 100 are in progress at a time; over HTTP, each
100 have a connection of their own. Every message must be answered. The figures are the resident
memory of the process. A run fails if it ends with more than 5 % above the first figure.""",
    covers=(
        "scripts/memory*.py",
        "src/toolbooth/*.py",
        "src/toolbooth/boundary/**/*.py",
        "src/toolbooth/server/**/*.py",
        "src/toolbooth/cli/http_server.py",
    ),
    packages=("pydantic", "jiter", "orjson", "uvicorn", "uvloop", "httptools"),
    steps=steps,
    table=table,
)
