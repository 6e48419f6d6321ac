"""Parts that both adapters share: FastMCP is built on the official SDK."""
