"""One call of one action: its view runs as REST would run it, for the real caller."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlencode

import orjson
from asgiref.sync import sync_to_async
from django.core.handlers.base import BaseHandler
from django.http import HttpRequest
from django.urls import Resolver404, resolve
from pydantic_core import to_json

from toolbooth.django.arguments import Arguments
from toolbooth.django.caller import caller
from toolbooth.django.discovery import Action
from toolbooth.django.relations import with_keys
from toolbooth.django.replies import value_of
from toolbooth.django.requests import inner_request
from toolbooth.errors import Problem, ToolInputError

_handler = BaseHandler()


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncInvocation:
    """Calls one action with arguments that have passed the boundary."""

    tool: str
    action: Action
    arguments: Arguments
    media_type: str = "application/json"

    def __call__(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Run the action for the caller that is being answered."""
        return value_of(self.respond(caller(), arguments), self.tool)

    def respond(self, outer: HttpRequest, arguments: Mapping[str, Any]) -> Any:
        """What the view answers. Raises ToolInputError where no such call could be made."""
        sent = self._split(arguments)
        path = self._path(sent["path"])
        match = self._match(path, sent["path"])
        body = self._body(sent["body"])
        request = inner_request(outer, self.action.method, path, self._query(sent["query"]), body, self.media_type)
        request.resolver_match = match
        # As Django runs every view: where the host has ATOMIC_REQUESTS, what it wrote is rolled back when it fails.
        view = _handler.make_view_atomic(match.func)
        response = view(request, *match.args, **match.kwargs)
        response.close()
        return response

    def _split(self, arguments: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = {"path": {}, "query": {}, "body": {}}
        for name, value in arguments.items():
            slot = self.arguments.slots[name]
            if name in self.arguments.relations:
                value = with_keys(value, self.arguments.relations[name], f"$.{name}")
            found[slot.place][slot.name] = (
                ",".join(map(_text, cast("list[Any]", value))) if slot.joined and isinstance(value, list) else value
            )
        return found

    def _path(self, values: Mapping[str, Any]) -> str:
        path = self.action.path
        for name, value in values.items():
            path = path.replace(f"{{{name}}}", _text(value))
        return path

    def _match(self, path: str, values: Mapping[str, Any]) -> Any:
        """The view at a path. A value that leads anywhere else is no such value, whatever it holds."""
        try:
            match = resolve(path)
        except Resolver404:
            match = None
        if match is None or match.func is not self.action.callback:
            names = [name for name, slot in self.arguments.slots.items() if slot.place == "path"]
            told = [
                Problem(code="invalid", path=f"$.{name}", message="is no value that an address can hold")
                for name in names
            ]
            raise ToolInputError(told, tool=self.tool)
        return match

    def _query(self, values: Mapping[str, Any]) -> str:
        pairs: list[tuple[str, str]] = []
        for name, value in values.items():
            several = cast("list[Any]", value) if isinstance(value, list) else [value]
            pairs += [(name, _text(each)) for each in several]
        return urlencode(pairs)

    def _body(self, values: Mapping[str, Any]) -> bytes:
        if self.action.method not in ("POST", "PUT", "PATCH"):
            return b""
        sent: Any = next(iter(values.values())) if self.arguments.whole else values
        if self.media_type != "application/json":
            return urlencode({name: _text(each) for name, each in values.items()}, doseq=True).encode()
        try:
            return orjson.dumps(sent)
        except TypeError:  # integers beyond 64 bits
            return to_json(sent)


class AsyncInvocation(SyncInvocation):
    """The same where an event loop runs: the view runs in Django's own thread for sync code."""

    async def __call__(self, arguments: dict[str, Any]) -> dict[str, Any]:  # pyright: ignore[reportIncompatibleMethodOverride]
        return await sync_to_async(SyncInvocation.__call__, thread_sensitive=True)(self, arguments)


def _text(value: Any) -> str:
    """A value as it stands in an address."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
