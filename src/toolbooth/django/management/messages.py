"""Every sentence that `mcp_doctor` says, and what `mcp_config` says of credentials."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

DOCTOR = (
    "Look at the configuration, the endpoint, the tools, who may call them and what was left out."
)

NO_HOSTS = "no request is answered: ALLOWED_HOSTS is empty"
NAME_YOUR_HOSTS = "name the hosts that you serve"
NAME_YOUR_HOSTS_IN_SETTING = "name the hosts that you serve in ALLOWED_HOSTS"
LOOK_INTO_MIDDLEWARE = "look through MIDDLEWARE for what answers, and have it let this path pass"
MOVE_ENDPOINT_UP = 'write path("mcp", …) before that pattern in the URLconf'
MOUNT_WITHOUT_SLASH = 'path("mcp", include("toolbooth.django.urls")) answers at both'
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


def only_with_slash(path: str) -> str:
    """An endpoint that was included with a slash at the end."""
    bare = path.rstrip("/")
    return f"{bare} does not answer, only {path}: a client that leaves the slash out gets a 404"


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


# What `mcp_config` says of credentials.

NO_CREDENTIALS = "There are no credentials in it, so the API will refuse what needs a login."
ADD_USER_OR_TOKEN = "Add --as USERNAME for a token of that user, or --token TOKEN."
CLEAN_HELP = "Removes idempotency keys that have expired; run it once a day."
CLEAN_BATCH_HELP = "how many rows to remove at a time, from 1 on"
NO_TABLE_OF_KEYS = "the table of idempotency keys is missing; run manage.py migrate"
KEYS_TAKEN = "every write takes an idempotency key"
MIGRATE = "run manage.py migrate"


def keys_removed(count: int) -> str:
    """What `mcp_clean` has done."""
    return f"Removed {count:,} expired idempotency {'key' if count == 1 else 'keys'}."


def keys_not_taken(tools: str, reason: str) -> str:
    """Tools that refuse idempotency keys."""
    return f"an idempotency key {reason}: {tools}"


ADD_TOKEN = "Add --token"
AS_OR_TOKEN = "give --as or --token, not both"
SUPERUSER = "This user is a superuser: give an agent a user of its own, with few permissions."
NO_TOKEN_APP = (
    "no token can be made: neither rest_framework.authtoken nor knox is in INSTALLED_APPS; "
    'for tokens, add "rest_framework.authtoken" there, run migrate, and add TokenAuthentication to '
    "DEFAULT_AUTHENTICATION_CLASSES"
)
TAKES_PASSWORD = "a user's name and password (--token 'Basic ' and the base64 of NAME:PASSWORD)"
TAKES_SESSION = "session cookies (agents have none)"
TAKES_JWT = "a JWT (--token JWT)"
TAKES_OAUTH = "an OAuth access token (--token TOKEN)"


def inactive_user(name: str) -> str:
    """A user whose credentials no view takes."""
    return f"the user {name!r} is not active, so no view would take their token"


def drf_token(name: str, *, is_new: bool) -> str:
    """A token of `rest_framework.authtoken`."""
    made = "A token was created for" if is_new else "It has the token of"
    return f"{made} {name!r}. It does not expire; `drf_create_token -r {name}` replaces it."


def knox_token(name: str, expiry: datetime | None) -> str:
    """A token of knox."""
    until = (
        "It does not expire." if expiry is None else f"It expires at {expiry:%Y-%m-%d %H:%M %Z}."
    )
    return (
        f"A new knox token was created for {name!r}. {until} "
        "knox stores only its hash, so it cannot be shown again: each run creates another one."
    )


def token_not_stored(error: Exception) -> str:
    """The database refused a token."""
    return f"the token could not be stored ({error}); has `manage.py migrate` been run?"


def token_app_missing(app: str) -> str:
    """Views take tokens that nothing can make."""
    return f"the API takes tokens of {app}; add {app!r} to INSTALLED_APPS and run migrate"


def tokens_not_taken(app: str, authenticator: str) -> str:
    """An app makes tokens that no view takes."""
    return (
        f"{app} is installed, but no view takes its tokens; "
        f"add {authenticator!r} to DEFAULT_AUTHENTICATION_CLASSES"
    )


def what_views_take(kinds: Iterable[str]) -> str:
    """Credentials that the REST API takes."""
    return f"the REST API takes {', '.join(kinds) or 'no credentials'}"
