"""What `unpack_pydantic_params` makes of a function: its flat signature, and calls of it."""
