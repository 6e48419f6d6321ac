"""Profiles our own server: a call through the ASGI application, a registration, and the import."""

from __future__ import annotations

import asyncio
import cProfile
import pstats
import subprocess
import sys
from collections.abc import Callable
from time import process_time
from typing import Any

from load import request
from servers import ours
from serving import ARGUMENTS
from starting import IMPORTS, KINDS

from toolbooth import input_schema
from toolbooth.boundary.accept import accept_reading
from toolbooth.boundary.read import read_json
from toolbooth.compile.signature import compile_function
from toolbooth.contract import DEFAULT_LIMITS
from toolbooth.server.respond import respond
from toolbooth.server.revisions import revision_of
from toolbooth.shape_check import fits

LOOPS = 3000
BEST_OF = 15
SHOWN = 22


def profile_server() -> None:
    """Print the functions in which calls, registrations and the import spend their time."""
    for kind in KINDS:
        _profile_call(kind)
    for kind in KINDS:
        _profile_registration(kind)
    _profile_import()


def _profile_call(kind: str) -> None:
    """One call through the ASGI application, without HTTP: its stages, then its functions."""
    registry = ours.registry([KINDS[kind][0](kind)])
    tool = registry.find(kind)
    head, _, body = request("tools/call", name=kind, arguments=ARGUMENTS[kind]).partition(
        b"\r\n\r\n"
    )
    pairs = [line.split(b": ", 1) for line in head.split(b"\r\n")[1:]]
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/mcp",
        "headers": [(name.lower(), value) for name, value in pairs],
    }
    headers = {name.lower().decode(): value.decode() for name, value in pairs}
    application = ours.asgi.app(registry)
    reading = read_json(body, DEFAULT_LIMITS)
    message: Any = reading[0]
    arguments = message["params"]["arguments"]

    async def receive() -> Any:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(event: Any) -> None:
        pass

    async def whole() -> None:
        await application(scope, receive, send)

    async def responding() -> None:
        await respond(registry, body, headers)

    stages: dict[str, Callable[[], object]] = {
        "read the message": lambda: read_json(body, DEFAULT_LIMITS),
        "revision and headers": lambda: revision_of("tools/call", message["params"], headers),
        "gate": lambda: fits(tool.contract.shape, arguments),
        "accept (gate, values)": lambda: accept_reading(tool.contract, (arguments, *reading[1:])),
    }
    print(f"--- {kind}: one call, CPU µs, best of {BEST_OF}")
    for name, task in stages.items():
        print(f"{_best(lambda task=task: _repeat(task)):>9.2f}  {name}")
    for name, step in {"respond": responding, "ASGI application": whole}.items():
        print(f"{_best(lambda step=step: asyncio.run(_awaited(step))):>9.2f}  {name}")
    _functions(lambda: asyncio.run(_awaited(whole)))


def _profile_registration(kind: str) -> None:
    """Tools of one kind, registered and listed: by phase, then by function."""
    fresh = KINDS[kind][0]
    tools = [fresh(f"tool_{number}") for number in range(100)]
    start = process_time()
    contracts = [compile_function(tool) for tool in tools]
    compiled = process_time()
    for contract in contracts:
        input_schema(contract)
    published = process_time()
    registry = ours.registry([])
    for contract in contracts:
        registry.add(contract)
    registry.page(0, None)
    listed = process_time()
    print(f"--- {kind}: registration, CPU µs per tool")
    for name, seconds in {
        "compile_function": compiled - start,
        "input_schema": published - compiled,
        "add and list, the schema made above": listed - published,
    }.items():
        print(f"{seconds * 1e4:>9.1f}  {name}")
    tools = [fresh(f"tool_{number}") for number in range(100)]
    _functions(lambda: ours.registry(tools).page(0, None), "cumulative", 45)


def _profile_import() -> None:
    """Modules by their own time, then including their imports. A shared module counts for the first
    one that imports it.
    """
    best: dict[str, tuple[int, int]] = {}
    for _ in range(BEST_OF):
        command = [sys.executable, "-X", "importtime", "-c", IMPORTS["ours"]]
        done = subprocess.run(command, capture_output=True, check=True, text=True)
        for line in done.stderr.splitlines()[1:]:
            alone, all_, name = line.removeprefix("import time:").split("|")
            before = best.get(name, (sys.maxsize, sys.maxsize))
            best[name] = min(before[0], int(alone)), min(before[1], int(all_))
    for title, column in (("itself", 0), ("with what it imports", 1)):
        print(f"--- import, wall µs, {title}")
        for name, times in sorted(best.items(), key=lambda each: -each[1][column])[:40]:
            print(f"{times[column]:>9,}  {name}")


def _best(run: Callable[[], float]) -> float:
    return min(run() for _ in range(BEST_OF)) * 1e6


def _repeat(task: Callable[[], object]) -> float:
    start = process_time()
    for _ in range(LOOPS):
        task()
    return (process_time() - start) / LOOPS


async def _awaited(step: Callable[[], Any]) -> float:
    start = process_time()
    for _ in range(LOOPS):
        await step()
    return (process_time() - start) / LOOPS


def _functions(run: Callable[[], object], order: str = "tottime", shown: int = SHOWN) -> None:
    """The report of cProfile, which overstates the cost of small Python functions."""
    profiler = cProfile.Profile()
    profiler.enable()
    run()
    profiler.disable()
    pstats.Stats(profiler).strip_dirs().sort_stats(order).print_stats(shown)
