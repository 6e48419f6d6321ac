"""Writes signatures. A signature shows the arguments of an action in one line: `create(name,
website?, employees?)`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import Any

from toolbooth.server import messages
from toolbooth.server.tool import ActionTable, Tool

PAGE = 4_000
"""The size of a page of help in bytes. This is about a thousand tokens."""

LONGEST = 120
"""In a list of many resources, each signature has at most this many characters."""

_MOST_LISTED = 220
"""`tools/list` shows the signatures of a dispatcher only if they have at most this many characters
together.
"""

_MOST_RARE = 60
"""The text about actions that few resources have is shown in `tools/list` only if it has at most
this many characters.
"""


def signature(
    action: str, tool: Tool, schema: Mapping[str, Any], longest: int | None = None
) -> str:
    """Return an action with the names of its arguments. Required arguments come first; control
    arguments are left out. A signature longer than `longest` is cut and ends with the number of
    arguments that are missing.
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
    """Yield the names of a tool's arguments. An optional argument ends with a question mark."""
    controls = tool.controls
    required = list(schema.get("required", ()))
    yield from required
    for name in schema.get("properties", {}):
        if name not in required and name not in controls:
            yield f"{name}?"


def signatures(actions: Mapping[str, Tool]) -> list[str]:
    """Return one line for each action of a resource. If the lines together would fill more than a
    page, they show no arguments. The lines show only fields that the caller may send.
    """
    found = [
        signature(action, tool, tool.schema_for_caller, LONGEST) for action, tool in actions.items()
    ]
    if sum(map(len, found)) <= PAGE:
        return found
    return [f"{action}(…)" for action in actions]


def in_list(table: ActionTable) -> str:
    """Return the text about a dispatcher's actions for `tools/list`. If the signatures are short,
    the text lists them. Otherwise it lists only the actions that few resources have. All callers
    who see the same actions get the same text.
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
    """Return the actions that fewer than half of the resources have. Each has a list of these
    resources.
    """
    owners: dict[str, list[str]] = {}
    for resource, actions in table.resources.items():
        for action in actions:
            owners.setdefault(action, []).append(resource)
    # Agents expect an action that most resources have. They would not find a rare one by trying.
    return {each: found for each, found in owners.items() if len(found) * 2 < len(table.resources)}
