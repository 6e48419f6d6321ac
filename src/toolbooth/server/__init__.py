"""An MCP tool server: a registry, the protocol without I/O, and two thin transports (HTTP and
stdio). Start reading at `respond.py`.
"""
