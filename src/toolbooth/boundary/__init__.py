"""One call, from wire to wire, without I/O. Start at `handle.py`."""
