"""Explains words of a command line that the command does not know, and proposes what to write."""
