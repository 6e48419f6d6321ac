"""The sentences about how views and functions become tools, and about rows that a call names. Each
docstring names the case for its sentence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolbooth.django.describe.model_words import joined, with_article
from toolbooth.jsonvalue import listed

# Why an action or a field is not published. The part after "; " is the remedy.

ONLY_HTML = "it renders only HTML: a page for people"
LEFT_OUT_BY_HOOK = "a hook in SPECTACULAR_SETTINGS leaves it out"
NO_SCHEMA = "its author set schema = None"
ONLY_PARTIAL_UPDATES = 'a full update, and TOOLBOOTH["UPDATES"] is "partial"'
IGNORED = "@mcp_ignore"
EXCLUDED = "@extend_schema(exclude=True)"
CHOSEN_BY_AUTHOR = (IGNORED, EXCLUDED, NO_SCHEMA)
"""The reasons that are an author's own choice."""

LOGIN_VIEW = (
    "it is a login or token view, and an agent should not handle passwords or tokens; "
    "to publish it, set TOOLBOOTH['LOGIN_VIEWS'] = True"
)
TAKES_A_FILE = "takes a file, which is not sent over MCP"
LOST_IN_A_FORM = "takes a dictionary, which REST framework reads from a form only since 3.18"
TAKES_JSON_API = (
    "it takes JSON:API documents; describe them with @extend_schema, or let it take plain JSON"
)
BODY_WITHOUT_FIELDS = (
    "its body has no known fields; give the action a serializer, or describe it with @extend_schema"
)


HAS_NO_SERIALIZER = "it has no serializer"
FINDING_SERIALIZER_FAILED = "finding its serializer failed"
DESCRIBING_FAILED = "describing it failed"
"""The beginnings of the reasons that contain an exception."""


def no_serializer(reason: str) -> str:
    """An action that reads a body, but has no known serializer."""
    why = f"{FINDING_SERIALIZER_FAILED} ({reason})" if reason else HAS_NO_SERIALIZER
    return f"{why}; give it one, or describe it with @extend_schema"


def required_but_unknown(path: str, reason: str) -> str:
    """A required field that cannot be sent."""
    return f"{path!r} is required, and {reason}"


def not_described(error: Exception) -> str:
    """A view on which drf-spectacular or the gateway failed."""
    return f"{DESCRIBING_FAILED}: {_reason(error)}"


FROM_CLASS = "is described from its class"
ANY_VALUE = "any value, because describing"
"""Parts of the sentences about code that cannot run without a real request."""

NO_QUERY = "no query is made while views are described"


def described_from_class(name: str, error: Exception) -> str:
    """A serializer that cannot be made without a real request."""
    return f"{name} {FROM_CLASS}, because making it failed: {_reason(error)}"


def described_as_anything(name: str, error: Exception) -> str:
    """A field that drf-spectacular failed on."""
    return f"the field {name!r} takes {ANY_VALUE} it failed: {_reason(error)}"


def filters_by_name(backend: str, error: Exception) -> str:
    """Filters that cannot be created without a real request."""
    return f"the filters of {backend} take {ANY_VALUE} them failed: {_reason(error)}"


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


# Mistakes of the function in TOOLBOOTH["DESCRIBE"].


def describe_failed(error: Exception) -> str:
    """The project's function in `DESCRIBE` raised an exception."""
    return f"raised {_reason(error)}"


def describe_returned(value: object) -> str:
    """The project's function in `DESCRIBE` returned something other than a dict."""
    return f"returned {type(value).__name__} instead of a dict"


# Mistakes in TOOLBOOTH["BODIES"].

NOT_A_BODY = (
    "is not a body; give a serializer, a Pydantic model or a JSON Schema with properties, "
    "a list of one, the import path of one, or None"
)
GET_HAS_NO_BODY = "is a GET, which takes no body"


def cannot_import(path: str, error: Exception) -> str:
    """An import path that cannot be imported."""
    return f"{path!r} cannot be imported: {type(error).__name__}: {error}"


def cannot_compile(mistakes: Sequence[str]) -> str:
    """A Pydantic model or a JSON Schema that cannot be used."""
    return f"cannot be used: {'; '.join(mistakes)}"


def wrong_body(reason: str) -> str:
    """A tool that is left out because its body in the settings cannot be used."""
    return f"TOOLBOOTH['BODIES']: {reason}"


def no_such_tool(near: str | None, sharing: Sequence[str] = ()) -> str:
    """A name that is not the name of a view's tool."""
    return _or_shared("there is no such tool", near, sharing)


