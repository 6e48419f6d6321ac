"""A database in memory for tests that use several threads."""
