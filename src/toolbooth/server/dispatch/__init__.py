"""Dispatchers: one tool for many, by resource and action."""
