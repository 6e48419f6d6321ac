"""Answers requests for help. The answer has the arguments of one tool, or the tools behind a
dispatcher, in levels and pages. Whether a call asks for help is decided in `variants.py` and
`route.py`.
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
from toolbooth.errors import Problem, ToolError, ToolInputError
from toolbooth.jsonvalue import Json, shorten, write_json
from toolbooth.publish import portable
from toolbooth.sample import example_of
from toolbooth.server import messages
from toolbooth.server.controls import BOOLEAN, HELP_KEY
from toolbooth.server.dispatch.signatures import PAGE, signature, signatures
from toolbooth.server.tool import PARAMS, AccessCheck, ActionTable, Shows, Tool

_LONGEST_DESCRIPTION = 120
"""In a list of many tools, a description has at most this many characters."""


def help_of(tool: Tool) -> Json:
    """Return everything about one tool: its description, its arguments and an example."""
    schema = portable(tool.schema_for_caller)
    made: Json = {
        "tool": tool.name,
        "description": tool.contract.description,
        "fields": schema.get("properties", {}),
        "required": list(schema.get("required", ())),
    }
    # The fields refer to these definitions, which the agent can see only here.
    if "$defs" in schema:
        made["$defs"] = schema["$defs"]
    extra: Mapping[str, Any] = {} if tool.extra_help is None else tool.extra_help()
    controls = extra.get(HELP_KEY, {})
    own = {name: each for name, each in made["fields"].items() if name not in controls}
    reads = bool((tool.annotations or {}).get("readOnlyHint"))
    # A read is useful without arguments, so its example is `{}`. A write without arguments would
    # show nothing.
    example = example_of({**schema, "properties": own}, bare=reads)
    made["example"] = example if tool.placeholders is None else tool.placeholders(example)
    return {**made, **extra}


def help_of_one(
    name: str, tool: str, find: Callable[[str], Tool], access_check: AccessCheck | None
) -> Tool:
    """Return a tool that answers a call with `help: true`. `name` is the name of the argument
    `help`, which may be renamed.
    """
    schema = {"type": "object", "properties": {name: BOOLEAN}, "additionalProperties": True}

    def answer(sent: Json) -> Json:
        _check_access(access_check)
        found = find(tool)
        made = help_of(found)
        made |= _ignored(found, {key: each for key, each in sent.items() if key != name})
        if found.output_check is not None:
            # Clients check every result except an error against the output schema. So help is sent
            # as an error. Its text is the same JSON.
            raise ToolError(orjson.dumps(made).decode())
        return made

    contract = compile_json_schema(schema, name=tool)
    return Tool(contract=contract, function=answer, access_check=access_check)


def _ignored(tool: Tool, others: Json) -> Json:
    """Describe the other arguments in a request for help, which are all ignored. If there is a
    wrapper among them, the answer explains it, because the tool itself would refuse it.
    """
    if not others:
        return {}
    contract = tool.contract
    _, exam = examine(contract.shape, others, contract.limits, thorough=False)
    # A refused value may be a secret in the wrong place, and the answer repeats the problems.
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
    """Raise an error if the caller may not call the tool. Help would show the caller the fields of
    the tool.
    """
    # Checked for each call, because the next caller may have other permissions.
    refused = None if access_check is None else access_check()
    if refused is not None:
        raise refused


# --- behind a dispatcher --------------------------------------------------------------------------


def _behind(dispatcher: str, table: ActionTable, target: Mapping[str, str], tool: Tool) -> Json:
    """Return everything about a sub-tool. The example is a call of the dispatcher."""
    made: Json = {"tool": dispatcher, **target}
    made |= {key: each for key, each in help_of(tool).items() if key != "tool"}
    made["example"] = table.call(target, made["example"])
    controls = made.get(HELP_KEY, {})  # these mean the same in the dispatcher's call
    # `action` and `params` belong to the dispatcher. A field of that name is only reached inside
    # `params`.
    own = [name for name in made["fields"] if name in table.own and name not in controls]
    if own:
        made["note"] = messages.send_inside_params(own, PARAMS)
    return made


def help_of_dispatcher(
    dispatcher: str, table: ActionTable, shows: Shows | None, subject: Mapping[str, str]
) -> Tool:
    """Return a tool that answers with the actions of a dispatcher. Only actions that this caller
    may see are listed. `subject` has the resource or the action that the request names.
    """
    shown = table if shows is None else table.only_shown(shows)
    again: Json = {**subject, table.help: True}

    def answer(asked: Json) -> Json:
        resource = subject.get("resource", "")
        if resource or "" in table.resources:
            made, key = _resource(shown, resource), "actions"
        else:
            made, key = _tree(shown, subject.get("action")), "resources"
        pages = _pages(made[key])
        page = asked.get("page", 1)
        if page > len(pages):
            message = messages.number_of_pages(len(pages))
            raise ToolInputError([Problem(code="invalid", path=("page",), message=message)])
        return _page_of({**made, key: pages[page - 1]}, page, len(pages), again)

    return Tool(contract=replace(_question(), name=dispatcher), function=answer)


def help_of_action(
    dispatcher: str, table: ActionTable, target: Mapping[str, str], sub: Tool
) -> Tool:
    """Return a tool that answers with the arguments of one action."""
    again: Json = {**target, table.help: True}

    def answer(sent: Json) -> Json:
        _check_access(sub.access_check)
        made = _behind(dispatcher, table, target, sub)
        pages = _pages(made["fields"])
        # Answer a request for help with its page, or with the message that there is no such page.
        asked = sent.get("page")
        numbers = range(1, len(pages) + 1)
        page = asked if type(asked) is int and asked in numbers else 1
        used = {table.help: True, "page": page}
        # Only a valid request for help is left out. `help: false`, or a page that does not exist,
        # is reported as ignored.
        others = {key: each for key, each in sent.items() if used.get(key) != each}
        made = _page_of({**made, "fields": pages[page - 1]}, page, len(pages), again)
        return made | _ignored(sub, others)

    contract = replace(_anything(), name=sub.name)
    return Tool(contract=contract, function=answer, access_check=sub.access_check)


@cache  # made on first use, so that a server starts faster
def _anything() -> Contract:
    """Return a contract that accepts any arguments. It is for requests for help: no tool is called,
    and the answer says that the arguments are ignored.
    """
    return compile_json_schema({"type": "object", "additionalProperties": True}, name="help")


@cache
def _question() -> Contract:
    """Return the contract of a request for help to a dispatcher, when the resource and the action
    were already taken out of its arguments.
    """
    fields = {"page": {"type": "integer", "minimum": 1}}
    return compile_json_schema(
        {"type": "object", "properties": fields, "additionalProperties": False}, name="help"
    )


def _tree(shown: ActionTable, action: str | None) -> Json:
    """Return the resources, each with its actions in one line. If the request names an action, list
    only the resources that have it.
    """
    resources = shown.resources
    if action is not None:
        owners = {name: below for name, below in resources.items() if action in below}
        resources = {name: {action: below[action]} for name, below in owners.items()}
    named = {} if action is None else {"action": action}
    ask = {"resource": "…", **named, shown.help: True}
    step = messages.ask_for_actions if action is None else messages.ask_for_fields
    return {
        "resources": {name: signatures(below) for name, below in resources.items()},
        "next_step": step(write_json(ask)),
    }


def _resource(shown: ActionTable, resource: str) -> Json:
    """Return the actions of one resource, with all their fields."""
    named = {"resource": resource} if resource else {}
    ask = {**named, "action": "…", shown.help: True}
    actions = shown.resources.get(resource, {})
    return {
        **named,
        "actions": {action: _outline(action, tool) for action, tool in actions.items()},
        "next_step": messages.ask_for_fields(write_json(ask)),
    }


def _outline(action: str, tool: Tool) -> Json:
    """Return the signature and description of a tool."""
    made = {"signature": signature(action, tool, tool.schema_for_caller)}
    words = shorten(tool.contract.description, _LONGEST_DESCRIPTION)
    return {**made, "description": words} if words else made


def _pages(parts: Json) -> list[Json]:
    """Divide an answer into pages. `parts` has the entries of the answer."""
    pages: list[Json] = [{}]
    room = PAGE
    for name, each in parts.items():
        size = len(name) + len(orjson.dumps(each))
        # A part that is longer than a page gets its own page, because fields are not cut.
        if pages[-1] and size > room:
            pages.append({})
            room = PAGE
        pages[-1][name] = each
        room -= size
    return pages


def _page_of(made: Json, page: int, pages: int, again: Json) -> Json:
    """Return one page of an answer. `again` is the call that asks for the answer; other pages are
    requested with it.
    """
    if pages > 1:
        made |= {"page": page, "pages": pages}
    if page < pages:
        made["next_page"] = {**again, "page": page + 1}
    return made
