"""One host each: `protect(server)` puts every tool of a server behind the boundary."""
