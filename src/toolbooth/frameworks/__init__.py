"""One agent framework each: tools of a framework behind the boundary."""
