"""Pydantic's core schema: read as a Shape, and rewritten into the validator of a contract."""
