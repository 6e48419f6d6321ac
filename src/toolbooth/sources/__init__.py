"""What authors write, compiled to a Contract once, at registration."""
