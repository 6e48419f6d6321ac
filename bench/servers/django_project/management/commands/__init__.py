"""Commands of the bench: `python -m django seed`."""
