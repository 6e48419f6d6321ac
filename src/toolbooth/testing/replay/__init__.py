"""Replays recorded calls, and compares the outcomes with those of today's tools."""
