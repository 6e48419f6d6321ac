"""Puts one tool of an agent framework behind the boundary. The adapters of all frameworks use
this.
"""
