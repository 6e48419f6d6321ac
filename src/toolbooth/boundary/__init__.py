"""One call, from bytes to a tool result, without I/O. Start at `accept.py`."""
