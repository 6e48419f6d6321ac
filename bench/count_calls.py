"""The scenarios of `make count`, in the process that Valgrind watches.

Each scenario runs between two calls of a C function, which make Valgrind reset its counter and
write the count. The warm-up precedes them: it fills caches and does the work that is done only
once.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import sys
import warnings
from collections.abc import Callable, Iterator

from cases import BATCH, CONTACT, GOALS, NESTED
from core import calls_of
from load import request
from servers import ours
from servers.tools import nested

from toolbooth import ContractWarning, compile_function, handle_bytes, input_schema
from toolbooth.server.respond import respond

Task = Callable[[], object]

MANY = 40
"""How often a scenario runs. It runs half as often before, because CPython specialises code that
has run several times.
"""
FEW = 4
"""The same if one call is enough work: 500 records, or a registration."""


def scenarios() -> Iterator[tuple[str, int, Task]]:
    """Name, number of calls, and the task of each scenario."""
    for case in GOALS:
        contract = compile_function(case.function)
        for (outcome, kind), body in calls_of(case).items():
            name = f"{case.name}, {outcome}" + (f": {kind}" if kind else "")
            calls = FEW if case is BATCH else MANY
            yield name, calls, lambda contract=contract, body=body: handle_bytes(contract, body)
    yield "a registration, with its schema", FEW, _registration
    yield "respond to tools/call", MANY, _responding()


def _registration() -> object:
    return input_schema(compile_function(NESTED.function))


def _responding() -> Task:
    registry = ours.registry([nested("nested")])
    sent = request("tools/call", name="nested", arguments=CONTACT)
    head, _, body = sent.partition(b"\r\n\r\n")
    lines = (line.decode().split(": ", 1) for line in head.split(b"\r\n")[1:])
    headers = {name.lower(): value for name, value in lines}
    loop = asyncio.new_event_loop()
    return lambda: loop.run_until_complete(respond(registry, body, headers))


def main(marks: str) -> None:
    """Run every scenario; print each name and number of calls in the order of the counts."""
    warnings.simplefilter("ignore", ContractWarning)  # no agent reads these descriptions
    library = ctypes.CDLL(marks)
    for name, calls, task in scenarios():
        for _ in range(calls // 2):
            task()
        gc.collect()
        library.begin()
        for _ in range(calls):
            task()
        library.end(name.encode())
        print(f"{calls} {name}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
