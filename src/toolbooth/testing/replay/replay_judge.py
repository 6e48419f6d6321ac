"""Finds the outcome of a recorded call at the boundary of today's tools. No tool is run.

The tools keep their contracts, but get functions that do nothing. So the server handles the call as
usual, also in dispatchers, up to the call of the function.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic_core import to_jsonable_python

from toolbooth.adapters.connect import served
from toolbooth.boundary.repairs import Repair
from toolbooth.contract import Contract
from toolbooth.errors import Problem
from toolbooth.jsonvalue import near_name
from toolbooth.recording import RecordedCall
from toolbooth.server.redact import as_text
from toolbooth.server.registry import ToolRegistry
from toolbooth.server.tool import Tool
from toolbooth.server.wire_result import boundary_meta, problems_in, repairs_in
from toolbooth.testing.offline_schema import refuse_outside_references


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The outcome of one call at the boundary."""

    repairs: tuple[Repair, ...] = ()
    problems: tuple[Problem, ...] = ()
    values: str | None = None
    """JSON text of the values that the tool would get; None for a refused call."""


class NotProtected(TypeError):
    """Raised if no tool of the server is protected by the boundary, so there is nothing to compare
    with.
    """


class Judge:
    """Judges calls with today's tools. The tools have functions that do nothing."""

    def __init__(self, server: Any) -> None:
        self._registry = ToolRegistry("replay")
        self._got: dict[str, Any] = {}
        for name, tool in _tools_of(server).items():
            inert = self._inert(tool)
            self._registry.tools[name] = inert
            if inert.table is not None:
                for _, sub in inert.table.subs():
                    # A record has the name of the tool behind the dispatcher and the arguments that
                    # this tool got. So the replay calls this tool directly.
                    self._registry.tools[_key(sub.name, name)] = sub

    def missing(self, call: RecordedCall) -> str | None:
        """Return a message if the tool no longer exists. Return None if it exists."""
        known = self._registry.tools
        if _key(call.tool, call.dispatcher) in known:
            return None
        # Names with a `/` are internal keys for tools behind dispatchers. No agent can call them.
        near = near_name(call.tool, [name for name in known if "/" not in name])
        behind = f" behind {call.dispatcher!r}" if call.dispatcher else ""
        return f"there is no tool {call.tool!r}{behind}" + (f"; there is {near!r}" if near else "")

    def judge(self, call: RecordedCall) -> Judgement:
        """Return the outcome of a call. The tool must exist, and the record must have arguments."""
        self._got = {}
        body = (call.arguments or "").encode()
        result = self._registry.call_bytes(_key(call.tool, call.dispatcher), body)
        meta = boundary_meta(result.get("_meta"))
        values = None if result["isError"] else self._values_text()
        return Judgement(repairs=repairs_in(meta), problems=problems_in(meta), values=values)

    def _values_text(self) -> str:
        """Return the values that the last call passed to the function, as JSON text."""
        return as_text(to_jsonable_python(self._got, by_alias=True, fallback=_type_name))

    def _inert(self, tool: Tool) -> Tool:
        """Return the tool with another function, which only stores its values."""
        subs = None if tool.table is None else tool.table.mapped(self._inert)
        refuse_outside_references(tool.contract.schema, tool.name)
        function = self._recording_function(tool.contract)
        return replace(tool, function=function, timeout=None, table=subs)

    def _recording_function(self, contract: Contract) -> Callable[..., str]:
        """Return a function that only stores the values of a call."""
        by_position = [param.name for param in contract.params if param.positional]
        # Values such as a Context come from the server. They are not part of the call, and differ
        # in each run.
        not_sent = {param.name for param in contract.params if param.injected}

        def take(*args: Any, **keywords: Any) -> str:
            given = {**dict(zip(by_position, args, strict=False)), **keywords}
            self._got = {name: value for name, value in given.items() if name not in not_sent}
            return ""

        return take


def _tools_of(server: Any) -> Mapping[str, Tool]:
    if isinstance(server, ToolRegistry):
        return {**server.hidden, **server.tools}
    return _protected_tools(server)


def _protected_tools(server: Any) -> Mapping[str, Tool]:
    """Return those tools of another host's server that are protected by the boundary."""
    there = served(server)
    contracts = asyncio.run(there.contracts())
    if not contracts:
        raise NotProtected(
            f"no tool of {there.name!r} is behind the boundary: protect(server) puts them there"
        )
    return {
        # A Tool needs a function. This one never runs: `_inert` replaces it.
        name: Tool(contract=replace(each, name=name), function=dict)
        for name, each in contracts.items()
    }


def _key(tool: str, dispatcher: str | None) -> str:
    """Return a key for a tool behind a dispatcher, or for a tool alone. The separator is `/`, which
    no tool name contains.
    """
    return f"{dispatcher}/{tool}" if dispatcher else tool


def _type_name(value: Any) -> str:
    """Return the name of the type, to be written instead of a value that JSON cannot contain."""
    return f"<{type(value).__name__}>"
