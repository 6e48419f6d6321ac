"""A server, a tool and arguments go in; what the agent sees comes out. No socket, and nothing that one would change.

Held to real HTTP, result by result: tests/testing/test_call.py.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, cast

from toolbooth.adapters.served import Served, served
from toolbooth.boundary.decode import Repair
from toolbooth.boundary.render import META_KEY
from toolbooth.errors import Problem
from toolbooth.testing.delivery import Fill, Host, wire

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class WireResult:
    """What came back, as the agent sees it."""

    text: str
    """What the model reads."""
    structured: Json | None
    """`structuredContent`, where the tool has one."""
    is_error: bool
    repairs: tuple[Repair, ...]
    """What the boundary repaired; empty on a server that is not protected, like `problems` and `corrected`."""
    problems: tuple[Problem, ...]
    """Why the boundary refused."""
    corrected: Json | None
    """The call to send instead, where it could be derived."""
    raw: Json
    """The whole tool result, or `{"error": ...}` where the answer was a protocol error."""

    def __repr__(self) -> str:
        found = [f"{each.code} at {each.path}" for each in (*self.problems, *self.repairs)]
        outcome = "refused" if self.problems else "error" if self.is_error else "repaired" if self.repairs else "passed"
        told = f"structured={self.structured!r}" if self.structured is not None else f"text={self.text!r}"
        return f"<WireResult {outcome}{': ' if found else ''}{', '.join(found)}; {told}>"


async def call_over_wire_async(
    server: Any, tool: str, arguments: Any = None, *, host: Host = "json", fill: Fill | None = None
) -> WireResult:
    """Call a tool of any server with what a real client delivers for these arguments (see `wire`).

    None sends no arguments; bytes are sent as they are, as JSON text. `server` is a ToolRegistry, a FastMCP or an
    MCPServer, protected or not. Calls share what its lifespan holds within `async with served(server) as server:`.

    Raises:
        NotJson: the arguments hold what no client can send.
    """
    there = served(server)
    if isinstance(arguments, bytes):
        if host != "json" or fill is not None:
            raise ValueError("bytes are sent as they are: host= and fill= are for values")
        return _seen(await there.call(tool, arguments))
    if arguments is None and fill is None:
        return _seen(await there.call(tool, b""))
    schema = await _schema(there, tool) if fill is not None else None
    return _seen(await there.call(tool, wire({} if arguments is None else arguments, host, fill, schema=schema)))


def call_over_wire(
    server: Any, tool: str, arguments: Any = None, *, host: Host = "json", fill: Fill | None = None
) -> WireResult:
    """`call_over_wire_async` for tests that are not async."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        raise RuntimeError("an event loop is running here: await call_over_wire_async(...)")
    return asyncio.run(call_over_wire_async(server, tool, arguments, host=host, fill=fill))


async def _schema(server: Served, tool: str) -> Json:
    schemas = {each["name"]: each["inputSchema"] for each in await server.tools()}
    if tool not in schemas:
        raise LookupError(f"{server.name} has no tool {tool!r}; it has {', '.join(schemas) or 'none'}")
    return schemas[tool]


def _seen(raw: Json) -> WireResult:
    error: Any = raw.get("error")
    ours = _ours(error.get("data") if error else raw.get("_meta"))
    return WireResult(
        text=error["message"] if error else "\n".join(map(_piece, raw.get("content", ()))),
        structured=raw.get("structuredContent"),
        is_error=error is not None or raw.get("isError", False),
        repairs=tuple(Repair(**each) for each in ours.get("repairs", ())),
        problems=tuple(Problem(**each) for each in ours.get("problems", ())),
        corrected=ours.get("corrected"),
        raw=raw,
    )


def _ours(beside: Any) -> Json:
    """What the boundary has put beside a result or an error."""
    return cast("Json", beside).get(META_KEY, {}) if isinstance(beside, dict) else {}


def _piece(content: Json) -> str:
    return content.get("text", f"[{content['type']}]")
