"""Calls a tool as a real client does, with the arguments as a client would deliver them."""
