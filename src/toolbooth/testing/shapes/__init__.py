"""What agents really send instead of a correct call. Start at `agent_shapes.py`."""
