"""Describes the tools of a project from its URLconf, once per process. Start at `catalogue.py`."""
