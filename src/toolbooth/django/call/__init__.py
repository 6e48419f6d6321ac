"""One call: the endpoint, validation, the view, its reply. Start at `endpoint.py`."""
