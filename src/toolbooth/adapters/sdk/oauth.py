"""Logs in to a server by OAuth, with the official SDK, and keeps the tokens in a file.

`log_in` asks the user once, in a browser. Afterwards `SavedLogin` has the header for each request,
and renews the access token without the user.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.auth.exceptions import OAuthFlowError
from mcp.shared.auth import (
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from pydantic import AnyUrl, ValidationError

from toolbooth.jsonvalue import Json, is_object
from toolbooth.server.state_file import write_privately

_EARLY = 30.0
"""An access token is renewed this number of seconds before it expires."""
_PAST = 1.0
_REVISION = {"mcp-protocol-version": "2025-11-25"}
_ACCEPT = {"accept": "application/json, text/event-stream", **_REVISION}
_PING: Json = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
_PAGE = "Toolbooth: {}. You can close this window."
_ARRIVED = "your answer has arrived, and the terminal shows if you are logged in"


class LoginError(Exception):
    """The login has failed. The message contains the reason."""


class SavedLogin:
    """The login to one server, as it is in a file. It is also the token storage of the SDK."""

    def __init__(self, url: str, file: Path) -> None:
        self.url = url
        self.file = file
        self.found = _read(file)
        self._renewing = asyncio.Lock()

    @property
    def authorization(self) -> str | None:
        """Return the `Authorization` header. Return None if there is no login."""
        tokens: Any = self.found.get("tokens")
        token: Any = tokens.get("access_token") if is_object(tokens) else None
        return f"Bearer {token}" if isinstance(token, str) else None

    @property
    def has_expired(self) -> bool:
        expires_at: Any = self.found.get("expires_at")
        return isinstance(expires_at, int | float) and time.time() > expires_at - _EARLY

    async def renew(self, rejected: str | None) -> bool:
        """Get a new access token. `rejected` is the header that the server did not accept. Return
        False if the user has to log in again.
        """
        async with self._renewing:  # requests that fail at the same time need only one new token
            if self.authorization != rejected:
                return True
            # Another proxy may have renewed the token. The old refresh token is then no longer
            # valid.
            self.found = _read(self.file) or self.found
            if self.authorization != rejected and not self.has_expired:
                return True
            try:
                return await self._renewed()
            except (OAuthFlowError, httpx2.HTTPError, OSError):
                return False

    async def _renewed(self) -> bool:
        provider = OAuthClientProvider(self.url, _metadata("http://127.0.0.1"), self)
        provider.context.oauth_metadata = _model(OAuthMetadata, self.found.get("server"))
        provider.context.protected_resource_metadata = _model(
            ProtectedResourceMetadata, self.found.get("resource")
        )
        provider.context.token_expiry_time = _PAST
        before = self.authorization
        original = httpx2.Request("POST", self.url, headers=_REVISION)
        # The flow first yields the request for a new token, and then the original request, which
        # is not needed.
        flow = provider.async_auth_flow(original)
        try:
            request = await anext(flow)
            async with httpx2.AsyncClient() as client:
                while request is not original:
                    request = await flow.asend(await client.send(request))
        finally:
            await flow.aclose()
        return self.authorization != before

    # --- the storage of the SDK ---

    async def get_tokens(self) -> OAuthToken | None:
        return _model(OAuthToken, self.found.get("tokens"))

    async def set_tokens(self, tokens: OAuthToken) -> None:
        # A new answer may leave out the lifetime. Then the token is used until it is rejected.
        lifetime = tokens.expires_in
        expires_at = None if lifetime is None else time.time() + lifetime
        self.save(tokens=_json(tokens), expires_at=expires_at)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return _model(OAuthClientInformationFull, self.found.get("client"))

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.save(client=_json(client_info))

    def save(self, **members: Any) -> None:
        """Change some members of the file."""
        self.found = {**self.found, **members}
        write_privately(self.file, json.dumps(self.found, indent=1))


async def log_in(
    url: str, file: Path, show: Callable[[str], None], *, seconds: float = 300.0
) -> None:
    """Log in to the server at a URL. `show` gets the URL that the user has to open in a browser.

    Raises:
        LoginError: the login has failed.
    """
    try:
        file.unlink(missing_ok=True)
        write_privately(file, "{}")  # a file that cannot be written is reported before the login
    except OSError as error:
        raise LoginError(f"the file {file} cannot be written: {error.strerror}") from None
    saved = SavedLogin(url, file)
    callback = _Callback()
    server = await asyncio.start_server(callback.answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]

    async def redirect(address: str) -> None:
        # The address comes from the server. A browser would open a local file or a program, too.
        if urlsplit(address).scheme not in ("http", "https"):
            raise LoginError(f"the server wants to open {address[:80]!r} in the browser")
        show(address)

    provider = OAuthClientProvider(
        url,
        _metadata(f"http://127.0.0.1:{port}/callback"),
        saved,
        redirect_handler=redirect,
        callback_handler=callback.result,
    )
    try:
        async with (
            server,
            asyncio.timeout(seconds),
            httpx2.AsyncClient(auth=provider, timeout=30) as client,
        ):
            await client.post(url, json=_PING, headers=_ACCEPT)
    except TimeoutError:
        raise LoginError(f"nobody has logged in within {seconds:g} seconds") from None
    except (OAuthFlowError, ValidationError, httpx2.HTTPError, OSError) as error:
        raise LoginError(str(error) or type(error).__name__) from None
    if saved.authorization is None:
        raise LoginError("the server does not ask for a login")
    saved.save(
        server=_json(provider.context.oauth_metadata),
        resource=_json(provider.context.protected_resource_metadata),
    )


class _Callback:
    """Receives the answer of the authorization server from the user's browser."""

    def __init__(self) -> None:
        self._answer: asyncio.Future[dict[str, list[str]]] = asyncio.Future()

    async def result(self) -> AuthorizationCodeResult:
        """Wait for the answer. Raises LoginError if the user or the server has refused."""
        query = {key: values[0] for key, values in (await self._answer).items()}
        if "error" in query:
            raise LoginError(query.get("error_description") or query["error"])
        return AuthorizationCodeResult(
            code=query.get("code", ""), state=query.get("state"), iss=query.get("iss")
        )

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request of the browser."""
        try:
            line = (await reader.readline()).decode("latin-1")
            parts = line.split(" ")
            target = urlsplit(parts[1] if len(parts) > 1 else "")
            is_answer = parts[0] == "GET" and target.path == "/callback"
            if is_answer and not self._answer.done():
                self._answer.set_result(parse_qs(target.query))
            text = _PAGE.format(_ARRIVED if is_answer else "this page does not exist")
            status = "200 OK" if is_answer else "404 Not Found"
            head = f"HTTP/1.1 {status}\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n"
            writer.write((head + text).encode())
            await writer.drain()
        except (OSError, ValueError):
            pass  # the browser has left, or this is no browser
        finally:
            writer.close()


def _metadata(redirect: str) -> OAuthClientMetadata:
    return OAuthClientMetadata(
        redirect_uris=[AnyUrl(redirect)],
        client_name="Toolbooth",
        token_endpoint_auth_method="none",
    )


def _json(model: Any) -> Any:
    return None if model is None else model.model_dump(mode="json", exclude_none=True)


def _model(kind: Any, found: Any) -> Any:
    """Return stored members as a model. Return None if they are missing or cannot be read."""
    if found is None:
        return None
    try:
        return kind.model_validate(found)
    except ValidationError:
        return None


def _read(file: Path) -> Json:
    try:
        found: Any = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if is_object(found) else {}
