"""Commands of the token suite."""
