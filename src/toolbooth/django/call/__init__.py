"""One call: the endpoint, the boundary's validation, the view, its reply. Start at `endpoint.py`."""
