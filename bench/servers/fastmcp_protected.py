"""FastMCP, protected by the boundary."""

from collections.abc import Iterable
from typing import Any

from servers import stock_fastmcp
from servers.tools import Function

from toolbooth.adapters.fastmcp import protect


def application(tools: Iterable[Function]) -> Any:
    return protect(stock_fastmcp.server(tools)).http_app(json_response=True, stateless_http=True)
