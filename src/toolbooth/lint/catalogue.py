"""Lists all rules, in the order of their files."""

from __future__ import annotations

from toolbooth.lint.rule import Rule
from toolbooth.lint.rules import contents, names, protocol, shapes, sizes, words

RULES: dict[str, Rule] = {
    each.id: each
    for module in (shapes, contents, names, words, sizes, protocol)
    for each in vars(module).values()
    if isinstance(each, Rule)
}
"""The rules by id."""
