"""Lists the tools of a server. Each tool has the contract against which its calls are checked."""

from __future__ import annotations

import importlib
import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from toolbooth.adapters.connect import Served
from toolbooth.compile.json_schema import compile_json_schema
from toolbooth.contract import Contract
from toolbooth.errors import ContractError
from toolbooth.jsonvalue import Json, is_object
from toolbooth.publish import portable
from toolbooth.server.tool import ActionTable, Tool
from toolbooth.testing.offline_schema import refuse_outside_references
from toolbooth.testing.shapes.expected import AgentShape


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedTool:
    """One tool as its server publishes it."""

    name: str
    contract: Contract
    published: Mapping[str, Any]
    """The inputSchema that clients see."""
    guarded: bool
    """True if the tool is protected by the boundary."""
    way: Mapping[str, str] = field(default_factory=dict[str, str])
    """For a dispatcher: the action to call, and its resource. The contract is then that of the
    sub-tool.
    """
    table: ActionTable | None = None

    @property
    def label(self) -> str:
        """Return the name of the tool in reports. It is also the key of the tool in `examples`."""
        return "/".join((self.name, *self.way.values()))


async def tools_of(there: Served) -> list[ServedTool]:
    """Return every tool of a server. A dispatcher is listed once for each of its actions.

    Raises:
        ContractError: if the schema of a tool refers to a file or URL.
    """
    found: list[ServedTool] = []
    # A low-level server has no tool objects, only the answer to tools/list.
    listed_contracts = await there.contracts() if there.kind == "lowlevel" else {}
    for listed in await there.tools():
        name, published = listed["name"], listed["inputSchema"]
        if there.kind == "toolbooth":
            found += _registry_tools(there.server.tools[name], published)
            continue
        hosts = await _hosts_tool(there, name)
        # Only our GuardedTool has a contract. So the attribute shows if a tool is protected.
        contract = getattr(hosts, "contract", None) or listed_contracts.get(name)
        made = contract or _host_contract(there, hosts, name, published)
        found.append(
            ServedTool(name=name, contract=made, published=published, guarded=contract is not None)
        )
    # These schemas may come from an unknown server. A validator must not open the files or URLs in
    # them.
    for tool in found:
        refuse_outside_references(tool.contract.schema, tool.label)
        refuse_outside_references(tool.published, tool.label)
    return found


def _registry_tools(tool: Tool, published: Json) -> list[ServedTool]:
    whole = ServedTool(name=tool.name, contract=tool.contract, published=published, guarded=True)
    if tool.table is None:
        return [whole]
    # Clients get the schema of a tool behind a dispatcher from the help of the dispatcher.
    behind = replace(whole, table=tool.table)
    return [
        replace(behind, contract=sub.contract, way=way, published=portable(sub.contract.schema))
        for way, sub in tool.table.subs()
    ]


async def _hosts_tool(there: Served, name: str) -> Any:
    """Return the host's own object for a tool. Return None for a low-level server."""
    if there.kind == "fastmcp":
        return await there.server.get_tool(name)
    return there.server._tool_manager.get_tool(name) if there.kind == "mcp_sdk" else None


def _host_contract(there: Served, hosts: Any, name: str, published: Json) -> Contract:
    """Return a contract for an unprotected tool.

    If the tool's function has the schema that clients see, the contract is compiled from the
    function. Otherwise it is compiled from the published schema.
    """
    public = compile_json_schema(published, name=name)
    if hosts is None:
        return public
    # The adapter is imported here, because it can be imported only if its host is installed.
    adapter = importlib.import_module(f"toolbooth.adapters.{there.kind}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the tool's author has seen these at registration
            own: Contract = adapter.guard_tool(hosts).contract
    except (ContractError, TypeError, AttributeError):
        return public
    # FastMCP can rename or hide the arguments of a tool. The function then has other names than the
    # clients see, and a contract made from it would refuse their calls.
    same = _names(own) == _names(public)
    return replace(own, name=name) if same else public


def _names(contract: Contract) -> set[str]:
    return {name for form in contract.shape.objects for name in form.names}


def route_shape(shape: AgentShape, tool: ServedTool) -> AgentShape | None:
    """Convert a call of a sub-tool to a call of its dispatcher. Return None if the dispatcher would
    understand this call differently.
    """
    table, way = tool.table, tool.way
    if table is None or shape.raw or not shape.body.startswith(b"{"):
        return None
    # A field with the same name as one of the dispatcher's arguments, such as `action`, would
    # choose another tool.
    if not table.own.isdisjoint(json.loads(shape.body)):
        return None

    def call(fields: Any) -> Any:
        return table.call(way, fields) if is_object(fields) else fields

    body = json.dumps(way).encode()[:-1] + (b", " if len(shape.body) > 2 else b"") + shape.body[1:]
    law = replace(shape.law, means=call(shape.law.means), corrected=call(shape.law.corrected))
    return replace(shape, body=body, law=law)
