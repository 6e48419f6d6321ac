"""The flat signature that `unpack_pydantic_params` gives a function, and calls of it."""
