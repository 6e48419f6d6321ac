"""The stages of a call through our ASGI application, in this process and without HTTP, each
measured alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from statistics import median
from time import perf_counter, process_time
from typing import Any

import orjson
from load import request
from servers import empty, ours
from serving import ARGUMENTS
from starting import KINDS

from toolbooth.boundary import render
from toolbooth.boundary.accept import accept_reading
from toolbooth.context import Context
from toolbooth.server.asgi import LOCAL_HOSTS, checked
from toolbooth.server.call import run_tool
from toolbooth.server.envelope import read_message, read_request

LOOPS = 1000
BEST_OF = 20
OTHER_MEMORY = bytearray(1 << 20)

APPLICATION = "the whole ASGI application"
COLD = "the same, if 1 MB of other memory is read between calls"
EMPTY = "an empty ASGI application"

Step = Callable[[], Awaitable[object]]


def stages_of(kind: str) -> dict[str, float]:
    """CPU seconds of each stage of an exact call."""
    return {name: _best(step) for name, step in _stages(kind).items()}


def wholes_of(kind: str) -> dict[str, float]:
    """CPU seconds of a whole call; with colder caches too."""
    steps = calls_of(kind)
    return {**{name: _best(step) for name, step in steps.items()}, COLD: _cold(steps[APPLICATION])}


def calls_of(kind: str) -> dict[str, Step]:
    """A whole call, and one to an application that does nothing."""
    registry = ours.registry([KINDS[kind][0](kind)])
    scope, _, body = _sent(kind)
    application, nothing = ours.asgi.app(registry), empty.application([])

    async def receive() -> Any:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(event: Any) -> None:
        pass

    return {
        APPLICATION: lambda: application(scope, receive, send),
        EMPTY: lambda: nothing(scope, receive, send),
    }


def _stages(kind: str) -> dict[str, Step]:
    """Each stage with the result of those before it."""
    registry = ours.registry([KINDS[kind][0](kind)])
    tool, context = registry.find(kind), Context()
    scope, headers, body = _sent(kind)
    hosts = frozenset(LOCAL_HOSTS)
    reading: Any = read_message(body).reading
    asked = read_request(reading, headers)
    assert asked is not None
    values = accept_reading(tool.contract, asked.arguments)[0]
    value = asyncio.run(run_tool(tool, values, context))

    def result() -> dict[str, Any]:
        return render.value_result(value, [], structured=render.as_fragment)

    reply = {"jsonrpc": "2.0", "id": 1, "result": result()}
    return {
        "headers: path, method, host, type": _step(
            lambda: checked(scope, "/mcp", hosts, frozenset())
        ),
        "reading the bytes": _step(lambda: read_message(body)),
        "the envelope: id, method, revision": _step(lambda: read_request(reading, headers)),
        "the arguments: check, Pydantic's values": _step(
            lambda: accept_reading(tool.contract, asked.arguments)
        ),
        "the tool itself": lambda: run_tool(tool, values, context),
        "rendering the result": _step(result),
        "writing the answer": _step(lambda: orjson.dumps(reply)),
    }


def _sent(kind: str) -> tuple[dict[str, Any], dict[str, str], bytes]:
    """One request as an ASGI server hands it on: the scope, the headers by name, and the body."""
    sent = request("tools/call", name=kind, arguments=ARGUMENTS[kind])
    head, _, body = sent.partition(b"\r\n\r\n")
    pairs = [line.split(b": ", 1) for line in head.split(b"\r\n")[1:]]
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/mcp",
        "headers": [(name.lower(), value) for name, value in pairs],
    }
    return scope, {name.lower().decode(): value.decode() for name, value in pairs}, body


def _step(task: Callable[[], object]) -> Step:
    async def step() -> object:
        return task()

    return step


def _best(step: Step) -> float:
    """The best of many runs, less the cost of awaiting nothing."""
    nothing = _step(lambda: None)
    runs = [(asyncio.run(repeated(step)), asyncio.run(repeated(nothing))) for _ in range(BEST_OF)]
    return min(each for each, _ in runs) - min(each for _, each in runs)


async def repeated(step: Step) -> float:
    """CPU seconds of one of many calls."""
    start = process_time()
    for _ in range(LOOPS):
        await step()
    return (process_time() - start) / LOOPS


def _cold(step: Step) -> float:
    """The median of single calls, by wall time: too short for the CPU clock."""
    return median(asyncio.run(_each_after_other_work(step)))


async def _each_after_other_work(step: Step) -> list[float]:
    found: list[float] = []
    for _ in range(LOOPS):
        OTHER_MEMORY.count(1)
        start = perf_counter()
        await step()
        found.append(perf_counter() - start)
    return found
