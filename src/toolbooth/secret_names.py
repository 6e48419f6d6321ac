"""Decides by the name of a key if its value is a secret.

Records, refusals and schemas all use this rule. A name is split into words, so `X-Api-Key`,
`apiKey` and `apikey` are the same name, and `keyboard` does not contain `key`. A name such as
`token_count` is not secret, because it only describes a secret. If unsure, a name counts as secret:
hiding a harmless value is better than showing a secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise

from toolbooth.spelling import parts

_LONGEST = 200
"""Only this many characters of a key are read, so that a long hostile key costs little."""

_KEPT = 4096
"""Answers are cached for at most this many names. Callers choose the names, so the cache must be
limited.
"""


def _all(words: str) -> frozenset[str]:
    return frozenset(words.split())


_WORDS = _all(
    "password passwd pwd passphrase passcode secret token jwt bearer credential cookie "
    "authorization otp totp cvv cvc mnemonic sessid sessionid apikey"
)
"""A name with one of these words is secret, unless its last word is in `_ABOUT`."""

_KEYS = _all(
    "api access private signing signature encryption decryption master account session "
    "subscription auth app application license shared service hmac aes symmetric ssh ssl tls "
    "consumer client server functions storage recovery deploy webhook security"
)
"""The words that make a following `key` a secret, as in `api_key`. Most other keys identify
something: `primary_key`.
"""

_PHRASES = frozenset(
    [
        *((each, "key") for each in _KEYS),
        ("session", "id"),
        ("secret", "id"),
        ("connect", "sid"),
        ("auth", "code"),
        ("auth", "header"),
        ("access", "signature"),
        ("security", "code"),
        ("mfa", "code"),
        ("fa", "code"),
        ("factor", "code"),
        ("recovery", "code"),
        ("backup", "code"),
        ("seed", "phrase"),
        ("recovery", "phrase"),
        ("code", "verifier"),
        ("client", "assertion"),
        ("saml", "assertion"),
        ("device", "code"),
        ("key", "material"),
        ("amz", "signature"),
        ("connection", "string"),
        ("card", "number"),
    ]
)
"""A name with two of these words in a row is secret, unless its last word is in `_ABOUT`."""

_ENDINGS: dict[str, frozenset[str] | None] = {
    "auth": None,
    "sig": _all(""),
    "pin": _all("card user account sim security new old current login device"),
    "pass": _all(
        "user db database smtp mail email ftp mysql pg redis root admin proxy http login app"
    ),
}
"""Short words that also have other meanings. They count only as the last word of a name, either
alone or after one of the words listed here.
"""

_ABOUT = _all(
    # The name, place and kind of a secret.
    "id name arn type kind format scheme method provider algorithm label description field version "
    "url urls uri endpoint host domain path file dir directory location ref reference manager "
    "issuer metadata address symbol "
    # How much, how long, and since when.
    "count counts limit limits length size ttl age lifetime validity units duration timeout expiry "
    "expiration expires expired at in on date time seconds minutes days minute hour day budget "
    "usage used remaining cost price prices rate quota amount decimals index position "
    # Its state, and the rules for it.
    "enabled disabled required supported allowed valid changed updated created policy policies "
    "strength rule rules scope scopes consent settings config options status state"
)
"""Last words of names that only describe a secret. For example, a `token_count` is a count."""

_QUESTIONS = _all(
    "is has have needs requires require uses use can should must allow allows accept accepts "
    "enable enables show hide supports"
)
"""First words of names whose value is yes or no."""

_OTHER_TOKENS = _all(
    "max min num n total prompt completion input output reasoning thinking cached used remaining "
    "budget page next previous prev continuation continue starting sync resume pagination stop "
    "special eos bos pad unk idempotency"
)
"""Words before a `token` that is a piece of text, or a position in a list."""

_RUN_TOGETHER = _all("password passwd passphrase passcode secret token apikey sessid sessionid")
"""Words that are also recognised at the end of a longer word, as in `clientsecret`. No other
English words end with them.
"""


def _parts_of_names() -> Iterator[str]:
    """Yield pieces of text. Every secret name, written in lower case, contains at least one of
    them.
    """
    yield from _WORDS
    yield from _ENDINGS
    for first, last in _PHRASES:
        yield first if last == "id" else last  # too many names contain `id`


def _shortest(texts: Iterable[str]) -> set[str]:
    """Return the texts that do not contain another text of the list."""
    found: set[str] = set()
    for each in sorted(texts, key=len):
        if not any(other in each for other in found):
            found.add(each)
    return found


SECRET_PART = "|".join(sorted(_shortest(_parts_of_names())))
"""A regular expression. A name in lower case without a match is not secret. This quick test comes
first, because a hostile text may have a million names, and splitting each into words would take
seconds.
"""

_SECRET_PART = re.compile(SECRET_PART)


def may_be_secret_name(name: str) -> bool:
    """Return False if a name is certainly not secret. Otherwise `is_secret_name` must decide."""
    return _SECRET_PART.search(name[:_LONGEST].lower()) is not None


def is_secret_name(name: str) -> bool:
    """Return True if the value of a key with this name is a secret."""
    return _is_secret_name(name[:_LONGEST])


@lru_cache(maxsize=_KEPT)
def _is_secret_name(name: str) -> bool:
    if not may_be_secret_name(name):
        return False
    words = _words(name)
    if not words or words[0] in _QUESTIONS:
        return False
    return _ends_like_one(words) or (_contains_one(words) and not _is_about(words))


def _words(name: str) -> list[str]:
    """Return the words of a name without numbers. Words for secrets are in the singular."""
    words = [word for word in parts(name) if not word.isdecimal()]
    return [piece for word in words for piece in _pieces(word)]


def _pieces(word: str) -> tuple[str, ...]:
    """Split a word that consists of several words without a separator, such as `accesskey`."""
    if _SECRET_PART.search(word) is None:
        return (word,)
    singular = word.removesuffix("s")
    if singular in _WORDS or singular in ("key", "code"):
        return (singular,)
    # These are two words that are often joined: `accesskey`, `dbpass`, `basicauth`.
    for ending in ("key", "id", "pass", "auth"):
        start = word.removesuffix(ending)
        if start != word and _is_written_with(start, ending):
            return (start, ending)
    for ending in _RUN_TOGETHER:
        if singular.endswith(ending):
            return (singular.removesuffix(ending), ending)
    return (word,)


def _is_written_with(start: str, ending: str) -> bool:
    if ending == "pass":
        return start in (_ENDINGS["pass"] or ())
    if ending == "auth":
        return start in ("basic", "http")
    return (start, ending) in _PHRASES or (ending == "key" and start == "secret")


def _ends_like_one(words: list[str]) -> bool:
    last = words[-1]
    if last not in _ENDINGS:
        return False
    before = _ENDINGS[last]
    return before is None or len(words) == 1 or words[-2] in before


def _contains_one(words: list[str]) -> bool:
    if not _PHRASES.isdisjoint(pairwise(words)):
        return True
    found = _WORDS.intersection(words)
    # If `token` is the only secret word, the words before it decide: `refresh_token` is secret,
    # `max_token` and `next_page_token` are not.
    if tuple(found) == ("token",):
        before = words[: words.index("token")]
        return _OTHER_TOKENS.isdisjoint(before)
    return bool(found)


def _is_about(words: list[str]) -> bool:
    """Return True if a name only describes a secret, such as `token_count`."""
    # `session_id` ends with `id`, like names that are only about a secret, but is itself secret.
    return words[-1] in _ABOUT and tuple(words[-2:]) not in _PHRASES
