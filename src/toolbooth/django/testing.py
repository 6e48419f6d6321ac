"""Calls tools in tests as an agent of a user:
`acting_as(user).call("contacts__create", email=...)`.

Every call is one HTTP request through the whole project: middleware, URLs, the boundary, the view,
the database.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import Any, Literal

import orjson
from asgiref.sync import sync_to_async
from django.conf import settings
from django.core.signals import setting_changed
from django.db import connections
from django.urls import NoReverseMatch, get_script_prefix, reverse
from rest_framework.test import APIClient

from toolbooth.django import messages
from toolbooth.django.call.transactions import Transaction
from toolbooth.django.describe.catalogue import catalogue, forget
from toolbooth.django.recorded_data import recording
from toolbooth.jsonvalue import Json, json_bytes, near_name
from toolbooth.server import revisions
from toolbooth.server.wire_result import WireResult, read_result

UnreadFields = list[str] | Literal["unknown"]
"""Names of fields that an action never read."""

_META = revisions.request_meta("toolbooth.django.testing")
_ids = count(1)


def acting_as(user: Any) -> Agent:
    """Return an agent that acts as this user. If `user` is None, the agent is anonymous."""
    return Agent(user)


def unread_fields(tool: str, arguments: Any = None, /, *, user: Any = None) -> UnreadFields:
    """Return the fields of a tool that its action does not read in this call. `user` makes the
    call, or an anonymous caller if `user` is None.

    The call is made and rolled back. Changes outside the databases are not undone.

    Returns:
        The names of all declared body fields that were not read by name, in their order. It does
        not matter whether a field was sent. The result is "unknown" if there are such fields, but
        the data was also read as a whole: copied, walked over, or read as bytes.

    Raises:
        LookupError: there is no such tool, or the tool does not belong to a view.
        ValueError: the call was refused or failed.
    """
    return acting_as(user).unread_fields(tool, arguments)


async def aunread_fields(tool: str, arguments: Any = None, /, *, user: Any = None) -> UnreadFields:
    """Do the same as `unread_fields`, in an async test."""
    return await sync_to_async(unread_fields)(tool, arguments, user=user)


class Agent:
    """Lists and calls tools as one user."""

    def __init__(self, user: Any = None) -> None:
        self._client: Any = APIClient(
            HTTP_HOST=_host(), SERVER_PORT="443" if settings.SECURE_SSL_REDIRECT else "80"
        )
        if user is not None:  # for an anonymous user this would log out, which needs sessions
            self._client.force_authenticate(user)

    def call(self, tool: str, arguments: Any = None, /, **fields: Any) -> WireResult:
        """Call a tool with these keyword arguments. Instead, you can pass `arguments` as a client
        would send them: any JSON value, or JSON text in bytes.
        """
        if arguments is not None and fields:
            raise TypeError(messages.WHOLE_OR_BY_FIELD)
        sent = fields if arguments is None else arguments
        body = sent if isinstance(sent, bytes) else json_bytes(sent)
        # A fragment is copied without being parsed, so a test can send malformed JSON too.
        params = {"name": tool, "arguments": orjson.Fragment(body)}
        return _wire_result(*self._post("tools/call", params))

    def unread_fields(self, tool: str, arguments: Any = None, /, **fields: Any) -> UnreadFields:
        """Return the fields of a tool that its action does not read in this call. See the function
        `unread_fields`.
        """
        known = catalogue().body_names
        if tool not in known:
            raise LookupError(messages.not_a_views_tool(tool, near_name(tool, known)))
        with recording() as record, Transaction(connections) as everywhere:
            result = self.call(tool, arguments, **fields)
            everywhere.undo()
        if result.is_error:
            raise ValueError(messages.action_failed(tool, result.text))
        unread = [name for name in known[tool] if name not in record.names]
        return "unknown" if unread and record.is_whole else unread

    def tools(self) -> dict[str, Json]:
        """Return the tools that `tools/list` returns for this user, by name."""
        found: dict[str, Json] = {}
        params: Json = {}
        while True:
            status, reply = self._post("tools/list", params)
            if "result" not in reply:
                raise PermissionError(messages.tools_not_listed(status, _words(reply)))
            found |= {tool["name"]: tool for tool in reply["result"]["tools"]}
            if "nextCursor" not in reply["result"]:
                return found
            params = {"cursor": reply["result"]["nextCursor"]}

    def _post(self, method: str, params: Json) -> tuple[int, Json]:
        message = {
            "jsonrpc": "2.0",
            "id": next(_ids),
            "method": method,
            "params": {**params, "_meta": _META},
        }
        # The stateless revision of MCP repeats the method and the tool's name in headers, which
        # must match the body.
        headers = {"MCP-Protocol-Version": revisions.STATELESS[0], "Mcp-Method": method}
        if "name" in params:
            headers["Mcp-Name"] = params["name"]
        response = self._client.generic(
            "POST",
            path_info(endpoint_path()),
            orjson.dumps(message),
            content_type="application/json",
            # Otherwise Django's SecurityMiddleware would answer with a redirect to HTTPS.
            secure=settings.SECURE_SSL_REDIRECT,
            headers=headers,
        )
        is_json = response.headers.get("Content-Type", "").startswith("application/json")
        reply = response.json() if is_json else {"text": response.content.decode()}
        return response.status_code, reply


def endpoint_path() -> str:
    """Return the path of the project's MCP endpoint. Raises LookupError if there is none."""
    try:
        return reverse("toolbooth:mcp")
    except NoReverseMatch:
        line = 'path("mcp", include("toolbooth.django.urls"))'
        raise LookupError(messages.no_endpoint(line)) from None


def path_info(path: str) -> str:
    """Return a path without the prefix in FORCE_SCRIPT_NAME, because the URLconf does not contain
    this prefix.
    """
    return f"/{path.removeprefix(get_script_prefix())}"


def _host() -> str:
    """Return a host that the project accepts: the host that Django's own tests use, if possible."""
    # In ALLOWED_HOSTS, `.example.com` means the domain and all of its subdomains.
    named = [each.removeprefix(".") for each in settings.ALLOWED_HOSTS if each != "*"]
    if "testserver" in named or "*" in settings.ALLOWED_HOSTS:
        return "testserver"
    return named[0] if named else "localhost"


def _wire_result(status: int, reply: Json) -> WireResult:
    if "result" in reply or "error" in reply:
        return read_result(reply.get("result", reply), status)
    # Middleware has responded in plain text, or the endpoint itself requires credentials.
    return replace(read_result({}, status), text=_words(reply), is_error=True)


def _words(reply: Json) -> str:
    return reply["error"]["message"] if "error" in reply else reply.get("text", "")


def _forget(**_: Any) -> None:
    forget()


# A test may override URLs and settings: its calls must use them.
setting_changed.connect(_forget, dispatch_uid="toolbooth.django.testing")
