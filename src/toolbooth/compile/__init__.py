"""Compiles an author's signature, model or schema to a Contract, once, at registration."""
