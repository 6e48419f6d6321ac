"""A recorded call and today's tools go in; what the boundary makes of the call comes out. No tool
is run.

The tools keep their contracts and lose their functions, so that the server's own way of calling,
dispatchers and all, ends where the tool would begin.
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
from toolbooth.server.redact import as_text
from toolbooth.server.registry import ToolRegistry
from toolbooth.server.tool import Tool
from toolbooth.server.wire_result import boundary_meta, problems_in, repairs_in
from toolbooth.testing.offline_schema import refuse_outside_references
from toolbooth.testing.replay.record import RecordedCall


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What the boundary makes of one call."""

    repairs: tuple[Repair, ...] = ()
    problems: tuple[Problem, ...] = ()
    values: str | None = None
    """JSON text of what the tool would get; None where the call is refused."""


class NotProtected(TypeError):
    """No tool of a server is behind the boundary, so there is nothing to hold calls to."""


class Judge:
    """Today's tools, without what they do."""

    def __init__(self, server: Any) -> None:
        self._registry = ToolRegistry("replay")
        self._got: dict[str, Any] = {}
        for name, tool in _tools_of(server).items():
            inert = self._inert(tool)
            self._registry.tools[name] = inert
            if inert.table is not None:
                for _, sub in inert.table.subs():
                    self._registry.tools[_key(sub.name, name)] = sub

    def missing(self, call: RecordedCall) -> str | None:
        """The words for a tool that is no longer there; None for one that is."""
        known = self._registry.tools
        if _key(call.tool, call.dispatcher) in known:
            return None
        near = near_name(call.tool, [name for name in known if "/" not in name])
        behind = f" behind {call.dispatcher!r}" if call.dispatcher else ""
        return f"there is no tool {call.tool!r}{behind}" + (f"; there is {near!r}" if near else "")

    def judge(self, call: RecordedCall) -> Judgement:
        """What becomes of a call that has arguments, for a tool that is there."""
        self._got = {}
        body = (call.arguments or "").encode()
        result = self._registry.call_bytes(_key(call.tool, call.dispatcher), body)
        meta = boundary_meta(result.get("_meta"))
        values = None if result["isError"] else self._values_text()
        return Judgement(repairs=repairs_in(meta), problems=problems_in(meta), values=values)

    def _values_text(self) -> str:
        """JSON text of what the last tool was called with."""
        return as_text(to_jsonable_python(self._got, by_alias=True, fallback=_type_name))

    def _inert(self, tool: Tool) -> Tool:
        """The tool with a function that does nothing."""
        subs = None if tool.table is None else tool.table.mapped(self._inert)
        refuse_outside_references(tool.contract.schema, tool.name)
        function = self._recording_function(tool.contract)
        return replace(tool, function=function, timeout=None, table=subs)

    def _recording_function(self, contract: Contract) -> Callable[..., str]:
        """A function that takes what the tool would be called with, and does nothing."""
        by_position = [param.name for param in contract.params if param.positional]
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
    """The tools of another host that are behind the boundary."""
    there = served(server)
    contracts = asyncio.run(there.contracts())
    if not contracts:
        raise NotProtected(
            f"no tool of {there.name!r} is behind the boundary: protect(server) puts them there"
        )
    return {
        name: Tool(contract=replace(each, name=name), function=dict)
        for name, each in contracts.items()
    }


def _key(tool: str, dispatcher: str | None) -> str:
    """By what a tool is found; no name of a tool has a `/` in it."""
    return f"{dispatcher}/{tool}" if dispatcher else tool


def _type_name(value: Any) -> str:
    """Stands for a value that has no JSON."""
    return f"<{type(value).__name__}>"
