"""FastMCP's proxy, in an environment of its own: python fastmcp_proxy.py (new|same) (stdio|PORT)
TARGET...

`new` is the proxy as it comes: every call has a new session with the server. `same` keeps one.
"""

import asyncio
import sys
from typing import Any

from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy


async def main(sessions: str, where: str, *target: str) -> None:
    is_url = target[0].startswith("http")
    upstream: Any = target[0] if is_url else StdioTransport(target[0], list(target[1:]))
    if sessions == "new":
        await serve(create_proxy(upstream), where)
        return
    async with Client(upstream) as client:
        await serve(create_proxy(client), where)


async def serve(proxy: Any, where: str) -> None:
    if where == "stdio":
        await proxy.run_async("stdio", show_banner=False)
    else:
        settings = {"port": int(where), "log_level": "error"}
        await proxy.run_async("http", show_banner=False, **settings)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
