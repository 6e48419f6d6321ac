"""What real clients will make of a `tools/list`: rules with dated evidence, over that data alone."""
