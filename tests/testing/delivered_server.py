"""Tools that return a description of their arguments. `python delivered_server.py HOST` serves HTTP
on a port that it prints.
"""

import logging
import socket
import sys
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Literal

import uvicorn
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError as FastMCPToolError
from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel, Field, SecretStr

from toolbooth import ToolError, ToolRegistry
from toolbooth.adapters import fastmcp, mcp_sdk
from toolbooth.server.asgi import app

HOSTS = [
    "registry",
    "registry-protocol",
    "fastmcp",
    "fastmcp-protected",
    "mcp_sdk",
    "mcp_sdk-protected",
]


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Line(BaseModel):
    sku: str
    quantity: int = 1


class Address(BaseModel):
    city: str
    postcode: str | None = None


class Card(BaseModel):
    number: str


def told(value: Any) -> str:
    """Describe a value with its types, at every depth."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{told(key)}: {told(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return f"{type(value).__name__}[" + ", ".join(map(told, value)) + "]"
    if isinstance(value, BaseModel):
        fields = ", ".join(
            f"{name}={told(getattr(value, name))}" for name in type(value).model_fields
        )
        return f"{type(value).__name__}({fields}; {sorted(value.model_fields_set)})"
    return f"{type(value).__name__}:{value!r}"


def anything(value: Any = None) -> str:
    """Take anything."""
    return told(value)


def numbers(
    count: int = 1, share: float | None = None, price: Decimal | None = None, sure: bool = False
) -> dict[str, str]:
    """Take numbers."""
    return {"count": told(count), "share": told(share), "price": told(price), "sure": told(sure)}


async def order(
    customer: str,
    lines: list[Line],
    address: Address | None = None,
    tags: dict[str, int] | None = None,
) -> dict[str, Any]:
    """Take nested objects."""
    return {
        "seen": [told(each) for each in (customer, lines, address, tags)],
        "lines": [each.sku for each in lines],
    }


def chosen(
    colour: Colour, way: Literal["a", "b"] = "a", value: int | str | list[int] | Card | None = None
) -> list[str]:
    """Take one of several."""
    return [told(colour), told(way), told(value)]


def planned(
    day: date, at: datetime | None = None, limit: Annotated[int, Field(ge=1, le=100)] = 10
) -> str:
    """Take dates."""
    return told([day, at, limit])


def log_in(user: str, password: SecretStr) -> str:
    """Take a secret."""
    return f"{user} {len(password.get_secret_value())}"


async def failing(how: Literal["told", "told by the host", "crash", "unwritable"] = "crash") -> Any:
    """Fail."""
    if how == "told":
        raise ToolError("failing", "out of stock", {"left": 0})
    if how == "told by the host":
        raise FastMCPToolError("no luck")
    if how == "crash":
        raise KeyError("secret")
    return {"half": "\ud800", "nan": float("nan")}


TOOLS = (anything, numbers, order, chosen, planned, log_in, failing)


def make(host: str) -> Any:
    """Return a server of one of HOSTS."""
    kind, _, how = host.partition("-")
    if kind == "registry":
        registry = ToolRegistry("delivered", errors="protocol" if how else "result")
        for tool in TOOLS:
            registry.tool(tool)
        return registry
    server: Any = FastMCP("delivered") if kind == "fastmcp" else MCPServer("delivered")
    if how:
        (fastmcp if kind == "fastmcp" else mcp_sdk).protect(server)
    for tool in TOOLS:
        server.add_tool(tool)
    return server


def application(server: Any) -> Callable[..., Any]:
    if isinstance(server, ToolRegistry):
        return app(server)
    if isinstance(server, FastMCP):
        return server.http_app(path="/mcp", stateless_http=True)
    return server.streamable_http_app(stateless_http=True)


if __name__ == "__main__":
    logging.disable()  # half of the calls fail, and each host logs much about that
    place = socket.create_server(("127.0.0.1", 0))
    print(place.getsockname()[1], flush=True)
    settings = uvicorn.Config(application(make(sys.argv[1])), log_level="critical", ws="none")
    uvicorn.Server(settings).run(sockets=[place])
