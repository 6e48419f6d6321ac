"""Adapters, one for each host. `protect(server)` puts every tool of a server behind the
boundary.
"""
