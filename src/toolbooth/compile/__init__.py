"""What authors write -> Contract, once, at registration."""
