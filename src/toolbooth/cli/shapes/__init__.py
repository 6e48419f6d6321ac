"""Decides which calls `toolbooth test` makes, and has the sentences of this command."""
