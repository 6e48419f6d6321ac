"""The flat signature that `unpack_pydantic_params` gives a function, and the calls of this
function.
"""
