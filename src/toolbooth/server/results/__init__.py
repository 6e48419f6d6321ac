"""Shortens results: pages of a result, and its summary. These modules know no host."""
