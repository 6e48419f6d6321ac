"""The rules, by their subjects: shapes, names, words, sizes."""