def fits_no_tool(near: str | None, sharing: Sequence[str] = ()) -> str:
    """A pattern that matches no tool."""
    return _or_shared(FITS_NO_TOOL, near, sharing)


def _or_shared(words: str, near: str | None, sharing: Sequence[str]) -> str:
    """Add a hint. The names in `sharing` match the pattern, but were lengthened to be unique."""
    if sharing:
        return f"{words}; use the full name: {listed(tuple(sharing))}"
    return f"{words}; {near!r} may be meant" if near else words


# Patterns in the settings.

FITS_NO_TOOL = "it matches no tool"
FITS_NO_RESOURCE = "it matches no resource"
FITS_NOTHING_NEW = "everything that it matches is taken by an earlier pattern"


def fits_no_resource(sharing: Sequence[str]) -> str:
    """A pattern that matches no resource."""
    return _or_shared(FITS_NO_RESOURCE, None, sharing)


def no_tool_named(name: str, near: str | None, sharing: Sequence[str] = ()) -> str:
    """A setting names a tool that does not exist."""
    words = f"there is no tool {name!r}"
    return _or_shared(words, None, sharing) if sharing else words + _did_you_mean(near)


def no_such_argument(tool: str, name: str, near: str | None) -> str:
    """A setting names an argument that the tool does not have."""
    return f"{tool!r} has no argument {name!r}" + _did_you_mean(near)


def name_an_argument(tool: str) -> str:
    """A setting that must name an argument names a whole tool."""
    return f"name an argument of the tool, as '{tool}.argument'"


def _did_you_mean(near: str | None) -> str:
    return f"; did you mean {near!r}?" if near else ""


# mcp_names.lock.

LOCK_HEADING = "Names of MCP tools. Written by `manage.py mcp_tools --lock`; commit this file."
NAME_OF_A_FUNCTION = "a tool of your own has this name; rename one of them"


def cannot_read(error: Exception) -> str:
    """A file of names that exists, but cannot be read."""
    return f"it cannot be read: {_reason(error)}"


def not_a_locked_name(line: int) -> str:
    """A line of `mcp_names.lock` that `mcp_tools --lock` does not write."""
    return f"line {line} must be a tool's name, a method, a path and a view, with spaces between"


def locked_twice(line: int, name: str) -> str:
    """Two lines of `mcp_names.lock` with the same name, or for the same action."""
    return f"line {line} ({name}) repeats the name or the route of an earlier line"


def wrong_lines(mistakes: Sequence[str]) -> str:
    """A file with wrong lines. The sentence quotes the first mistake."""
    more = f", and {len(mistakes) - 1} more lines are wrong" if len(mistakes) > 1 else ""
    return f"{mistakes[0]}{more}; correct it, or delete the file and run mcp_tools --lock"


def route_is_gone(route: str, view: str | None) -> str:
    """A name in `mcp_names.lock` whose route is gone. Another `view` may have its path now."""
    what = f"{route} is now served by {view}" if view else f"there is no {route} any more"
    return f"{what}; run mcp_tools --lock"


# Descriptions of tools and their fields.

TAKES_MANY = 'Many: {"objects": [{…}]}, all or none.'
AS_SENT = "as sent"
RELATION_BY = "key, or an object with any of these"

OR_NULL = "or null"
JSON_TEXT = "JSON text"


def names_a_row(key: str, kind: str, lookup: str) -> str:
    """A relation that accepts a key or an object."""
    by_object = "" if lookup == key else f', or {{"{lookup}": …}} to look it up'
    return f"{key} of an existing {kind}{by_object}"


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
"""The descriptions that REST framework gives to all parameters of the same kind."""

_DESCRIPTIONS_OF_KEYS = ("A unique ", "A UUID string identifying ")
"""The beginnings of drf-spectacular's descriptions of keys in URLs."""


def is_general_description(text: str) -> bool:
    """Return True if a description only repeats the parameter's name and type."""
    return text in _GENERAL_DESCRIPTIONS or text.startswith(_DESCRIPTIONS_OF_KEYS)


def takes_no_fields(others: tuple[str, ...]) -> str:
    """An action that does not declare a body. `others` are its arguments in the URL."""
    return f"Takes no fields except {listed(others)}." if others else "Takes no fields."


def key_in_path(name: str) -> str:
    """An argument of the URL that has the same name as a field of the body."""
    return f"the row's current {name}"


def creates_many(words: str) -> str:
    return f"{words}: all are made, or none."


def help_about_many(most: int) -> str:
    """The number of rows that one call can create."""
    return f'Send {{"objects": [{{…}}, …]}} to make up to {most:,} at once: all are made, or none.'


