"""Dispatchers, which pass calls to other tools, and the help and other variants of tools."""
