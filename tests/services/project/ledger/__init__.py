"""The app of tests/services."""
