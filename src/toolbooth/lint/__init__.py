"""Checks the tools in a `tools/list` for real clients. Each rule has dated evidence, and needs only
the list.
"""
