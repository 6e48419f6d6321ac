"""Modules that only `toolbooth serve` needs."""
