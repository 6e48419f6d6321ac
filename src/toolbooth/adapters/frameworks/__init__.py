"""Adapters for agent frameworks, one each. `../agent_tools/` has what they share."""
