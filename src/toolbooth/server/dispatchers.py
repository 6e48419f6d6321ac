"""Only for compatibility: `mcp_action` was once defined in this module."""

from toolbooth.server.dispatch.build import mcp_action as mcp_action
