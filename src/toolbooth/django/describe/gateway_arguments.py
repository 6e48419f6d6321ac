"""Selects the control arguments of a tool. A control argument is added if it applies to the tool,
and if the tool itself has no argument with the same name.
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
"""Control arguments that tools with one row in the answer accept, but do not list. Help and the
instructions name them.
"""


_SAME_AS_ROLE = {"page": "page", "offset": "page", "cursor": "page", "size": "page_size"}
"""For each role of a paginator's parameter, the control argument with the same meaning."""


def offer(arguments: Arguments, described: Operation, chosen: Configuration) -> list[str]:
    """Add the control arguments that apply to an action. Return the names of those that could not
    be added, because the tool has an argument with the same name.
    """
    names = control_names(chosen.arguments)
    obstacle = _obstacle_to_preview(described, chosen)
    preview = names.get("preview")
    if obstacle and preview is not None:
        # A refusal of `preview` contains this reason. After a plain "unknown argument", an agent
        # might repeat the call without `preview`, and write.
        arguments.withheld[preview] = obstacle
    arguments.unlisted = _unlisted(arguments, described)
    clashes: list[str] = []
    for name, (narrow, wide) in _controls_of_view(
        arguments, described, chosen.max_page_size, has_preview=not obstacle
    ).items():
        published = names.get(name)
        # The view's own argument keeps the name.
        if published in arguments.wide:
            if _is_clash(name, published, arguments, described):
                clashes.append(published)
        elif published is not None:
            arguments.properties[published], arguments.wide[published] = narrow, wide
            arguments.controls[published] = name
    return clashes


def _obstacle_to_preview(described: Operation, chosen: Configuration) -> str:
    """Return the reason why an action cannot be previewed. Return an empty text if it can."""
    middleware = inner_middleware(chosen.inner_middleware)
    unnamed = [each for each in middleware if each not in chosen.preview_middleware]
    return obstacle(described.action, described.serializer, unnamed)


def _is_query(described: Operation) -> bool:
    """Return True if an action may answer with many rows."""
    return described.action.method == "GET" and described.action.name != "retrieve"


def _unlisted(arguments: Arguments, described: Operation) -> tuple[str, ...]:
    """Return the control arguments that are accepted, but not listed. For example, `filters` is not
    listed, because each filter is listed as an argument.
    """
    if not _is_query(described):
        # Without a body, all arguments are listed, and help has little to add.
        return _SELDOM if arguments.named("body") else (*_SELDOM, "help")
    if not described.lists:
        return ("filters", "mode", "page", "page_size")
    roles = [slot.bound.role for slot in arguments.slots.values() if slot.bound is not None]
    # Parameters of the paginator that mean the same are listed already.
    has_own = {"page": bool(roles), "page_size": "size" in roles}
    return ("filters", "mode", *(name for name, has in has_own.items() if has))


def _is_clash(name: str, published: str, arguments: Arguments, described: Operation) -> bool:
    """Return True if a tool lacks a control argument because the tool has its own argument with
    this name. If the own argument is a parameter of the paginator with the same meaning, return
    False.
    """
    # Only these two have counterparts in a paginator.
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
    """Return the control arguments that apply to an action. Each has two schemas: one to publish,
    and one of all accepted values.
    """
    action = described.action
    filters = filters_of(arguments)
    applies = {
        "help": True,
        "filters": bool(filters) and action.method == "GET",
        # The first field of the rows is its example, so it must be known.
        "filter_keys": described.shows,
        "page": _is_query(described),
        "page_size": _is_query(described),
        # A receipt is short, so it is never divided into pages.
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
    """Return the arguments that can also be sent inside `filters`. They are the optional parameters
    of the query, except those of the paginator.
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
    """Return the schema of a body field for `tools/list`. Descriptions are left out of a full
    update if the tool for a partial update or a create has them.
    """
    return in_words(without_words(schema) if arguments.repeats else schema)


def brief(arguments: Arguments) -> Json:
    """Return the schema for `tools/list`. It lacks repetitions and parts that are seldom needed.
    Help contains these too.
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
            # A page or a size below 1 is a rare mistake, so this limit is not worth its tokens in a
            # list.
            short = {key: each for key, each in short.items() if (key, each) != ("minimum", 1)}
        made[name] = short
    return arguments.schema(made)


def _is_of_page(name: str, arguments: Arguments) -> bool:
    """Return True if an argument selects a page, or sets the length of a page."""
    slot = arguments.slots.get(name)
    is_own = arguments.controls.get(name) in ("page", "page_size")
    return is_own or (slot is not None and slot.bound is not None)
