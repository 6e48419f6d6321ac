"""The findings of `mcp_doctor`, and their output."""
