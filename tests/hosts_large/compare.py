"""A large project behind the gateway, compared with its REST API: the comparisons of calls, by
kind. run.py runs one of them in the project's own environment; endpoints.py has one more.

Each returns figures, with every call that is not equal under "details". What a project provides is
in its `host.py`:

- `USERS`: headers for "owner", "colleague", "stranger" and "anonymous"
- `PATHS`: values for the kwargs of URLs, by `(path, kwarg)` or by kwarg
- `WRITES`: `(tool, arguments)`, or `(tool, arguments, RestCall)` where the REST call is not the
  obvious one
- if needed `READS`: further `(tool, arguments)` that read
- `PACKAGES`: the packages of the project
- `RANDOM`: columns and keys whose values are random
- `LEFT_OUT`: tools that are not called here, with the reason
- `UNLIKE`: tools whose answers cannot be equal, with the reason; their rows are compared
- if needed `SERVER_NAME`, `DATABASES`, `CHANGED_TABLES`, `RANDOM_TEXTS`, `JOINED`, `URLCONF`,
  `OF_THE_HOST` (rules of lint that are the host's own affair), `COST` (tools for `cost`)
"""

import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import host
import twins
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import set_urlconf
from twin_calls import RestCall, answered, message, rest_call

from toolbooth.django.describe.catalogue import Catalogue, catalogue

Figures = dict[str, Any]


def progress(at: int, every: int, what: str) -> None:
    if at % 50 == 0:
        print(f"{at} of {every}: {what}", file=sys.stderr, flush=True)


# --- the project ----------------------------------------------------------------------------------


@cache
def project() -> Catalogue:
    """Return the catalogue. It is built as an agent's first request builds it."""

    set_urlconf(getattr(host, "URLCONF", None))
    return catalogue()


@cache
def tools() -> dict[str, Any]:
    """Return the tools that are published to the owner."""

    return twins.listed(host.USERS["owner"])


def required(tool: str) -> list[str]:
    return project().registry.find(tool).contract.schema.get("required", [])


def properties(tool: str) -> Any:
    return project().registry.find(tool).contract.schema.get("properties", {})


def kwargs(tool: str) -> list[str]:
    return re.findall(r"{(\w+)}", project().actions[tool].path)


def address(tool: str) -> dict[str, Any]:
    """Return the arguments that name a row that exists."""

    path = project().actions[tool].path
    return {
        name: host.PATHS.get((path, kwarg), host.PATHS.get(kwarg, 1))
        for name, kwarg in zip(required(tool), kwargs(tool), strict=False)
    }


# --- one call, twice ------------------------------------------------------------------------------

EQUAL = ("equal", "both refused", "both failed", "equal but for the answer", "not JSON over REST")
OTHER = ("REST ok, MCP refused", "REST failed, MCP refused", "different", "left out")


class Tally:
    """The figures of a comparison."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.details: list[str] = []

    def add(self, verdict: str, detail: str = "") -> None:
        self.counts[verdict] += 1
        if verdict not in EQUAL:
            self.details.append(f"{verdict}: {detail}"[:1500])

    def figures(self) -> Figures:
        compared = sum(self.counts.values()) - self.counts["left out"]
        counts = {name: self.counts[name] for name in (*EQUAL, *OTHER)}
        return {"compared": compared, **counts, "details": self.details}


def verdict(tool: str, rest: Any, mcp: Any) -> str:
    """Classify two outcomes of one call."""

    if rest.kind == 2 and mcp.kind == 4:
        return "REST ok, MCP refused"
    if rest.kind == 5 and mcp.kind == 4:
        return "REST failed, MCP refused"
    if rest.kind != mcp.kind or rest.rows != mcp.rows:
        return "different"
    if rest.kind != 2:
        return "both refused" if rest.kind == 4 else "both failed"
    if not rest.is_json:
        return "not JSON over REST"
    if tool in host.UNLIKE:
        return "equal but for the answer"
    return "equal" if is_equal_answer(rest.answer, mcp.answer) else "different"


RECEIPT_OF_DELETE = ("deleted", "unlinked", "changed", "note")
"""The gateway's additions to the answer of a delete."""


def is_equal_answer(rest: Any, mcp: Any) -> bool:
    if rest is None:  # over REST there is only the status
        told = {"status", "location", "content_type", "result", *RECEIPT_OF_DELETE}
        return isinstance(mcp, dict) and set(mcp) <= told
    if isinstance(mcp, dict) and isinstance(rest, dict):
        mcp = {name: mcp[name] for name in mcp if name in rest or name not in RECEIPT_OF_DELETE}
        if rest.get("next") and "continuation" not in rest:  # how an agent asks for that page
            mcp = {name: each for name, each in mcp.items() if name != "continuation"}
    if isinstance(rest, list) and isinstance(mcp, dict):
        mcp = {name: each for name, each in mcp.items() if name != "headers"}  # of the pagination
    if isinstance(mcp, dict) and {"status", "content_type", "text"} <= set(mcp):
        mcp = answered(mcp["text"])  # of a file, which is JSON here
    return mcp == answered(rest)


