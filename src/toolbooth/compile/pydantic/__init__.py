"""Reads Pydantic's core schema as a Shape, and rewrites it to the validator of a contract."""
