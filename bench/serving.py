"""Calls to servers -> rows of figures: HTTP by the CPU time of the server's process, stdio by the round trip."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any

from cases import CONTACT, OFFER
from figures import Row, Tell, at_least, at_most
from load import CONNECTIONS, HttpServer, StdioServer, client_pinned, message, request
from measure import Clock, Timing, against, readings

HTTP_ROUNDS = 70
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
    "nested_sync": {"official_sdk": 3, "fastmcp_with_lookup": 5},
    "flat_sync": {"official_sdk": None, "fastmcp_with_lookup": None},
}
"""How many times less CPU than these hosts a call is to take. The nested call is judged, the flat one shown."""

OVER_EMPTY = {"nested": 3, "flat": None}
PROTECTED = {
    "official_sdk_protected": ("official_sdk", 1.15),
    "fastmcp_protected": ("fastmcp_with_lookup", 1.10),
}
"""What `protect` may add. It sets FastMCP's schema lookup too, so the fair floor is FastMCP that has one."""

MANY = 1000
MANY_GOAL = 1.1
LIST_GOAL = 100
MEMORY_GOAL = 0.7
STDIO_GOAL = 8

Key = tuple[str, str]
"""A server and what is asked of it."""


def over_http(tell: Tell) -> list[Row]:
    """Every figure that is taken over HTTP, all of them in the same rounds."""
    with client_pinned(), _running() as servers:
        clocks = {key: _clock(servers[key[0]], key[1]) for key in _wanted()}
        found = readings(clocks, HTTP_ROUNDS, lambda done: tell(f"HTTP, round {done} of {HTTP_ROUNDS}"))
        sizes = {name: servers[name].process.resident() / 1e6 for name in (f"ours {MANY}", f"official_sdk {MANY}")}
    return [*_call_rows(found), *_protect_rows(found), *_many_rows(found), _memory_row(*sizes.values())]


def over_stdio(tell: Tell) -> list[Row]:
    """The round trip of one call over pipes."""
    line = message("tools/call", name="nested", arguments=CONTACT)
    hosts = ("ours", "official_sdk", "stock_fastmcp")
    with client_pinned(), ExitStack() as stack:
        servers = {host: stack.enter_context(closing(StdioServer(host))) for host in hosts}
        clocks: dict[Key, Clock] = {}
        for host, server in servers.items():
            if b"Utrecht" not in server.ask(line):
                raise AssertionError(f"{host}: the call failed; the figure would mean nothing")
            count = max(10, round(SLICE / server.seconds(line, 20)))
            clocks[host, "wall"] = lambda server=server, count=count: server.seconds(line, count)
            clocks[host, "CPU"] = lambda server=server, count=count: server.cpu(line, count)
        found = readings(clocks, STDIO_ROUNDS, lambda done: tell(f"stdio, round {done} of {STDIO_ROUNDS}"))
    rows: list[Row] = []
    for what, goal in (("wall", STDIO_GOAL), ("CPU", None)):
        timings = _against_ours(found, what)
        label = {"wall": "wall time", "CPU": "CPU of both ends"}[what]
        rows += [
            at_least("stdio", f"stdio, {label}: {NAMES[host]}", _of(host, goal), timings["ours"], timings[host])
            for host in hosts[1:]
        ]
    return rows


def _of(host: str, goal: float | None) -> float | None:
    return goal if host == "official_sdk" else None


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


def _clock(server: HttpServer, call: str) -> Clock:
    """A clock for one request to one server; what it answers is looked at once, its size every time."""
    params = {} if call == "list" else {"name": call, "arguments": ARGUMENTS[call]}
    sent = request("tools/list" if call == "list" else "tools/call", **params)
    answer, size = server.ask(sent)
    if server.name != FLOOR and not _right(call, answer["result"]):
        raise AssertionError(f"{server.name}, {call}: {answer}; the figure would mean nothing")
    first = server.load(sent, size, CONNECTIONS)
    count = max(1, round(SLICE / first))
    return lambda: server.load(sent, size, count)


def _right(call: str, result: Any) -> bool:
    if call == "list":
        return len(result["tools"]) == MANY and "nextCursor" not in result
    return result["structuredContent"] == RESULTS[call.removesuffix("_sync")]


def _against_ours(found: dict[Key, list[float]], call: str) -> dict[str, Timing]:
    return against({host: times for (host, each), times in found.items() if each == call}, "ours")


def _call_rows(found: dict[Key, list[float]]) -> Iterator[Row]:
    for call, hosts in LESS.items():
        kind, _, sync = call.partition("_")
        group = "sync" if sync else "async"
        timings = _against_ours(found, call)
        for host, goal in hosts.items():
            yield at_least(group, f"{group} tool, {kind}: {NAMES[host]}", goal, timings["ours"], timings[host])
    for call, goal in OVER_EMPTY.items():
        timings = against({host: found[host, call] for host in ("ours", FLOOR)}, FLOOR)
        yield at_most("bounds", f"async call, {call} ÷ {NAMES[FLOOR]}", goal, timings["ours"], timings[FLOOR])


def _protect_rows(found: dict[Key, list[float]]) -> Iterator[Row]:
    for host, (floor, goal) in PROTECTED.items():
        for call in ("nested", "flat"):
            timings = against({each: found[each, call] for each in (host, floor)}, floor)
            name = f"over HTTP, {call}: {NAMES[floor]}"
            yield at_most("protect", name, goal if call == "nested" else None, timings[host], timings[floor])


def _many_rows(found: dict[Key, list[float]]) -> Iterator[Row]:
    many, theirs = f"ours {MANY}", f"official_sdk {MANY}"
    timings = against({"ours": found["ours", "nested"], many: found[many, "nested"]}, "ours")
    name = f"async call, nested, with {MANY:,} tools ÷ with 10"
    yield at_most("bounds", name, MANY_GOAL, timings[many], timings["ours"])
    timings = against({host: found[host, "list"] for host in (many, theirs)}, many)
    yield at_least(
        "list", f"list of {MANY:,} tools: {NAMES['official_sdk']}", LIST_GOAL, timings[many], timings[theirs]
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
