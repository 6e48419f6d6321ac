"""The malformed calls that real agents send. Start reading at `agent_shapes.py`."""
