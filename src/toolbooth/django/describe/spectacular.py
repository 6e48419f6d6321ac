"""drf-spectacular's schema of a view, whichever schema class the project uses, asked only for what
can be sent.

drf-spectacular knows serializers, filters and paginators, and `@extend_schema` is how authors
correct it. It is asked for one action at a time, with a registry of its own: in a shared one, two
serializers of one name become one.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from copy import deepcopy
from functools import lru_cache
from inspect import getattr_static
from typing import Any

from django.db import connections
from drf_spectacular import plumbing as untyped_plumbing
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from rest_framework.schemas import DefaultSchema
from rest_framework.serializers import BaseSerializer
from rest_framework.settings import api_settings
from rest_framework.test import APIRequestFactory
from rest_framework.viewsets import ViewSetMixin

from toolbooth.django.describe import messages
from toolbooth.django.describe.declared_bodies import LEFT_TO_THE_VIEW, DeclaredBody
from toolbooth.django.describe.discovery import Action
from toolbooth.django.describe.extra_context import NO_CONTEXT, ExtraContext
from toolbooth.django.describe.lenient_schema import LenientSchema, bare_of_class
from toolbooth.django.describe.own_settings import own_settings
from toolbooth.django.describe.paging import ANYTHING, Bound, bounds, is_off
from toolbooth.django.describe.readers import (
    has_reader,
    is_same_class,
    own_reader,
    without_action,
)
from toolbooth.django.describe.two_users import anonymous_user
from toolbooth.django.describe.view_models import provide_queryset
from toolbooth.django.describe.view_requests import ACCEPT, negotiate, plausible_kwargs
from toolbooth.jsonvalue import Json

plumbing: Any = untyped_plumbing
UntypedSchema: Any = AutoSchema
_serializer: Any = BaseSerializer

_ANY_OBJECT: Json = {"type": "object"}
"""In the place of a body that drf-spectacular does not need to know."""

_lock = threading.RLock()
_is_describing: ContextVar[bool] = ContextVar("_is_describing", default=False)


@contextmanager
def describing() -> Generator[None]:
    """One thread at a time: drf-spectacular counts its complaints for the whole process. Queries
    fail meanwhile: what tools there are must not depend on the rows.
    """
    if _is_describing.get():
        yield
        return
    with ExitStack() as stack:
        stack.enter_context(_lock)
        stack.enter_context(own_settings())
        stack.enter_context(GENERATOR_STATS.silence())
        for each in connections.all():
            stack.enter_context(_without_queries(each))
        token = _is_describing.set(True)
        try:
            yield
        finally:
            _is_describing.reset(token)


@contextmanager
def _without_queries(connection: Any) -> Generator[None]:
    """Refuse queries, and refuse to connect: what a project does with a new connection needs
    queries, and a connection without it would stay open.
    """
    with connection.execute_wrapper(_refuse_query):
        if connection.connection is not None:
            yield
            return
        connection.connect = _refuse_query
        try:
            yield
        finally:
            del connection.connect


def _refuse_query(*_: Any) -> Any:
    raise RuntimeError(messages.NO_QUERY)


def schema_of(
    action: Action,
    declared: DeclaredBody = LEFT_TO_THE_VIEW,
    context: ExtraContext = NO_CONTEXT,
    user: Any = None,
) -> Any:
    """The schema of an action's view: a `RequestSchema`. Its view has a request of `user`, or of an
    anonymous one. `declared` is its body in the settings, `context` what the project adds to its
    serializers' context.
    """
    generator: Any = SchemaGenerator()
    view = generator.create_view(action.callback, action.method)
    view.kwargs = plausible_kwargs(action.path, action.regex)
    # Building the mock request may already run code of the view that looks at its request.
    view.request = APIRequestFactory().generic(action.method, action.path)
    view.request = plumbing.build_mock_request(action.method, action.path, view, None)
    view.request.META["HTTP_ACCEPT"] = ACCEPT
    request = view.request
    request.user = anonymous_user() if user is None else user
    request.auth = request._authenticator = None  # nobody is asked who this is
    with suppress(Exception):  # a version in the path, or a negotiator, that needs a real request
        negotiate(view, force=True)
    context.add(view, action)
    provide_queryset(view)
    schema = _rearranged(view.schema.__class__, _schema_of_class(view.__class__))()
    schema.view = view
    schema.generator = generator
    schema.declared_body = declared
    schema.path, schema.path_regex, schema.method = action.path, action.regex, action.method
    return schema


# --- what drf-spectacular complains of ---


def complaints() -> dict[str, int]:
    """Everything that drf-spectacular has complained of so far, and how often."""
    stats: Any = GENERATOR_STATS
    return {**stats._warn_cache, **stats._error_cache}


def complaints_since(before: Mapping[str, int]) -> list[str]:
    """What drf-spectacular has complained of since."""
    return [text for text, count in complaints().items() if count > before.get(text, 0)]


# --- the schema class ---


class RequestSchema(UntypedSchema):
    """Asked only for what can be sent."""

    paging: Mapping[str, Bound] = {}
    """The paginator's parameters."""
    declared_body: DeclaredBody = LEFT_TO_THE_VIEW
    """The body in the settings."""
    declared_request: Any = None
    """What reads the body of a DELETE, as its author declares it."""
    generator: Any = None
    """Kept because the view refers to its own schema only weakly, and the generator holds it."""

    def _next_class(self) -> Any:
        """`super()`, which has no types here."""
        return super()

    def _get_response_bodies(self, direction: Any = "response") -> Json:
        return {}

    def _get_format_parameters(self) -> list[Json]:
        return []  # the answer's format is JSON, whatever the view could render

    def _resolve_path_parameters(self, variables: list[str]) -> list[Json]:
        found: list[Json] = []
        for name in variables:
            found += self._converted(name) or self._next_class()._resolve_path_parameters([name])
        return found

    def _converted(self, name: str) -> list[Json]:
        """What `<int:pk>` says. drf-spectacular would look for it under the name that its documents
        give to `pk`.
        """
        regex = self.path_regex.replace(f":{name}>", ":found>")
        found = plumbing.resolve_django_path_parameter(regex, "found", [])
        # Every part of a URL is text, so that type says nothing.
        if not found or found["schema"] == {"type": "string"}:
            return []
        return [{**found, "name": name}]

    def _get_pagination_parameters(self) -> list[Json]:
        paginator = self._get_paginator()
        is_create = getattr(self.view, "action", None) == "create"  # of many rows, perhaps
        if is_create or is_off(paginator):
            return []
        found: list[Json] = self._next_class()._get_pagination_parameters()
        self.paging = {each["name"]: ANYTHING for each in found}
        if found:
            self.paging |= bounds(paginator)
        return found

    def get_auth(self) -> list[Json]:
        return []

    # What overrides a private method of drf-spectacular may take fewer arguments than it does now.
    def _get_request_body(self, *given: Any) -> Any:
        if self.method != "DELETE":
            return self._next_class()._get_request_body(*given)
        self.declared_request = self.get_request_serializer()
        if self.declared_request is None:
            return None
        self.method = "POST"  # drf-spectacular knows of no body for a DELETE
        try:
            return self._next_class()._get_request_body(*given)
        finally:
            self.method = "DELETE"

    def get_request_serializer(self) -> Any:
        # `@extend_schema(methods=["DELETE"])` does not apply while the method is called POST.
        if self.declared_request is not None:
            return self.declared_request
        if self.declared_body.plain is not None:
            return dict.fromkeys(self.map_parsers(), _ANY_OBJECT)
        if self.declared_body.is_set:
            return self._in_context(self.declared_body.serializer)
        return self._in_context(self._next_class().get_request_serializer())

    def _in_context(self, found: Any) -> Any:
        """A serializer that is declared, as its class or without a context, made as the view would
        make it: its fields may depend on the request.
        """
        is_class = isinstance(found, type) and issubclass(found, _serializer)
        is_made = isinstance(found, _serializer)
        if not is_class and (not is_made or getattr(found, "_context", None)):
            return found
        context = plumbing.build_serializer_context(self.view)
        try:
            made: Any = found(context=context) if is_class else deepcopy(found)
        except Exception:  # it needs more than describing has
            return bare_of_class(found) if is_class else found
        made._context = context
        return made

    def _get_serializer_name(self, serializer: Any, *given: Any, **named: Any) -> str:
        """Two serializers of one name, one perhaps within the other, are two."""
        name = self._next_class()._get_serializer_name(serializer, *given, **named)
        classes: dict[Any, str] = self.__dict__.setdefault("classes", {})
        return name + classes.setdefault(serializer.__class__, str(len(classes) or ""))


