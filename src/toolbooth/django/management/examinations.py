"""The examinations of `mcp_doctor`. Each one yields findings with remedies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.conf import settings
from django.core.cache import caches
from django.db import connections
from django.urls import Resolver404, resolve

from toolbooth.django.call.inner_middleware import chain_of, inner_middleware
from toolbooth.django.checks import check_configuration, check_entries, check_tools
from toolbooth.django.conf import configuration
from toolbooth.django.describe.catalogue import catalogue
from toolbooth.django.describe.warm_file import NotUsable, read, warm_path
from toolbooth.django.management import messages
from toolbooth.django.management.doctor.callers import open_tools
from toolbooth.django.management.doctor.described import bodies, left_out, schemas
from toolbooth.django.management.doctor.findings import Cause, Examination, Finding
from toolbooth.django.management.doctor.keyless import keyless_tools
from toolbooth.django.management.doctor.places import relative_path
from toolbooth.django.management.doctor.uncovered import uncovered_views
from toolbooth.django.management.users import unlogged
from toolbooth.django.messages import (
    CORRECT_THE_LINE,
    SEND_CREDENTIALS,
    listed_otherwise,
    own_tools_left_out,
)
from toolbooth.django.testing import acting_as, endpoint_path, path_info
from toolbooth.lint.check import lint
from toolbooth.server.controls import control_names

MANY_TOKENS = 25_000
"""The most tokens that tools may cost an agent before its first call."""

MOST_NAMES = 8
"""The most names of tools in one finding."""

WRONG_ENTRIES = Cause("toolbooth.E004", messages.WRONG_ENTRIES, messages.CORRECT_ENTRIES)
BROKEN = Cause("toolbooth.E006", messages.BROKEN_TOOLS, CORRECT_THE_LINE)
UNUSED = Cause("toolbooth.W003", messages.UNUSED_PATTERNS, messages.CORRECT_PATTERNS)
CLASHES = Cause("toolbooth.W001", messages.CLASHES, messages.RENAME_ARGUMENTS)


def _configuration() -> Iterator[Finding]:
    # E006 is left to `_own_tools`, which shows files relative to the current folder.
    wrong = [each for each in check_entries() if each.id == "toolbooth.E004"]
    found = check_configuration()
    for each in found:
        yield Finding("error", f"{each.msg} ({each.id})", each.hint or "")
    for each in wrong:
        what = f"{each.msg} ({each.id})"
        yield Finding("error", what, messages.CORRECT_ENTRIES, WRONG_ENTRIES, each.msg)
    # W001 and W003 are left to `_tools`, which has a remedy for each tool and pattern.
    warned = [each for each in check_tools() if each.id == "toolbooth.W004"]
    for each in warned:
        yield Finding("warning", f"{each.msg} ({each.id})", each.hint or "")
    # With DEBUG, Django takes requests for localhost if the list is empty.
    if not settings.DEBUG and not settings.ALLOWED_HOSTS:
        yield Finding("error", messages.NO_HOSTS, messages.NAME_YOUR_HOSTS)
    if not found and not wrong and not warned:
        yield Finding("ok", messages.SETTINGS_ARE_RIGHT)


def _own_tools() -> Iterator[Finding]:
    """Yield a finding for each mistake in the code of the project's own tools."""
    for each in catalogue().broken:
        place = f"{relative_path(each.file)}:{each.line}"
        what = own_tools_left_out(each.what, each.why, place)
        yield Finding("error", what, CORRECT_THE_LINE, BROKEN, f"{place}: {each.why}")


def _endpoint() -> Iterator[Finding]:
    try:
        path = endpoint_path()
    except LookupError as error:
        what, _, remedy = str(error).partition("; ")
        yield Finding("error", what, remedy)
        return
    # An earlier pattern of the URLconf may match the same path.
    match = resolve(path_info(path))
    if match.view_name != "toolbooth:mcp":
        yield Finding("error", messages.shadowed(path, match.route), messages.MOVE_ENDPOINT_UP)
        return
    with unlogged():
        reply = acting_as(None).call("toolbooth_doctor")
    # There is no such tool, and only the endpoint answers that. Or it first asks for credentials.
    if "error" in reply.raw or reply.text == SEND_CREDENTIALS:
        yield Finding("ok", f"an agent reaches {path}")
        if not _is_served(path.rstrip("/")):
            yield Finding("note", messages.only_with_slash(path), messages.MOUNT_WITHOUT_SLASH)
        return
    # Django answers 400 to a host that is not in ALLOWED_HOSTS.
    is_bad_host = reply.status == 400
    remedy = messages.NAME_YOUR_HOSTS_IN_SETTING if is_bad_host else messages.LOOK_INTO_MIDDLEWARE
    yield Finding("error", messages.not_reached(path, reply.status), remedy)


