"""Reads the tools from a `tools/list` response. The response may be a list, a result or a whole
reply.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from toolbooth.jsonvalue import Json
from toolbooth.lint.schemas import SchemaNode, as_dict, as_list, nodes

BYTES_PER_TOKEN = 4
"""How many bytes a token has. This is a rough average, because tokenizers differ."""


class Unlisted(ValueError):
    """Raised if a value contains no list of tools. The message describes the value."""


# Without slots, because `cached_property` stores its value in `__dict__`.
@dataclass(frozen=True, kw_only=True)
class Tool:
    """One tool of a `tools/list` response."""

    entry: Json = field(repr=False)
    name: str

    @cached_property
    def nodes(self) -> tuple[SchemaNode, ...]:
        """Return all schemas in the `inputSchema`, at any depth. The root comes first."""
        return tuple(nodes(self.schema))

    @property
    def schema(self) -> Any:
        return self.entry.get("inputSchema")

    @property
    def root(self) -> Json:
        """Return the keywords at the root of the `inputSchema`."""
        return as_dict(self.schema)

    @cached_property
    def parameters(self) -> tuple[SchemaNode, ...]:
        """Return the properties of the root. These are the arguments of the tool."""
        # `#/properties/name`: a slash inside the name itself is written `~1` in a pointer.
        return tuple(
            node for node in self.nodes if node.role == "property" and node.pointer.count("/") == 2
        )

    @property
    def description(self) -> str:
        written = self.entry.get("description")
        return written if isinstance(written, str) else ""

    @cached_property
    def size(self) -> int:
        """Return the size of the tool in bytes, written as compact JSON."""
        return len(
            # JSON text may contain half a surrogate pair, such as "\ud800", which UTF-8 cannot
            # encode.
            json.dumps(self.entry, ensure_ascii=False, separators=(",", ":")).encode(
                errors="replace"
            )
        )

    @property
    def tokens(self) -> int:
        return self.size // BYTES_PER_TOKEN


@dataclass(frozen=True, kw_only=True)
class Listing:
    """The tools of one server."""

    tools: tuple[Tool, ...]
    server: str = ""
    """The name of the server. Some clients put it before the name of a tool. Empty if it is not
    known.
    """

    @property
    def tokens(self) -> int:
        return sum(tool.tokens for tool in self.tools)


def listing(found: Any, server: str = "") -> Listing:
    """Return the tools of a list of tools, of a `tools/list` result, or of a whole JSON-RPC reply.

    Raises:
        Unlisted: if `found` contains no list of tools.
    """
    entries = _entries(found)
    for index, entry in enumerate(entries):
        if not isinstance(as_dict(entry).get("name"), str):
            raise Unlisted(f"tool {index + 1} of the list has no name: it is {_brief(entry)}")
    return Listing(
        tools=tuple(Tool(entry=entry, name=entry["name"]) for entry in entries), server=server
    )


def _entries(found: Any) -> list[Any]:
    outer = as_dict(found)
    if "error" in outer and "result" not in outer:
        error = outer["error"]
        reason = as_dict(error).get("message") or _brief(error)
        raise Unlisted(f"this is an error reply: {reason}")
    # People save the result alone, the list alone, or the whole reply.
    inner = as_dict(outer.get("result", found))
    tools: Any = inner.get("tools") if inner else found
    if not isinstance(tools, list):
        raise Unlisted(f"expected a tools/list result, but this is {_brief(found)}")
    return as_list(tools)


def _brief(value: Any) -> str:
    if isinstance(value, dict):
        return (
            f"an object with the keys {_key_list(as_dict(value))}" if value else "an empty object"
        )
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:60]}…"


def _key_list(names: Iterable[str]) -> str:
    shown = [json.dumps(name, ensure_ascii=False) for name in names]
    return ", ".join(shown[:8]) + (" …" if len(shown) > 8 else "")
