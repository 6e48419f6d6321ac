"""Which fields are secret by their name: `password`, `api_key`, `accessToken`. Not `max_tokens`,
which counts them, nor `page_token`, which continues a list.
"""

from __future__ import annotations

import re
from functools import lru_cache

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

_ALWAYS = frozenset(
    ("password", "passwd", "passphrase", "secret", "apikey", "authorization", "credential")
)
"""Secret as the last word of a name, also in the plural."""

_OPENING = frozenset(
    ("access", "api", "auth", "bearer", "bot", "client", "private", "refresh", "secret", "session")
)
"""Words that make a secret of the key or the token after them."""


@lru_cache(maxsize=4096)
def is_secret_name(name: str) -> bool:
    """Whether a field of this name holds a secret, if it holds text."""
    words = [each.lower() for each in _WORD.findall(name)]
    if not words:
        return False
    *before, last = words
    if last.removesuffix("s") in _ALWAYS:
        return True
    if last not in ("key", "token"):
        return False
    return _OPENING.issuperset(before[-1:]) if before else last == "token"
