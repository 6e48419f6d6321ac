"""The MCP endpoint in pretix: see pretix_settings.py."""
