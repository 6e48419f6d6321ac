"""Exceptions in the log, in one line each."""
