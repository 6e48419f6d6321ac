"""Checks the tools in a `tools/list` response for problems that real clients have with them. Each
rule has evidence with a date.
"""
