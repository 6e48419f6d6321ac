"""The malformed calls that real agents send. Start at `agent_shapes.py`."""
