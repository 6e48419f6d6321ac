"""Checks a `tools/list` for real clients: rules with dated evidence, over that data alone."""
