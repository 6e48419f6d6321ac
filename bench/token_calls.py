"""A call through a dispatcher against the same call by the tool's own name -> rows of figures, in
CPU time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django_calls import ARGUMENTS, NEW, SLICE
from django_server import DjangoServer, Exchange, Project, over_mcp
from figures import Row, Tell, at_most, counting
from load import client_pinned
from measure import Clock, Task, against, compare, readings
from servers import ours
from servers.tools import Function, flat_sync

from toolbooth import ToolRegistry

GOAL = 1.1
ROUNDS = 30
SECONDS = 120
SIZES = {10: 0, 1702: 282}
"""The number of actions in the project of the Django suite, and of the resources added for that."""
CALLS = ("retrieve", "create")
WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "resource": ("contacts", {}),
    "app": ("django_project", {"resource": "contacts"}),
}
"""By the setting: the dispatcher with contacts, and its further arguments besides the action."""

Key = tuple[int, str, str, bool]
"""How many actions, how they are dispatched, the call, and whether it goes through the dispatcher.
"""

OFFER = {"title": "Tea", "quantity": 2, "price": 3.5, "urgent": False}


def calls(tell: Tell) -> list[Row]:
    """In the gateway, and in a registry of functions that do nothing."""
    return [*_gateway(tell), *_plain(tell)]


def _gateway(tell: Tell) -> Iterator[Row]:
    with TemporaryDirectory() as home, ExitStack() as stack, client_pinned():
        clocks: dict[Key, Clock] = {}
        for actions, resources in SIZES.items():
            for way in WAYS:
                tell(f"starting {actions} actions, dispatched by {way}")
                database = Path(home, f"{actions}-{way}.sqlite3")
                project = Project(database=database, resources=resources, dispatch=way)
                server = stack.enter_context(closing(DjangoServer(project)))
                clocks |= {(actions, way, *each): clock for each, clock in _clocks(server, way)}
        found = readings(clocks, ROUNDS, counting(tell, "dispatched calls", ROUNDS), SECONDS)
    for actions, way, call, through in clocks:
        if through:
            pair = {each: found[actions, way, call, each] for each in (True, False)}
            timings = against(pair, False)
            name = f"{actions:,} actions, by {way}: {call}"
            yield at_most("calls", name, GOAL, timings[True], timings[False])


def _clocks(server: DjangoServer, way: str) -> Iterator[tuple[tuple[str, bool], Clock]]:
    dispatcher, more = WAYS[way]
    for call in CALLS:
        direct = over_mcp("tools/call", name=f"contacts__{call}", arguments=ARGUMENTS[call])
        through = over_mcp(
            "tools/call", name=dispatcher, arguments={**more, "action": call, **ARGUMENTS[call]}
        )
        for each in (direct, through):
            _check(server, call, each)
        count = max(3, round(SLICE / min(server.cpu(direct, 5) for _ in range(3))))
        server.created(NEW)
        for sent in (direct, through):
            yield (call, sent is through), _clock(server, call, sent, count)


def _clock(server: DjangoServer, call: str, sent: Exchange, count: int) -> Clock:
    def read() -> float:
        seconds = server.cpu(sent, count)
        rows = server.created(NEW)
        if rows != (count if call == "create" else 0):
            raise AssertionError(f"{server.project}, {call}: {count} calls made {rows} rows")
        return seconds

    return read


def _check(server: DjangoServer, call: str, sent: Exchange) -> None:
    result = server.ask(sent)["result"]
    if result["isError"] or not result["structuredContent"]["id"]:
        raise AssertionError(f"{server.project}, {call}: {result}; the figure would mean nothing")
    server.created(NEW)


def _plain(tell: Tell) -> Iterator[Row]:
    """The function does nothing, so the cost is that of calling it."""
    for actions in (10, 1700):
        tell(f"a registry of {actions} tools")
        registry = _registry([flat_sync(f"tool_{number}") for number in range(actions)])
        direct, through = (
            json.dumps(OFFER).encode(),
            json.dumps({"action": "tool_3", **OFFER}).encode(),
        )
        if registry.dispatch_bytes("tool_3", direct) != registry.dispatch_bytes("all", through):
            raise AssertionError("the figure would mean nothing")
        tasks: dict[str, Task] = {
            "direct": lambda registry=registry, body=direct: registry.dispatch_bytes(
                "tool_3", body
            ),
            "through": lambda registry=registry, body=through: registry.dispatch_bytes("all", body),
        }
        timings = compare(tasks, "direct")
        name = f"{actions:,} functions that do nothing, in a ToolRegistry"
        yield at_most("plain", name, None, timings["through"], timings["direct"])


def _registry(tools: list[Function]) -> ToolRegistry:
    made = ours.registry(tools)
    made.dispatcher("all", {tool.__name__: tool.__name__ for tool in tools})
    return made
