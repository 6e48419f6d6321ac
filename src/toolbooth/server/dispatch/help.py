"""Help: what a tool takes, as an answer. One tool whole, or the tools behind a dispatcher level by
level, a page at a time. Which call asks for help is decided in `variants.py` and `route.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import orjson

from toolbooth.boundary.examine import examine
from toolbooth.boundary.secrecy import hide_secrets
from toolbooth.compile.json_schema import compile_json_schema
from toolbooth.contract import Contract
from toolbooth.errors import Problem, ProblemCode, ToolError, ToolInputError
from toolbooth.jsonvalue import Json, near_name, shorten, write_json
from toolbooth.publish import portable
from toolbooth.sample import example_of
from toolbooth.server import messages
from toolbooth.server.controls import BOOLEAN, HELP_KEY
from toolbooth.server.tool import PARAMS, AccessCheck, ActionTable, Shows, Tool, target_of

PAGE = 4_000
"""Bytes of one page of help, about a thousand tokens."""

_LONGEST_DESCRIPTION = 120
"""Characters of a description in a list of many."""


def help_of(tool: Tool) -> Json:
    """The whole contract of one tool."""
    schema = portable(tool.schema_for_caller)
    made: Json = {
        "tool": tool.name,
        "description": tool.contract.description,
        "fields": schema.get("properties", {}),
        "required": list(schema.get("required", ())),
    }
    if "$defs" in schema:
        made["$defs"] = schema["$defs"]
    extra: Mapping[str, Any] = {} if tool.extra_help is None else tool.extra_help()
    controls = extra.get(HELP_KEY, {})
    own = {name: each for name, each in made["fields"].items() if name not in controls}
    reads = bool((tool.annotations or {}).get("readOnlyHint"))
    made["example"] = example_of({**schema, "properties": own}, bare=reads)
    return {**made, **extra}


def help_of_one(
    name: str, tool: str, find: Callable[[str], Tool], access_check: AccessCheck | None
) -> Tool:
    """The tool that answers `help: true` of one tool; `name` is what `help` is called."""
    schema = {"type": "object", "properties": {name: BOOLEAN}, "additionalProperties": True}

    def answer(sent: Json) -> Json:
        _check_access(access_check)
        found = find(tool)
        made = help_of(found)
        made |= _ignored(found, sent, name)
        if found.output_check is not None:
            # A client holds every answer but an error to the declared output schema.
            raise ToolError(orjson.dumps(made).decode())
        return made

    contract = compile_json_schema(schema, name=tool)
    return Tool(contract=contract, function=answer, access_check=access_check)


def _ignored(tool: Tool, sent: Json, word: str) -> Json:
    """What help says about the other arguments of its call. Wrappers are explained: without
    `help`, the tool refuses them.
    """
    others = {key: each for key, each in sent.items() if key != word}
    if not others:
        return {}
    contract = tool.contract
    _, exam = examine(contract.shape, others, contract.limits, thorough=False)
    refusal = hide_secrets(ToolInputError(exam.problems), contract.shape, others)
    wrappers = [each for each in refusal.problems if each.code == "nested-wrapper"]
    if not wrappers:
        return {"called": messages.NOTHING_CALLED}
    keys = tuple(dict.fromkeys(str(each.path[-1]) for each in wrappers))
    return {
        "called": messages.wrappers_ignored(keys),
        "ignored": {each.where: each.message for each in wrappers},
    }


def _check_access(access_check: AccessCheck | None) -> None:
    """Raise for a caller who may not call the tool: they do not learn its fields either."""
    refused = None if access_check is None else access_check()
    if refused is not None:
        raise refused


def _behind(table: ActionTable, target: Mapping[str, str], tool: Tool) -> Json:
    """The whole contract of a tool, in the words of the dispatcher that it is behind."""
    made = help_of(tool)
    made["example"] = table.call(target, made["example"])
    controls = made.get(HELP_KEY, {})  # these mean the same in the dispatcher's call
    own = [name for name in made["fields"] if name in table.own and name not in controls]
    if own:
        made["note"] = messages.send_inside_params(own, PARAMS)
    return {**target, **made}


def help_of_dispatcher(
    dispatcher: str, table: ActionTable, shows: Shows | None, target: Mapping[str, str]
) -> Tool:
    """The tool that answers what is behind a dispatcher, as far as the caller is shown it."""
    answer = _DispatcherHelp(table, shows, target).answer
    return Tool(contract=replace(_question(), name=dispatcher), function=answer)


def help_of_action(table: ActionTable, target: Mapping[str, str], sub: Tool) -> Tool:
    """The tool that answers what one action of a dispatcher takes."""

    def answer(sent: Json) -> Json:
        _check_access(sub.access_check)
        again = {**target, "action": table.help_action, PARAMS: {"action": target["action"]}}
        made = _page_of(_behind(table, target, sub), "fields", 1, again)
        return made | _ignored(sub, sent, table.help)

    contract = replace(_anything(), name=sub.name)
    return Tool(contract=contract, function=answer, access_check=sub.access_check)


@cache  # made when first asked for: a server starts without
def _anything() -> Contract:
    """Nothing is called, so any other argument is accepted: the answer says so."""
    return compile_json_schema({"type": "object", "additionalProperties": True}, name="help")


@cache
def _question() -> Contract:
    """What may be asked about a dispatcher."""
    fields = {"action": {"type": "string"}, "page": {"type": "integer", "minimum": 1}}
    return compile_json_schema(
        {"type": "object", "properties": fields, "additionalProperties": False}, name="help"
    )


class _DispatcherHelp:
    """One question about a dispatcher."""

    def __init__(self, table: ActionTable, shows: Shows | None, target: Mapping[str, str]) -> None:
        self.table = table
        self.shown = table if shows is None else table.only_shown(shows)
        self.target = target

    def answer(self, asked: Json) -> Json:
        """The tree, one resource or one action. Raises ToolInputError if there is none."""
        resource = self.target.get("resource", "")
        again: Json = dict(self.target)
        if "action" in asked:
            made, key = self._action(resource, asked["action"]), "fields"
            again[PARAMS] = {"action": asked["action"]}
        elif resource or "" in self.table.resources:
            made, key = self._resource(resource), "actions"
        else:
            made, key = self._tree(), "resources"
        return _page_of(made, key, asked.get("page", 1), again)

    def _tree(self) -> Json:
        ask = {"action": self.table.help_action, "resource": "…"}
        resources = {resource: list(actions) for resource, actions in self.shown.resources.items()}
        return {"resources": resources, "next_step": messages.ask_for_actions(write_json(ask))}

    def _resource(self, resource: str) -> Json:
        named = {"resource": resource} if resource else {}
        ask = {**named, "action": "…", self.table.help: True}
        actions = self.shown.resources.get(resource, {})
        return {
            **named,
            "actions": {action: _outline(tool) for action, tool in actions.items()},
            "next_step": messages.ask_for_fields(write_json(ask)),
        }

    def _action(self, resource: str, action: str) -> Json:
        if not resource and "" not in self.table.resources:
            raise _refusal("missing", "resource", messages.RESOURCE_REQUIRED)
        actions = self.shown.resources.get(resource, {})
        if action not in actions:
            near = near_name(action[:128], actions)
            raise _refusal("invalid", "action", messages.no_help_for(action, near, tuple(actions)))
        return _behind(self.table, target_of(resource, action), actions[action])


def _refusal(code: ProblemCode, key: str, message: str) -> ToolInputError:
    return ToolInputError([Problem(code=code, path=(key,), message=message)])


def _outline(tool: Tool) -> Json:
    """What a tool does, and the names of what it takes."""
    schema = portable(tool.schema_for_caller)
    required = list(schema.get("required", ()))
    optional = [name for name in schema.get("properties", {}) if name not in required]
    made: Json = {
        "description": shorten(tool.contract.description, _LONGEST_DESCRIPTION),
        "required": required,
        "optional": optional,
    }
    return {key: value for key, value in made.items() if value}


def _page_of(made: Json, key: str, page: int, again: Json) -> Json:
    """One page of an answer that would be too long. `again` is the call that asks for it. Raises
    ToolInputError for a page that does not exist.
    """
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
        raise _refusal("invalid", "page", messages.number_of_pages(len(pages)))
    made = {**made, key: pages[page - 1]}
    if len(pages) > 1:
        made |= {"page": page, "pages": len(pages)}
    if page < len(pages):
        made["next_page"] = {**again, "page": page + 1}
    return made
