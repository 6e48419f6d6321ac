"""The inventory on FastMCP, protected: `python on_fastmcp.py [--http PORT]`."""

import argparse

from fastmcp import FastMCP
from store import Store
from tools import INSTRUCTIONS, Inventory

from toolbooth import protect

server = protect(FastMCP("inventory", instructions=INSTRUCTIONS))
for tool, annotations in Inventory(Store.from_environment()).tools():
    server.tool(tool, annotations=annotations)

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--http", metavar="PORT", type=int, help="serve over HTTP on this port instead of stdio"
    )
    port = parser.parse_args().http
    # FastMCP's banner looks for a newer release on the network.
    if port is None:
        server.run("stdio", show_banner=False)
    else:
        server.run("http", show_banner=False, port=port)
