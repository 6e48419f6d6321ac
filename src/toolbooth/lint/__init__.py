"""Checks the tools in a `tools/list` for problems with real clients. Each rule has dated
evidence.
"""
