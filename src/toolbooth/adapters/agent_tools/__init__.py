"""One tool of an agent framework behind the boundary, for the adapters of all of them."""
