"""The tools that `test_protect.py` calls on every host: `python protected_server.py
(fastmcp|mcp_sdk)` serves stdio.
"""

import sys
from typing import Annotated, Any

from fastmcp import FastMCP
from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel, Field, field_validator

from toolbooth import JsonText, ToolError, Unpack
from toolbooth.adapters import fastmcp, mcp_sdk
from toolbooth.server.registry import ToolRegistry

RUNS: list[str] = []
"""The values that a validator has received since `forget` was called."""


class Address(BaseModel):
    city: str
    postcode: str | None = None


class Line(BaseModel):
    sku: str
    quantity: int = 1

    @field_validator("sku")
    @classmethod
    def known(cls, sku: str) -> str:
        RUNS.append(sku)
        if sku.startswith("x"):
            raise ValueError("there is no such article")
        if sku == "broken":
            raise KeyError("secret")
        return sku


class Place(BaseModel):
    city: str
    street: str = "Main"


def place_order(
    customer: str, address: Address, lines: list[Line], priority: int = 0, note: str = ""
) -> dict[str, Any]:
    """Place an order."""
    return {
        "customer": customer,
        "address": address.model_dump(exclude_unset=True),
        "lines": [line.model_dump(exclude_unset=True) for line in lines],
        "priority": priority,
        "note": note,
        "validator_runs": len(RUNS),
    }


def page_through(page_size: Annotated[int, Field(alias="pageSize")] = 10) -> dict[str, Any]:
    return {"page_size": page_size}


async def collect(
    item: str, into: Annotated[list[str], Field(default_factory=list)]
) -> dict[str, Any]:
    into.append(item)
    return {"into": into}


async def move(
    origin: Annotated[Place, Unpack(prefix="from_")], target: Annotated[Place, Unpack(prefix="to_")]
) -> dict[str, Any]:
    return {"origin": origin.model_dump(), "target": target.model_dump()}


def find(where: Annotated[dict[str, Any], JsonText(example={"colour": "red"})]) -> dict[str, Any]:
    return {"where": where}


def reserve(count: int) -> dict[str, Any]:
    raise ToolError("reserve", "out of stock", {"left": 0})


async def crash(count: int) -> dict[str, Any]:
    raise KeyError("secret")


async def forget() -> dict[str, Any]:
    RUNS.clear()
    return {}


TOOLS = (forget, place_order, page_through, collect, move, find, reserve, crash)


def make(host: str) -> Any:
    """Return a server of a host, half of whose tools are registered before it is protected, half
    after.
    """
    if host == "registry":
        registry = ToolRegistry("orders")
        for tool in TOOLS:
            registry.tool(tool)
        return registry
    server = (
        FastMCP("orders", mask_error_details=True) if host == "fastmcp" else MCPServer("orders")
    )
    add = server.tool if host == "fastmcp" else server.add_tool
    for tool in TOOLS[:4]:
        add(tool)
    assert (fastmcp if host == "fastmcp" else mcp_sdk).protect(server) is server
    for tool in TOOLS[4:]:
        add(tool)
    return server


if __name__ == "__main__":
    make(sys.argv[1]).run("stdio")
