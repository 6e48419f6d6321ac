"""Which control arguments a tool has: those that apply to it, and whose names its host has left
free.
"""

from __future__ import annotations

from collections.abc import Mapping

from toolbooth.django.call.inner_middleware import inner_middleware
from toolbooth.django.call.receipts import is_receipted
from toolbooth.django.conf import Configuration
from toolbooth.django.describe.arguments import Arguments
from toolbooth.django.describe.field_schemas import in_words, without_loose_limits, without_words
from toolbooth.django.describe.operations import Operation
from toolbooth.django.describe.previews import obstacle
from toolbooth.django.describe.relations import in_brief
from toolbooth.jsonvalue import Json
from toolbooth.server.controls import CONTROL_ARGUMENTS, control_names

_SELDOM = ("filter_keys", "mode", "continuation_token", "verify", "idempotency_key")
"""Taken by tools that answer with one row, but not listed there: help and the instructions name
them.
"""


_SAME_AS_ROLE = {"page": "page", "offset": "page", "cursor": "page", "size": "page_size"}
"""The control argument that says the same as a parameter of a paginator."""


def offer(arguments: Arguments, described: Operation, chosen: Configuration) -> list[str]:
    """Add those that apply to an action to its arguments; those whose names the host has are
    returned.
    """
    names = control_names(chosen.arguments)
    obstacle = _obstacle_to_preview(described, chosen)
    preview = names.get("preview")
    if obstacle and preview is not None:
        arguments.withheld[preview] = obstacle
    arguments.unlisted = _unlisted(arguments, described)
    clashes: list[str] = []
    for name, (narrow, wide) in _controls_of_view(
        arguments, described, chosen.max_page_size, has_preview=not obstacle
    ).items():
        published = names.get(name)
        if published in arguments.wide:
            if _is_clash(name, published, arguments, described):
                clashes.append(published)
        elif published is not None:
            arguments.properties[published], arguments.wide[published] = narrow, wide
            arguments.controls[published] = name
    return clashes


def _obstacle_to_preview(described: Operation, chosen: Configuration) -> str:
    """Why an action cannot be previewed; empty if it can."""
    middleware = inner_middleware(chosen.inner_middleware)
    unnamed = [each for each in middleware if each not in chosen.preview_middleware]
    return obstacle(described.action, described.serializer, unnamed)


def _is_query(described: Operation) -> bool:
    """Whether an action may answer with many rows."""
    return described.action.method == "GET" and described.action.name != "retrieve"


def _unlisted(arguments: Arguments, described: Operation) -> tuple[str, ...]:
    """Control arguments that are taken, but not listed. `filters` takes filters that are listed one
    by one.
    """
    if not _is_query(described):
        # Without a body, all that the tool takes is listed, and help has little to add.
        return _SELDOM if arguments.named("body") else (*_SELDOM, "help")
    if not described.lists:
        return ("filters", "mode", "page", "page_size")
    roles = [slot.bound.role for slot in arguments.slots.values() if slot.bound is not None]
    # What the paginator's own parameters say need not be listed twice.
    has_own = {"page": bool(roles), "page_size": "size" in roles}
    return ("filters", "mode", *(name for name, has in has_own.items() if has))


def _is_clash(name: str, published: str, arguments: Arguments, described: Operation) -> bool:
    """Whether a tool goes without a control argument, because it has an argument of that name: not
    where that is the paginator's, which means the same.
    """
    if name not in ("page", "page_size"):
        return True
    slot = arguments.slots.get(published)
    if slot is None or slot.bound is None:
        return described.lists
    same = published if slot.bound.role is None else _SAME_AS_ROLE[slot.bound.role]
    return same != name


def _controls_of_view(
    arguments: Arguments, described: Operation, most: int, *, has_preview: bool
) -> dict[str, tuple[Json, Json]]:
    """As they are published, and as they are taken."""
    action = described.action
    filters = filters_of(arguments)
    applies = {
        "help": True,
        "filters": bool(filters) and action.method == "GET",
        "filter_keys": described.shows,
        "page": _is_query(described),
        "page_size": _is_query(described),
        "mode": not is_receipted(action) and action.method != "DELETE",
        "continuation_token": not is_receipted(action) and action.method != "DELETE",
        "verify": is_receipted(action),
        "preview": has_preview,
        "idempotency_key": action.method != "GET",
    }
    made = {
        name: (CONTROL_ARGUMENTS[name].schema, CONTROL_ARGUMENTS[name].schema)
        for name in CONTROL_ARGUMENTS
        if applies[name]
    }
    if "filter_keys" in made:
        shown = {**CONTROL_ARGUMENTS["filter_keys"].schema, "examples": [[described.shows]]}
        made["filter_keys"] = (shown, shown)
    if "filters" in made:
        made["filters"] = (_closed(filters, arguments.properties), _closed(filters, arguments.wide))
    if "page_size" in made:
        limited = {**CONTROL_ARGUMENTS["page_size"].schema, "maximum": most}
        made["page_size"] = (limited, limited)
    return made


def filters_of(arguments: Arguments) -> list[str]:
    """The arguments that `filters` takes as well: all of the query that need not be sent, but for
    the paginator's.
    """
    return [
        name
        for name, slot in arguments.slots.items()
        if slot.part == "query" and slot.bound is None and name not in arguments.required
    ]


def _closed(names: list[str], properties: Mapping[str, Json]) -> Json:
    return {
        "type": "object",
        "properties": {name: properties[name] for name in names},
        "additionalProperties": False,
    }


def _of_field(schema: Json, arguments: Arguments) -> Json:
    """A field of the body. What a partial update or a create says of it is not said twice."""
    return in_words(without_words(schema) if arguments.repeats else schema)


def brief(arguments: Arguments) -> Json:
    """The schema to be listed, without what would be told twice, or is seldom of use; help tells it
    all.
    """
    in_body = arguments.named("body").values()
    made: dict[str, Json] = {}
    for name, each in arguments.properties.items():
        if arguments.controls.get(name) in arguments.unlisted:
            continue
        short = without_loose_limits(in_brief(each, arguments.relations.get(name)))
        if name in in_body:
            short = _of_field(short, arguments)
        elif _is_of_page(name, arguments):
            short = {key: each for key, each in short.items() if (key, each) != ("minimum", 1)}
        made[name] = short
    return arguments.schema(made)


def _is_of_page(name: str, arguments: Arguments) -> bool:
    """Whether an argument says which page is wanted, or how long a page is."""
    slot = arguments.slots.get(name)
    is_own = arguments.controls.get(name) in ("page", "page_size")
    return is_own or (slot is not None and slot.bound is not None)
