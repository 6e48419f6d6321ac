"""Tools whose validators fail, on every host; run it with a host and `errors` to serve stdio."""

import asyncio
import json
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any, ClassVar

import anyio
import mcp_types as types
import uvicorn
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError as FastMCPToolError
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError as SdkToolError
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, BeforeValidator, Field, field_validator, model_validator

from toolbooth import ToolError, ToolRegistry, Unpack, protect
from toolbooth.server.asgi import app
from toolbooth.server.stdio import serve


class HttpRequestParams(BaseModel):
    """A model whose validator reads JSON text."""

    HEADERS_DESC: ClassVar[str] = 'Custom headers as JSON object, e.g. {"User-Agent": "MyBot"}'

    headers: dict[str, str] | None = Field(None, description=HEADERS_DESC)

    @field_validator("headers", mode="before")
    @classmethod
    def parse_json_strings(cls, v: Any) -> dict[str, str] | None:
        """Convert JSON strings to dictionaries if needed."""
        if v is None:
            return None
        if isinstance(v, str):
            parsed = json.loads(v)
            return {str(k): str(val) for k, val in parsed.items()}
        return v


class Window(BaseModel):
    start: int
    end: int

    @model_validator(mode="after")
    def share(self) -> "Window":
        _ = 1 / (self.end - self.start)
        return self


def says(value: Any) -> Any:
    raise ToolError("told", "the shop is closed")


def tells_fastmcp(value: Any) -> Any:
    raise FastMCPToolError("the shop is closed")


def tells_sdk(value: Any) -> Any:
    raise SdkToolError("the shop is closed")


def answers(value: Any) -> Any:
    raise MCPError(code=-32042, message="log in first", data={"url": "https://a.example"})


def http_request(params: Annotated[HttpRequestParams, Unpack()]) -> dict[str, Any]:
    return {"headers": params.headers}


async def measure(
    windows: list[Window],
    token: str = Field(default_factory=lambda: os.environ["TOOLBOOTH_NOWHERE"]),
) -> str:
    return f"{len(windows)} {token}"


def told(value: Annotated[int, BeforeValidator(says)]) -> str:
    return "ran"


def told_fastmcp(value: Annotated[int, BeforeValidator(tells_fastmcp)]) -> str:
    return "ran"


def told_sdk(value: Annotated[int, BeforeValidator(tells_sdk)]) -> str:
    return "ran"


def told_protocol(value: Annotated[int, BeforeValidator(answers)]) -> str:
    return "ran"


TOOLS = (http_request, measure, told, told_fastmcp, told_sdk, told_protocol)
HOSTS = ("registry", "fastmcp", "mcp_sdk")


def make(host: str, errors: Any = "result") -> Any:
    if host == "lowlevel":
        return protect(_low_level(), errors=errors)
    if host == "registry":
        registry = ToolRegistry("web", errors=errors)
        for tool in TOOLS:
            registry.tool(tool)
        return registry
    server: Any = protect(FastMCP("web") if host == "fastmcp" else MCPServer("web"), errors=errors)
    add = server.tool if host == "fastmcp" else server.add_tool
    for tool in TOOLS:
        add(tool)
    return server


def _low_level() -> Server[Any]:
    """The same tool without functions: only its schema can be checked."""
    schema = {"type": "object", "properties": {"headers": {"type": ["string", "null"]}}}
    listed = types.Tool(name="http_request", input_schema=schema)

    async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[listed])

    async def call_tool(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        text = types.TextContent(type="text", text=json.dumps(params.arguments))
        return types.CallToolResult(content=[text])

    return Server("web", on_list_tools=list_tools, on_call_tool=call_tool)


@asynccontextmanager
async def listening(host: str, errors: str = "result") -> AsyncIterator[str]:
    """Yield the loopback URL of a server whose socket listens before the server runs."""
    server = make(host, errors)
    if host == "registry":
        web: Any = app(server)
    else:
        web = server.http_app() if host == "fastmcp" else server.streamable_http_app()
    with socket.create_server(("127.0.0.1", 0)) as door:
        running = uvicorn.Server(uvicorn.Config(web, log_level="error", ws="none"))
        task = asyncio.create_task(running.serve(sockets=[door]))
        try:
            yield f"http://127.0.0.1:{door.getsockname()[1]}/mcp"
        finally:
            running.should_exit = True
            await task


def main(host: str, errors: str = "result") -> None:
    server = make(host, errors)
    if host == "registry":
        serve(server)
    elif host == "lowlevel":

        async def run() -> None:
            async with stdio_server() as (read, write):
                await server.run(read, write, server.create_initialization_options())

        anyio.run(run)
    else:
        server.run("stdio")


if __name__ == "__main__":
    main(*sys.argv[1:])
