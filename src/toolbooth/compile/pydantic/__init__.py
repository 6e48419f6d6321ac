"""Converts Pydantic's core schema to a Shape, and rewrites it to the validator of a contract."""
