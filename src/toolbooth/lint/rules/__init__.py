"""The rules, by what they look at: shapes, names, words, sizes."""
