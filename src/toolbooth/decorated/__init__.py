"""Makes the flat signature that `unpack_pydantic_params` gives a function, and handles calls of
that function.
"""
