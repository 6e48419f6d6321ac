"""What a tool takes, told on demand: one tool whole, or a dispatcher's tree level by level, a page
at a time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Any, cast

import orjson

from toolbooth.boundary.messages import echo
from toolbooth.compile.json_schema import compile_json_schema
from toolbooth.contract import Contract
from toolbooth.errors import Problem, ToolError, ToolInputError
from toolbooth.jsonvalue import Json, listed, near_name, quoted, shorten
from toolbooth.publish import portable
from toolbooth.server.controls import BOOLEAN, HELP_KEY
from toolbooth.server.dispatch.example import example_of
from toolbooth.server.tool import PARAMS, AccessCheck, ActionTable, Shows, Tool

PAGE = 4_000
"""Bytes of one page of help, about a thousand tokens."""

_NOTHING_CALLED = "nothing: help was asked for"

_SAID = 120
"""Characters of a description where many are told."""


def help_of(tool: Tool) -> Json:
    """The whole contract of one tool."""
    schema = portable(tool.contract.schema)
    made: Json = {
        "tool": tool.name,
        "description": tool.contract.description,
        "fields": schema.get("properties", {}),
        "required": list(schema.get("required", ())),
    }
    if "$defs" in schema:
        made["$defs"] = schema["$defs"]
    extra: Mapping[str, Any] = {} if tool.extra_help is None else tool.extra_help()
    reads = bool((tool.annotations or {}).get("readOnlyHint"))
    own = {
        name: each for name, each in made["fields"].items() if name not in extra.get(HELP_KEY, {})
    }
    made["example"] = example_of({**schema, "properties": own}, bare=reads)
    return {**made, **extra}


def _behind(table: ActionTable, way: Mapping[str, str], tool: Tool) -> Json:
    """The whole contract of a tool, in the words of the dispatcher that leads to it."""
    made = help_of(tool)
    made["example"] = table.call(way, made["example"])
    controls = made.get(HELP_KEY, {})  # these mean the same in the dispatcher's call
    if own := [name for name in made["fields"] if name in table.own and name not in controls]:
        made["note"] = (
            f"Send the {'fields' if own[1:] else 'field'} {listed(tuple(own))} inside {quoted(PARAMS)}."
        )
    return {**way, **made}


def help_tool(
    dispatcher: Tool, shows: Shows | None, way: Mapping[str, str], sub: Tool | None = None
) -> Tool:
    """The tool that tells what stands behind a dispatcher, as far as the caller is shown it; `sub`:
    of that one.
    """
    table = cast("ActionTable", dispatcher.table)
    if sub is not None:
        contract = replace(_anything(), name=sub.name)
        return Tool(
            contract=contract,
            function=partial(_of_one, table, way, sub),
            access_check=sub.access_check,
        )
    told = _Help(table, shows, way)
    return Tool(contract=replace(_asked(), name=dispatcher.name), function=told.told)


def help_of_one(
    name: str, tool: str, find: Callable[[str], Tool], access_check: AccessCheck | None
) -> Tool:
    """The tool that answers a call with `help: true` of one tool; `name` is what `help` is called."""
    schema = {"type": "object", "properties": {name: BOOLEAN}, "additionalProperties": True}

    def answer(sent: Json) -> Json:
        _check_access(access_check)
        found = find(tool)
        made = help_of(found)
        if len(sent) > 1:
            made["called"] = _NOTHING_CALLED
        if found.output_check is not None:
            # A client holds every answer but an error to the declared output schema.
            raise ToolError(orjson.dumps(made).decode())
        return made

    contract = compile_json_schema(schema, name=tool)
    return Tool(contract=contract, function=answer, access_check=access_check)


def _check_access(access_check: AccessCheck | None) -> None:
    """Raise the error for a caller who may not call the tool: they do not learn its fields either."""
    refused = None if access_check is None else access_check()
    if refused is not None:
        raise refused


@cache  # made when first asked for: a server starts without
def _anything() -> Contract:
    """Nothing is called, so whatever else is sent is let be: the answer says so."""
    return compile_json_schema({"type": "object", "additionalProperties": True}, name="help")


@cache
def _asked() -> Contract:
    """What may be asked."""
    fields = {"action": {"type": "string"}, "page": {"type": "integer", "minimum": 1}}
    return compile_json_schema(
        {"type": "object", "properties": fields, "additionalProperties": False}, name="help"
    )


def _of_one(table: ActionTable, way: Mapping[str, str], sub: Tool, sent: Json) -> Json:
    _check_access(sub.access_check)
    again = {**way, "action": table.help_action, PARAMS: {"action": way["action"]}}
    made = _paged(_behind(table, way, sub), "fields", 1, again)
    return {**made, "called": _NOTHING_CALLED} if sent.keys() - {table.help} else made


class _Help:
    """One question about a dispatcher."""

    def __init__(self, table: ActionTable, shows: Shows | None, way: Mapping[str, str]) -> None:
        self.table = table
        self.shown = (
            table if shows is None else table.mapped(lambda tool: tool if shows(tool) else None)
        )
        self.way = way

    def told(self, asked: Json) -> Json:
        """The tree, one resource or one action. Raises ToolInputError for what there is not."""
        resource = self.way.get("resource", "")
        page = asked.get("page", 1)
        if "action" in asked:
            made, key = self._action(resource, asked["action"]), "fields"
        elif resource or "" in self.table.resources:
            made, key = self._resource(resource), "actions"
        else:
            made, key = self._tree(), "resources"
        again: Json = {
            **self.way,
            **({PARAMS: {"action": asked["action"]}} if "action" in asked else {}),
        }
        return _paged(made, key, page, again)

    def _tree(self) -> Json:
        ask = {"action": self.table.help_action, "resource": "…"}
        return {
            "resources": {
                resource: list(actions) for resource, actions in self.shown.resources.items()
            },
            "next_step": f"{_written(ask)} tells what the actions of one take.",
        }

    def _resource(self, resource: str) -> Json:
        way = {"resource": resource} if resource else {}
        ask = {**way, "action": "…", self.table.help: True}
        return {
            **way,
            "actions": {
                action: _outline(tool)
                for action, tool in self.shown.resources.get(resource, {}).items()
            },
            "next_step": f"{_written(ask)} tells the types of one action's fields, with an example.",
        }

    def _action(self, resource: str, action: str) -> Json:
        if not resource and "" not in self.table.resources:
            message = "is required: actions of one name may take other fields elsewhere"
            raise ToolInputError([Problem(code="missing", path=("resource",), message=message)])
        actions = self.shown.resources.get(resource, {})
        if action not in actions:
            near = near_name(action[:128], actions)
            others = f"; there are {listed(tuple(actions))}" if actions else ""
            message = f"there is no action {echo(action)}" + (
                f"; did you mean {quoted(near)}?" if near else others
            )
            raise ToolInputError([Problem(code="invalid", path=("action",), message=message)])
        way = {"resource": resource, "action": action} if resource else {"action": action}
        return _behind(self.table, way, actions[action])


def _outline(tool: Tool) -> Json:
    """What a tool does, and the names of what it takes."""
    schema = portable(tool.contract.schema)
    required = list(schema.get("required", ()))
    optional = [name for name in schema.get("properties", {}) if name not in required]
    made: Json = {
        "description": shorten(tool.contract.description, _SAID),
        "required": required,
        "optional": optional,
    }
    return {key: value for key, value in made.items() if value}


def _paged(made: Json, key: str, page: int, again: Json) -> Json:
    """One page of what would be too long. Raises ToolInputError for a page that there is not."""
    pages: list[Json] = [{}]
    room = PAGE
    for name, each in made[key].items():
        size = len(name) + len(orjson.dumps(each))
        if pages[-1] and size > room:
            pages.append({})
            room = PAGE
        pages[-1][name] = each
        room -= size
    if page > len(pages):
        message = f"there {'is one page' if len(pages) == 1 else f'are {len(pages)} pages'}"
        raise ToolInputError([Problem(code="invalid", path=("page",), message=message)])
    made = {**made, key: pages[page - 1]}
    if len(pages) > 1:
        made |= {"page": page, "pages": len(pages)}
        made |= {"next_page": {**again, "page": page + 1}} if page < len(pages) else {}
    return made


def _written(call: Json) -> str:
    return json.dumps(call, ensure_ascii=False)
