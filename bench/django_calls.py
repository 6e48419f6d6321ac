"""The gateway over HTTP -> rows of figures: a call against the same REST call in the same process,
and other gateways.

A figure counts only if the call was a complete REST call: authentication, permission and throttle
ran once each, and every create made a row with all of its fields, its foreign key and its tags.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import UUID

import django_peer
from django_server import FURTHER, NUMBER, DjangoServer, Exchange, Project, over_mcp
from figures import Row, Tell, at_least, at_most, counting
from load import client_pinned
from measure import Clock, against, readings

ROUNDS = 60
SECONDS = 300
SLICE = 0.05
"""CPU seconds of one server in one round."""

MANY = 1000
CALL_GOAL = 1.25
LISTS = {
    "open": ("unfiltered", 0.005, MANY),
    "of models": ("filtered for the caller", 0.060, MANY - 1),
    "of models, own stateless token": (
        "filtered, with an authenticator of one's own",
        0.300,
        MANY - 1,
    ),
    "of models, own token": (
        "filtered, with an authenticator of one's own that makes a query",
        0.300,
        MANY - 1,
    ),
}
"""By the permissions of the views: the name of the list, its limit, and its number of tools."""

ASKED_PER_TOOL = ("of models, own stateless token", "of models, own token")
"""Lists for which each view runs its authenticator."""

AUTHENTICATORS = Exchange(method="GET", path=f"/authenticate?times={MANY}")
"""The work of the authenticators for one list, and nothing else."""

OWN_MIDDLEWARE = "own middleware"
"""The server whose project has middleware that runs around each call as well."""

PEER = "frisian"
PEER_NAME = django_peer.NAME

ONE = str(UUID(int=3))
COMPANY = str(UUID(int=1))
NEW: dict[str, Any] = {
    "email": "ben@example.org",
    "first_name": "Ben",
    "last_name": "Bos",
    "notes": f"met at the fair, visitor {NUMBER}",
    "age": 41,
    "subscribed": True,
    "company": COMPANY,
    "tags": [COMPANY, str(UUID(int=2))],
}
REST = {
    "retrieve": Exchange(method="GET", path=f"/api/contacts/{ONE}/"),
    "list": Exchange(method="GET", path="/api/contacts/"),
    "create": Exchange(
        method="POST", path="/api/contacts/", body=json.dumps(NEW).encode(), status=201
    ),
}
ARGUMENTS: dict[str, dict[str, Any]] = {"retrieve": {"id": ONE}, "list": {}, "create": NEW}
MCP = {
    call: over_mcp("tools/call", name=f"contacts__{call}", arguments=each)
    for call, each in ARGUMENTS.items()
}
LISTING = over_mcp("tools/list")
EMPTY = Exchange(method="GET", path="/nothing", status=404)
"""A request through the middleware, to no view."""

EVERY = ("authentication", "permission", "throttle")
ASKED = {"retrieve": (*EVERY, "row's permission"), "list": EVERY, "create": EVERY}
"""The checks that a REST call makes once each, and so must a call over MCP."""

Key = tuple[str, str, str]
"""A server, the protocol (REST or MCP), and the call."""


def over_http(tell: Tell) -> list[Row]:
    """Every figure that is taken over HTTP, all of them in the same rounds."""
    with client_pinned(), _running(tell) as servers:
        clocks = {key: _clock(servers[key[0]], *key[1:]) for key in _wanted()}
        found = readings(clocks, ROUNDS, counting(tell, "gateway over HTTP", ROUNDS), SECONDS)
    return [*_call_rows(found), *_list_rows(found), *_peer_rows(found)]


@contextmanager
def _running(tell: Tell) -> Iterator[dict[str, DjangoServer]]:
    with TemporaryDirectory() as home, ExitStack() as stack:

        def project(name: str, **how: Any) -> Project:
            return Project(database=Path(home, f"{name}.sqlite3"), **how)

        wanted = {
            "gunicorn": project("gunicorn"),
            "uvicorn": project("uvicorn", server="uvicorn"),
            PEER: project(PEER, gateway=PEER),
            OWN_MIDDLEWARE: project(
                "middleware", middleware="servers.django_project.watched.PathMiddleware"
            ),
        }
        for each in LISTS:
            for gateway in ("toolbooth", PEER):
                name = f"{gateway}, {each}"
                wanted[name] = project(name, gateway=gateway, resources=FURTHER, permissions=each)
        servers: dict[str, DjangoServer] = {}
        for name, each in wanted.items():
            tell(f"starting {name}")
            servers[name] = stack.enter_context(closing(DjangoServer(each)))
        for name in ("gunicorn", "uvicorn"):
            _check_refusals(servers[name])
        yield servers


def _check_refusals(server: DjangoServer) -> None:
    """Check that callers whom REST refuses are refused over MCP."""
    for user, status in ((None, 401), ("visitor", 403), ("limited", 429)):
        server.ask(Exchange(method="GET", path=REST["retrieve"].path, user=user, status=status))
        sent = over_mcp(
            "tools/call",
            user=user,
            status=status if user is None else 200,
            name="contacts__retrieve",
            arguments=ARGUMENTS["retrieve"],
        )
        answer = server.ask(sent)
        if user is not None and not answer["result"]["isError"]:
            raise AssertionError(f"{server.project}: {user} is let in over MCP: {answer}")


def _wanted() -> list[Key]:
    calls = [
        (server, way, call)
        for server in ("gunicorn", "uvicorn", PEER)
        for way in ("REST", "MCP")
        for call in REST
    ]
    many = [("toolbooth, open", way, "retrieve") for way in ("REST", "MCP")]
    many += [(OWN_MIDDLEWARE, way, call) for way in ("REST", "MCP") for call in REST]
    many.append((OWN_MIDDLEWARE, "REST", "empty"))
    lists = [
        (f"{gateway}, {each}", "MCP", "tools") for each in LISTS for gateway in ("toolbooth", PEER)
    ]
    alone = [(f"toolbooth, {each}", "REST", "authenticators") for each in ASKED_PER_TOOL]
    return calls + many + lists + alone


def _clock(server: DjangoServer, way: str, call: str) -> Clock:
    """A clock for one kind of request to one server. The answers are checked before, and the work
    is checked each time.
    """
    if call == "tools":
        return _plain_clock(server, *_pages(server))
    if call == "empty":
        return _plain_clock(server, EMPTY)
    if call == "authenticators":
        return _plain_clock(server, AUTHENTICATORS)
    sent = (REST if way == "REST" else MCP)[call]
    _check_answer(server, way, call, server.ask(sent))
    count = _count(server, sent)
    server.created(NEW)
    watched = server.project.permissions == "watched"
    expected = {name: count for name in ASKED[call] if watched or "permission" not in name}

    def read() -> float:
        server.asked()
        seconds = server.cpu(sent, count)
        found = server.asked()
        if found != expected:
            raise AssertionError(f"{server.project}, {way}, {call}: {count} calls asked {found}")
        rows = server.created(NEW)
        if rows != (count if call == "create" else 0):
            raise AssertionError(f"{server.project}, {way}, {call}: {count} calls made {rows} rows")
        return seconds

    return read


def _check_answer(server: DjangoServer, way: str, call: str, answer: Any) -> None:
    if way == "MCP":
        result = answer["result"]
        content = result.get("structuredContent") or json.loads(result["content"][0]["text"])
        answer = {"isError": True} if result.get("isError") else content
    right = {
        "retrieve": lambda: answer["email"] == "contact3@example.org" and len(answer["tags"]) == 2,
        "list": lambda: len(answer["results"]) == 20 and answer["results"][3]["id"],
        "create": lambda: answer["id"],
    }[call]
    try:
        if right():
            return
    except KeyError:
        pass
    raise AssertionError(
        f"{server.project}, {way}, {call}: {answer}; the figure would mean nothing"
    )


def _pages(server: DjangoServer) -> list[Exchange]:
    """The requests for the whole list, which may have several pages."""
    pages, tools = [LISTING], 0
    while True:
        result = server.ask(pages[-1])["result"]
        tools += len(result["tools"])
        if "nextCursor" not in result:
            break
        pages.append(over_mcp("tools/list", cursor=result["nextCursor"]))
    wanted = LISTS[server.project.permissions][2]
    if tools != wanted:
        raise AssertionError(
            f"{server.project}: {tools} tools, not {wanted}; the figure would mean nothing"
        )
    return pages


def _plain_clock(server: DjangoServer, *sent: Exchange) -> Clock:
    """The CPU seconds of the requests, one after the other."""
    counts = [_count(server, each) for each in sent]

    def read() -> float:
        return sum(server.cpu(each, count) for each, count in zip(sent, counts, strict=True))

    return read


def _count(server: DjangoServer, sent: Exchange) -> int:
    """The number of requests that fill a slice once the server is warm."""
    warm = min(server.cpu(sent, 5) for _ in range(3))
    return max(3, round(SLICE / warm))


def _call_rows(found: dict[Key, list[float]]) -> Iterator[Row]:
    for server in ("gunicorn", "uvicorn"):
        for call in REST:
            yield _over_rest(found, server, call, server, f"{server}: {call}", CALL_GOAL)
    yield _over_rest(
        found,
        "toolbooth, open",
        "retrieve",
        "gunicorn",
        f"gunicorn: retrieve, {MANY:,} tools",
        None,
    )
    for call in REST:
        yield _over_both(found, call)
    for call in REST:
        yield _over_rest(found, PEER, call, "theirs", f"{PEER_NAME}: {call}", None)


def _over_rest(
    found: dict[Key, list[float]], server: str, call: str, group: str, name: str, goal: float | None
) -> Row:
    timings = against({way: found[server, way, call] for way in ("REST", "MCP")}, "REST")
    return at_most(group, name, goal, timings["MCP"], timings["REST"])


def _over_both(found: dict[Key, list[float]], call: str) -> Row:
    """A call against the REST call and an empty request, because the middleware runs for the
    message and for the call in it.
    """
    rest, empty = found[OWN_MIDDLEWARE, "REST", call], found[OWN_MIDDLEWARE, "REST", "empty"]
    both = [sum(each) for each in zip(rest, empty, strict=True)]
    timings = against({"MCP": found[OWN_MIDDLEWARE, "MCP", call], "both": both}, "both")
    name = f"gunicorn, own middleware: {call} ÷ (REST + an empty request)"
    return at_most("gunicorn", name, CALL_GOAL, timings["MCP"], timings["both"])


def _list_rows(found: dict[Key, list[float]]) -> Iterator[Row]:
    for each, (words, seconds, _) in LISTS.items():
        times = found[f"toolbooth, {each}", "MCP", "tools"]
        name = f"{MANY:,} tools, {words}"
        yield _list_row(name, seconds, times, 1)
        if each in ASKED_PER_TOOL:
            alone = found[f"toolbooth, {each}", "REST", "authenticators"]
            best = min(alone)  # the difference within a round would have the noise of both readings
            without = [each - best for each in times]
            yield _list_row(f"{name}: the authenticators alone", seconds, alone, None)
            yield _list_row(f"{name}: without the authenticators", seconds, without, 1)


def _list_row(name: str, seconds: float, times: list[float], goal: float | None) -> Row:
    timings = against({"ours": times, "allowed": [seconds] * len(times)}, "allowed")
    full = f"{name} ÷ {seconds * 1000:g} ms"
    return at_most("lists", full, goal, timings["ours"], timings["allowed"])


def _peer_rows(found: dict[Key, list[float]]) -> Iterator[Row]:
    """How many times less CPU than the peer, whose calls must pass the same checks."""
    pairs = {call: ("gunicorn", PEER, call) for call in REST}
    pairs |= {
        f"list of {MANY:,} tools, {words}": (f"toolbooth, {each}", f"{PEER}, {each}", "tools")
        for each, (words, _, _) in LISTS.items()
    }
    for name, (ours, theirs, call) in pairs.items():
        timings = against(
            {"ours": found[ours, "MCP", call], "theirs": found[theirs, "MCP", call]}, "ours"
        )
        goal = 1 if call == "tools" and "of models" in ours and "own" not in ours else None
        yield at_least("peer", name, goal, timings["ours"], timings["theirs"])
