"""The former place of `mcp_action`, kept for code that imports it from here."""

from toolbooth.server.dispatch.build import mcp_action as mcp_action
