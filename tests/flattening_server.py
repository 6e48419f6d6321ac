"""A plain host with decorated tools, for real transports: `python flattening_server.py
(fastmcp|mcp) (stdio|PORT)`.

It serves, under its own name, the tool of each row that `test_decorator_rows.py` asks for.
"""

import sys

from fastmcp import FastMCP
from fastmcp.tools import FunctionTool
from flattening_rows import ROWS
from mcp.server.mcpserver import MCPServer

from toolbooth import unpack_pydantic_params


def main(host: str, transport: str, *ids: str) -> None:
    tools = {row.id: unpack_pydantic_params(row.make()) for row in ROWS if row.id in ids}
    if host == "fastmcp":
        server = FastMCP("plain")
        for name, tool in tools.items():
            server.add_tool(FunctionTool.from_function(tool, name=name))
        if transport == "stdio":
            server.run(transport="stdio", show_banner=False)
        else:
            server.run(transport="http", host="127.0.0.1", port=int(transport), show_banner=False)
    else:
        server = MCPServer("plain")
        for name, tool in tools.items():
            server.add_tool(tool, name=name)
        if transport == "stdio":
            server.run("stdio")
        else:
            server.run("streamable-http", host="127.0.0.1", port=int(transport))


if __name__ == "__main__":
    main(*sys.argv[1:])
