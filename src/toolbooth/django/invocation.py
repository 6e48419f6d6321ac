"""One call of one action: its view runs as REST would run it, for the real caller."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlencode

from asgiref.sync import sync_to_async
from django.core.handlers.base import BaseHandler
from django.urls import Resolver404, ResolverMatch, resolve

from toolbooth.django.arguments import Arguments
from toolbooth.django.bodies import JSON, body_of, text
from toolbooth.django.caller import REFUSALS, Caller, caller
from toolbooth.django.discovery import Action
from toolbooth.django.operations import Reader
from toolbooth.django.relations import Relation, field_at, names_rows, with_keys
from toolbooth.django.replies import encoded, value_of
from toolbooth.django.requests import inner_request
from toolbooth.errors import Problem, ToolInputError

_handler = BaseHandler()


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncInvocation:
    """Calls one action with arguments that have passed the boundary."""

    tool: str
    action: Action
    arguments: Arguments
    reader: Reader = Reader()  # noqa: RUF009  # frozen
    media_type: str = JSON

    def __call__(self, arguments: dict[str, Any]) -> Any:
        """Run the action for the caller that is being answered."""
        return encoded(self.value(self.respond(caller(), arguments)), self.tool)

    def value(self, response: Any) -> dict[str, Any]:
        """What a response gives. Raises what the agent is told instead."""
        return value_of(response, self.tool, self.arguments, self.action)

    def view(self, who: Caller, arguments: Mapping[str, Any]) -> Any:
        """The action's view before it runs, with the caller let in. Raises what it says to others."""
        values = self._split(arguments)["path"]
        return who.admitted(self.action, self._match(self._path(values), values).kwargs)

    def respond(self, who: Caller, arguments: Mapping[str, Any], rows: list[dict[str, Any]] | None = None) -> Any:
        """What the view answers; where there are `rows`, settled, they are the body. Raises ToolInputError."""
        sent = self._split(arguments)
        path = self._path(sent["path"])
        match = self._match(path, sent["path"])
        if rows is None:
            body, media_type = self._body(self._settled(who, match, sent["body"]))
        else:
            body, media_type = body_of(rows, self.media_type)
        headers = {name: text(value) for name, value in sent["header"].items()}
        query = self._query(sent["query"])
        request = inner_request(who.request, self.action.method, path, query, body, media_type, headers, run=True)
        request.resolver_match = match
        who.introduce(request, self.action)
        # As Django runs every view: where the host has ATOMIC_REQUESTS, what it wrote is rolled back when it fails.
        view = _handler.make_view_atomic(match.func)
        return view(request, *match.args, **match.kwargs)

    def settled(self, who: Caller, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The body of a call, as it is sent to the view. Raises ToolInputError."""
        sent = self._split(arguments)
        return self._settled(who, self._match(self._path(sent["path"]), sent["path"]), sent["body"])

    def _split(self, arguments: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = {"path": {}, "query": {}, "header": {}, "body": {}}
        for name, value in arguments.items():
            slot = self.arguments.slots[name]
            found[slot.place][slot.name] = value
        return found

    def _path(self, values: Mapping[str, Any]) -> str:
        return re.sub(r"{(\w+)}", lambda found: text(values[found[1]]), self.action.path)

    def _match(self, path: str, values: Mapping[str, Any]) -> ResolverMatch:
        """The view at a path. A value that leads anywhere else is no such value, whatever it holds."""
        try:
            match = resolve(path)
        except Resolver404:
            match = None
        if match is not None and match.func is self.action.callback and _is_whole(match, values):
            return match
        names = self.arguments.named("path").values()
        message = "is no value that the address of a row can hold"
        told = [Problem(code="invalid", path=f"$.{name}", message=message) for name in names]
        raise ToolInputError(told or [Problem(code="invalid", path="$", message="has no address")], tool=self.tool)

    def _settled(self, who: Caller, match: ResolverMatch, body: dict[str, Any]) -> dict[str, Any]:
        """The body with rows named by key, and with nothing in it that the serializer of this caller would drop."""
        if not body or not (self.reader.dynamic or names_rows(body, self.arguments.relations)):
            return body
        try:
            serializer = self.reader.of(who.admitted(self.action, match.kwargs))
        except REFUSALS:
            return body  # the view says so itself
        if self.reader.dynamic:
            self._must_be_read(serializer, body)
        problems: list[Problem] = []
        start = 1 if self.arguments.whole else 0

        def field_of(relation: Relation) -> Any:
            return field_at(serializer, relation.path[start:])

        made = with_keys(body, self.arguments.relations, field_of, "$", problems)
        if problems:
            raise ToolInputError(problems, tool=self.tool)
        return made

    def _must_be_read(self, serializer: Any, body: Mapping[str, Any]) -> None:
        """A serializer made for the caller may have fewer fields than the one that was published."""
        fields: dict[str, Any] | None = getattr(serializer, "fields", None)
        if fields is None or self.arguments.whole:
            return
        taken = tuple(name for name, each in fields.items() if not each.read_only)
        told = [
            Problem(code="unknown-key", path=f"$.{name}", message="is no field that you may send")
            for name in body
            if name not in taken
        ]
        if told:
            path = tuple(self.arguments.named("path").values())
            raise ToolInputError(told, tool=self.tool, declared={"$": (*path, *taken)})

    def _query(self, values: Mapping[str, Any]) -> str:
        pairs: list[tuple[str, str]] = []
        for name, value in values.items():
            several = [text(each) for each in cast("list[Any]", value)] if isinstance(value, list) else [text(value)]
            joined = self.arguments.slots[self.arguments.named("query")[name]].joined
            pairs += [(name, ",".join(several))] if joined else [(name, each) for each in several]
        return urlencode(pairs)

    def _body(self, values: dict[str, Any]) -> tuple[bytes, str]:
        if not self.arguments.named("body"):
            return b"", ""
        whole = next(iter(values.values()), None) if self.arguments.whole else values
        return body_of(whole, self.media_type)


class AsyncInvocation(SyncInvocation):
    """The same where an event loop runs: the view runs in Django's own thread for sync code."""

    async def __call__(self, arguments: dict[str, Any]) -> Any:
        return await sync_to_async(SyncInvocation.__call__, thread_sensitive=True)(self, arguments)


def _is_whole(match: ResolverMatch, values: Mapping[str, Any]) -> bool:
    """Whether an address was read as it was written: `5.json` is not row 5 in another format."""
    given: Mapping[str, Any] = cast("Any", match).extra_kwargs or {}
    captured = {name: each for name, each in match.kwargs.items() if name not in given}
    if captured.keys() != values.keys():
        return False
    return all(not isinstance(each, str) or each == text(values[name]) for name, each in captured.items())
