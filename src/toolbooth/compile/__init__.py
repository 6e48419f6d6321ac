"""The author's signature, model or schema -> Contract, once, at registration."""
