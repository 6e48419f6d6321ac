"""One adapter for each host. `protect(server)` makes the boundary check every tool call of a
server.
"""
