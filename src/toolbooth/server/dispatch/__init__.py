"""Dispatchers: tools that pass their calls on to other tools. Also help, and other variants of
tools.
"""
