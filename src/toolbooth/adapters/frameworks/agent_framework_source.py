"""Reads a tool of the Agent Framework: makes its guard, and finds the arguments that the model
sent.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container
from dataclasses import replace
from typing import Any

from agent_framework import FunctionTool

from toolbooth.adapters.agent_tools.call import Call
from toolbooth.adapters.agent_tools.guard import (
    Guard,
    guard_contract,
    guard_function,
    guard_schema,
)
from toolbooth.adapters.agent_tools.options import Options
from toolbooth.compile.signature import compile_model
from toolbooth.jsonvalue import Json, is_object, json_bytes

_RAW = "raw"
"""If a text is not a JSON object, the framework passes it as the value of this key."""


class Repaired(dict[str, Any]):
    """The repaired arguments, which middleware sees. `sent` has the arguments as the model sent
    them.
    """

    def __init__(self, values: Json, sent: Any) -> None:
        super().__init__(values)
        self.sent = sent
        self._text = json_bytes(values)

    def is_unchanged(self) -> bool:
        """Return True if no middleware has changed the repaired arguments."""
        try:
            return json_bytes(self) == self._text
        except (TypeError, ValueError):
            return False


class Ready(dict[str, Any]):
    """The arguments of an accepted call."""

    call: Call


def guard_of(tool: Any, options: Options) -> tuple[Guard, Callable[..., Any]]:
    """Return the guard of a tool, and the function that gets the accepted values.

    Raises:
        ContractError: the tool has mistakes. The message lists all of them, each with its remedy.
    """
    named: Json = {"name": tool.name, "description": tool.description}
    if tool._schema_supplied:
        return guard_schema(tool.parameters(), options, keywords=True, **named), tool.func
    if tool._input_model_explicitly_provided:
        contract = compile_model(tool.input_model, **named)
        return guard_contract(replace(contract, params=(), bind=_fields_set), options), tool.func
    function: Any = tool.func
    if isinstance(function, FunctionTool):
        function = function.func
    filled = {"self", "cls", tool._context_parameter_name}
    guard = guard_function(function, options, injected=filled, listed=tool.parameters(), **named)
    return guard, guard.contract.function or function


def _fields_set(values: Any) -> Json:
    """Return the fields that were sent. The framework also passes only these to a tool with the
    author's own model.
    """
    return values.model_dump(exclude_unset=True)


def as_sent(arguments: Json, declared: Container[str]) -> Any:
    """Return the arguments. If the framework could not parse the text of the model, return this
    text.
    """
    if _RAW not in arguments or len(arguments) > 1 or _RAW in declared:
        return arguments
    raw = arguments[_RAW]
    # The framework could have parsed an object, so the model itself has sent the key `raw`.
    if is_object(raw):
        return arguments
    # If the text is empty, the framework passes no arguments. So an empty value here was the JSON
    # string "".
    if isinstance(raw, str) and raw and not _is_json(raw):
        return raw
    return json_bytes(raw).decode()


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
