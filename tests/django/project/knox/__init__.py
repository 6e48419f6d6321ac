"""Stands where django-rest-knox 5 is installed, with the parts that `mcp_config` uses."""
