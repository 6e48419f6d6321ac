"""An authorization server and a guarded MCP server on one address, for the tests of the login."""

import base64
import hashlib
import json
from typing import Any
from urllib.parse import parse_qs, urlencode

from http_proxied import Upstream


class AuthServer:
    """Registers every client, lets every user in, and gives out numbered tokens."""

    def __init__(self, upstream: Upstream, *, lifetime: int | None = 3600) -> None:
        self.upstream = upstream
        self.lifetime = lifetime
        self.origin = ""
        self.denies = False
        self.asks_for_login = True
        self.accepted = "Bearer access-1"
        self.challenges: dict[str, str] = {}
        self.grants: list[dict[str, str]] = []
        self.registered: list[Any] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        headers = {key.decode(): value.decode() for key, value in scope["headers"]}
        self.origin = f"http://{headers['host']}"
        path = scope["path"]
        if path == "/mcp":
            await self._mcp(scope, headers, receive, send)
            return
        query = {key: each[0] for key, each in parse_qs(scope["query_string"].decode()).items()}
        body = (await receive()).get("body", b"")
        if path == "/authorize":
            location = f"{query['redirect_uri']}?{urlencode(self._authorize(query))}"
            await _reply(send, 302, {}, [(b"location", location.encode())])
        elif path == "/token":
            form = {key: each[0] for key, each in parse_qs(body.decode()).items()}
            status, made = self._token(form)
            await _reply(send, status, made)
        elif path == "/register":
            self.registered.append(json.loads(body))
            await _reply(send, 201, {**json.loads(body), "client_id": "client-1"})
        else:
            found = self._metadata(path)
            await _reply(send, 404 if found is None else 200, found)

    def _metadata(self, path: str) -> Any:
        if path == "/.well-known/oauth-protected-resource/mcp":
            return {"resource": f"{self.origin}/mcp", "authorization_servers": [self.origin]}
        if path == "/.well-known/oauth-authorization-server":
            return {
                "issuer": self.origin,
                "authorization_endpoint": f"{self.origin}/authorize",
                "token_endpoint": f"{self.origin}/token",
                "registration_endpoint": f"{self.origin}/register",
                "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"],
                "authorization_response_iss_parameter_supported": True,
            }
        return None

    def _authorize(self, query: dict[str, str]) -> dict[str, str]:
        made = {"state": query["state"], "iss": self.origin}
        if self.denies:
            return {**made, "error": "access_denied", "error_description": "the user said no"}
        assert query["resource"] == f"{self.origin}/mcp"
        code = f"code-{len(self.challenges)}"
        self.challenges[code] = query["code_challenge"]
        return {**made, "code": code}

    def _token(self, form: dict[str, str]) -> tuple[int, Any]:
        self.grants.append(form)
        number = len(self.grants)
        if form["grant_type"] == "authorization_code":
            digest = hashlib.sha256(form["code_verifier"].encode()).digest()
            expected = base64.urlsafe_b64encode(digest).decode().rstrip("=")
            assert self.challenges.pop(form["code"]) == expected
        elif form["refresh_token"] != f"refresh-{number - 1}" or self.denies:
            return 400, {"error": "invalid_grant"}
        self.accepted = f"Bearer access-{number}"
        tokens = {"access_token": f"access-{number}", "refresh_token": f"refresh-{number}"}
        lifetime = {} if self.lifetime is None else {"expires_in": self.lifetime}
        return 200, {**tokens, "token_type": "Bearer", **lifetime}

    async def _mcp(self, scope: Any, headers: dict[str, str], receive: Any, send: Any) -> None:
        if self.asks_for_login and headers.get("authorization") != self.accepted:
            metadata = f"{self.origin}/.well-known/oauth-protected-resource/mcp"
            challenge = f'Bearer resource_metadata="{metadata}"'.encode()
            await receive()
            await _reply(send, 401, {}, [(b"www-authenticate", challenge)])
        else:
            await self.upstream(scope, receive, send)


async def _reply(send: Any, status: int, body: Any, extra: Any = ()) -> None:
    headers = [(b"content-type", b"application/json"), *extra]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(body).encode()})
