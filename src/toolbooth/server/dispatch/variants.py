"""Finds the variant of a tool that a call asks for: its help, or a variant for many rows at once.

In: the arguments as sent. Out: the tool to run instead, or None for the tool itself. `help.py`
builds the answers with help.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from toolbooth.boundary.read import text_as_object
from toolbooth.contract import DEFAULT_LIMITS
from toolbooth.jsonvalue import Json
from toolbooth.server.controls import (
    BOOLEAN,
    CONTROL_ARGUMENTS,
    HELP_KEY,
    accepting,
    is_free,
    is_true,
    publishing,
)
from toolbooth.server.dispatch.help import help_of_one
from toolbooth.server.tool import AccessCheck, Tool, Variant


def first_variant(*variants: Variant | None) -> Variant:
    """Combine several variants into one. The first variant that the arguments ask for is used."""
    known = [variant for variant in variants if variant is not None]

    def variant(sent: Any) -> Tool | None:
        for each in known:
            found = each(sent)
            if found is not None:
                return found
        return None

    return variant


def help_variant(
    name: str, tool: str, find: Callable[[str], Tool], access_check: AccessCheck | None
) -> Variant:
    """Return a variant that answers with the tool's help. `name` is the name of the argument
    `help`. `find` returns the tool by its name; it works only after the tool is registered.
    """

    def variant(sent: Any) -> Tool | None:
        found = text_as_object(sent, DEFAULT_LIMITS)
        # This runs before the boundary has read the arguments. So `"true"` as text must count too,
        # or the tool would run.
        if found is None or not is_true(found.get(name)):
            return None
        return help_of_one(name, tool, find, access_check)

    return variant


def without_help(tool: Tool, name: str) -> Variant:
    """Return a variant for `help: false`. It accepts the argument `help` and ignores it."""
    made = replace(tool, contract=accepting(tool.contract, {name: BOOLEAN}, {name: "help"}))

    def variant(sent: Any) -> Tool | None:
        found = text_as_object(sent, DEFAULT_LIMITS)
        return made if found is not None and name in found else None

    return variant


def with_help(tool: Tool, name: str, find: Callable[[str], Tool]) -> Tool:
    """Return a tool that also accepts `help: true`. A tool that already has an argument with this
    name is returned unchanged.
    """
    if not is_free(tool.contract, name):
        return tool

    def extra_help() -> Json:
        own = {} if tool.extra_help is None else dict(tool.extra_help())
        controls = {**own.get(HELP_KEY, {}), name: CONTROL_ARGUMENTS["help"].meaning}
        return {**own, HELP_KEY: controls}

    asked = help_variant(name, tool.name, find, tool.access_check)
    # Its own variant would find `help` again, in an endless recursion.
    declined = without_help(replace(tool, variant=None), name)
    return replace(
        tool,
        contract=publishing(tool.contract, {name: BOOLEAN}),
        # Help comes before all others: `{"help": true, "objects": [...]}` must not write rows.
        variant=first_variant(asked, tool.variant, declined),
        extra_help=extra_help,
    )
