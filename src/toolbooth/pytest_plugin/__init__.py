"""`pytest --toolbooth`. Start reading at `plugin.py`."""
