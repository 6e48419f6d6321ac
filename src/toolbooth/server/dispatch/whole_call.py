"""Recognises a dispatcher's call that was sent inside another object, or that was sent twice:
`{"action": "create", "data": {"action": "create", "title": "a"}}`.
"""

from __future__ import annotations

from typing import Any

from toolbooth.boundary.read import text_as_object
from toolbooth.contract import Limits
from toolbooth.jsonvalue import Json, same_json
from toolbooth.server.dispatch.routed_call import named_tool
from toolbooth.server.tool import ActionTable, Tool


def may_repeat_the_call(value: Any) -> bool:
    """Return True if an argument may contain the whole call. The check must be fast, because it
    runs for every call.
    """
    if type(value) is str:
        return value[:1] == "{" and '"action"' in value
    return type(value) is dict and "action" in value


def whole_call_inside(table: ActionTable, sent: Json, limits: Limits) -> tuple[str, Json] | None:
    """Return the key whose value contains or repeats the whole call, and this value as an object.
    Return None if there is no such key, or more than one.
    """
    keys = [*sent]
    if "action" in sent:
        tool = named_tool(table, sent)
        if tool is None:
            return None
        keys = [key for key in sent if key not in table.own and not tool.owns(key)]
    objects = {key: text_as_object(sent[key], limits) for key in keys}
    calls = [(key, inner) for key, inner in objects.items() if inner and "action" in inner]
    if len(calls) != 1:
        return None
    [(key, inner)] = calls
    rest = {name: value for name, value in sent.items() if name != key}
    # If the values differ, one would be lost.
    twice = rest.keys() & inner.keys()
    if any(not same_json(rest[name], inner[name]) for name in twice):
        return None
    return key, inner


def declared_names(table: ActionTable, call: Json) -> list[str]:
    """Return the arguments of a call that the dispatcher or the sub-tool declares."""
    tool = named_tool(table, call)
    forms = () if tool is None else tool.contract.shape.objects
    fields = {name for form in forms for name in form.fields}
    return [name for name in call if name in table.own or name in fields]


def repeated_names(table: ActionTable, inner: Json, arguments: Json, tool: Tool) -> list[str]:
    """Return the keys in `params` that only repeat the resource or the action."""
    own = [key for key in table.keys if key in inner and not tool.owns(key)]
    return [key for key in own if inner[key] == arguments.get(key)]
