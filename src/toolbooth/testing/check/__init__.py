"""Checks that a server keeps the law of the boundary (docs/reference/law.md)."""
