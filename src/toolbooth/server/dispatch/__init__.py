"""Dispatchers, which pass calls to other tools, and help and other variants of any tool."""
