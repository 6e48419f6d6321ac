"""What `mcp_doctor` looks at: each examination gives findings, each with what to do about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from django.conf import settings
from django.core.cache import caches
from django.db import connections
from django.test import RequestFactory
from rest_framework.authentication import SessionAuthentication

from toolbooth.django import messages
from toolbooth.django.call.caller import Caller
from toolbooth.django.checks import check_configuration, check_tools
from toolbooth.django.conf import configuration
from toolbooth.django.describe.catalogue import catalogue
from toolbooth.django.describe.former_guesses import Difference, differences
from toolbooth.django.management.users import unlogged
from toolbooth.django.testing import acting_as, endpoint_path
from toolbooth.lint.check import lint

MANY_TOKENS = 25_000
"""What tools may cost an agent before it has done anything."""

_CHOSEN = ("@mcp_ignore", "@extend_schema(exclude=True)", "its author set schema = None")
"""Reasons that are an author's own wish."""

Level = Literal["ok", "note", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at, and what to do about it."""

    level: Level
    what: str
    remedy: str = ""


Examination = Callable[[], Iterator[Finding]]


def _configuration() -> Iterator[Finding]:
    found = check_configuration()
    for each in found:
        yield Finding("error", f"{each.msg} ({each.id})", each.hint or "")
    if not settings.DEBUG and not settings.ALLOWED_HOSTS:
        yield Finding(
            "error",
            "no request is answered: ALLOWED_HOSTS is empty",
            "name the hosts that you serve",
        )
    if not found:
        yield Finding("ok", "the TOOLBOOTH setting")


def _endpoint() -> Iterator[Finding]:
    try:
        place = endpoint_path()
    except LookupError as error:
        what, _, remedy = str(error).partition("; ")
        yield Finding("error", what, remedy)
        return
    with unlogged():
        reply = acting_as(None).call("toolbooth_doctor")
    # There is no such tool, and only the endpoint says so; or it asks first who calls.
    if "error" in reply.raw or reply.text.startswith("who calls?"):
        yield Finding("ok", f"an agent reaches {place}")
        return
    what = f"an agent does not reach {place}: something before it answers HTTP {reply.status}"
    remedy = "look through MIDDLEWARE for what answers, and have it let this path pass"
    yield Finding(
        "error",
        what,
        "name the hosts that you serve in ALLOWED_HOSTS" if reply.status == 400 else remedy,
    )


def _tools() -> Iterator[Finding]:
    for each in catalogue().idle:
        kind = "resources" if "DISPATCH" in each.what else "tools"
        yield Finding(
            "warning",
            f"{each.what} adds nothing: {each.why}",
            f"`mcp_tools` lists the names of {kind}",
        )
    for each in check_tools():
        if each.id == "toolbooth.W001":
            yield Finding("note", each.msg, each.hint or "")
    tools = catalogue().registry.tools
    if not tools:
        narrow = configuration().include != ("*",)
        remedy = (
            "widen TOOLBOOTH['INCLUDE']"
            if narrow
            else "add REST framework views to the URLconf, as a router does"
        )
        yield Finding("error", "there is no tool", remedy)
        return
    cost = lint([tool.listing() for tool in tools.values()]).listing.tokens
    behind = (
        f" with {len(catalogue().registry.hidden):,} more behind them"
        if catalogue().registry.hidden
        else ""
    )
    what = f"{len(tools):,} tools{behind}, {cost:,} tokens"
    if cost > MANY_TOKENS:
        remedy = "put them behind dispatchers, TOOLBOOTH['DISPATCH'], or leave some out, TOOLBOOTH['EXCLUDE']"
        yield Finding("warning", f"{what} for every agent", remedy)
    else:
        yield Finding("ok", what)


def _left_out() -> Iterator[Finding]:
    for each in catalogue().left_out:
        what, _, remedy = each.why.partition("; ")
        yield Finding("note" if each.why in _CHOSEN else "warning", f"{each.what}: {what}", remedy)
    if not catalogue().left_out:
        yield Finding("ok", "every view and every field is published")


def _schemas() -> Iterator[Finding]:
    for each in catalogue().faults:
        yield Finding(
            "warning",
            f"{each.what}: drf-spectacular: {each.why}",
            "describe it with @extend_schema",
        )
    if not catalogue().faults:
        yield Finding("ok", "drf-spectacular could describe everything")
    report = lint([tool.listing() for tool in catalogue().registry.tools.values()])
    rules = Counter(each.rule for each in report.at_least("warning"))
    if rules:
        told = ", ".join(f"{rule} ({count})" for rule, count in rules.most_common())
        yield Finding(
            "note",
            f"some clients have trouble with: {told}",
            "`toolbooth lint URL` says which, and why",
        )


def _bodies() -> Iterator[Finding]:
    """Views whose bodies earlier versions guessed otherwise than they are declared."""
    found = list(differences(catalogue().actions))
    yield from map(_finding_of_difference, found)
    if not found:
        yield Finding("ok", messages.BODIES_ARE_DECLARED)


def _finding_of_difference(found: Difference) -> Finding:
    path = f"{found.view.__module__}.{found.view.__qualname__}"
    name = found.view.__qualname__
    match found.kind:
        case "undeclared body":
            serializer: Any = getattr(found.view, "serializer_class", None)
            reader: str = getattr(serializer, "__name__", "…")
            remedy = messages.declare_body(name, found.handler, reader)
            return Finding("warning", messages.undeclared_body(found.tool, path), remedy)
        case "newly sent body":
            remedy = messages.declare_no_body(name, found.handler)
            return Finding("note", messages.newly_sent_body(found.tool, path), remedy)
        case "unmarked list":
            remedy = messages.mark_as_bulk(name)
            return Finding("note", messages.unmarked_list(found.tool, path), remedy)


def _callers() -> Iterator[Finding]:
    ways = {type(way) for action in catalogue().ways for way in action.view().get_authenticators()}
    if ways and all(issubclass(way, SessionAuthentication) for way in ways):
        remedy = "add TokenAuthentication or another of its kind to DEFAULT_AUTHENTICATION_CLASSES"
        yield Finding(
            "warning", "callers are known by session cookie alone, and agents have none", remedy
        )
    nobody = Caller(RequestFactory().post("/"))
    opened = {
        name: action for name, action in catalogue().actions.items() if nobody.may_call(action)
    }
    writes = [name for name, action in opened.items() if action.method != "GET"]
    if writes:
        yield Finding(
            "warning",
            f"anybody may write: {_listed(writes)}",
            "set permission_classes, or EXCLUDE them",
        )
    reads = [name for name in opened if name not in writes]
    if reads:
        yield Finding("note", f"anybody may read: {_listed(reads)}")
    if not opened:
        yield Finding("ok", "every tool wants to know who calls")


def _databases() -> Iterator[Finding]:
    loose = [each.alias for each in connections.all() if not each.settings_dict["ATOMIC_REQUESTS"]]
    if loose:
        what = f"ATOMIC_REQUESTS is off for {', '.join(loose)}: what a view wrote before it failed stays, as over REST"
        yield Finding("note", what, "set it to True, and a refused call leaves no trace")
    else:
        yield Finding("ok", "a call that fails is rolled back")


def _results() -> Iterator[Finding]:
    """Where results are kept that are too large for one answer, and cannot be asked for again."""
    alias = configuration().cache
    backend = type(caches[alias]).__name__
    if backend == "LocMemCache":
        what = f"the cache {alias!r} is one process's own: other workers do not find the rest of a large result in it"
        yield Finding(
            "note", what, "with several workers, name a cache that they share: TOOLBOOTH['CACHE']"
        )
    elif backend == "DummyCache":
        what = f"the cache {alias!r} keeps nothing: results that cannot be asked for again come whole, however large"
        yield Finding("note", what, "name another cache: TOOLBOOTH['CACHE']")
    else:
        yield Finding("ok", f"large results are kept in the cache {alias!r}")


EXAMINATIONS: dict[str, Examination] = {
    "Configuration": _configuration,
    "Endpoint": _endpoint,
    "Tools": _tools,
    "Left out": _left_out,
    "Schemas": _schemas,
    "Bodies": _bodies,
    "Who may call": _callers,
    "Databases": _databases,
    "Results": _results,
}


def findings(examine: Examination) -> Iterable[Finding]:
    """What an examination finds; that it fails is a finding too."""
    found: list[Finding] = []
    try:
        found.extend(examine())
    except Exception as error:
        found.append(
            Finding(
                "error",
                f"this could not be looked at: {type(error).__name__}: {error}",
                _see(error),
            )
        )
    return found


def _see(error: Any) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return (
        f"see {trace.tb_frame.f_code.co_filename}, line {trace.tb_lineno}"
        if trace is not None
        else ""
    )


def _listed(names: list[str]) -> str:
    more = len(names) - 8
    return ", ".join(names[:8]) + (f" and {more} more" if more > 0 else "")
