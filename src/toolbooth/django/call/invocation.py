"""Runs one call of one action: its view runs as REST would run it, for the real caller."""

from __future__ import annotations

import inspect
import logging
import re
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar
from urllib.parse import urlencode

from asgiref.sync import async_to_sync
from django.core.handlers.base import BaseHandler
from django.db.models import ProtectedError, RestrictedError
from django.http import HttpRequest
from django.urls import Resolver404, ResolverMatch, get_resolver, get_urlconf
from django.utils.translation import get_language

from toolbooth.django import messages
from toolbooth.django.call.asked_serializer import asked_serializer, kind_of_row
from toolbooth.django.call.blocked_deletes import refusal_of
from toolbooth.django.call.bodies import JSON, body_of, text
from toolbooth.django.call.caller import REFUSALS, Caller
from toolbooth.django.call.caller_fields import unread
from toolbooth.django.call.failed_validation import failed_validation
from toolbooth.django.call.handled_errors import handled_response
from toolbooth.django.call.inner_middleware import InnerCall, chain_of, is_inside
from toolbooth.django.call.inner_request import inner_request, is_basic
from toolbooth.django.call.next_steps import with_existing_rows
from toolbooth.django.call.path_values import fixed, path_values
from toolbooth.django.call.refused_fields import kind_not_known, not_read, of_another_kind
from toolbooth.django.call.replies import value_of
from toolbooth.django.call.running_serializer import READING, UNREAD, FieldsNotRead, Reading
from toolbooth.django.describe.arguments import Arguments
from toolbooth.django.describe.described_requests import plausible_kwargs
from toolbooth.django.describe.discovery import Action
from toolbooth.django.describe.kinds import Kinds
from toolbooth.django.describe.operations import BodySerializer
from toolbooth.django.describe.relations import Relation, field_at, names_rows, with_keys
from toolbooth.django.resolve import resolve
from toolbooth.errors import Problem, ToolError, ToolInputError
from toolbooth.jsonvalue import is_array, is_object

logger = logging.getLogger("toolbooth.django")

Value = TypeVar("Value")

_handler = BaseHandler()

