"""Commands of the token suite: `python -m django seed`."""
