"""The official SDK's `MCPServer`, protected by the boundary."""

from collections.abc import Iterable
from typing import Any

from servers import official_sdk
from servers.tools import Function

from toolbooth.adapters.mcp_sdk import protect


def application(tools: Iterable[Function]) -> Any:
    return protect(official_sdk.server(tools)).streamable_http_app(
        json_response=True, stateless_http=True
    )
