"""What `mcp_doctor` finds, and how it is printed."""