def difference(rest: Any, mcp: Any) -> str:
    """Describe in few words where two outcomes differ."""

    words = [f"REST {rest.kind}, MCP {mcp.kind}"]
    if rest.kind != mcp.kind or not is_equal_answer(rest.answer, mcp.answer):
        one, two = json.dumps(rest.answer, sort_keys=True), json.dumps(mcp.answer, sort_keys=True)
        at = next((i for i, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), 0)
        start = max(0, at - 120)
        words.append(
            f"answers from {start}: REST {one[start : at + 200]} MCP {two[start : at + 200]}"
        )
    if rest.rows != mcp.rows:
        words.append(f"rows (came: MCP, went: REST): {twins.changes(mcp.rows, rest.rows)}")
    return "; ".join(words)


def compared(
    tally: Tally, user: str, tool: str, write: tuple[Any, ...], *, with_rows: bool
) -> None:

    if tool in host.LEFT_OUT:
        tally.add("left out", f"{tool}: {host.LEFT_OUT[tool]}")
        return
    arguments: dict[str, Any] = write[0]
    call = write[1] if len(write) > 1 else _rest_call(tool, arguments)
    rest = twins.over_rest(host.USERS[user], call, arguments, with_rows=with_rows)
    more = {"verify": True} if "verify" in properties(tool) and "verify" not in arguments else {}
    mcp = twins.over_mcp(host.USERS[user], tool, {**arguments, **more}, with_rows=with_rows)
    found = verdict(tool, rest, mcp)
    tally.add(found, f"{tool} {json.dumps(arguments)[:300]} as {user}: {difference(rest, mcp)}")


def _rest_call(tool: str, arguments: dict[str, Any]) -> RestCall:
    action = project().actions[tool]
    return rest_call(
        action.method,
        action.path,
        arguments,
        required(tool),
        whole="objects" if "objects" in arguments else None,
        joined=getattr(host, "JOINED", ()),
    )


# --- reads ----------------------------------------------------------------------------------------


def reads() -> Figures:
    """Make every GET as every user: the same kind of status, the same answer."""

    _prepare()
    tally = Tally()
    calls = list(_reads())
    for at, (tool, arguments) in enumerate(calls):
        progress(at, len(calls), "reads compared")
        for user in host.USERS:
            compared(tally, user, tool, (arguments,), with_rows=False)
    return tally.figures()


def _reads() -> Iterator[tuple[str, dict[str, Any]]]:
    for tool, action in project().actions.items():
        if action.method == "GET":
            yield tool, address(tool)
            if "page" in properties(tool) and "page" not in _controls(tool):
                yield tool, {**address(tool), "page": 1}
    yield from getattr(host, "READS", ())


def _controls(tool: str) -> Any:
    """Return the arguments of a tool that REST does not have, from its help."""
    told = twins.over_mcp(host.USERS["owner"], tool, {"help": True}, with_rows=False).answer
    return told["protocol"] if isinstance(told, dict) else ("page",)  # not one of the owner's tools


def _prepare() -> None:

    project()
    twins.learn_uuids()


# --- writes ---------------------------------------------------------------------------------------


def writes() -> Figures:
    """Make every write of the host as every user: the same rows in every table, the same answer."""

    _prepare()
    tally = Tally()
    done: set[str] = set()
    for at, (tool, *write) in enumerate(host.WRITES):
        progress(at, len(host.WRITES), "writes compared")
        if tool not in project().actions:
            tally.add("REST ok, MCP refused", f"{tool}: there is no such tool")
            continue
        for user in host.USERS:
            before = tally.counts["equal"] + tally.counts["equal but for the answer"]
            compared(tally, user, tool, tuple(write), with_rows=True)
            after = tally.counts["equal"] + tally.counts["equal but for the answer"]
            if user == "owner" and after > before:
                done.add(tool)
    return {**tally.figures(), "writes": len(host.WRITES), "tools that wrote": len(done)}


# --- malformed ------------------------------------------------------------------------------------


def malformed() -> Figures:
    """Send every write wrapped, misspelt, as JSON text and with an extra key: no row changes,
    unless the call has the same meaning as the correct one.
    """

    _prepare()
    owner = host.USERS["owner"]
    counts: Counter[str] = Counter()
    details: list[str] = []
    for at, (tool, arguments, *_) in enumerate(host.WRITES):
        progress(at, len(host.WRITES), "writes malformed")
        if tool in host.LEFT_OUT or tool not in project().actions:
            continue
        base = twins.rows(arguments)
        right = twins.over_mcp(owner, tool, arguments)
        for name, wrong, may_pass in _malformed(tool, arguments):
            found = twins.over_mcp(owner, tool, wrong, sent=arguments)
            if found.rows in (base, {}) and found.kind == 4:
                counts["refused, no row changed"] += 1
            elif may_pass and (found.kind, found.rows) == (right.kind, right.rows):
                counts["the same as the right call"] += 1
            elif may_pass and _is_as_rest(tool, wrong, found):
                counts["text in a field of any type, as over REST"] += 1
            else:
                counts["different"] += 1
                changed = twins.changes(found.rows, base)
                details.append(
                    f"{tool}, {name}: {found.kind} {str(found.answer)[:300]} {changed}"[:1500]
                )
    names = (
        "refused, no row changed",
        "the same as the right call",
        "text in a field of any type, as over REST",
        "different",
    )
    figures = {name: counts[name] for name in names}
    return {"compared": sum(counts.values()), **figures, "details": details}


