"""Corrects calls of tools that call other tools, such as `call_tool(name, arguments)`. Some agents
send arguments of the other tool beside `arguments` instead of inside it
(NousResearch/hermes-agent#101004, 2026-09-02).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from toolbooth.errors import Edit, Move
from toolbooth.jsonvalue import Json, JsonPath, is_object, recased
from toolbooth.shape import JsonType, ObjectShape, Shape

_ARGUMENTS = frozenset(
    (
        *("arguments", "args", "kwargs", "params", "parameters", "input"),
        *("toolarguments", "toolargs", "toolparams", "toolparameters", "toolinput"),
    )
)
"""Possible names of the field that holds the other tool's arguments, in lower case and without
separators.
"""

_TOOL = frozenset(("name", "tool", "toolname", "function", "functionname", "action"))
"""Possible names of the field that holds the name of the other tool."""


@lru_cache(maxsize=1024)
def arguments_of(form: ObjectShape) -> str | None:
    """Return the name of the field for the other tool's arguments. Return None if this tool does
    not call other tools.
    """
    # An open object accepts any key, so no key is misplaced.
    if form.additional is not None:
        return None
    found = [
        name
        for name in form.names
        if recased(name) in _ARGUMENTS and _takes_any_key(form.fields[name].shape)
    ]
    # A field called `params` is not enough: the tool must also require the name of another tool.
    names_a_tool = any(
        recased(name) in _TOOL and form.fields[name].required and _is_text(form.fields[name].shape)
        for name in form.names
    )
    return found[0] if len(found) == 1 and names_a_tool else None


def _takes_any_key(shape: Shape) -> bool:
    forms = shape.objects
    return len(forms) == 1 and forms[0].additional is not None and not forms[0].fields


def _is_text(shape: Shape) -> bool:
    return shape.types == frozenset[JsonType](("string",))


def is_spread(form: ObjectShape, key: str, beside: Json) -> bool:
    """Return True if an undeclared key of the object `beside` is an argument of the other tool."""
    name = arguments_of(form)
    if name is None or recased(key) in _ARGUMENTS:
        return False
    others = [value for each, value in beside.items() if each not in form.fields]
    return not _may_be_all(beside.get(name), others)


def _may_be_all(arguments: Any, strays: Iterable[Any]) -> bool:
    """Return True if the misplaced objects may contain all arguments of the other tool. That is
    possible only if the field for these arguments was not sent.
    """
    return arguments is None and all(map(is_object, strays))


def gathered(
    form: ObjectShape, made: Json, strays: Mapping[str, tuple[JsonPath, Any]]
) -> list[Edit] | None:
    """Move misplaced values into the field for the other tool's arguments. Return the edits, or
    None if it is not certain that the values belong there.
    """
    name = arguments_of(form)
    # One of the values is probably the name of the other tool, under an undeclared key.
    if any(form.fields[each].required and each not in made for each in form.names):
        return None
    # The object under this name probably contains all arguments. That is another mistake.
    if name is None or not strays or any(recased(key) in _ARGUMENTS for key in strays):
        return None
    inner = made.get(name)
    if _may_be_all(inner, (value for _, value in strays.values())):
        return None
    inner = Json() if inner is None else inner
    # A key that is in both places may have two values.
    if not is_object(inner) or not inner.keys().isdisjoint(strays):
        return None
    made[name] = {**inner, **{key: value for key, (_, value) in strays.items()}}
    return [Move(origin, (name, key)) for key, (origin, _) in strays.items()]
