"""Adapters for agent frameworks, one module or several for each framework. The code that they share
is in `../agent_tools/`.
"""
