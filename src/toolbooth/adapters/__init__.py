"""One adapter for each host. After `protect(server)`, the boundary checks every tool call of a
server.
"""
