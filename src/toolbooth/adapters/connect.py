"""Connects to a server in this process. Its tools are listed and called as an agent would do it,
but without a socket.

The server may be our own ToolRegistry, a FastMCP server, or an MCPServer or low-level Server of the
official SDK. It may be protected or not. Each JSON-RPC message of MCP 2026-07-28 goes through the
host's own code, and the reply is the one that a client would get.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import traceback
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, Literal

from toolbooth.adapters.kinds import KINDS, Kind, kind_of
from toolbooth.contract import Contract
from toolbooth.extras import extra_of, install_line
from toolbooth.jsonvalue import Json, json_bytes
from toolbooth.server import revisions
from toolbooth.server.registry import ToolRegistry
from toolbooth.server.respond import respond

Post = Callable[[bytes], Awaitable[Json]]
"""A function that takes one JSON-RPC message and returns the reply."""

_META = revisions.request_meta("toolbooth")

_LOW_LEVEL: dict[Kind, str] = {"fastmcp": "_mcp_server", "mcp_sdk": "_lowlevel_server"}
"""The attribute of a host with the low-level server of the SDK that the host is built on."""


class TargetError(ValueError):
    """Raised if a target does not name a server. The message shows the right form."""


class Unreachable(RuntimeError):
    """Raised if a server cannot be reached, or does not respond. The message has the reason."""

    def __init__(self, where: str, reason: str, *, status: int | None = None) -> None:
        super().__init__(reason)
        self.where = where
        """The URL of the server, or the command that starts it."""
        self.status = status
        """The HTTP status of the last response, if that was an error."""


def load(target: str, *, kinds: Collection[Kind] = tuple(KINDS.values())) -> Any:
    """Return the server for a target such as `package.module:name` or `folder/file.py:name`.

    Raises:
        TargetError: the target names no server, or a server of another kind. The message has the
            form to write.
    """
    # Split at the last colon, because a Windows path contains another one.
    place, _, name = target.rpartition(":")
    if not place or not name or name.endswith(".py"):
        raise _without_object(target, kinds)
    module = _imported(place)
    found = getattr(module, name, None)
    if kind_of(found) in kinds:
        return found
    if found is None:
        fault = f"there is no {name!r} in {place!r}"
    else:
        names = " or ".join(_class_names(kinds))
        fault = f"{name!r} in {place!r} is of type {type(found).__name__}, not {names}"
    targets = _targets_in(module, place, kinds)
    if targets:
        raise TargetError(f"{fault}; use {' or '.join(targets)}")
    # A function that makes the server is often named instead of a variable.
    raise TargetError(f"{fault}; name a variable at the top level of the module, with a server")


def _class_names(kinds: Collection[Kind]) -> list[str]:
    return [name.rpartition(".")[2] for name, kind in KINDS.items() if kind in kinds]


def _targets_in(module: ModuleType, place: str, kinds: Collection[Kind]) -> list[str]:
    """Return a target for each server in a module."""
    return [f"{place}:{key}" for key, value in vars(module).items() if kind_of(value) in kinds]


def _without_object(target: str, kinds: Collection[Kind]) -> TargetError:
    """Return the error for a target that does not name a variable."""
    word = "registry" if _class_names(kinds) == ["ToolRegistry"] else "server"
    place = target.rstrip(":")
    examples = [f"server.py:{word}"]
    # Unlike Path, `os.path` accepts text that is too long for a name, such as JSON.
    if any(os.path.isfile(file) for file in (place, f"{place}.py")):
        # The file is loaded, because the name to write is in it.
        targets = _targets_in(_imported(place), place, kinds) if _is_place(place) else []
        examples = targets or [f"{place}:{word}"]
    return TargetError(
        f"{target!r} does not name a server: write the file or module, a colon and the name of "
        f"the variable, such as {' or '.join(examples)}"
    )


def _is_place(place: str) -> bool:
    """Return True if this is the path of a Python file, or the name of a module."""
    return place.endswith(".py") or all(part.isidentifier() for part in place.split("."))


def _imported(place: str) -> ModuleType:
    """Import a file or a module, and return the module.

    Raises:
        TargetError: the module does not exist, or it imports a module that does not exist.
    """
    # As `python -m` does. The path of an installed command begins with the folder of the command.
    sys.path.insert(0, os.getcwd())
    if not _is_place(place):
        raise _no_module(place)
    module_name = _on_path(Path(place)) if place.endswith(".py") else place
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise _not_found(error, module_name) from error
    loaded = Path(getattr(module, "__file__", None) or "python")
    if place.endswith(".py") and loaded.resolve() != Path(place).resolve():
        raise TargetError(
            f"another module {module_name!r} comes first, from {loaded}: rename the file"
        )
    return module


def _not_found(error: ModuleNotFoundError, module_name: str) -> TargetError:
    """Return the error for a module that does not exist. If another module imports the missing one,
    the message has the file of the importing module.
    """
    name = error.name or ""
    if module_name == name or module_name.startswith(f"{name}."):
        return _no_module(name)
    steps = traceback.extract_tb(error.__traceback__)
    # Frames of the import system itself are skipped.
    imports = [step for step in steps if not step.filename.startswith("<frozen")]
    file = Path(imports[-1].filename)
    shown = file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file
    extra = extra_of(name)
    remedy = install_line(extra) if extra else "install it, or correct the name"
    return TargetError(
        f"{shown} imports {name!r} in line {imports[-1].lineno}, and there is no such module: "
        f"{remedy}"
    )


def _no_module(name: str) -> TargetError:
    file = f"{name}.py"
    hint = f"; write {file} for the file" if Path(file).is_file() else ""
    return TargetError(f"there is no module {name!r} here or on the path{hint}")


def _on_path(file: Path) -> str:
    """Make the module of a file importable, and return the name of the module. Inside a package,
    this is the full name of the module. Elsewhere, it is the name of the file.
    """
    if not file.is_file():
        raise TargetError(f"there is no file {str(file)!r}")
    folder = file.resolve().parent
    parts = [file.stem]
    while (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    # As `python folder/file.py` does.
    sys.path.insert(0, str(folder))
    return ".".join(parts)


def served(server: Any) -> Served:
    """Return an object that lists and calls the tools of a server as its clients do. Raises
    TypeError if the kind of the server is unknown.
    """
    return server if isinstance(server, Served) else Served(server)


class Served:
    """Lists and calls the tools of a server in this process, as its clients do. For other servers,
    see `sdk/client.py`.

    If the server has a lifespan, each call starts the server anew. Inside
    `async with served(server):`, all calls share one lifespan.
    """

    def __init__(self, server: Any) -> None:
        kind = kind_of(server)
        if kind is None:
            known = ", ".join(name.rpartition(".")[2] for name in KINDS)
            raise TypeError(f"{type(server).__name__} is not a supported server ({known})")
        self.server = server
        self.kind: Kind | Literal["remote"] = kind
        self.name: str = server.name
        self._host: Kind = kind
        self._running: tuple[Post, AsyncExitStack] | None = None

    @property
    def protected(self) -> bool:
        """True if the tools are behind the boundary."""
        return self.kind == "toolbooth" or _adapter(self._host).is_protected(self.server)

    async def tools(self) -> list[Json]:
        """Return all tools, as `tools/list` shows them."""
        found: list[Json] = []
        cursor: Json = {}
        while True:
            reply = await self._exchange("tools/list", cursor)
            if "error" in reply:
                raise RuntimeError(f"{self.name}: tools/list was answered with {reply['error']}")
            found += reply["result"]["tools"]
            if reply["result"].get("nextCursor") is None:
                return found
            cursor = {"cursor": reply["result"]["nextCursor"]}

    async def contracts(self) -> dict[str, Contract]:
        """Return the contracts of all protected tools, by name."""
        if self.kind == "toolbooth":
            found = {name: tool.contract for name, tool in self.server.tools.items()}
        elif self.kind == "fastmcp":
            found = {
                tool.name: getattr(tool, "contract", None)
                for tool in await self.server.list_tools()
            }
        elif self.kind == "mcp_sdk":
            held = self.server._tool_manager.list_tools()
            found = {tool.name: getattr(tool, "contract", None) for tool in held}
        else:
            listed = await self.tools() if self.protected else []
            found = {tool["name"]: _adapter("lowlevel").contract_of(tool) for tool in listed}
        return {
            name: contract for name, contract in found.items() if isinstance(contract, Contract)
        }

    async def call(self, name: str, arguments: bytes | Any) -> Json:
        """Call a tool with arguments as delivered: JSON text in bytes, or JSON values.

        Returns the tool result with its `_meta`, or `{"error": {"code", "message", "data"}}`.
        """
        reply = await self._exchange("tools/call", {"name": name}, arguments)
        return reply["result"] if "result" in reply else {"error": reply["error"]}

    async def _exchange(self, method: str, params: Json, arguments: bytes | Any = b"") -> Json:
        if not isinstance(arguments, bytes):
            arguments = json_bytes(arguments)
        body = _message(method, params, arguments)
        if self._running is not None:
            return await self._running[0](body)
        async with _connection(self.server, self._host) as post:
            return await post(body)

    async def __aenter__(self) -> Served:
        stack = AsyncExitStack()
        self._running = (
            await stack.enter_async_context(_connection(self.server, self._host)),
            stack,
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        running, self._running = self._running, None
        if running is not None:
            await running[1].__aexit__(kind, error, trace)


def _message(method: str, params: Json, arguments: bytes) -> bytes:
    """Return a JSON-RPC message. `arguments` is inserted unchanged, as bytes."""
    # Put together from bytes: a test may send arguments that no JSON writer makes, such as a key
    # twice.
    head = json_bytes({"jsonrpc": "2.0", "id": 1, "method": method})[:-1]
    sent = b',"arguments":' + arguments if arguments else b""
    return head + b',"params":' + json_bytes({"_meta": _META, **params})[:-1] + sent + b"}}"


@asynccontextmanager
async def _connection(server: Any, kind: Kind) -> AsyncGenerator[Post, None]:
    """Start a server. Inside the `async with` block, messages can be posted to it."""
    if kind == "toolbooth":
        yield lambda body: _reply(server, body)
        return
    lowlevel = getattr(server, _LOW_LEVEL[kind]) if kind in _LOW_LEVEL else server
    in_process: Any = importlib.import_module("toolbooth.adapters.sdk.in_process")
    async with in_process.connection(lowlevel) as post:
        yield post


async def _reply(registry: ToolRegistry, body: bytes) -> Json:
    return json.loads((await respond(registry, body)).body)


def _adapter(kind: Kind) -> Any:
    return importlib.import_module(f"toolbooth.adapters.{kind}")
