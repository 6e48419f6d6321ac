"""Divides the costs of our server, to show the floor: an HTTP call by stage, a registration beside
Pydantic's own work for it, and the memory of a thousand tools by part.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing

from call_stages import APPLICATION, COLD, EMPTY, stages_of, wholes_of
from figures import Panel, Row, Suite, Tell, at_most, counting
from growth import grown, memory_row
from load import HttpServer, client_pinned
from measure import Timing, against, readings
from pydantic import TypeAdapter
from servers import official_sdk, ours
from servers.tools import Function
from serving import FLOOR, MANY, NAMES, call_clock
from starting import KINDS, SDK, Maker, registration_clock

HTTP_ROUNDS = 40
HTTP_SECONDS = 60
ROUNDS = 30
PROCESS_ROUNDS = 3


def measured(tell: Tell) -> list[Row]:
    """Every figure of the suite."""
    if sys.platform != "linux":
        raise SystemExit("The shares suite pins processes to CPUs: it needs Linux.")
    return [*_calls(tell), *_registrations(tell), *_memory(tell)]


# --- one call -----------------------------------------------------------------------------------


def _calls(tell: Tell) -> Iterator[Row]:
    over_http = _over_http(tell)
    for kind in KINDS:
        tell(f"the stages of a call, {kind}")
        whole, web = over_http["ours", kind], over_http[FLOOR, kind]
        stages, inside = stages_of(kind), wholes_of(kind)
        shares = {
            NAMES[FLOOR] + ", with uvicorn and its sockets": web,
            **stages,
            "the steps between these": inside[APPLICATION] - sum(stages.values()),
            "the rest, over HTTP only": whole - web - inside[APPLICATION] + inside[EMPTY],
            "**the whole call**": whole,
            f"{APPLICATION}, called in a loop": inside[APPLICATION],
            COLD: inside[COLD],
        }
        for name, seconds in shares.items():
            yield _share(kind, name, seconds, whole)


def _over_http(tell: Tell) -> dict[tuple[str, str], float]:
    """CPU seconds of a call over HTTP, by application and kind."""
    with client_pinned(), ExitStack() as stack:
        servers = {name: stack.enter_context(closing(HttpServer(name))) for name in ("ours", FLOOR)}
        clocks = {
            (name, kind): call_clock(server, kind)
            for name, server in servers.items()
            for kind in KINDS
        }
        found = readings(clocks, HTTP_ROUNDS, counting(tell, "HTTP", HTTP_ROUNDS), HTTP_SECONDS)
    return {key: min(times) for key, times in found.items()}


def _share(group: str, name: str, seconds: float, whole: float) -> Row:
    ratio = seconds / whole
    timing = Timing(seconds=seconds, ratio=ratio, low=ratio, high=ratio)
    return at_most(group, name, None, timing, Timing(seconds=whole, ratio=1, low=1, high=1))


# --- a registration -----------------------------------------------------------------------------


def _registrations(tell: Tell) -> Iterator[Row]:
    """The work of Pydantic alone for a tool, and our own, against the SDK."""
    makers: dict[str, Maker] = {
        "Pydantic's TypeAdapter": lambda tools: [TypeAdapter(each) for each in tools],
        "and its json_schema()": lambda tools: [TypeAdapter(each).json_schema() for each in tools],
        "Toolbooth, registered": ours.registry,
        "Toolbooth, and listed": _listed,
        SDK: official_sdk.server,
    }
    for kind, (fresh, _) in KINDS.items():
        clocks = {name: registration_clock(maker, fresh) for name, maker in makers.items()}
        found = readings(clocks, ROUNDS, counting(tell, f"registration, {kind}", ROUNDS))
        timings = against(found, SDK)
        for name in clocks:
            yield at_most("registration", f"{kind}: {name}", None, timings[name], timings[SDK])


def _listed(tools: list[Function]) -> object:
    return ours.registry(tools).page(0, None)


# --- memory -------------------------------------------------------------------------------------


def _memory(tell: Tell) -> Iterator[Row]:
    """The parts of a process with a thousand tools, against the whole process of the SDK."""
    parts = {host: _parts(tell, host) for host in ("ours", "official_sdk")}
    whole = sum(parts["official_sdk"].values())
    for host, name in (("ours", "Toolbooth"), ("official_sdk", SDK)):
        for part, size in parts[host].items():
            yield memory_row("memory", f"{name}: {part}", size, whole)
        total = sum(parts[host].values())
        yield memory_row("memory", f"**{name}: the whole process**", total, whole)


def _parts(tell: Tell, host: str) -> dict[str, float]:
    """Megabytes of each part: those of the smallest of several processes."""
    found: list[dict[str, float]] = []
    for number in range(PROCESS_ROUNDS):
        tell(f"memory of {host}, process {number + 1} of {PROCESS_ROUNDS}")
        found.append(grown(host, MANY))
    sizes = min(found, key=lambda each: each["listed, MB"])
    return {
        "Python and its modules": sizes["imported, MB"],
        "the tools' own models": sizes["tools, MB"] - sizes["imported, MB"],
        "registered": sizes["registered, MB"] - sizes["tools, MB"],
        "listed": sizes["listed, MB"] - sizes["registered, MB"],
    }


SUITE = Suite(
    name="shares",
    title="Where the time and the memory of our server go",
    groups={
        "flat": "One HTTP call, flat: shares of the whole",
        "nested": "The same, nested",
        "registration": "Registration of one tool ÷ official SDK",
        "memory": f"Memory of {MANY:,} tools ÷ the whole process of the SDK",
    },
    panels=(
        Panel(title="One HTTP call, flat: shares of the whole", groups=("flat",)),
        Panel(title="One HTTP call, nested: shares of the whole", groups=("nested",)),
        Panel(title="Registration of one tool ÷ official SDK", groups=("registration",)),
        Panel(title=f"Memory of {MANY:,} tools ÷ the whole process of the SDK", groups=("memory",)),
    ),
    packages=("toolbooth", "pydantic", "mcp", "uvicorn", "uvloop", "httptools"),
    measured=measured,
    shows_picture=True,
    whole=True,
)
