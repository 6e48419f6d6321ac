"""Every sentence that `mcp_doctor` says."""

from __future__ import annotations

from collections.abc import Sequence

DOCTOR = (
    "Look at the configuration, the endpoint, the tools, who may call them and what was left out."
)

NO_HOSTS = "no request is answered: ALLOWED_HOSTS is empty"
NAME_YOUR_HOSTS = "name the hosts that you serve"
NAME_YOUR_HOSTS_IN_SETTING = "name the hosts that you serve in ALLOWED_HOSTS"
LOOK_INTO_MIDDLEWARE = "look through MIDDLEWARE for what answers, and have it let this path pass"
MOVE_ENDPOINT_UP = 'write path("mcp/", …) before that pattern in the URLconf'
WIDEN_INCLUDE = "widen TOOLBOOTH['INCLUDE']"
ADD_VIEWS = "add REST framework views to the URLconf, as a router does"
USE_DISPATCHERS = (
    "put them behind dispatchers, TOOLBOOTH['DISPATCH'], or leave some out, TOOLBOOTH['EXCLUDE']"
)
NOTHING_LEFT_OUT = "every view and every field is published"
RUN_LINT = "`toolbooth lint URL` says which, and why"
ONLY_SESSIONS = "callers are known by session cookie alone, and agents have none"
ADD_TOKEN_AUTHENTICATION = (
    "add TokenAuthentication or another of its kind to DEFAULT_AUTHENTICATION_CLASSES"
)
SET_PERMISSIONS = "set permission_classes, or EXCLUDE them"
NOTHING_FOR_ANYBODY = "every tool wants to know who calls"
SET_ATOMIC_REQUESTS = "set it to True, and a refused call leaves no trace"
ATOMIC = "a call that fails is rolled back"
SHARE_A_CACHE = "with several workers, name a cache that they share: TOOLBOOTH['CACHE']"


def not_reached(path: str, status: int | None) -> str:
    """An endpoint that requests do not get to."""
    return f"an agent does not reach {path}: something before it answers HTTP {status}"


def shadowed(path: str, route: str) -> str:
    """An endpoint at a path that an earlier pattern of the URLconf matches."""
    return f"an agent does not reach {path}: the pattern {route!r} comes first, and matches it"


def list_names(kind: str) -> str:
    """How to find the right name for a pattern."""
    return f"`mcp_tools` lists the names of {kind}"


def cost_of_tools(count: int, hidden: int, tokens: int) -> str:
    """How many tools there are, and what they cost."""
    behind = f" with {hidden:,} more behind them" if hidden else ""
    return f"{count:,} tools{behind}, {tokens:,} tokens"


def trouble_for_clients(rules: str) -> str:
    """What lint found."""
    return f"some clients have trouble with: {rules}"


def runs_around_calls(paths: Sequence[str]) -> str:
    """Middleware that runs for the endpoint and for each call."""
    return f"runs around each call: {', '.join(paths)}"


def runs_around_endpoint(paths: Sequence[str]) -> str:
    """Middleware that runs once for a message."""
    return f"runs only around the endpoint: {', '.join(paths)}"


def not_atomic(databases: Sequence[str]) -> str:
    """Databases without a transaction for each request."""
    names = ", ".join(databases)
    return (
        f"ATOMIC_REQUESTS is off for {names}: "
        "what a view wrote before it failed stays, as over REST"
    )


def cache_of_one_process(alias: str) -> str:
    """A cache that workers do not share."""
    return (
        f"the cache {alias!r} is one process's own: "
        "other workers do not find the rest of a large result in it"
    )


def cache_without_memory(alias: str) -> str:
    """A cache that forgets everything."""
    return (
        f"the cache {alias!r} keeps nothing: "
        "results that cannot be asked for again come whole, however large"
    )


def cache_is_fit(alias: str) -> str:
    """A cache that workers share."""
    return f"large results are kept in the cache {alias!r}"


def examination_failed(error: Exception) -> str:
    """An examination that raised an exception."""
    return f"this could not be looked at: {type(error).__name__}: {error}"


# What `mcp_doctor` says of bodies that authors must declare.

BODIES_ARE_DECLARED = "every body that is sent is one that its view declares"


def action_without_body(tool: str, handler: str) -> str:
    """An action beside the standard ones that declares no body."""
    return f"{tool}: {handler} declares no body, so the tool takes no fields"


def declare_that_there_is_none(handler: str) -> str:
    """The line to write if it takes no body."""
    return f"if that is right, write @extend_schema(request=None) above {handler}"


def declare_body_of_action(tool: str, handler: str, reader: str | None) -> str:
    """The line to write for its body. `reader`: the serializer of its view, if it seems to use
    that.
    """
    lines = [
        f"write @extend_schema(request=...) above {handler}",
        f"or TOOLBOOTH['BODIES'] = {{{tool!r}: 'path.to.Serializer'}}",
    ]
    if reader is not None:
        lines.append(f"or, if it reads {reader}, TOOLBOOTH['INHERITED_BODIES'] = [{tool!r}]")
    return ", ".join(lines)


def undeclared_body(tool: str, view: str) -> str:
    """A DELETE that seems to read a body, but declares none."""
    return f"{tool}: {view} seems to read a body that it does not declare; it is called without one"


def declare_body(view: str, handler: str, serializer: str) -> str:
    """The line to write for it."""
    line = f"@extend_schema_view({handler}=extend_schema(request={serializer}))"
    return f"write {line} above class {view}; if it reads no body, request=None"


def newly_sent_body(tool: str, view: str) -> str:
    """A DELETE that declares a body which earlier versions did not send."""
    return f"{tool}: {view} declares a body; earlier versions called it without one"


def declare_no_body(view: str, handler: str) -> str:
    """The line to write if it should stay as it was."""
    line = f"@extend_schema_view({handler}=extend_schema(request=None))"
    return f"if it reads no body, write {line} above class {view}"


def unmarked_list(tool: str, view: str) -> str:
    """A create that seems to take lists, but is not marked."""
    return f"{tool}: {view} seems to take lists, but is not marked; rows are sent one by one"


def mark_as_bulk(view: str) -> str:
    """The line to write for it."""
    return (
        f"if it takes a list of rows, write @mcp_bulk above class {view}; "
        "from toolbooth.django.decorators import mcp_bulk"
    )
