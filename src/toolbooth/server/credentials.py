"""Text that is no JSON -> the same text without credentials: the values of names that are a
secret's, the user and password of URLs, private keys.

A record must not cost more than the call. So every expression here takes a time that grows with the
text only, and is written so that a search for it is quick. The names that are read as words are
counted: past a limit, the rest of the text is left out.
"""

from __future__ import annotations

import re

from toolbooth.secret_names import SECRET_PART, is_secret_name, may_be_secret_name

HIDDEN = "[redacted]"


class Effort:
    """How much work is left for one record. In hostile arguments everything may be a secret: past
    these limits, whatever may be one counts as one.
    """

    def __init__(self) -> None:
        self.values = 100_000
        """Values of JSON inside text: as many as a call has at most."""
        self.names_in_text = 50_000
        """Names with a value inside text."""
        self.letters = 200_000
        """Letters of different names that are read as words. A name counts as ten more."""
        self._known: dict[str, bool] = {}

    def is_secret_name(self, name: str) -> bool:
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = may_be_secret_name(name) and self._read(name)
        return known

    def is_secret_name_in_text(self, name: str) -> bool:
        """The same for a name that may be a secret's."""
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
"""The token after the word "bearer", with the space before it. An expression is quickest if it
begins with a character and not with a look behind it.
"""

_QUOTE = r"""(?P<quote>\\{0,8}["'])?"""

_NAMED = re.compile(
    rf"(?:{SECRET_PART})[\w.-]*+(?P<end>)"
    rf"""(?:\\{{0,8}}["']?\s{{0,8}}(?P<sign>[:=])\s{{0,8}}{_QUOTE})?"""
)
"""The end of a name that may be a secret's, in lower case, and the beginning of its value: of a
header, a member of JSON, a variable, a parameter of a URL, an option of a command. Names without a
value are found too, because they would be searched again from each of their letters otherwise.
"""

_OPTION = re.compile(
    rf"--(?<![\w.-]--)(?=[a-z_])(?:(?!{SECRET_PART})[\w.-])*+(?:{SECRET_PART})[\w.-]*+(?P<end>)"
    rf"[ ]{{0,7}}(?P<sign>[ ])(?![-:=]){_QUOTE}"
)
"""The same for an option of a command that has only a space before its value."""

_WORD = re.compile(r"[\w.-]*+")
_NAME = re.compile(r"(?:--)?(?P<name>[A-Za-z_][\w.-]{0,79})")

_TOO_LONG = 83
"""Letters of a word that is no name, also with the dashes of an option."""

_VALUES = {
    # In quotes, in quotes inside of quotes, and in none.
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
"""Characters of the shortest text with a credential: `pwd=a`."""


def without_credentials(text: str, effort: Effort | None = None) -> str:
    """Text that is no JSON, without the values of names that are a secret's, without the user and
    password of URLs, and without private keys. `effort` counts the work.
    """
    if len(text) < _SHORTEST:
        return text
    effort = effort or Effort()
    # To look for a part costs far less than a search with the expression.
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
    """The text without the values of the names that are a secret's."""
    # The positions in both texts must be the same.
    # In lower case, this letter becomes two characters. No other one does.
    lowered = text.replace("İ", "i").lower()
    pieces: list[str] = []
    done = 0
    for found in pattern.finditer(lowered):
        # A name without a value, or one inside a value that is left out already.
        if found.lastgroup == "end" or found.start() < done:
            continue
        effort.names_in_text -= 1
        if effort.names_in_text < 0:
            return "".join([*pieces, text[done : found.end()], HIDDEN])
        if _is_secret(text, found, effort):
            end = _end_of_value(text, found)
            # `password: null` and the beginning of an object, `token: {`, show nothing that has to
            # be hidden.
            if text[found.end() : end].strip().lower() not in _NO_SECRETS:
                pieces += [text[done : found.end()], HIDDEN]
                done = end
    return "".join([*pieces, text[done:]]) if pieces else text


def _is_secret(text: str, found: re.Match[str], effort: Effort) -> bool:
    """Whether the name whose end was found is a secret's."""
    start = found.start()
    # The expression finds where a name ends. Its beginning is found by reading backwards, no
    # further than a name can be long.
    backwards = text[max(0, start - _TOO_LONG) : start][::-1]
    word = _WORD.match(backwards)
    letters = word.end() if word else 0
    name = _NAME.fullmatch(text, start - letters, found.end("end"))
    return name is not None and effort.is_secret_name_in_text(name["name"])


def _end_of_value(text: str, found: re.Match[str]) -> int:
    quote = found["quote"]
    # However often the quote is escaped, as in `\\\"`, its last two characters choose the
    # expression.
    value = _VALUES[quote[-2:] if quote else found["sign"]].match(text, found.end())
    return value.end() if value else found.end()
