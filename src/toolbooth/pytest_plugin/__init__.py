"""`pytest --toolbooth`. Start at `plugin.py`."""
