"""The REST gateway: a Django REST framework API as MCP tools.

Start at `call/endpoint.py`, then `describe/catalogue.py`.
"""
