"""One call of one action: its view runs as REST would run it, for the real caller."""

from __future__ import annotations

import inspect
import re
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast
from urllib.parse import urlencode

from asgiref.sync import async_to_sync
from django.core.handlers.base import BaseHandler
from django.http import HttpRequest
from django.urls import Resolver404, ResolverMatch, URLResolver, get_resolver, get_urlconf
from django.utils.translation import get_language

from toolbooth.django.call.bodies import JSON, body_of, text
from toolbooth.django.call.caller import REFUSALS, Caller, caller
from toolbooth.django.call.inner_request import inner_request
from toolbooth.django.call.replies import encoded, value_of
from toolbooth.django.describe.arguments import Arguments
from toolbooth.django.describe.discovery import Action
from toolbooth.django.describe.operations import BodySerializer
from toolbooth.django.describe.relations import Relation, field_at, names_rows, with_keys
from toolbooth.errors import Problem, ToolInputError
from toolbooth.server.results.arguments import taken_apart

_handler = BaseHandler()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sent:
    """The arguments of one call, each where it goes."""

    path: str
    match: ResolverMatch
    query: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncInvocation:
    """Calls one action with arguments that have passed the boundary."""

    tool: str
    action: Action
    arguments: Arguments
    body_serializer: BodySerializer = BodySerializer()  # noqa: RUF009  # frozen
    media_type: str = JSON

    def __call__(self, arguments: dict[str, Any]) -> Any:
        """Run the action for the caller that is being answered."""
        sent, _ = taken_apart(arguments, self.arguments.protocol)
        return encoded(self.value(self.respond(caller(), sent)), self.tool)

    def value(self, response: Any) -> dict[str, Any]:
        """What a response gives. Raises what the agent is told instead."""
        return value_of(response, self.tool, self.arguments, self.action)

    def view(self, who: Caller, arguments: Mapping[str, Any]) -> Any:
        """The action's view before it runs, with the caller let in. Raises what it says to others."""
        sent = self._sent(arguments)
        request = self._request(who, sent, None, run=False)
        return who.admitted(self.action, sent.match.kwargs, request)

    def settled(self, who: Caller, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The body of a call, as it is sent to the view. Raises ToolInputError."""
        return self._settled(who, self._sent(arguments))

    def respond(
        self, who: Caller, arguments: Mapping[str, Any], rows: list[dict[str, Any]] | None = None
    ) -> Any:
        """What the view answers; where there are `rows`, settled, they are the body. Raises
        ToolInputError.
        """
        sent = self._sent(arguments)
        request = self._request(
            who, sent, self._settled(who, sent) if rows is None else rows, run=True
        )
        # As Django runs every view: where the host has ATOMIC_REQUESTS, what it wrote is rolled
        # back when it fails.
        view = _handler.make_view_atomic(sent.match.func)
        made: Any = view(request, *sent.match.args, **sent.match.kwargs)
        return async_to_sync(_awaited)(made) if inspect.iscoroutine(made) else made

    def _request(self, who: Caller, sent: _Sent, body: Any, *, run: bool) -> HttpRequest:
        """The REST call that these arguments stand for."""
        content, kind = self._body(body)
        method = self.action.method
        request = inner_request(
            who.request, method, sent.path, sent.query, content, kind, sent.headers, run=run
        )
        request.resolver_match = sent.match
        return request

    def _sent(self, arguments: Mapping[str, Any]) -> _Sent:
        found: dict[str, dict[str, Any]] = {"path": {}, "query": {}, "header": {}, "body": {}}
        for name, value in arguments.items():
            slot = self.arguments.slots[name]
            found[slot.part][slot.name] = value
        path = re.sub(r"{(\w+)}", lambda each: text(found["path"][each[1]]), self.action.path)
        return _Sent(
            path=path,
            match=self._match(path, found["path"]),
            query=self._query(found["query"]),
            headers={name: text(value) for name, value in found["header"].items()},
            body=found["body"],
        )

    def _match(self, path: str, values: Mapping[str, Any]) -> ResolverMatch:
        """The view at a path. A value that leads anywhere else is no such value, whatever it holds."""
        resolver = get_resolver(get_urlconf())
        try:
            match = resolver.resolve(path) if values else _fixed(resolver, get_language(), path)
        except Resolver404:
            match = None
        if match is not None and match.func is self.action.callback and _is_whole(match, values):
            return match
        names = self.arguments.named("path").values()
        message = "is no value that the address of a row can hold"
        told = [Problem(code="invalid", path=(name,), message=message) for name in names]
        raise ToolInputError(
            told or [Problem(code="invalid", path=(), message="has no address")], tool=self.tool
        )

    def _settled(self, who: Caller, sent: _Sent) -> dict[str, Any]:
        """The body with rows named by key, and with nothing in it that the serializer of this
        caller would drop.
        """
        body = sent.body
        if not body or not (
            self.body_serializer.dynamic or names_rows(body, self.arguments.relations)
        ):
            return body
        request = self._request(who, sent, body, run=False)
        try:
            serializer = self.body_serializer.of(
                who.admitted(self.action, sent.match.kwargs, request)
            )
        except REFUSALS:
            return body  # the view says so itself
        if self.body_serializer.dynamic:
            self._must_be_read(serializer, body)
        problems: list[Problem] = []
        start = 1 if self.arguments.whole else 0

        def field_of(relation: Relation) -> Any:
            return field_at(serializer, relation.path[start:])

        made = with_keys(body, self.arguments.relations, field_of, (), problems)
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
            Problem(code="unknown-key", path=(name,), message="is no field that you may send")
            for name in body
            if name not in taken
        ]
        if told:
            path = tuple(self.arguments.named("path").values())
            raise ToolInputError(told, tool=self.tool, declared={(): (*path, *taken)})

    def _query(self, values: Mapping[str, Any]) -> str:
        pairs: list[tuple[str, str]] = []
        for name, value in values.items():
            several = (
                [text(each) for each in cast("list[Any]", value)]
                if isinstance(value, list)
                else [text(value)]
            )
            joined = self.arguments.slots[self.arguments.named("query")[name]].comma_separated
            pairs += [(name, ",".join(several))] if joined else [(name, each) for each in several]
        return urlencode(pairs)

    def _body(self, body: Any) -> tuple[bytes, str]:
        if not self.arguments.named("body"):
            return b"", ""
        if self.arguments.whole and isinstance(body, dict):
            body = next(iter(cast("dict[str, Any]", body).values()), None)
        return body_of(body, self.media_type)


async def _awaited(made: Coroutine[Any, Any, Any]) -> Any:
    return await made


@lru_cache(4096)
def _fixed(resolver: URLResolver, language: str | None, path: str) -> ResolverMatch:
    """Where a path without values leads. The language counts: patterns may begin with it."""
    return resolver.resolve(path)


def _is_whole(match: ResolverMatch, values: Mapping[str, Any]) -> bool:
    """Whether an address was read as it was written: `5.json` is not row 5 in another format."""
    given: Mapping[str, Any] = cast("Any", match).extra_kwargs or {}
    captured = {name: each for name, each in match.kwargs.items() if name not in given}
    if captured.keys() != values.keys():
        return False
    return all(
        not isinstance(each, str) or each == text(values[name]) for name, each in captured.items()
    )
