"""The inventory on the official SDK, protected: `python on_mcp_sdk.py [--http PORT]`."""

import argparse

from mcp.server.mcpserver import MCPServer
from mcp_types import ToolAnnotations
from store import Store
from tools import INSTRUCTIONS, Inventory

from toolbooth import protect

server = protect(MCPServer("inventory", instructions=INSTRUCTIONS))
for tool, annotations in Inventory(Store.from_environment()).tools():
    server.add_tool(tool, annotations=ToolAnnotations.model_validate(annotations))

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--http", metavar="PORT", type=int, help="serve over HTTP on this port instead of stdio"
    )
    port = parser.parse_args().http
    if port is None:
        server.run("stdio")
    else:
        server.run("streamable-http", port=port)
