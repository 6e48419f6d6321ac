"""Calls to servers -> rows of figures: HTTP by the CPU time of the server's process, stdio by the
round trip.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any

from cases import CONTACT, OFFER
from figures import Row, Tell, at_least, at_most, counting
from load import CONNECTIONS, HttpServer, StdioServer, client_pinned, message, request
from measure import Clock, Timing, against, readings

HTTP_ROUNDS = 60
HTTP_SECONDS = 200
STDIO_ROUNDS = 30
SLICE = 0.05
"""CPU seconds of one server in one round."""

FLOOR = "empty"
NAMES = {
    "official_sdk": "official SDK",
    "fastmcp_with_lookup": "FastMCP, schema lookup set",
    "stock_fastmcp": "FastMCP as it comes",
    "empty": "empty ASGI application",
}
ARGUMENTS = {"flat": OFFER, "nested": CONTACT, "flat_sync": OFFER, "nested_sync": CONTACT}
RESULTS = {
    "flat": {"title": OFFER["title"], "quantity": OFFER["quantity"]},
    "nested": {"email": "ann@example.org", "city": "Utrecht"},
}

LESS = {
    "nested": {"official_sdk": 4, "fastmcp_with_lookup": 8, "stock_fastmcp": 20},
    "flat": {"official_sdk": None, "fastmcp_with_lookup": None, "stock_fastmcp": None},
    "nested_sync": {"official_sdk": 4.5, "fastmcp_with_lookup": 5},
    "flat_sync": {"official_sdk": None, "fastmcp_with_lookup": None},
}
"""How many times less CPU than these hosts a call must take. The nested call has the goal; the flat
one is only shown.
"""

OVER_EMPTY = {"nested": 2.3, "flat": 2.0}
PROTECTED = {
    "official_sdk_protected": ("official_sdk", 1.15),
    "fastmcp_protected": ("fastmcp_with_lookup", 1.10),
}
"""The cost that `protect` may add. It also sets FastMCP's schema lookup, so the fair floor is
FastMCP with a lookup.
"""

MANY = 1000
MANY_GOAL = 1.1
LIST_GOAL = 100
MEMORY_GOAL = 0.6
STDIO_GOALS = {"official_sdk": 8, "stock_fastmcp": None}
TRIPS = ("wall time", "CPU of both ends")
"""The clocks for a round trip over stdio. Both ends share a CPU, so on an idle machine the two are
equal. The goal is for the second, which does not depend on other work of the machine."""

Key = tuple[str, str]
"""A server and the request to it."""


def over_http(tell: Tell) -> list[Row]:
    """Every figure that is taken over HTTP, all of them in the same rounds."""
    with client_pinned(), _running() as servers:
        clocks = {key: call_clock(servers[key[0]], key[1]) for key in _wanted()}
        found = readings(clocks, HTTP_ROUNDS, counting(tell, "HTTP", HTTP_ROUNDS), HTTP_SECONDS)
        sizes = {
            name: servers[name].process.resident() / 1e6
            for name in (f"ours {MANY}", f"official_sdk {MANY}")
        }
    return [
        *_call_rows(found),
        *_protect_rows(found),
        *_many_rows(found),
        _memory_row(*sizes.values()),
    ]


def over_stdio(tell: Tell) -> list[Row]:
    """The round trip of one call over pipes."""
    with client_pinned(), ExitStack() as stack:
        servers = {
            host: stack.enter_context(closing(StdioServer(host))) for host in ("ours", *STDIO_GOALS)
        }
        clocks = {
            (host, what): _trip_clock(server, what)
            for host, server in servers.items()
            for what in TRIPS
        }
        found = readings(clocks, STDIO_ROUNDS, counting(tell, "stdio", STDIO_ROUNDS))
    rows: list[Row] = []
    for what in TRIPS:
        timings = _against_ours(found, what)
        for host, goal in STDIO_GOALS.items():
            judged = goal if what == "CPU of both ends" else None
            rows.append(
                at_least(
                    "stdio", f"stdio, {what}: {NAMES[host]}", judged, timings["ours"], timings[host]
                )
            )
    return rows


def _trip_clock(server: StdioServer, what: str) -> Clock:
    line = message("tools/call", name="nested", arguments=CONTACT)
    answer = server.ask(line)
    if not _right("nested", json.loads(answer)["result"]):
        raise AssertionError(f"{server.name}: {answer!r}; the figure would mean nothing")
    count = max(10, round(SLICE / min(server.seconds(line, 20) for _ in range(3))))
    read = server.seconds if what == "wall time" else server.cpu
    return lambda: read(line, count)


@contextmanager
def _running() -> Iterator[dict[str, HttpServer]]:
    few = ("empty", "ours", "official_sdk", "fastmcp_with_lookup", "stock_fastmcp", *PROTECTED)
    with ExitStack() as stack:
        servers = {host: stack.enter_context(closing(HttpServer(host))) for host in few}
        for host in ("ours", "official_sdk"):
            servers[f"{host} {MANY}"] = stack.enter_context(closing(HttpServer(host, MANY)))
        yield servers


def _wanted() -> list[Key]:
    calls = [(host, call) for call, hosts in LESS.items() for host in ("ours", *hosts)]
    floors = [(FLOOR, call) for call in OVER_EMPTY]
    protected = [(host, call) for host in PROTECTED for call in ("nested", "flat")]
    many = [(f"ours {MANY}", "nested"), (f"ours {MANY}", "list"), (f"official_sdk {MANY}", "list")]
    return calls + floors + protected + many


def call_clock(server: HttpServer, call: str) -> Clock:
    """A clock for one kind of request to one server. The content of the answer is checked once, its
    size each time.
    """
    if call == "list":
        return list_clock(server, MANY)
    sent = request("tools/call", name=call, arguments=ARGUMENTS[call])
    answer, size = server.ask(sent)
    if server.name != FLOOR and not _right(call, answer["result"]):
        raise AssertionError(f"{server.name}, {call}: {answer}; the figure would mean nothing")
    return _clock(server, [(sent, size)])


def list_clock(server: HttpServer, tools: int) -> Clock:
    """A clock for the whole list, which may have several pages."""
    pages: list[tuple[bytes, int]] = []
    listed, params = 0, {}
    while params is not None:
        sent = request("tools/list", **params)
        answer, size = server.ask(sent)
        pages.append((sent, size))
        listed += len(answer["result"]["tools"])
        cursor = answer["result"].get("nextCursor")
        params = None if cursor is None else {"cursor": cursor}
    if listed != tools:
        raise AssertionError(f"{server.name} lists {listed} tools, not {tools}")
    return _clock(server, pages)


def _clock(server: HttpServer, requests: list[tuple[bytes, int]]) -> Clock:
    """The CPU seconds of one request after the other, each with the size of its reply."""

    def read(count: int) -> float:
        return sum(server.load(sent, size, count) for sent, size in requests)

    warm = min(read(CONNECTIONS) for _ in range(3))
    # One long request may or may not pay for a garbage collection.
    count = max(3, round(SLICE / warm))
    return lambda: read(count)


def _right(call: str, result: Any) -> bool:
    return result["structuredContent"] == RESULTS[call.removesuffix("_sync")]


def _against_ours(found: dict[Key, list[float]], call: str) -> dict[str, Timing]:
    return against({host: times for (host, each), times in found.items() if each == call}, "ours")


def _call_rows(found: dict[Key, list[float]]) -> Iterator[Row]:
    for call, hosts in LESS.items():
        kind, _, sync = call.partition("_")
        group = "sync" if sync else "async"
        timings = _against_ours(found, call)
        for host, goal in hosts.items():
            yield at_least(
                group, f"{group} tool, {kind}: {NAMES[host]}", goal, timings["ours"], timings[host]
            )
    for call, goal in OVER_EMPTY.items():
        timings = against({host: found[host, call] for host in ("ours", FLOOR)}, FLOOR)
        yield at_most(
            "bounds", f"async call, {call} ÷ {NAMES[FLOOR]}", goal, timings["ours"], timings[FLOOR]
        )


def _protect_rows(found: dict[Key, list[float]]) -> Iterator[Row]:
    for host, (floor, goal) in PROTECTED.items():
        for call in ("nested", "flat"):
            timings = against({each: found[each, call] for each in (host, floor)}, floor)
            name = f"over HTTP, {call}: {NAMES[floor]}"
            yield at_most(
                "protect", name, goal if call == "nested" else None, timings[host], timings[floor]
            )


def _many_rows(found: dict[Key, list[float]]) -> Iterator[Row]:
    many, theirs = f"ours {MANY}", f"official_sdk {MANY}"
    timings = against({"ours": found["ours", "nested"], many: found[many, "nested"]}, "ours")
    name = f"async call, nested, with {MANY:,} tools ÷ with 10"
    yield at_most("bounds", name, MANY_GOAL, timings[many], timings["ours"])
    timings = against({host: found[host, "list"] for host in (many, theirs)}, many)
    yield at_least(
        "list",
        f"list of {MANY:,} tools: {NAMES['official_sdk']}",
        LIST_GOAL,
        timings[many],
        timings[theirs],
    )


def _memory_row(mine: float, theirs: float) -> Row:
    ratio = mine / theirs
    name = f"memory with {MANY:,} tools ÷ {NAMES['official_sdk']}"
    return Row(
        group="bounds",
        name=name,
        goal=MEMORY_GOAL,
        ratio=ratio,
        low=ratio,
        high=ratio,
        cost=mine,
        floor=theirs,
        unit="MB",
    )
