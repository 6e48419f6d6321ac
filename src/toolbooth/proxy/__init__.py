"""A proxy in front of an MCP server that somebody else wrote: every tool call is guarded."""
