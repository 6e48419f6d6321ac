"""Signatures: the arguments of an action in one line: `create(name, website?, employees?)`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import Any

from toolbooth.server import messages
from toolbooth.server.tool import ActionTable, Tool

PAGE = 4_000
"""Bytes of one page of help, about a thousand tokens."""

LONGEST = 120
"""Characters of a signature among those of many resources."""

_MOST_LISTED = 220
"""Characters of all signatures of a dispatcher that `tools/list` may show."""

_MOST_RARE = 60
"""Characters that `tools/list` may spend on the actions that few resources have."""


def signature(
    action: str, tool: Tool, schema: Mapping[str, Any], longest: int | None = None
) -> str:
    """Return an action with the names of its arguments, the required ones first, without those of
    the server. One longer than `longest` is cut, and counts the arguments that are left out.
    """
    names = list(_arguments(tool, schema))
    whole = f"{action}({', '.join(names)})"
    if longest is None or len(whole) <= longest:
        return whole
    ends = accumulate((len(name) + 2 for name in names), initial=len(action))
    # Two more for each comma and space.
    shown = [name for name, end in zip(names, list(ends)[1:], strict=True) if end <= longest]
    left = messages.more_arguments(len(names) - len(shown))
    return f"{action}({', '.join([*shown, left])})"


def _arguments(tool: Tool, schema: Mapping[str, Any]) -> Iterator[str]:
    """The arguments of a tool, with a question mark behind those that may be left out."""
    controls = tool.controls
    required = list(schema.get("required", ()))
    yield from required
    for name in schema.get("properties", {}):
        if name not in required and name not in controls:
            yield f"{name}?"


def signatures(actions: Mapping[str, Tool]) -> list[str]:
    """One line for each action of a resource, for the caller who asks. Without arguments, if they
    would fill a page of their own.
    """
    found = [
        signature(action, tool, tool.schema_for_caller, LONGEST) for action, tool in actions.items()
    ]
    if sum(map(len, found)) <= PAGE:
        return found
    return [f"{action}(…)" for action in actions]


def in_list(table: ActionTable) -> str:
    """Return the words about a dispatcher's actions in `tools/list`: their signatures if these are
    short, or else the actions that only few resources have. Callers who may see the same actions
    get the same words.
    """
    lines = [
        messages.actions_of(resource, list(_listed(actions)))
        for resource, actions in table.resources.items()
    ]
    if sum(map(len, lines)) <= _MOST_LISTED:
        return messages.as_sentence(lines)
    rare = [messages.only_of(action, owners) for action, owners in _rare(table).items()]
    return messages.as_sentence(rare) if 0 < sum(map(len, rare)) <= _MOST_RARE else ""


def _listed(actions: Mapping[str, Tool]) -> Iterator[str]:
    for action, tool in actions.items():
        yield signature(action, tool, tool.contract.schema, LONGEST)


def _rare(table: ActionTable) -> dict[str, list[str]]:
    """The actions that less than half of the resources have, and these resources."""
    owners: dict[str, list[str]] = {}
    for resource, actions in table.resources.items():
        for action in actions:
            owners.setdefault(action, []).append(resource)
    # An action that most resources have is expected anyway. A rare one is not found by trying.
    return {each: found for each, found in owners.items() if len(found) * 2 < len(table.resources)}
