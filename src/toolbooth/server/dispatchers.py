"""Where `mcp_action` was before dispatchers had a folder: kept for code that imports it from here."""

from toolbooth.server.dispatch.build import mcp_action as mcp_action
