"""Every sentence that the gateway says: to agents, to authors, and to people at a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

# --- describe, decorators, bulk creates and `mcp_doctor` ----------------------------------------

# Why an action or a field is not published. The part after "; " is the remedy.

ONLY_HTML = "it renders only HTML: a page for people"
LEFT_OUT_BY_HOOK = "a hook in SPECTACULAR_SETTINGS leaves it out"
NO_SCHEMA = "its author set schema = None"
IGNORED = "@mcp_ignore"
EXCLUDED = "@extend_schema(exclude=True)"
CHOSEN_BY_AUTHOR = (IGNORED, EXCLUDED, NO_SCHEMA)
"""Reasons that are an author's own wish."""

TAKES_A_FILE = "takes a file, which is not sent over MCP"
TAKES_JSON_API = (
    "it takes JSON:API documents; describe them with @extend_schema, or let it take plain JSON"
)
BODY_WITHOUT_FIELDS = (
    "its body has no known fields; give the action a serializer, or describe it with @extend_schema"
)


def no_serializer(reason: str) -> str:
    """An action that reads a body, with nothing that reads it."""
    why = f"finding its serializer failed ({reason})" if reason else "it has no serializer"
    return f"{why}; give it one, or describe it with @extend_schema"


def required_but_unknown(path: str, reason: str) -> str:
    """A field that must be sent, and cannot be."""
    return f"{path!r} is required, and {reason}"


def not_described(error: Exception) -> str:
    """A view on which drf-spectacular or the gateway failed."""
    return f"describing it failed: {type(error).__name__}: {error}"


# Patterns in the settings.

FITS_NO_TOOL = "it fits no tool"
FITS_NO_RESOURCE = "it fits no resource"
FITS_NOTHING_NEW = "all that it fits is taken by an earlier pattern"

# What tools and their fields say of themselves.

TAKES_MANY = 'Many: {"objects": [{…}]}, all or none.'
RELATION_BY = "key, or an object with any of these"

_GENERAL_DESCRIPTIONS = frozenset(
    (
        "A page number within the paginated result set.",
        "Number of results to return per page.",
        "The initial index from which to return the results.",
        "The pagination cursor value.",
        "A search term.",
        "Which field to use when ordering the results.",
        "Multiple values may be separated by commas.",
        "Ordering",
    )
)
"""What REST framework says of every parameter of a kind."""

_DESCRIPTIONS_OF_KEYS = ("A unique ", "A UUID string identifying ")
"""How drf-spectacular begins to describe the key in a URL."""


def is_general_description(text: str) -> bool:
    """Whether a description says no more than the parameter's name and type."""
    return text in _GENERAL_DESCRIPTIONS or text.startswith(_DESCRIPTIONS_OF_KEYS)


def key_in_path(name: str) -> str:
    """An argument of the URL, beside a field of the same name in the body."""
    return f"which one: its {name} as it is now"


def creates_many(words: str) -> str:
    """A tool for many rows."""
    return f"{words}: all are made, or none."


def help_about_many(most: int) -> str:
    """How many rows one call can make."""
    return f'Send {{"objects": [{{…}}, …]}} to make up to {most:,} at once: all are made, or none.'


# What agents are told of rows.


def wrong_count(most: int, count: int) -> str:
    """Too many rows in one call, or none."""
    return f"takes 1 to {most:,} rows in one call, not {count:,}"


def names_no_row(lookups: Sequence[str]) -> str:
    """An empty object in the place of a relation."""
    return f"names no row; send its key, or one of {', '.join(lookups)}"


def several_rows(kind: str, sent: Mapping[str, Any]) -> str:
    """An object that names more than one row."""
    return f"more than one {kind} has {_named_by(sent)}; send its key"


def no_such_row(kind: str, sent: Mapping[str, Any]) -> str:
    """An object that names no row."""
    return f"there is no {kind} with {_named_by(sent)}"


def _named_by(sent: Mapping[str, Any]) -> str:
    return " and ".join(f"{name} {each!r}" for name, each in sent.items())


# What authors of tools are told.


def unknown_option(name: str) -> str:
    """A keyword that `@mcp_tool` and its siblings do not take."""
    return f"got an unexpected keyword argument {name!r}"


def same_action(name: str, count: int) -> str:
    """Several methods of one class that are the same action."""
    return f"{count} actions are named {name!r}; pass name="


# What `mcp_doctor` says.

DOCTOR = (
    "Look at the configuration, the endpoint, the tools, who may call them and what was left out."
)

NO_HOSTS = "no request is answered: ALLOWED_HOSTS is empty"
NAME_YOUR_HOSTS = "name the hosts that you serve"
NAME_YOUR_HOSTS_IN_SETTING = "name the hosts that you serve in ALLOWED_HOSTS"
LOOK_INTO_MIDDLEWARE = "look through MIDDLEWARE for what answers, and have it let this path pass"
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