Moved = Mapping[str, list[str]]
"""The query parameters that are different for another page of a list. An empty list removes a
parameter from the query.
"""
NOT_MOVED: Moved = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class _RequestParts:
    """The arguments of one call, sorted by the part of the request to which they belong."""

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
    middleware: tuple[str, ...] = ()
    """The host's middleware that runs around each call."""
    body_names: tuple[str, ...] = field(init=False)
    """The arguments that are fields of the body."""
    lookup_field: str = field(init=False)
    """The field by which the view finds a row."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "body_names", tuple(self.arguments.named("body").values()))
        lookup_field = getattr(self.action.view, "lookup_field", "pk")
        object.__setattr__(self, "lookup_field", lookup_field)

    def result(self, who: Caller, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Run the action and return its result. Raises the refusal that is sent to the agent."""
        return self.value(self.respond(who, arguments))

    def value(self, response: Any) -> dict[str, Any]:
        """Return the result in a response. Raises the refusal that is sent to the agent."""
        return value_of(response, self.tool, self.arguments, self.action)

    def within(self, who: Caller, arguments: Mapping[str, Any], work: Callable[[], Value]) -> Value:
        """Run `work` inside the host's middleware. `work` is a call with these arguments, or a part
        of the call. Raises the refusal if the middleware responds itself.
        """
        chain = chain_of(self.middleware)
        if chain is None or is_inside(who.request):
            return work()
        parts = self._parts(arguments)
        request = self._request(who, parts, parts.body, run=False)
        outer = who.request

        def run() -> Value:
            who.request = request
            try:
                return work()
            finally:
                who.request = outer

        call = InnerCall(work=run, match=parts.match)
        response = chain.run(request, call)
        if response is not call.response:
            return self._answered_by_middleware(response, call)
        if call.error is not None:
            raise call.error
        return call.value

    def _answered_by_middleware(self, response: Any, call: InnerCall) -> Any:
        """Return the result of a call whose response the middleware has replaced. Raises the
        refusal for the agent if the new response is an error, or if the call has no result.
        """
        if response.status_code >= 400:
            self.value(response)
        if call.response is not None and call.error is None:
            return call.value
        raise ToolError(self.tool, messages.middleware_answered(response.status_code))

    def view(self, who: Caller, arguments: Mapping[str, Any]) -> Any:
        """Return the action's view before it runs. Raises one of REFUSALS for a refused caller."""
        parts = self._parts(arguments)
        request = self._request(who, parts, None, run=False)
        return who.admitted_view(self.action, parts.match.kwargs, request)

    def reading_view(self, who: Caller, arguments: Mapping[str, Any], asked: Any) -> Any:
        """Return the view that reads the row at a call's URL. `asked` has let the caller in."""
        request = self._request(who, self._parts(arguments), None, run=False, method="GET")
        return who.reading_view(self.action, asked, request)

    def recognise(self, who: Caller, arguments: Mapping[str, Any]) -> None:
        """Hash the password once, before many calls with these arguments and different bodies."""
        if is_basic(who.request):
            parts = self._parts(arguments)
            request = self._request(who, parts, None, run=False)
            who.recognise(self.action, parts.match.kwargs, request)

    def objection(self, who: Caller, sent: Any) -> Any:
        """Return the response of a view that refuses the caller. Return None if the view lets the
        caller in, or if only the call can decide. If a value of the path is missing, no values are
        used.
        """
        values = path_values(list(self.arguments.named("path").values()), sent)
        try:
            parts = self._parts(values)
        except (KeyError, ToolInputError):
            return who.objection(self.action)
        request = self._request(who, parts, None, run=False)
        return who.objection(self.action, parts.match.kwargs, request)

    def body_for_view(self, who: Caller, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the body of a call, as it is sent to the view. Raises ToolInputError."""
        return self._body_for_view(who, self._parts(arguments))

    def keyed_body(self, who: Caller, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the body with each object that names a row replaced by the row's key. Return None
        if no object names a row. Raises ToolInputError.
        """
        relations = self.arguments.relations
        if not relations or not names_rows(arguments, relations):
            return None
        return self.body_for_view(who, arguments)

    def respond(
        self,
        who: Caller,
        arguments: Mapping[str, Any],
        body: dict[str, Any] | list[dict[str, Any]] | None = None,
        moved: Moved = NOT_MOVED,
    ) -> Any:
        """Run the view, and return its response. `body` is the result of `body_for_view`, or a list
        of such results for many rows. Raises ToolInputError.
        """
        parts = self._parts(arguments, moved)
        if body is None:
            body = self._body_for_view(who, parts)
        if who.login is not None and not self._may_run(who, parts):
            raise ToolError(self.tool, messages.SEND_CREDENTIALS)
        reading = Reading(self._as_sent(body), self.body_serializer) if body else None
        request = self._request(who, parts, body, run=True)
        if who.loans:
            who.starts(self.action, parts.match.kwargs, request)
        # Django runs views in the same way: with ATOMIC_REQUESTS, the writes of a view that fails
        # are rolled back.
        view = _handler.make_view_atomic(parts.match.func)
        run = partial(view, request, *parts.match.args, **parts.match.kwargs)
        chain = chain_of(self.middleware)
        token = READING.set(reading)
        try:
            if chain is not None:
                response = chain.respond(request, lambda: _finished(run()))
            else:
                response = _finished(run())
        except FieldsNotRead as found:
            raise not_read(self.tool, self.arguments, found.serializer, found.paths) from None
        except (ProtectedError, RestrictedError) as error:
            who.has_failed = True
            refusal = refusal_of(error, who, self.tool, self.action, parts.match.kwargs)
            raise refusal from error
        except Exception as error:
            refused = failed_validation(error, self.tool) or handled_response(error)
            if refused is None:
                who.has_failed = True
                raise
            return refused
        finally:
            READING.reset(token)
        if UNREAD.get() is not None and reading is not None:
            reading.tell_unread()
        who.last_run = (self.action, response, body)
        return response

    def _may_run(self, who: Caller, parts: _RequestParts) -> bool:
        request = self._request(who, parts, None, run=False)
        return who.may_run(self.action, parts.match.kwargs, request)

    def _request(
        self, who: Caller, parts: _RequestParts, body: Any, *, run: bool, method: str = ""
    ) -> HttpRequest:
        """Return the REST request for these arguments. `method` replaces the action's method."""
        content, kind = self._body(body)
        method = method or self.action.method
        request = inner_request(
            who.request, method, parts.path, parts.query, content, kind, parts.headers, run=run
        )
        request.resolver_match = parts.match
        return request

    def query(self, arguments: Mapping[str, Any], moved: Moved) -> str:
        """Return the query of a call, with the changes in `moved`."""
        return self._parts(arguments, moved).query

    def _parts(self, arguments: Mapping[str, Any], moved: Moved = NOT_MOVED) -> _RequestParts:
        found: dict[str, dict[str, Any]] = {"path": {}, "query": {}, "header": {}, "body": {}}
        for name, value in arguments.items():
            slot = self.arguments.slots[name]
            found[slot.part][slot.name] = value
            if slot.in_body:
                found["body"][name] = value
        values = found["path"]
        path = self._path(values)
        match = self._match(path, values)
        if match is None:
            raise self._not_an_address(values)
        return _RequestParts(
            path=path,
            match=match,
            query=self._query(found["query"], moved),
            headers={name: text(value) for name, value in found["header"].items()},
            body=found["body"],
        )

    def _path(self, values: Mapping[str, Any]) -> str:
        return re.sub(r"{(\w+)}", lambda each: text(values[each[1]]), self.action.path)

    def _match(self, path: str, values: Mapping[str, Any]) -> ResolverMatch | None:
        """Return the action's view at a path. Return None if the path has another view or no
        view.
        """
        resolver = get_resolver(get_urlconf())
        try:
            match = resolve(resolver, path) if values else fixed(resolver, get_language(), path)
        except Resolver404:
            return None
        is_own = match.func is self.action.callback and _is_whole(match, values)
        return match if is_own else None

    def _not_an_address(self, values: Mapping[str, Any]) -> ToolInputError:
        """Return the refusal of path values. It names only values that are wrong by themselves."""
        names = self.arguments.named("path")
        plausible = plausible_kwargs(self.action)
        blamed: list[str] = []
        for name in names:
            tried = {**plausible, name: values[name]}
            if self._match(self._path(tried), tried) is None:
                blamed.append(name)
        problems = [
            Problem(code="invalid", path=(names[each],), message=messages.NOT_IN_AN_ADDRESS)
            for each in blamed or names
        ]
        if not problems:
            problems = [Problem(code="invalid", path=(), message="has no address")]
        return ToolInputError(problems, tool=self.tool)

    def _body_for_view(self, who: Caller, parts: _RequestParts) -> dict[str, Any]:
        """Return the body with each object that names a row replaced by the row's key. Raises
        ToolInputError for fields that the serializer of this caller would ignore.
        """
        body = parts.body
        if self.arguments.kinds is not None:
            self._must_be_of_its_kind(who, parts, self.arguments.kinds)
        relations = self.arguments.relations
        has_rows = bool(relations) and names_rows(body, relations)
        if not body or not (self.body_serializer.dynamic or has_rows):
            return body
        request = self._request(who, parts, body, run=False)
        try:
            view = who.admitted_view(self.action, parts.match.kwargs, request)
            serializer = asked_serializer(view, self.body_serializer.of)
        except REFUSALS:
            return body  # the view refuses the call itself
        if serializer is None:
            return body  # only the view can read it
        if self.body_serializer.dynamic:
            self._must_be_read(serializer, body)
        problems: list[Problem] = []

        def field_of(relation: Relation) -> Any:
            return field_at(serializer, self.arguments.path_in_body(relation.path))

        keyed_body = with_keys(body, self.arguments.relations, field_of, (), problems)
        if problems:
            made = partial(asked_serializer, view, self.body_serializer.of)
            told = [with_existing_rows(each, self.arguments, who, made) for each in problems]
            raise ToolInputError(told, tool=self.tool)
        return keyed_body

    def _must_be_of_its_kind(self, who: Caller, parts: _RequestParts, kinds: Kinds) -> None:
        """Raise ToolInputError for fields that the row's kind does not have."""
        body = parts.body
        kind = body.get(kinds.field)
        unsure = [] if kind is not None else kinds.in_some_only(body)
        if unsure and self.action.method in ("PUT", "PATCH"):
            request = self._request(who, parts, body, run=False)
            try:
                view = who.admitted_view(self.action, parts.match.kwargs, request)
                kind = kind_of_row(view, self.body_serializer.of, kinds)
            except REFUSALS:
                return  # the view refuses the call itself
            if kind is None:
                raise kind_not_known(self.tool, kinds, unsure)
        names = kinds.unread(body, kind)
        if names:
            raise of_another_kind(self.tool, self.arguments, kinds, str(kind), names)

    def _must_be_read(self, serializer: Any, body: Mapping[str, Any]) -> None:
        """Raise ToolInputError for fields that this caller's serializer does not have. The
        published schema may have more fields than that serializer.
        """
        paths = list(unread(serializer, self._as_sent(body)))
        if paths:
            raise not_read(self.tool, self.arguments, serializer, paths)

    def _query(self, values: Mapping[str, Any], moved: Moved) -> str:
        pairs: list[tuple[str, str]] = []
        for name, value in values.items():
            items = value if is_array(value) else [value]
            texts = [text(each) for each in items]
            if self.arguments.slots[self.arguments.named("query")[name]].comma_separated:
                texts = [",".join(texts)]
            pairs += [(name, each) for each in moved.get(name, texts)]
        for name, each in moved.items():
            if name not in values:
                pairs += [(name, value) for value in each]
        return urlencode(pairs)

    def _body(self, body: Any) -> tuple[bytes, str]:
        return body_of(self._as_sent(body), self.media_type) if self.body_names else (b"", "")

    def _as_sent(self, body: Any) -> Any:
        """Return the body, or the value of the only argument if one argument is the whole body."""
        if self.arguments.whole and is_object(body):
            return next(iter(body.values()), None)
        return body


def _finished(response: Any) -> Any:
    """Return the response of a view. If the view is async, wait for the response."""
    return async_to_sync(_awaited)(response) if inspect.iscoroutine(response) else response


async def _awaited(response: Coroutine[Any, Any, Any]) -> Any:
    return await response


def _is_whole(match: ResolverMatch, values: Mapping[str, Any]) -> bool:
    """Return True if the URL has the values unchanged. `5.json` must not be row 5 in JSON."""
    found: Any = match  # Django's types do not know `extra_kwargs`
    given: Mapping[str, Any] = found.extra_kwargs or {}
    captured = {name: each for name, each in match.kwargs.items() if name not in given}
    if captured.keys() != values.keys():
        return False
    return all(
        not isinstance(each, str) or each == text(values[name]) for name, each in captured.items()
    )
