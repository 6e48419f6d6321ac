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
from django.urls import Resolver404, resolve
from rest_framework.authentication import SessionAuthentication

from toolbooth.django.call.caller import Caller
from toolbooth.django.call.inner_middleware import chain_of, inner_middleware
from toolbooth.django.call.key_limits import reason_without_key
from toolbooth.django.call.messages import ANONYMOUS
from toolbooth.django.call.used_keys import alias_of_keys, has_table
from toolbooth.django.checks import check_configuration, check_entries, check_tools
from toolbooth.django.conf import configuration
from toolbooth.django.describe.catalogue import catalogue
from toolbooth.django.describe.discovery import Action
from toolbooth.django.describe.former_guesses import (
    Difference,
    differences,
    handler_of,
    reads_body,
    uses_request_data,
)
from toolbooth.django.describe.messages import INTENDED
from toolbooth.django.management import messages
from toolbooth.django.management.users import unlogged
from toolbooth.django.testing import acting_as, endpoint_path, path_info
from toolbooth.lint.check import lint

MANY_TOKENS = 25_000
"""What tools may cost an agent before it has done anything."""

MOST_NAMES = 8
"""Names of tools in one finding."""

Level = Literal["ok", "note", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at, and what to do about it."""

    level: Level
    what: str
    remedy: str = ""


Examination = Callable[[], Iterator[Finding]]


def _configuration() -> Iterator[Finding]:
    found = [*check_configuration(), *check_entries()]
    for each in found:
        yield Finding("error", f"{each.msg} ({each.id})", each.hint or "")
    warned = [each for each in check_tools() if each.id == "toolbooth.W004"]
    for each in warned:
        yield Finding("warning", f"{each.msg} ({each.id})", each.hint or "")
    if not settings.DEBUG and not settings.ALLOWED_HOSTS:
        yield Finding("error", messages.NO_HOSTS, messages.NAME_YOUR_HOSTS)
    if not found and not warned:
        yield Finding("ok", "the TOOLBOOTH setting")


def _endpoint() -> Iterator[Finding]:
    try:
        path = endpoint_path()
    except LookupError as error:
        what, _, remedy = str(error).partition("; ")
        yield Finding("error", what, remedy)
        return
    match = resolve(path_info(path))
    if match.view_name != "toolbooth:mcp":
        yield Finding("error", messages.shadowed(path, match.route), messages.MOVE_ENDPOINT_UP)
        return
    with unlogged():
        reply = acting_as(None).call("toolbooth_doctor")
    # There is no such tool, and only the endpoint says so; or it asks first who calls.
    if "error" in reply.raw or reply.text.startswith("who calls?"):
        yield Finding("ok", f"an agent reaches {path}")
        if not _is_served(path.rstrip("/")):
            yield Finding("note", messages.only_with_slash(path), messages.MOUNT_WITHOUT_SLASH)
        return
    is_bad_host = reply.status == 400
    remedy = messages.NAME_YOUR_HOSTS_IN_SETTING if is_bad_host else messages.LOOK_INTO_MIDDLEWARE
    yield Finding("error", messages.not_reached(path, reply.status), remedy)


def _is_served(path: str) -> bool:
    """Whether the endpoint is at a path. The root of a host has no form without a slash."""
    try:
        return not path or resolve(path_info(path)).view_name == "toolbooth:mcp"
    except Resolver404:
        return False


def _tools() -> Iterator[Finding]:
    for each in catalogue().unused_patterns:
        kind = "resources" if "DISPATCH" in each.what else "tools"
        yield Finding("warning", f"{each.what} adds nothing: {each.why}", messages.list_names(kind))
    for each in check_tools():
        if each.id == "toolbooth.W001":
            yield Finding("note", each.msg, each.hint or "")
    tools = catalogue().registry.tools
    if not tools:
        is_narrow = configuration().include != ("*",)
        remedy = messages.WIDEN_INCLUDE if is_narrow else messages.ADD_VIEWS
        yield Finding("error", "there is no tool", remedy)
        return
    cost = lint([tool.listing() for tool in tools.values()]).listing.tokens
    what = messages.cost_of_tools(len(tools), len(catalogue().registry.hidden), cost)
    if cost > MANY_TOKENS:
        yield Finding("warning", f"{what} for every agent", messages.USE_DISPATCHERS)
    else:
        yield Finding("ok", what)


def _left_out() -> Iterator[Finding]:
    for each in catalogue().left_out:
        what, _, remedy = each.why.partition("; ")
        level: Level = "note" if each.why in INTENDED else "warning"
        yield Finding(level, f"{each.what}: {what}", remedy)
    if not catalogue().left_out:
        yield Finding("ok", messages.NOTHING_LEFT_OUT)


def _schemas() -> Iterator[Finding]:
    for each in catalogue().faults:
        what = f"{each.what}: drf-spectacular: {each.why}"
        yield Finding("warning", what, "describe it with @extend_schema")
    if not catalogue().faults:
        yield Finding("ok", "drf-spectacular could describe everything")
    report = lint([tool.listing() for tool in catalogue().registry.tools.values()])
    rules = Counter(each.rule for each in report.at_least("warning"))
    if rules:
        counts = ", ".join(f"{rule} ({count})" for rule, count in rules.most_common())
        yield Finding("note", messages.trouble_for_clients(counts), messages.RUN_LINT)


def _bodies() -> Iterator[Finding]:
    """Actions that declare no body, and views whose bodies earlier versions guessed otherwise than
    they are declared.
    """
    found = [_finding_of_undeclared_body(tool) for tool in catalogue().undeclared_bodies]
    changed = differences(catalogue().actions, catalogue().configuration)
    found += map(_finding_of_difference, changed)
    yield from found
    if not found:
        yield Finding("ok", messages.BODIES_ARE_DECLARED)


def _finding_of_undeclared_body(tool: str) -> Finding:
    action = catalogue().actions[tool]
    handler = handler_of(action)
    view = f"{action.view.__module__}.{action.view.__qualname__}"
    what = messages.action_without_body(tool, f"{view}.{handler}")
    if not uses_request_data(action):
        return Finding("note", what, messages.declare_that_there_is_none(handler))
    serializer: Any = getattr(action.view, "serializer_class", None)
    reader = serializer.__name__ if reads_body(action) and serializer is not None else None
    return Finding("warning", what, messages.declare_body_of_action(tool, handler, reader))


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
    authenticators = {
        type(each)
        for action in catalogue().authenticating_actions
        for each in action.view().get_authenticators()
    }
    if authenticators and all(issubclass(each, SessionAuthentication) for each in authenticators):
        yield Finding("warning", messages.ONLY_SESSIONS, messages.ADD_TOKEN_AUTHENTICATION)
    nobody = Caller(RequestFactory().post("/"))
    actions = catalogue().actions
    for_anybody = [name for name, action in actions.items() if nobody.may_call(action)]
    writes = [name for name in for_anybody if actions[name].method != "GET"]
    if writes:
        what = f"anybody may write: {_listed(writes)}"
        yield Finding("warning", what, messages.SET_PERMISSIONS)
    reads = [name for name in for_anybody if name not in writes]
    if reads:
        yield Finding("note", f"anybody may read: {_listed(reads)}")
    if not for_anybody:
        yield Finding("ok", messages.NOTHING_FOR_ANYBODY)


def _middleware() -> Iterator[Finding]:
    """Which of the host's middleware runs around each call."""
    paths = inner_middleware(configuration().inner_middleware)
    chain_of(paths)  # a class that cannot be imported or made is an error of this examination
    every: list[str] = settings.MIDDLEWARE
    if paths:
        yield Finding("ok", messages.runs_around_calls(paths))
    others = [each for each in every if each not in paths]
    if others:
        yield Finding("note", messages.runs_around_endpoint(others))


def _databases() -> Iterator[Finding]:
    loose = [each.alias for each in connections.all() if not each.settings_dict["ATOMIC_REQUESTS"]]
    if loose:
        yield Finding("note", messages.not_atomic(loose), messages.SET_ATOMIC_REQUESTS)
    else:
        yield Finding("ok", messages.ATOMIC)


def _keys() -> Iterator[Finding]:
    """Writes that cannot take an idempotency key."""
    if not has_table():
        yield Finding("warning", messages.NO_TABLE_OF_KEYS, messages.MIGRATE)
        return
    alias = alias_of_keys()
    by_reason: dict[str, list[str]] = {}
    for name, action in catalogue().actions.items():
        # Tools that are written by hand take keys only if their authors say so.
        if action.method == "GET" or not action.path:
            continue
        reason = reason_without_key(action, alias)
        if reason is None and not _authenticates(action):
            reason = ANONYMOUS
        if reason is not None:
            by_reason.setdefault(reason, []).append(name)
    for reason, names in by_reason.items():
        yield Finding("note", messages.keys_not_taken(_listed(names), reason))
    if not by_reason:
        yield Finding("ok", messages.KEYS_TAKEN)


def _authenticates(action: Action) -> bool:
    """Whether callers of an action can have credentials."""
    try:
        return bool(action.view().get_authenticators())
    except Exception:  # its authenticators depend on the request
        return True


def _results() -> Iterator[Finding]:
    """Where results are kept that are too large for one answer, and cannot be asked for again."""
    alias = configuration().cache
    backend = type(caches[alias]).__name__
    if backend == "LocMemCache":
        yield Finding("note", messages.cache_of_one_process(alias), messages.SHARE_A_CACHE)
    elif backend == "DummyCache":
        what = messages.cache_without_memory(alias)
        yield Finding("note", what, "name another cache: TOOLBOOTH['CACHE']")
    else:
        yield Finding("ok", messages.cache_is_fit(alias))


EXAMINATIONS: dict[str, Examination] = {
    "Configuration": _configuration,
    "Endpoint": _endpoint,
    "Tools": _tools,
    "Left out": _left_out,
    "Schemas": _schemas,
    "Bodies": _bodies,
    "Who may call": _callers,
    "Middleware": _middleware,
    "Databases": _databases,
    "Idempotency keys": _keys,
    "Results": _results,
}


def findings(examine: Examination) -> Iterable[Finding]:
    """What an examination finds; that it fails is a finding too."""
    found: list[Finding] = []
    try:
        found.extend(examine())
    except Exception as error:
        found.append(Finding("error", messages.examination_failed(error), _line_of(error)))
    return found


def _line_of(error: Exception) -> str:
    """Where an exception was raised."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return ""
    return f"see {trace.tb_frame.f_code.co_filename}, line {trace.tb_lineno}"


def _listed(names: list[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
