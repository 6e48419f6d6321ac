"""Builds dispatchers from the classes and tables of authors. A dispatcher is one tool in the list
that gives access to many tools.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar, overload

from toolbooth.compile.json_schema import compile_json_schema
from toolbooth.contract import Contract
from toolbooth.errors import ContractError
from toolbooth.jsonvalue import Json
from toolbooth.server import messages
from toolbooth.server.dispatch.signatures import in_list
from toolbooth.server.tool import PARAMS, ActionTable, Shows, Tool

F = TypeVar("F", bound=Callable[..., Any])

MARK = "toolbooth_action"
"""The attribute that `@mcp_action` sets on a method. Its value is the dict of options."""

_MOST_NAMES = 250
"""The tool list shows at most this many characters of action names. The remaining names are in
help.
"""


@overload
def mcp_action(function: F, /) -> F: ...
@overload
def mcp_action(**options: Any) -> Callable[[F], F]: ...
def mcp_action(function: Any = None, /, **options: Any) -> Any:
    """Mark a method of a dispatcher class as an action. It takes the same options as other tools of
    the host.
    """

    def mark(found: Any) -> Any:
        setattr(found, MARK, options)
        return found

    return mark if function is None else mark(function)


def name_of(cls: type) -> str:
    """Make the name of a dispatcher from the name of its class."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()


def actions_in(cls: type) -> Iterator[tuple[str, Callable[..., Any], Json]]:
    """Yield the actions of a class: name, bound method and options. Raises ContractError if there
    are none.
    """
    made = cls()
    # Actions of a base class come first, in the order in which they are written. `dir` would sort
    # them by name.
    every = [name for each in reversed(cls.__mro__) for name in vars(each)]
    # A subclass removes an action by overriding the method without the mark.
    found = [name for name in every if hasattr(getattr(cls, name), MARK)]
    if not found:
        raise ContractError(cls.__name__, [messages.NO_MARKED_METHOD])
    for name in dict.fromkeys(found):
        method = getattr(made, name)
        options: Json = dict(getattr(method, MARK))
        yield options.pop("name", None) or name, method, options


def action_table(name: str, found: Mapping[str, Any], help_word: str) -> ActionTable:
    """Return the action table for `{action: tool}` or `{resource: {action: tool}}`. Raises
    ContractError.
    """
    levels: dict[str, Mapping[str, Tool]] = {
        resource: actions for resource, actions in found.items() if isinstance(actions, Mapping)
    }
    empty = [resource for resource, actions in levels.items() if not actions]
    mistakes = [messages.no_actions_of(resource) for resource in empty]
    if not found:
        mistakes.append(messages.NO_ACTIONS)
    if levels and len(levels) < len(found):
        mistakes.append(messages.MIXED_LEVELS)
    if not help_word.isidentifier() or help_word in ("action", "resource", PARAMS):
        mistakes.append(messages.not_a_word_for_help(help_word))
    if "" in found or any("" in actions for actions in levels.values()):
        mistakes.append(messages.NAMELESS_ACTION)
    if mistakes:
        raise ContractError(name, mistakes)
    # A table with one level has a single resource without a name.
    resources = levels or {"": found}
    only = ""
    if len(resources) == 1:
        # With only one resource, calls need no `resource`. Its name is kept, so that a call may
        # still send it.
        ((only, actions),) = resources.items()
        resources = {"": actions}
    made = ActionTable(resources=resources, help=help_word, only=only)
    nested = [tool.name for _, tool in made.subs() if tool.is_dispatcher]
    if nested:
        raise ContractError(name, [messages.nested_dispatcher(each) for each in nested])
    return made


def dispatcher(name: str, table: ActionTable, description: str, title: str | None) -> Tool:
    """Return the dispatcher for a table of tools."""
    # The names are not in the schema, because `route` refuses unknown ones and suggests others.
    taken: Json = {
        **{key: {"type": "string"} for key in table.keys},
        PARAMS: {"type": "object", "additionalProperties": True},
        table.help: {"type": "boolean"},
    }
    schema = {"type": "object", "properties": taken, "additionalProperties": True}
    usage = messages.dispatcher_usage(PARAMS, table.help)
    said = f"{description.rstrip('. ')}. {usage}" if description else usage
    contract = compile_json_schema(schema, name=name, description=said)
    # `dict` is never called, because `route` passes each call on to a sub-tool.
    return _published(Tool(contract=contract, function=dict, title=title), table)


def narrowed(tool: Tool, shows: Shows) -> Tool | None:
    """Return a tool with only those parts that this caller may see. For a dispatcher, these are its
    visible tools. Return None if no part is visible.
    """
    if tool.table is None:
        return tool if shows(tool.name) else None
    left = tool.table.only_shown(shows)
    if not left.resources:
        return None
    return tool if left.size == tool.table.size else _published(tool, left)


def _published(tool: Tool, table: ActionTable) -> Tool:
    """Return the dispatcher as `tools/list` publishes it, with this table."""
    contract: Contract = replace(tool.contract, describe=lambda: _schema(table))
    words = partial(in_list, table)
    return replace(
        tool, contract=contract, table=table, annotations=_hints(table), list_words=words
    )


def _schema(table: ActionTable) -> Json:
    actions = dict.fromkeys(target["action"] for target, _ in table.subs())
    properties: Json = {"action": _names(actions)}
    if "" not in table.resources:
        properties = {"resource": _names(table.resources), **properties}
    # Published as text: some clients send only declared fields, so an open object would be empty,
    # and others refuse it (see lint).
    fields = {"type": "string", "description": 'Fields as JSON text, e.g. {"name": "A"}'}
    flags = {PARAMS: fields, table.help: {"type": "boolean"}}
    # Nothing is required, because a request for help need not name an action.
    return {"type": "object", "properties": {**properties, **flags}}


def _names(names: Iterable[str]) -> Json:
    every = list(names)
    if sum(len(name) + 3 for name in every) <= _MOST_NAMES:
        return {"type": "string", "enum": every}
    return {"type": "string", "description": messages.more_names(every[:5], len(every))}


def _hints(table: ActionTable) -> Mapping[str, Any] | None:
    """Return the annotations of the dispatcher. They must be true for every action. Return None if
    some action has no annotations.
    """
    every = [tool.annotations for _, tool in table.subs()]
    known = [each for each in every if each]
    if len(known) < len(every):
        # An action without hints may do anything, so the dispatcher cannot have hints either.
        return None
    if all(each.get("readOnlyHint") for each in known):
        return {"readOnlyHint": True}
    # The specification treats a tool without `destructiveHint` as destructive.
    harmless = all(
        each.get("readOnlyHint") or each.get("destructiveHint") is False for each in known
    )
    return {"readOnlyHint": False, "destructiveHint": not harmless}
