"""The tools of the shape corpus on an unprotected server of the official SDK, and the proxy in front
of it. Over HTTP it prints its port.

Run: python corpus_server.py (plain|unpacked) (direct|proxied) (stdio|http)

`plain` are the tools whose parameters are the fields of the corpus; `unpacked` are those with one
parameter that holds them. The proxy publishes the latter flat.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.tools import Tool

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import wire_tools

from toolbooth import Unpack
from toolbooth.proxy.http_link import HttpLink
from toolbooth.proxy.http_server import HttpProxy
from toolbooth.proxy.rules import Rules
from toolbooth.proxy.session import Server

KINDS = ("plain", "unpacked")
PROXY = [sys.executable, "-c", "from toolbooth.cli.entry import main; main()", "proxy"]


class Foreign(Tool):
    """A tool that the SDK knows by its schema alone. It takes the arguments as they arrive."""

    async def run(
        self, arguments: dict[str, Any], context: Any, convert_result: bool = False
    ) -> Any:
        answer = wire_tools.answer(arguments)
        return self.fn_metadata.convert_result(answer) if convert_result else answer


def is_unpacked(function: Callable[..., Any]) -> bool:
    hints = inspect.get_annotations(function).values()
    marks = [each for hint in hints for each in getattr(hint, "__metadata__", ())]
    return any(isinstance(each, Unpack) for each in marks)


def functions(kind: str) -> dict[str, Callable[..., Any]]:
    """The functions of one kind, by the name of their tool."""
    models = {name: wire_tools.taking(each) for name, each in wire_tools.models().items()}
    every = {**wire_tools.functions(), **models}
    return {name: each for name, each in every.items() if is_unpacked(each) == (kind == "unpacked")}


def names(kind: str) -> set[str]:
    """The names of all tools of one kind."""
    return {*functions(kind), *(wire_tools.schemas() if kind == "plain" else ())}


def upstream(kind: str) -> MCPServer[Any]:
    """The server that the proxy guards."""
    tools: list[Any] = []
    if kind == "plain":
        stub = Tool.from_function(lambda: "", name="stub")
        same = {name: getattr(stub, name) for name in Tool.model_fields}
        for name, schema in wire_tools.schemas().items():
            tools.append(Foreign(**{**same, "name": name, "parameters": schema}))
    made = MCPServer("corpus", tools=tools, log_level="CRITICAL")
    for name, function in functions(kind).items():
        made.add_tool(function, name=name)
    return made


def serve(app: Any, door: socket.socket) -> None:
    # The second part of an answer must not wait until the first is acknowledged.
    door.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    print(door.getsockname()[1], flush=True)
    config = uvicorn.Config(app, log_level="critical", timeout_keep_alive=600, ws="none")
    asyncio.run(uvicorn.Server(config).serve(sockets=[door]))


def proxied(kind: str, transport: str) -> None:
    """Serve the proxy, with the server behind it on the same transport."""
    direct = [sys.executable, __file__, kind, "behind", transport]
    options = ["--flatten"] if kind == "unpacked" else []
    if transport == "stdio":
        os.execv(sys.executable, [*PROXY, *options, "--", *direct])
    with (
        subprocess.Popen(direct, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server,
        socket.create_server(("127.0.0.1", 0)) as door,
    ):
        assert server.stdout is not None
        url = f"http://127.0.0.1:{int(server.stdout.readline())}/mcp"
        rules = Rules(flatten=bool(options))
        serve(HttpProxy([Server(connect=lambda: HttpLink(url), rules=rules)]), door)


def end_with_the_proxy() -> None:
    """End when the proxy has ended, which closes this input, even if it was killed."""
    sys.stdin.read()
    os._exit(0)


def main(kind: str, through: str, transport: str) -> None:
    if through == "proxied":
        proxied(kind, transport)
    elif transport == "stdio":
        upstream(kind).run("stdio")
    else:
        if through == "behind":
            threading.Thread(target=end_with_the_proxy, daemon=True).start()
        with socket.create_server(("127.0.0.1", 0)) as door:
            serve(upstream(kind).streamable_http_app(json_response=True), door)


if __name__ == "__main__":
    main(*sys.argv[1:])