class UndeclaredRequest(UntypedSchema):
    """Comes after what authors declare: what is asked of this, they left open."""

    leaves_body_open: bool = False
    """The author declares neither a body nor that there is none."""
    offers_view_serializer: bool = False
    """Whether to answer with the view's serializer for any action, to see what is made of it."""

    def get_request_serializer(self) -> Any:
        """The view's own serializer, for handlers that are known to use it."""
        if self.offers_view_serializer:
            with without_action(self.view):
                return UntypedSchema.get_request_serializer(self)
        is_read = self.method not in ("DELETE", "OPTIONS")
        if is_read and self.declared_body.is_inherited:
            return UntypedSchema.get_request_serializer(self)
        may_have_reader = is_read and has_reader(self.view, self.method)
        reader = own_reader(self.view, self.method) if may_have_reader else None
        if reader is None:
            self.leaves_body_open = True
            return None
        found = UntypedSchema.get_request_serializer(self)
        is_found = reader.declared is None or is_same_class(reader.declared, found)
        return found if is_found else reader.declared


class WholeViewRequest(UntypedSchema):
    """Comes between what authors declare for one handler and what they declare for a whole view.

    `@extend_schema(request=...)` on a view is about the methods that have a body in any API. It is
    no declaration for its DELETE, unless it names that method or the view has no other. It is no
    declaration for an action beside the standard ones either, as the view's serializer is none.
    """

    def _declared_for_view(self) -> Any:
        declared: Any = super()
        return declared.get_request_serializer()

    def get_request_serializer(self) -> Any:
        if self.method == "DELETE":
            is_open = _takes_other_bodies(self.view) and self._is_declared_for_all_methods()
        elif self.declared_body.is_inherited or own_reader(self.view, self.method) is not None:
            is_open = False
        elif isinstance(self.view, ViewSetMixin) and self._is_extended():
            return self._declared_for_action()
        else:
            is_open = False
        if not is_open:
            return self._declared_for_view()
        self.leaves_body_open = True
        return None

    def _is_extended(self) -> bool:
        """Whether a class of the project says anything about bodies."""
        declared: Any = super()
        below = declared.get_request_serializer.__func__
        return below is not UndeclaredRequest.get_request_serializer

    def _is_declared_for_all_methods(self) -> bool:
        self.method = "OPTIONS"  # a method that nobody declares a body for
        try:
            self._declared_for_view()
            return not self.leaves_body_open
        finally:
            self.method, self.leaves_body_open = "DELETE", False

    def _declared_for_action(self) -> Any:
        """What the view's schema class says of this action; None if it says the same of an action
        that does not exist.
        """
        self.offers_view_serializer = True
        try:
            own = self._declared_for_view()
            with without_action(self.view):
                is_same = is_same_class(own, self._declared_for_view())
        finally:
            self.offers_view_serializer = False
        self.leaves_body_open = is_same
        return None if is_same else own


