"""Removes credentials from text that is not JSON: the values of secret names, the users and
passwords in URLs, and private keys.

Writing a record must not cost more than the call. So every regular expression here takes linear
time. Each name that is split into words counts as work. After a limit, the rest of the text is left
out.
"""

from __future__ import annotations

import re

from toolbooth.secret_names import SECRET_PART, is_secret_name, may_be_secret_name

HIDDEN = "[redacted]"


class Effort:
    """How much work may still be done for one record. The limits matter only for hostile arguments,
    in which everything looks like a secret. When a limit is reached, everything that may be a
    secret counts as one.
    """

    def __init__(self) -> None:
        self.values = 100_000
        """How many JSON values inside text may still be read. The limit is the same as for a whole
        call.
        """
        self.names_in_text = 50_000
        """How many names with a value inside text may still be checked."""
        self.letters = 200_000
        """How many letters of names may still be split into words. Each name counts ten letters
        more.
        """
        self._known: dict[str, bool] = {}

    def is_secret_name(self, name: str) -> bool:
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = may_be_secret_name(name) and self._read(name)
        return known

    def is_secret_name_in_text(self, name: str) -> bool:
        """Return True if `name` is the name of a secret. Each new name counts as work."""
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = self._read(name)
        return known

    def _read(self, name: str) -> bool:
        self.letters -= 10 + len(name)
        return self.letters < 0 or is_secret_name(name)


_PRIVATE_KEY = re.compile(
    r"(?s)-----BEGIN\s[A-Z\s]{0,40}PRIVATE\sKEY-----.*?(?:-----END\s[A-Z\s]{0,40}-----|\Z)"
)

_BEFORE_HOST = re.compile(r"""://[^\s/?#"'<>]+@""")
"""The user and password in a URL."""

_BEARER = re.compile(r" (?<=\b[Bb][Ee][Aa][Rr][Ee][Rr] )[\w.~+/=-]{8,}")
"""Matches the token after the word "bearer", and the space before the token. It begins with the
space and not with a look-behind, because that is faster.
"""

_QUOTE = r"""(?P<quote>\\{0,8}["'])?"""

_NAMED = re.compile(
    rf"(?:{SECRET_PART})[\w.-]*+(?P<end>)"
    rf"""(?:\\{{0,8}}["']?\s{{0,8}}(?P<sign>[:=])\s{{0,8}}{_QUOTE})?"""
)
"""Matches the end of a name that may be the name of a secret, and the beginning of its value. The
name may be in a header, in JSON, in a variable, in the query of a URL, or in an option of a
command. The text must be in lower case. Names without a value match too. Otherwise they would be
searched again from each of their letters.
"""

_OPTION = re.compile(
    rf"--(?<![\w.-]--)(?=[a-z_])(?:(?!{SECRET_PART})[\w.-])*+(?:{SECRET_PART})[\w.-]*+(?P<end>)"
    rf"[ ]{{0,7}}(?P<sign>[ ])(?![-:=]){_QUOTE}"
)
"""Matches an option of a command in the same way, if there is only a space before its value."""

_WORD = re.compile(r"[\w.-]*+")
_NAME = re.compile(r"(?:--)?(?P<name>[A-Za-z_][\w.-]{0,79})")

_TOO_LONG = 83
"""A word with this many letters is too long for a name. The dashes of an option are included."""

_VALUES = {
    # In quotes, in escaped quotes, and without quotes.
    '"': re.compile(r'[^"\\\n]*+(?:\\.[^"\\\n]*+)*+'),
    "'": re.compile(r"[^'\\\n]*+(?:\\.[^'\\\n]*+)*+"),
    '\\"': re.compile(r'[^"\n]*+'),
    "\\'": re.compile(r"[^'\n]*+"),
    ":": re.compile(r"""[^"'\n]*+"""),
    "=": re.compile(r"""[^\s"'&;<>]*+"""),
    " ": re.compile(r"""[^\s"'&;<>]*+"""),
}

_NO_SECRETS = frozenset(("", "null", "none", "true", "false", "{", "[", "|"))

_SHORTEST = 5
"""The length of the shortest text that can contain a credential, such as `pwd=a`."""


def without_credentials(text: str, effort: Effort | None = None) -> str:
    """Remove credentials from text that is not JSON: the values of secret names, users and
    passwords in URLs, and private keys. `effort` counts the work.
    """
    if len(text) < _SHORTEST:
        return text
    effort = effort or Effort()
    # Searching for a plain substring is much faster than the regular expression.
    if "-----BEGIN" in text:
        text = _PRIVATE_KEY.sub(HIDDEN, text)
    if "@" in text:
        text = _BEFORE_HOST.sub(f"://{HIDDEN}@", text)
    if " " in text:
        text = _BEARER.sub(f" {HIDDEN}", text)
    if "--" in text:
        text = _without_values(_OPTION, text, effort)
    if ":" in text or "=" in text:
        text = _without_values(_NAMED, text, effort)
    return text


def _without_values(pattern: re.Pattern[str], text: str, effort: Effort) -> str:
    """Remove the values of secret names from the text."""
    # Both texts must have the same positions. This letter is the only one that becomes two
    # characters in lower case.
    lowered = text.replace("İ", "i").lower()
    pieces: list[str] = []
    done = 0
    for found in pattern.finditer(lowered):
        # This name has no value, or it is inside a value that is already left out.
        if found.lastgroup == "end" or found.start() < done:
            continue
        effort.names_in_text -= 1
        if effort.names_in_text < 0:
            return "".join([*pieces, text[done : found.end()], HIDDEN])
        if _is_secret(text, found, effort):
            end = _end_of_value(text, found)
            # `password: null` and the beginning of an object, `token: {`, contain nothing to hide.
            if text[found.end() : end].strip().lower() not in _NO_SECRETS:
                pieces += [text[done : found.end()], HIDDEN]
                done = end
    return "".join([*pieces, text[done:]]) if pieces else text


def _is_secret(text: str, found: re.Match[str], effort: Effort) -> bool:
    """Return True if the name that `found` matches is the name of a secret."""
    start = found.start()
    # The expression finds the end of a name. Its beginning is searched backwards, for at most the
    # length of a name.
    backwards = text[max(0, start - _TOO_LONG) : start][::-1]
    word = _WORD.match(backwards)
    letters = word.end() if word else 0
    name = _NAME.fullmatch(text, start - letters, found.end("end"))
    return name is not None and effort.is_secret_name_in_text(name["name"])


def _end_of_value(text: str, found: re.Match[str]) -> int:
    quote = found["quote"]
    # The quote may be escaped several times, as in `\\\"`. Its last two characters choose the
    # expression.
    value = _VALUES[quote[-2:] if quote else found["sign"]].match(text, found.end())
    return value.end() if value else found.end()
