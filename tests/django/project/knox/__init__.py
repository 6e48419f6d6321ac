"""Replaces django-rest-knox 5, with the parts of it that `mcp_config` uses."""
