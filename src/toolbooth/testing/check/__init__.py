"""Check that a server keeps the law of the boundary."""
