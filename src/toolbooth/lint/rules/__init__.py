"""The rules. Each module has the rules about one subject."""
