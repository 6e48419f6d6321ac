"""A proxy in front of an MCP server that somebody else wrote. It guards every tool call."""