def _takes_other_bodies(view: Any) -> bool:
    """Whether a view has methods other than DELETE that take a body."""
    is_view_set = isinstance(view, ViewSetMixin)
    return is_view_set or any(hasattr(view, name) for name in ("post", "put", "patch"))


class _Rearranged(type):
    """A class that is `@extend_schema`'s first and drf-spectacular's next, whatever else it was
    derived from.

    `@extend_schema` derives from the class in DEFAULT_SCHEMA_CLASS, which need not be
    drf-spectacular's.
    """

    of_view: type
    """The schema class of the view, without what is declared for one handler."""

    def mro(cls) -> list[type]:
        extensions = [each for each in super().mro()[1:] if _is_extension(each)]
        # What is declared for one handler comes before the first class that the view has, too.
        first = 0
        while first < len(extensions) and not issubclass(vars(cls)["of_view"], extensions[first]):
            first += 1
        return [
            cls,
            RequestSchema,
            *extensions[:first],
            WholeViewRequest,
            *extensions[first:],
            UndeclaredRequest,
            LenientSchema,
            *AutoSchema.__mro__,
        ]


def _is_extension(cls: type) -> bool:
    """Whether a class extends drf-spectacular's schema, and is not part of it."""
    is_spectaculars = issubclass(cls, AutoSchema) or cls.__module__ == "drf_spectacular.utils"
    return is_spectaculars and cls not in AutoSchema.__mro__


def _schema_of_class(view: type) -> type:
    found: Any = getattr_static(view, "schema")
    if isinstance(found, DefaultSchema):
        found = api_settings.DEFAULT_SCHEMA_CLASS
    return found if isinstance(found, type) else found.__class__


@lru_cache(4096)
def _rearranged(schema: type, of_view: type) -> Any:
    return _Rearranged("Rearranged", (schema,), {"of_view": of_view})