def placeholder(name: str) -> str:
    """A value in an example that only the caller knows."""
    return f"<{name}>"


# The effects of deleting a row on others.


def also_deletes(own: tuple[str, ...], further: tuple[str, ...]) -> str:
    """Rows that are deleted with a row (`own`), and rows deleted because of those (`further`)."""
    if not own:
        return f"Also deletes {joined(further)}."
    ending = f" and their {joined(further)}" if further else ""
    return f"Also deletes its {joined(own)}{ending}."


def also_deletes_below(many: str) -> str:
    """Rows of the same model that refer to the deleted row."""
    return f"Also deletes {many} that refer to it, at every depth."


def stay_without(names: tuple[str, ...], one: str | None) -> str:
    """Rows that lose their link to a deleted row. `one` is the noun for that row, if known."""
    if not one:
        return f"{_begin(joined(names))} stay, without the link to what is deleted."
    return f"{_begin(joined(names))} stay, without {with_article(one)}."


def stay_with_another(names: tuple[str, ...], one: str | None) -> str:
    """Rows that a delete links to another row."""
    return f"{_begin(joined(names))} stay, with another {one or 'row'} or none."


def refused_while(names: tuple[str, ...]) -> str:
    """Rows that refer to the row and prevent its deletion."""
    return f"Refused while {joined(names)} refer to it."


def refused_while_below(names: tuple[str, ...], below: str | None) -> str:
    """Rows that prevent the deletion, because they refer to rows (`below`) deleted with it."""
    to = f"its {below}" if below else "what would be deleted with it"
    return f"Refused while {joined(names)} refer to {to}."


def _begin(text: str) -> str:
    return text[:1].upper() + text[1:]


# The titles of the standard actions.

_DOES = {
    "list": "List {many}",
    "retrieve": "Get {one}",
    "create": "Create {one}",
    "update": "Replace {one}",
    "partial_update": "Change some fields of {one}",
    "destroy": "Delete {one}",
}
SEND_ALL_REQUIRED = "Send all required fields."
OTHERS_ARE_KEPT = "Optional fields left out keep their value."
REQUIRED_AND_OTHERS = "Send all required fields; optional fields left out keep their value."


def does(action: str, one: str, many: str) -> str:
    return _DOES[action].format(one=one, many=many)


def reset_to_default(names: tuple[str, ...]) -> str:
    """Fields that do not keep their value in a full update."""
    return f"Left out, {listed(names)} get their default."


# Problems with rows, for agents.


def wrong_count(most: int, count: int) -> str:
    """A call with no rows, or with too many rows."""
    return f"takes 1 to {most:,} rows in one call, not {count:,}"


def names_no_row(lookups: Sequence[str]) -> str:
    """An empty object as the value of a relation."""
    return f"names no row; send its key, or one of {', '.join(lookups)}"


def several_rows(kind: str, sent: Mapping[str, Any]) -> str:
    """An object that matches more than one row."""
    return f"more than one {kind} has {_named_by(sent)}; send its key"


def no_such_row(kind: str, sent: Mapping[str, Any]) -> str:
    """An object that matches no row."""
    return f"there is no {kind} with {_named_by(sent)}"


def _named_by(sent: Mapping[str, Any]) -> str:
    return " and ".join(f"{name} {each!r}" for name, each in sent.items())


# Why a write cannot be previewed.

ONLY_WRITES_ARE_PREVIEWED = "this tool writes nothing, so there is nothing to preview"
OWN_ACTION = "it is a custom action"
DECORATED_VIEW = "its view has a custom decorator"
RUNS_MIDDLEWARE = "middleware of the project runs around it"
OWN_SERIALIZER = "its rows are not written by a model serializer"
WRITES_FILES = "it can write files"
MODEL_NOT_KNOWN = "the model of its rows is not known"
OWN_CASCADE = "custom code runs when rows lose their link"
HAS_RECEIVERS = "receivers of signals run when its rows are written"
NO_TRANSACTIONS = "a database of the project has no transactions"


def own_method(owner: str, name: str) -> str:
    """A method that is not Django's or REST framework's."""
    return f"its {owner} has its own {name}()"


def cannot_be_previewed(reason: str) -> str:
    """A call with `preview` to a tool that does not accept it."""
    return f"this tool cannot be previewed, because {reason}"


# Mistakes of the authors of tools.


def unknown_option(name: str) -> str:
    """A keyword that `@mcp_tool` or a similar decorator does not accept."""
    return f"got an unexpected keyword argument {name!r}"


def same_action(name: str, count: int) -> str:
    """A class that has several methods for the same action."""
    return f"{count} actions are named {name!r}; pass name="
