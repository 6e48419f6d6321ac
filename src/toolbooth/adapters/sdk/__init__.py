"""Parts that the adapters for FastMCP and for the official SDK share. FastMCP is built on the
official SDK.
"""
