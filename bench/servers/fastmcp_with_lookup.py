"""FastMCP with the SDK's schema lookup set, which saves a complete `tools/list` per HTTP
`tools/call`.
"""

import asyncio
from collections.abc import Iterable
from typing import Any

from servers import stock_fastmcp
from servers.tools import Function


def application(tools: Iterable[Function]) -> Any:
    made = stock_fastmcp.server(tools)
    schemas = {tool.name: tool.parameters for tool in asyncio.run(made.list_tools())}
    made._mcp_server.get_tool_input_schema = schemas.get
    return made.http_app(json_response=True, stateless_http=True)
