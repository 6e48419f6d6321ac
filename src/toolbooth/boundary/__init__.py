"""Handles one call, from bytes to a tool result, without I/O. Start reading at `accept.py`."""
