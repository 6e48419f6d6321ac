"""Represents a tool of a `ToolRegistry`, with the parts that the adapters need to make a tool of a
framework.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from toolbooth.jsonvalue import Json
from toolbooth.server.registry import ToolRegistry
from toolbooth.server.tool import Tool

_LEFT_OUT = "left out, because only text is passed on to the model"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A result as text for the model. `data` has the repairs or the refusal, for programs."""

    text: str
    is_error: bool
    data: Json
    result: Json


class Registered:
    """One tool of a registry."""

    def __init__(self, registry: ToolRegistry, tool: Tool) -> None:
        listing = tool.listing()
        self.registry = registry
        self.name: str = tool.name
        self.description: str = listing.get("description", "")
        self.schema: Json = listing["inputSchema"]

    def call(self, arguments: Any) -> Answer:
        """Call the tool with arguments that the framework has parsed."""
        return _answer(self.registry.call(self.name, arguments))

    async def call_async(self, arguments: Any) -> Answer:
        """Do the same as `call`, in an event loop."""
        return _answer(await self.registry.call_async(self.name, arguments))

    async def call_text(self, text: str) -> Answer:
        """Call the tool with the text that the model wrote."""
        body = text.encode(errors="surrogatepass")
        return _answer(await self.registry.call_bytes_async(self.name, body))


def _answer(result: Json) -> Answer:
    return Answer(
        text="\n".join(map(_text_of, result["content"])),
        is_error=result["isError"],
        data=result.get("_meta", {}),
        result=result,
    )


def _text_of(piece: Json) -> str:
    """Return a piece of a result as text. An image or a binary file is only named, so that the
    model does not take the rest for the whole result.
    """
    inner: Json = piece.get("resource", piece)
    if "text" in inner:
        return inner["text"]
    return f"[{inner['mimeType']} {piece['type']}: {_LEFT_OUT}]"
