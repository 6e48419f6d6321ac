"""Exchange: one HTTP request with its redirects, within the limits of an HttpConfig."""

import codecs
from base64 import b64encode
from collections.abc import Mapping
from time import perf_counter
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

import httpx2
from pydantic_core import from_json

from recon.addresses import CheckedTransport
from recon.http_models import BasicAuth, HttpConfig, HttpReply, HttpRequest
from recon.redaction import Redactor
from recon.store import Row, as_text, now
from toolbooth import ToolError

TRAVELLING = {
    "accept",
    "accept-encoding",
    "accept-language",
    "connection",
    "content-length",
    "content-type",
    "cookie",  # after a redirect it has only the cookies that the new host has set
    "host",
    "range",
    "transfer-encoding",
    "user-agent",
}
"""Headers that are sent on to another host; other headers may contain a credential."""

NO_CHARSETS = {"idna", "punycode", "raw-unicode-escape", "unicode-escape"}
"""Codecs that only Python knows. A server may name one, and some need minutes for a large body."""


class Exchange:
    """One request: builds it, sends it, follows redirects, and returns the reply and the row to store.

    Raises:
        ToolError: the request is not valid. Nothing was sent.
    """

    def __init__(self, config: HttpConfig, call: HttpRequest, mission: Mapping[str, Any]) -> None:
        self.id = str(uuid4())
        self._config = config
        self._call = call
        self._mission_id = mission.get("id")
        self._profile: str | None = call.cookie_profile or mission.get("cookie_profile")
        self._redactor = Redactor(config.sensitive_headers)
        self._cookies = {**self._kept_cookies(), **(call.cookies or {})}
        self._body = self._content()
        self._first = httpx2.Request(
            call.method, self._url(), headers=self._headers(), content=self._body
        )
        self._last = self._first
        self._redirects: list[str] = []
        self._response: httpx2.Response | None = None
        self._received = b""
        self._received_cookies: dict[str, str] = {}
        self._began = now()
        self._start = perf_counter()
        self._finish("it was not finished")  # stored if the call is cancelled

    def _kept_cookies(self) -> Mapping[str, str]:
        if self._profile is None:
            return {}
        profiles = self._config.cookie_profiles
        if self._profile not in profiles:
            known = ", ".join(profiles) or "none"
            raise _error(f"there is no cookie profile {self._profile!r}; known are: {known}")
        return profiles[self._profile]

    def _content(self) -> bytes | None:
        if self._call.data is None:
            return None
        body, most = self._call.data.encode(), self._config.max_request_bytes
        if len(body) > most:
            raise _error(f"the body has {len(body)} bytes; {most} are allowed")
        return body

    def _url(self) -> httpx2.URL:
        try:
            url = httpx2.URL(self._call.url)
            if (
                self._call.params
            ):  # appended, so that the query in the URL is sent as it was written
                query = b"&".join(filter(None, [url.query, urlencode(self._call.params).encode()]))
                url = url.copy_with(query=query)
        except httpx2.InvalidURL as error:
            raise _error(f"the URL cannot be read: {error}") from None
        self._redactor.learn(
            *(
                value
                for name, value in url.params.multi_items()
                if self._redactor.is_sensitive(name)
            )
        )
        return url

    def _headers(self) -> httpx2.Headers:
        headers = httpx2.Headers(self._config.tracing_headers)
        headers.update(self._call.headers or {})
        if self._cookies:
            _once(headers, "Cookie", "cookies")
            headers["Cookie"] = _cookie_header(self._cookies)
        self._cookies = _cookies_of(headers.get("cookie", ""))
        if self._call.auth:
            _once(headers, "Authorization", "auth")
            headers["Authorization"] = self._basic(self._call.auth)
        if self._body and "content-type" not in headers and _json_of(self._body) is not None:
            headers["Content-Type"] = "application/json"
        self._redactor.learn(*self._cookies.values())
        self._redactor.learn(
            *(value for name, value in headers.items() if self._redactor.is_sensitive(name))
        )
        return headers

    def _basic(self, auth: BasicAuth) -> str:
        password = auth.password.get_secret_value()
        token = b64encode(f"{auth.username}:{password}".encode()).decode()
        self._redactor.learn(password, token)
        return f"Basic {token}"

    async def run(self) -> None:
        """Send the request and follow redirects. Raises the errors of httpx2, and ToolError at a limit."""
        config = self._config
        transport = CheckedTransport(config.allowed, config.verify, config.resolve)
        # One time limit covers the whole exchange. The first of several addresses may use only half
        # of it, so that there is time to try the next one.
        timeout = httpx2.Timeout(None, connect=config.timeout / 2)
        async with httpx2.AsyncClient(
            transport=transport, timeout=timeout, trust_env=False
        ) as client:
            while not await self._hop(client):
                pass
        self._finish(None)

    async def _hop(self, client: httpx2.AsyncClient) -> bool:
        """Send one request. Returns whether its reply was the last one."""
        self._response = response = await client.send(self._last, stream=True)
        try:
            self._received_cookies = {
                cookie.name: cookie.value or "" for cookie in client.cookies.jar
            }
            self._redactor.learn(*self._received_cookies.values())
            following = response.next_request if self._call.follow_redirects else None
            if following is None:
                self._received = await self._read(response)
                return True
        finally:
            await response.aclose()  # the body of a redirect is not read
        self._redirect(following)
        return False

    async def _read(self, response: httpx2.Response) -> bytes:
        most = self._config.max_response_bytes
        body = bytearray()
        async for piece in response.aiter_bytes():
            body += piece
            if len(body) > most:
                raise _error(
                    f"the reply ({response.status_code}) is larger than {most} bytes and was not read completely. "
                    "The request was made; ask for less of it, e.g. with a Range header"
                )
        return bytes(body)

    def _redirect(self, following: httpx2.Request) -> None:
        self._redirects.append(self._redactor.url(following.url))
        if len(self._redirects) > self._config.max_redirects:
            raise _error(
                f"more than {self._config.max_redirects} redirects, at last to {self._redirects[-1]}"
            )
        if _same_site(self._last.url, following.url):
            # httpx2 sends only the cookies that replies have set, so ours are added.
            cookies = {**self._cookies, **_cookies_of(following.headers.get("cookie", ""))}
            if cookies:
                following.headers["Cookie"] = _cookie_header(cookies)
        else:
            self._cookies = {}
            ours = {name.lower() for name in self._config.tracing_headers}
            for name in set(following.headers) - TRAVELLING - ours:
                del following.headers[name]
        self._last = following

    def failed(self, message: str) -> ToolError:
        """End the exchange. Returns the error to raise, without credentials."""
        message = self._redactor.text(message)
        self._finish(message)
        return _error(message, {"request_id": self.id})

    def _finish(self, error: str | None) -> None:
        self._error = error
        self._elapsed_ms = round((perf_counter() - self._start) * 1000)

    def reply(self) -> HttpReply:
        """The result of the tool: the reply as received, and the request without credentials."""
        response = self._response
        assert response is not None
        text = _text_of(self._received, response.charset_encoding or "utf-8")
        return {
            "request_id": self.id,
            "mission_id": self._mission_id,
            "cookie_profile": self._profile,
            "status_code": response.status_code,
            "url": self._redactor.url(response.url),
            "redirects": self._redirects,
            "headers": dict(response.headers),
            "cookies": self._received_cookies,
            "text": text,
            "json": _json_of(self._received)
            if "json" in response.headers.get("content-type", "")
            else None,
            "base64": None if text is not None else b64encode(self._received).decode(),
            "elapsed_ms": self._elapsed_ms,
            "request": {
                "method": self._last.method,
                "url": self._redactor.url(self._last.url),
                "headers": self._redactor.headers(self._last.headers),
            },
        }

    def row(self) -> Row:
        """The row to store, without bodies and credentials."""
        response = self._response
        return {
            "id": self.id,
            "mission_id": self._mission_id,
            "method": self._first.method,
            "url": self._redactor.url(self._first.url),
            "request_headers": as_text(self._redactor.headers(self._first.headers)),
            "request_bytes": len(self._body or b""),
            "cookie_profile": self._profile,
            "redirects": as_text(self._redirects),
            "status_code": response.status_code if response else None,
            "response_headers": as_text(self._redactor.headers(response.headers))
            if response
            else None,
            "response_bytes": None if self._error else len(self._received),
            "error": self._error,
            "elapsed_ms": self._elapsed_ms,
            "created_at": self._began,
        }

    def __str__(self) -> str:
        came_to = self._error or (self._response and self._response.status_code)
        return f"{self._first.method} {self._redactor.url(self._first.url)}: {came_to}"


