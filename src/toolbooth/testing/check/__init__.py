"""Hold a server to the law."""