def _is_as_rest(tool: str, arguments: Any, found: twins.Outcome) -> bool:
    if not isinstance(arguments, dict):
        return False
    rest = twins.over_rest(host.USERS["owner"], _rest_call(tool, arguments), arguments)
    return (rest.kind, rest.rows) == (found.kind, found.rows)


def _malformed(tool: str, arguments: dict[str, Any]) -> Iterator[tuple[str, Any, bool]]:
    """Yield wrong forms of a call, each with whether it may have the same meaning as the correct
    one.
    """
    flat = {name: each for name, each in arguments.items() if name in address(tool)}
    body = {name: each for name, each in arguments.items() if name not in flat}
    yield "an extra key", {**arguments, "no_such_field": 1}, False
    yield "as JSON text", json.dumps(arguments), True
    yield "all wrapped", {"request": arguments}, False
    if not body:
        return
    # A document of any content may be called "data": then a wrapper has another name.
    wrapper = "data" if "data" not in properties(tool) else "payload"
    yield "wrapped", {**flat, wrapper: body}, False
    yield "wrapped as JSON text", {**flat, wrapper: json.dumps(body)}, False
    first = next(iter(body))
    kept = {name: each for name, each in arguments.items() if name != first}
    yield "misspelt", {**kept, f"{first}{first[-1]}x": body[first]}, False
    texts = {
        name: json.dumps(each) if isinstance(each, list | dict) else each
        for name, each in arguments.items()
    }
    if texts != arguments:
        yield "values as JSON text", texts, True


# --- cost -----------------------------------------------------------------------------------------

ROUNDS = 40
DEPTHS = (0, 24, 48, 72, 96)
"""Numbers of frames under the call. Some depth may be slow on Python 3.11
(toolbooth.django.call.frame_room), over REST as well as over MCP: the best of several depths is
never such a one.
"""
MOST = 1.25
"""CPU time over MCP, as a multiple of REST and an empty request."""


def cost() -> Figures:
    """CPU time of MCP ÷ REST, interleaved, best of many; and the queries of each."""

    _prepare()
    figures: Figures = {}
    for kind, (tool, arguments) in getattr(host, "COST", None) or _typical():
        figures[kind] = _cost(tool, arguments)
    kinds = list(figures.values())
    return {
        **figures,
        "slow": sum(each["MCP ÷ (REST + empty)"] > MOST for each in kinds),
        "more queries": sum(
            each["queries of MCP"] > each["queries of REST"] + each["queries of empty"]
            for each in kinds
        ),
        "details": [],
    }


def _typical() -> Iterator[tuple[str, tuple[str, dict[str, Any]]]]:
    """A list and a row that the owner reads."""

    for kind in ("retrieve", "list"):
        for tool, action in project().actions.items():
            if action.name == kind and tool not in host.LEFT_OUT:
                found = twins.over_mcp(host.USERS["owner"], tool, address(tool), with_rows=False)
                if found.kind == 2:
                    yield kind, (tool, address(tool))
                    break


def _cost(tool: str, arguments: dict[str, Any]) -> Figures:

    call = _rest_call(tool, arguments)
    browser = twins.client(host.USERS["owner"])
    text = message("tools/call", {"name": tool, "arguments": arguments})
    ways: dict[str, Callable[[], Any]] = {
        "REST": lambda: browser.get(call.path),
        "MCP": lambda: browser.post(twins.ENDPOINT, text, content_type="application/json"),
        "empty": lambda: browser.get(twins.ENDPOINT),  # 405, after the host's middleware
    }
    best = dict.fromkeys(ways, float("inf"))
    for at in range(ROUNDS):
        for way, work in ways.items():
            with twins.undone():
                spent = _cpu_seconds(DEPTHS[at % len(DEPTHS)], work)
            best[way] = min(best[way], spent)
    return {
        "tool": tool,
        **{f"{way}, CPU ms": round(spent * 1000, 2) for way, spent in best.items()},
        "MCP ÷ REST": round(best["MCP"] / best["REST"], 2),
        "MCP ÷ (REST + empty)": round(best["MCP"] / (best["REST"] + best["empty"]), 2),
        **{f"queries of {way}": _queries(work) for way, work in ways.items()},
    }


def _cpu_seconds(depth: int, work: Callable[[], Any]) -> float:
    """Measure the CPU time of some work with more frames under it."""
    if depth:
        return _cpu_seconds(depth - 1, work)
    started = time.process_time()
    work()
    return time.process_time() - started


def _queries(work: Callable[[], Any]) -> int:
    with twins.undone(), CaptureQueriesContext(connection) as captured:
        work()
    return len(captured)


KINDS: dict[str, Callable[[], Figures]] = {
    "reads": reads,
    "writes": writes,
    "malformed": malformed,
    "cost": cost,
}
