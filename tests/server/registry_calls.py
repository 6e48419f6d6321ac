"""Several tools in a registry, calls to them as bytes, and helpers to read their results."""

import asyncio
import json
from typing import Annotated, Any

from pydantic import BaseModel

from toolbooth import (
    ToolError,
    ToolRegistry,
    Unpack,
)
from toolbooth.server.respond import respond


def text(words: str, *, error: bool = False) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": words}], "isError": error}


def on_the_wire(registry: ToolRegistry, name: str, arguments: bytes) -> Any:
    """Return the result of a call that is sent as bytes."""
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"%s","arguments":%s}}'
    reply = asyncio.run(respond(registry, body % (name.encode(), arguments)))
    return json.loads(reply.body)["result"]


def codes(result: Any) -> list[tuple[str, str]]:
    return [(each["code"], each["path"]) for each in result["_meta"]["toolbooth"]["problems"]]


class Line(BaseModel):
    item: str
    count: int = 1


def several() -> ToolRegistry:
    registry = ToolRegistry("shop")

    @registry.tool
    def order(line: Annotated[Line, Unpack()], notes: list[str] | None = None) -> dict[str, Any]:
        return {"line": line.model_dump(), "notes": notes}

    @registry.tool
    async def order_later(line: Line) -> Line:
        return line

    @registry.tool(timeout=30)
    def order_in_time(line: Line) -> Line:
        return line

    @registry.tool
    def fail(line: Line) -> str:
        raise ToolError("fail", f"no {line.item}")

    return registry