def _error(message: str, details: Any = None) -> ToolError:
    return ToolError("http_request", message, details)


def _once(headers: httpx2.Headers, name: str, param: str) -> None:
    if name in headers:
        raise _error(f"both {param} and the header {name} are given; send one of them")


def _same_site(url: httpx2.URL, following: httpx2.URL) -> bool:
    """Whether both have the same origin, or the same host after an upgrade to https."""
    upgrade = (url.scheme, url.port, following.scheme, following.port) == (
        "http",
        None,
        "https",
        None,
    )
    return url.origin == following.origin or (url.host == following.host and upgrade)


def _cookie_header(cookies: Mapping[str, str]) -> str:
    return "; ".join(f"{name}={value}" for name, value in cookies.items())


def _cookies_of(header: str) -> dict[str, str]:
    pairs = (each.strip().partition("=") for each in header.split(";") if each.strip())
    return {name: value for name, _, value in pairs}


def _text_of(body: bytes, charset: str) -> str | None:
    try:
        return None if codecs.lookup(charset).name in NO_CHARSETS else body.decode(charset)
    except (UnicodeDecodeError, LookupError):
        return None


def _json_of(body: bytes) -> Any:
    """The value of these bytes if they are JSON, otherwise None."""
    try:
        return from_json(body, allow_inf_nan=False)
    except ValueError:
        return None