def _is_served(path: str) -> bool:
    """Return True if the endpoint is at this path. An empty path (the root of a host) counts
    too.
    """
    try:
        return not path or resolve(path_info(path)).view_name == "toolbooth:mcp"
    except Resolver404:
        return False


def _tools() -> Iterator[Finding]:
    for each in catalogue().unused_patterns:
        kind = "resources" if "DISPATCH" in each.what else "tools"
        what = f"{each.what} adds nothing: {each.why}"
        remedy = messages.list_names(kind)
        yield Finding("warning", what, remedy, UNUSED, f"{each.what}: {each.why}")
    controls = control_names(configuration().arguments)
    # A clash has the published name, but the setting takes the original one.
    names = {published: name for name, published in controls.items()}
    for each in catalogue().clashes:
        what = messages.argument_not_offered(each.what, each.why)
        remedy = messages.rename_argument(names[each.why])
        yield Finding("note", what, remedy, CLASHES, f"{each.what}.{each.why}")
    tools = catalogue().registry.tools
    if not tools:
        # Either the patterns match nothing, or the URLconf has no views for them.
        is_narrow = configuration().include != ("*",)
        remedy = messages.WIDEN_INCLUDE if is_narrow else messages.ADD_VIEWS
        yield Finding("error", "there is no tool", remedy)
        return
    cost = lint([tool.listing() for tool in tools.values()]).listing.tokens
    what = messages.cost_of_tools(len(tools), len(catalogue().registry.hidden), cost)
    if cost > MANY_TOKENS:
        yield Finding("warning", what, messages.USE_DISPATCHERS)
    else:
        yield Finding("ok", what)


def _middleware() -> Iterator[Finding]:
    """Yield two findings: one with the middleware that runs around each call, and one with the
    middleware that runs only around the endpoint.
    """
    paths = inner_middleware(configuration().inner_middleware)
    chain_of(paths)  # a class that cannot be imported or made is an error of this examination
    every: list[str] = settings.MIDDLEWARE
    if paths:
        yield Finding("ok", messages.runs_around_calls(_listed(paths)))
    others = [each for each in every if each not in paths]
    if others:
        yield Finding("ok", messages.runs_around_endpoint(_listed(others)))


def _databases() -> Iterator[Finding]:
    loose = [each.alias for each in connections.all() if not each.settings_dict["ATOMIC_REQUESTS"]]
    if loose:
        yield Finding("note", messages.not_atomic(loose), messages.SET_ATOMIC_REQUESTS)
    else:
        yield Finding("ok", messages.ATOMIC)


def _results() -> Iterator[Finding]:
    """Check the cache for large results. A result is stored there if the call cannot be repeated to
    produce it again.
    """
    alias = configuration().cache
    backend = type(caches[alias]).__name__
    if backend == "LocMemCache":
        # A note, because development has one process. With --deploy, the same is a warning.
        yield Finding("note", messages.cache_of_one_process(alias), messages.SHARE_A_CACHE)
    elif backend == "DummyCache":
        what = messages.cache_without_memory(alias)
        yield Finding("note", what, "name another cache: TOOLBOOTH['CACHE']")
    else:
        yield Finding("ok", messages.cache_is_fit(alias))


def _warm_file() -> Iterator[Finding]:
    """Examine whether the file in WARM_FILE matches the project."""
    found = catalogue()
    path = warm_path(found.configuration)
    if path is None:
        return
    tools = found.registry.tools.values()
    try:
        stored = read(path, found.project)
        # The digests do not cover everything (environment variables, for example), so the tools are
        # compared too.
        other = next((tool.name for tool in tools if not stored.agrees_with(tool.name, tool)), None)
        if other is not None:
            raise NotUsable(listed_otherwise(other))
    except NotUsable as reason:
        what = messages.warm_file_is_ignored(relative_path(str(path)), str(reason))
        yield Finding("note", what, messages.RUN_WARM)
        return
    yield Finding("ok", messages.warm_file_is_used(relative_path(str(path)), len(stored.tools)))


EXAMINATIONS: dict[str, Examination] = {
    "Configuration": _configuration,
    "Own tools": _own_tools,
    "Endpoint": _endpoint,
    "Tools": _tools,
    "Who may call": open_tools,
    "Bodies": bodies,
    "Left out": left_out,
    "Schemas": schemas,
    "Middleware": _middleware,
    "Databases": _databases,
    "Idempotency keys": keyless_tools,
    "Results": _results,
    "Warm file": _warm_file,
    "Not covered": uncovered_views,
}


def _listed(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
