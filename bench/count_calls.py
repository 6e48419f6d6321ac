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
from typing import Annotated

from cases import BATCH, CONTACT, FLAT, GOALS, NESTED, Function
from core import calls_of
from load import request
from pydantic import AliasChoices, BaseModel, Field
from servers import ours
from servers.tools import nested

from toolbooth import ContractWarning, Unpack, compile_function, handle_bytes, input_schema
from toolbooth.server.respond import respond

Task = Callable[[], object]

MANY = 40
"""How often a scenario runs. It runs half as often before, because CPython specialises code that
has run several times.
"""
FEW = 4
"""The same if one call is enough work: 500 records, or a registration."""


class Booking(BaseModel):
    """The fields of a tool that can be refused in every way."""

    guest: str = Field(validation_alias=AliasChoices("guest", "guest_name"))
    seats: int = Field(ge=1)
    note: str = ""


def book(booking: Annotated[Booking, Unpack()]) -> str:
    return booking.guest


REFUSED = {
    "not-json": b"{'guest': 'Ann', 'seats': 2}",
    "duplicate-key": b'{"guest":"Ann","seats":2,"seats":3}',
    "not-an-object": b'["Ann",2]',
    "too-deep": b'{"guest":"Ann","seats":' + b"[" * 300 + b"]" * 300 + b"}",
    "too-large": b'{"guest":"Ann","seats":2,"note":"' + b"x" * 5_000_000 + b'"}',
    "lossy-number": b'{"guest":"Ann","seats":1e400}',
    "nested-wrapper": b'{"data":{"guest":"Ann","seats":2}}',
    "unknown-key": b'{"guest":"Ann","Seats":2}',
    "conflicting-keys": b'{"guest":"Ann","guest_name":"Bob","seats":2}',
    "swallowed-argument": b'{"guest":"Ann</guest><seats>2</seats>"}',
    "missing": b'{"guest":"Ann"}',
    "wrong-type": b'{"guest":"Ann","seats":true}',
    "invalid": b'{"guest":"Ann","seats":0}',
}
"""A call for each code that a contract can refuse, except `too-complex`, which needs megabytes of
values and would take a minute to count.
"""


def scenarios() -> Iterator[tuple[str, int, Task]]:
    """Name, number of calls, and the task of each scenario."""
    for case in GOALS:
        contract = compile_function(case.function)
        for (outcome, kind), body in calls_of(case).items():
            name = f"{case.name}, {outcome}" + (f": {kind}" if kind else "")
            calls = FEW if case is BATCH else MANY
            yield name, calls, lambda contract=contract, body=body: handle_bytes(contract, body)
    contract = compile_function(book)
    for code, body in REFUSED.items():
        codes = [
            each["code"] for each in handle_bytes(contract, body)["_meta"]["toolbooth"]["problems"]
        ]
        if code not in codes:
            raise AssertionError(f"{code}: refused as {codes}; the figure would mean nothing")
        yield f"refused: {code}", MANY, lambda body=body: handle_bytes(contract, body)
    yield "a registration, with its schema", FEW, lambda: _registration(NESTED.function)
    yield "a flat registration, with its schema", FEW, lambda: _registration(FLAT.function)
    yield "respond to tools/call", MANY, _responding()


def _registration(function: Function) -> object:
    return input_schema(compile_function(function))


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
