"""Web servers: our application and an empty one, each on uvicorn, granian and hypercorn.

granian and hypercorn are installed only here, in an environment of their own.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing

from environments import set_up
from figures import Panel, Row, Suite, Tell, at_most, counting
from load import HttpServer, client_pinned
from measure import against, readings
from serving import FLOOR, call_clock

PACKAGES = ("granian==2.8.7", "hypercorn==0.18.0")
WEB_SERVERS = ("uvicorn", "granian", "hypercorn")
CALLS = ("flat", "nested")
ROUNDS = 40
SECONDS = 150

Key = tuple[str, str, str]
"""A web server, the application on it, and the call."""


def measured(tell: Tell) -> list[Row]:
    """Every figure of the suite."""
    if sys.platform != "linux":
        raise SystemExit("The web suite pins processes to CPUs: it needs Linux.")
    tell("installing the web servers")
    # Toolbooth itself is not installed: the servers import its source.
    own = ("pydantic", "jiter", "orjson", "jsonschema-rs", "uvicorn[standard]")
    python = set_up("web", *PACKAGES, *own)
    with client_pinned(), ExitStack() as stack:
        servers = {
            (web, application): stack.enter_context(
                closing(HttpServer(application, web_server=web, python=python))
            )
            for web in WEB_SERVERS
            for application in ("ours", FLOOR)
        }
        clocks = {
            (web, application, call): call_clock(servers[web, application], call)
            for web in WEB_SERVERS
            for application in ("ours", FLOOR)
            for call in CALLS
        }
        found = readings(clocks, ROUNDS, counting(tell, "web servers", ROUNDS), SECONDS)
    return list(_rows(found))


def _rows(found: dict[Key, list[float]]) -> Iterator[Row]:
    first, *others = WEB_SERVERS
    applications = {"ours": "Toolbooth", FLOOR: "empty application"}
    for application, name in applications.items():
        for call in CALLS:
            timings = against({web: found[web, application, call] for web in WEB_SERVERS}, first)
            for web in others:
                label = f"{name}, {call}: {web}"
                yield at_most("servers", label, None, timings[web], timings[first])
    for web in WEB_SERVERS:
        for call in CALLS:
            timings = against({each: found[web, each, call] for each in applications}, FLOOR)
            yield at_most("over", f"{web}: {call}", None, timings["ours"], timings[FLOOR])


SUITE = Suite(
    name="web",
    title="One call on three web servers",
    groups={
        "servers": "CPU of a call ÷ the same on uvicorn",
        "over": "Toolbooth ÷ an empty application on the same web server",
    },
    panels=(
        Panel(title="CPU of a call ÷ the same on uvicorn (less is better)", groups=("servers",)),
        Panel(
            title="Toolbooth ÷ an empty application on the same web server (less is better)",
            groups=("over",),
        ),
    ),
    packages=("toolbooth", "uvicorn", "uvloop", "httptools", *PACKAGES),
    measured=measured,
    shows_picture=True,
    whole=True,
)
