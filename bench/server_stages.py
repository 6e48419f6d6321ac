"""Profiles our own server: a call through the ASGI application, a registration, and the import."""

from __future__ import annotations

import asyncio
import cProfile
import pstats
import subprocess
import sys
from collections.abc import Callable
from time import process_time

from call_stages import APPLICATION, calls_of, repeated, stages_of, wholes_of
from servers import ours
from starting import IMPORTS, KINDS

from toolbooth import input_schema
from toolbooth.compile.signature import compile_function

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
    print(f"--- {kind}: one call, CPU µs")
    for name, seconds in {**stages_of(kind), **wholes_of(kind)}.items():
        print(f"{seconds * 1e6:>9.2f}  {name}")
    step = calls_of(kind)[APPLICATION]
    _functions(lambda: asyncio.run(repeated(step)))


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


def _functions(run: Callable[[], object], order: str = "tottime", shown: int = SHOWN) -> None:
    """The report of cProfile, which overstates the cost of small Python functions."""
    profiler = cProfile.Profile()
    profiler.enable()
    run()
    profiler.disable()
    pstats.Stats(profiler).strip_dirs().sort_stats(order).print_stats(shown)
