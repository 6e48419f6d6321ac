"""What real clients do with a `tools/list`: rules with dated evidence, over that data alone."""
