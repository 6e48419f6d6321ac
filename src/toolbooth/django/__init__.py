"""The REST gateway: a Django REST framework API as MCP tools. Start at `view.py`, then `catalogue.py`."""
