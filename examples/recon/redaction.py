"""Redaction: removes credentials from stored, logged and returned parts of a request."""

import re
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

import httpx2

REDACTED = "[redacted]"

SENSITIVE = re.compile(
    r"token|secret|passw|cookie|credential|sess(?:ion|id)|authori[sz]ation|authentication|signature"
    r"|(?:access|api|private)[-_]?key|(?<![a-z])(?:auth|code|key|jwt|otp|pin|pwd|sid|sig)(?![a-z])",
    re.IGNORECASE,
)
"""Names of headers and of query parameters whose values are not shown."""

SHORTEST = 4
"""Shorter values are not redacted: they would match inside ordinary text."""


class Redactor:
    """Hides values by their name, and hides the secrets of one request wherever they occur again."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names = {name.lower() for name in names}
        self._secrets: set[str] = set()

    def learn(self, *secrets: str) -> None:
        """Hide these from now on, also if a server sends them back."""
        found = (
            form
            for secret in secrets
            for form in (secret, quote(secret, safe=""), quote_plus(secret))
        )
        self._secrets.update(form for form in found if len(form) >= SHORTEST)

    def is_sensitive(self, name: str) -> bool:
        """Whether values of this name are hidden."""
        return name.lower() in self._names or SENSITIVE.search(name) is not None

    def text(self, text: str) -> str:
        """Return a text without the secrets."""
        for secret in sorted(self._secrets, key=len, reverse=True):
            text = text.replace(secret, REDACTED)
        return text

    def headers(self, headers: httpx2.Headers) -> dict[str, str]:
        """Return headers by name, with sensitive values redacted."""
        return {
            name: REDACTED if self.is_sensitive(name) else self._header(name, value)
            for name, value in headers.items()
        }

    def _header(self, name: str, value: str) -> str:
        return self.url(value) if name == "location" else self.text(value)

    def url(self, url: httpx2.URL | str) -> str:
        """Return a URL without user information, fragment, and the values of sensitive query
        parameters.
        """
        try:
            shown = httpx2.URL(url)
        except httpx2.InvalidURL:
            return REDACTED
        shown = shown.copy_with(
            userinfo=REDACTED.encode() if shown.userinfo else b"", fragment=None
        )
        if any(self.is_sensitive(name) for name in shown.params):
            pairs = [
                (name, REDACTED if self.is_sensitive(name) else value)
                for name, value in shown.params.multi_items()
            ]
            shown = shown.copy_with(params=pairs)
        return self.text(str(shown))
