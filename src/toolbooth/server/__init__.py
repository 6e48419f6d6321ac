"""An MCP tool server without I/O: a registry, the protocol, and two thin shells. Start at
`respond.py`.
"""
