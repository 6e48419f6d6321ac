"""Which control arguments a tool has: those that apply to it, and whose names its host has left
free.
"""

from __future__ import annotations

from collections.abc import Mapping

from toolbooth.django.call.receipts import is_receipted
from toolbooth.django.conf import Configuration
from toolbooth.django.describe.arguments import Arguments
from toolbooth.django.describe.operations import Operation
from toolbooth.jsonvalue import Json
from toolbooth.server.controls import CONTROL_ARGUMENTS, control_names

_SELDOM = ("filter_keys", "mode", "continuation_token")
"""Listed where rows are asked for. Elsewhere an answer is seldom too large: taken there too, and
told by help.
"""


def offer(arguments: Arguments, described: Operation, chosen: Configuration) -> list[str]:
    """Add those that apply to an action to its arguments; those whose names the host has are
    returned.
    """
    names = control_names(chosen.arguments)
    is_query = described.action.method == "GET" and described.action.name != "retrieve"
    arguments.unlisted = () if is_query else _SELDOM
    clashes: list[str] = []
    for name, (narrow, wide) in _controls_of_view(
        arguments, described, chosen.max_page_size
    ).items():
        published = names.get(name)
        if published in arguments.properties:
            clashes.append(published)
        elif published is not None:
            arguments.properties[published], arguments.wide[published] = narrow, wide
            arguments.controls[published] = name
    return clashes


def _controls_of_view(
    arguments: Arguments, described: Operation, most: int
) -> dict[str, tuple[Json, Json]]:
    """As they are published, and as they are taken."""
    action = described.action
    filters = filters_of(arguments)
    paged = any(slot.bound is not None for slot in arguments.slots.values())
    applies = {
        "help": True,
        "filters": bool(filters) and action.method == "GET",
        "filter_keys": described.shows,
        "page": described.lists and not paged,
        "page_size": described.lists and not paged,
        "mode": not is_receipted(action) and action.method != "DELETE",
        "continuation_token": not is_receipted(action) and action.method != "DELETE",
        "verify": is_receipted(action),
    }
    made = {
        name: (CONTROL_ARGUMENTS[name].schema, CONTROL_ARGUMENTS[name].schema)
        for name in CONTROL_ARGUMENTS
        if applies[name]
    }
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


def brief(arguments: Arguments) -> Json:
    """The schema to be listed, without what would be told twice, or is seldom of use; help tells it
    all.
    """
    made: dict[str, Json] = {}
    for name, each in arguments.properties.items():
        own = arguments.controls.get(name)
        if own not in arguments.unlisted:
            made[name] = _one_of(each) if own == "filters" else _short(each)
    return arguments.schema(made)


def _one_of(filters: Json) -> Json:
    """The filters with one of them for all: each is listed by itself, but some clients refuse an
    object of nothing.
    """
    name, schema = next(iter(filters["properties"].items()))
    kind = schema.get("type")
    short = {"type": kind} if isinstance(kind, str) and kind != "array" else schema
    return {**CONTROL_ARGUMENTS["filters"].schema, "properties": {name: short}}


def _short(schema: Json) -> Json:
    """Without `minLength: 1`, to save tokens."""
    return {key: each for key, each in schema.items() if (key, each) != ("minLength", 1)}
