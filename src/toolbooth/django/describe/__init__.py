"""URLconf -> the tools of a project, once per process. Start at `catalogue.py`."""
