"""An MCP tool server: a registry, the protocol without I/O, and two thin transports. Start at
`respond.py`.
"""
