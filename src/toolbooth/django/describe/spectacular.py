"""Makes drf-spectacular's schema of a view, but only for its input. This works with any schema
class of the project.

drf-spectacular knows serializers, filters and paginators, and authors correct it with
`@extend_schema`. Each action is described with a separate registry: in a shared registry, two
serializers of the same name would become one.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from functools import lru_cache
from inspect import getattr_static
from typing import Any

from drf_spectacular import plumbing as untyped_plumbing
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from rest_framework.schemas import DefaultSchema
from rest_framework.serializers import BaseSerializer
from rest_framework.settings import api_settings
from rest_framework.viewsets import ViewSetMixin

from toolbooth.django.describe.declared_bodies import LEFT_TO_THE_VIEW, DeclaredBody
from toolbooth.django.describe.described_requests import give_request
from toolbooth.django.describe.describing import anonymous
from toolbooth.django.describe.discovery import Action
from toolbooth.django.describe.extra_context import NO_CONTEXT, ExtraContext
from toolbooth.django.describe.lenient_schema import LenientSchema, bare_of_class
from toolbooth.django.describe.paging import ANYTHING, Bound, bounds, is_off
from toolbooth.django.describe.readers import (
    Reader,
    has_reader,
    is_same_class,
    own_reader,
    without_action,
)
from toolbooth.django.describe.view_models import provide_queryset
from toolbooth.jsonvalue import Json

plumbing: Any = untyped_plumbing
UntypedSchema: Any = AutoSchema
_serializer: Any = BaseSerializer

_ANY_OBJECT: Json = {"type": "object"}
"""Replaces a body that drf-spectacular does not need to know."""


def schema_of(
    action: Action,
    declared: DeclaredBody = LEFT_TO_THE_VIEW,
    context: ExtraContext = NO_CONTEXT,
    user: Any = None,
) -> Any:
    """Return the schema of an action's view: a `RequestSchema`. The view gets a request of `user`,
    or of an anonymous user. `declared` is the body in the settings. `context` adds objects of the
    project to the context of the view's serializers.
    """
    generator: Any = SchemaGenerator()
    view = generator.create_view(action.callback, action.method)
    give_request(view, action, anonymous() if user is None else user)
    context.add(view, action)
    provide_queryset(view)
    schema = _rearranged(view.schema.__class__, _schema_of_class(view.__class__))()
    schema.view = view
    schema.generator = generator
    schema.declared_body = declared
    schema.path, schema.path_regex, schema.method = action.path, action.regex, action.method
    return schema


# --- the complaints of drf-spectacular ---


def complaints() -> dict[str, int]:
    """Return all complaints of drf-spectacular so far, each with its count."""
    stats: Any = GENERATOR_STATS
    return {**stats._warn_cache, **stats._error_cache}


def complaints_since(before: Mapping[str, int]) -> list[str]:
    """Return the complaints of drf-spectacular since `before`."""
    return [text for text, count in complaints().items() if count > before.get(text, 0)]


# --- the schema class ---


class RequestSchema(UntypedSchema):
    """Describes only the input of an action."""

    paging: Mapping[str, Bound] = {}
    """The paginator's parameters."""
    declared_body: DeclaredBody = LEFT_TO_THE_VIEW
    """The body in the settings."""
    declared_request: Any = None
    """The serializer that an author declares for the body of a DELETE."""
    made_request: Any = None
    """The serializer of the body, if it was made before. If there is none, it is looked for each
    time, because the search reports why.
    """
    generator: Any = None
    """Kept, because it holds the view's own schema, to which the view has only a weak reference."""

    def _next_class(self) -> Any:
        """Return `super()` without its type, because type checkers cannot know the next class."""
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
        """Return the parameter of a converter such as `<int:pk>`. drf-spectacular itself would look
        for the converter under the name that its documents use for `pk`.
        """
        regex = self.path_regex.replace(f":{name}>", ":found>")
        found = plumbing.resolve_django_path_parameter(regex, "found", [])
        # Every part of a URL is text, so this type adds nothing.
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

    # A project's override of this private method may have fewer parameters than drf-spectacular's
    # own.
    def _get_request_body(self, *given: Any) -> Any:
        if self.method != "DELETE":
            return self._next_class()._get_request_body(*given)
        self.declared_request = self.get_request_serializer()
        if self.declared_request is None:
            return None
        self.method = "POST"  # drf-spectacular describes no body for a DELETE
        try:
            return self._next_class()._get_request_body(*given)
        finally:
            self.method = "DELETE"

    def get_request_serializer(self) -> Any:
        # `@extend_schema(methods=["DELETE"])` does not apply while the method is called POST.
        if self.declared_request is not None:
            return self.declared_request
        # drf-spectacular and `operation` both ask for it. Making it twice would take most of the
        # time of a description.
        if self.made_request is None:
            self.made_request = self._make_request()
        return self.made_request

    def _make_request(self) -> Any:
        if self.declared_body.plain is not None:
            return dict.fromkeys(self.map_parsers(), _ANY_OBJECT)
        if self.declared_body.is_set:
            return self._in_context(self.declared_body.serializer)
        return self._in_context(self._next_class().get_request_serializer())

    def _in_context(self, found: Any) -> Any:
        """Return a declared serializer as the view would make it, because its fields may depend on
        the request. `found` may be a class, or a serializer without a context.
        """
        is_class = isinstance(found, type) and issubclass(found, _serializer)
        is_made = isinstance(found, _serializer)
        if not is_class and (not is_made or getattr(found, "_context", None)):
            return found
        context = plumbing.build_serializer_context(self.view)
        try:
            made: Any = found(context=context) if is_class else deepcopy(found)
        except Exception:  # it needs more than is known here
            return bare_of_class(found) if is_class else found
        made._context = context
        return made

    def _get_serializer_name(self, serializer: Any, *given: Any, **named: Any) -> str:
        """Return a unique name, because several serializers may have the same class name."""
        name = self._next_class()._get_serializer_name(serializer, *given, **named)
        classes: dict[Any, str] = self.__dict__.setdefault("classes", {})
        return name + classes.setdefault(serializer.__class__, str(len(classes) or ""))


class UndeclaredRequest(UntypedSchema):
    """Finds the body of an action for which the authors declare nothing."""

    leaves_body_open: bool = False
    """Whether the author declares neither a body nor that there is none."""
    offers_view_serializer: bool = False
    """True if the view's serializer is returned for any action. This shows whether the project's
    classes change it.
    """

    def get_request_serializer(self) -> Any:
        """Return the view's own serializer if the handler is known to use it."""
        if self.offers_view_serializer:
            with without_action(self.view):
                return UntypedSchema.get_request_serializer(self)
        is_read = self.method not in ("DELETE", "OPTIONS")
        if is_read and self.declared_body.is_inherited:
            return UntypedSchema.get_request_serializer(self)
        may_have_reader = is_read and has_reader(self.view, self.method)
        reader = _reader_of(self) if may_have_reader else None
        if reader is None:
            self.leaves_body_open = True
            return None
        found = UntypedSchema.get_request_serializer(self)
        is_found = reader.declared is None or is_same_class(reader.declared, found)
        return found if is_found else reader.declared


class WholeViewRequest(UntypedSchema):
    """Decides to which methods `@extend_schema(request=...)` on a whole view applies: to those that
    have a body in any API. It applies to DELETE only if it names that method, or if the view has no
    other method with a body. It does not apply to custom actions, as the view's serializer does
    not.

    In the method resolution order, the declarations for a single handler come before this class,
    and the declarations for the whole view come after it.
    """

    declares_own: bool | None = None
    """Whether the view's schema class declares a body for this action alone; None if that is not
    known yet.
    """

    def _declared_for_view(self) -> Any:
        declared: Any = super()
        return declared.get_request_serializer()

    def get_request_serializer(self) -> Any:
        if self.method == "DELETE":
            is_open = _takes_other_bodies(self.view) and self._is_declared_for_all_methods()
        elif self.declared_body.is_inherited or _reader_of(self) is not None:
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
        """Return True if a class of the project declares anything about bodies."""
        declared: Any = super()
        below = declared.get_request_serializer.__func__
        return below is not UndeclaredRequest.get_request_serializer

    def _is_declared_for_all_methods(self) -> bool:
        self.method = "OPTIONS"  # a method for which no author declares a body
        try:
            self._declared_for_view()
            return not self.leaves_body_open
        finally:
            self.method, self.leaves_body_open = "DELETE", False

    def _declared_for_action(self) -> Any:
        """Return the serializer that the view's schema class declares for this action. Return None
        if it declares the same serializer for an action that does not exist.
        """
        self.offers_view_serializer = True
        try:
            own = self._declared_for_view()
            declares_own = self.declares_own
            if declares_own is None:
                with without_action(self.view):
                    declares_own = not is_same_class(own, self._declared_for_view())
        finally:
            self.offers_view_serializer = False
        self.declares_own = declares_own
        self.leaves_body_open = not declares_own
        return own if declares_own else None


def _reader_of(schema: Any) -> Reader | None:
    """Return the reader of the body for the view's action. To find it, the view makes a serializer
    for each of its actions, so it is looked for once.
    """
    key = (schema.method, getattr(schema.view, "action", None))
    known: dict[Any, Reader | None] = schema.__dict__.setdefault("readers", {})
    if key not in known:
        known[key] = own_reader(schema.view, schema.method)
    return known[key]


def _takes_other_bodies(view: Any) -> bool:
    """Return True if a view has methods other than DELETE that take a body."""
    is_view_set = isinstance(view, ViewSetMixin)
    return is_view_set or any(hasattr(view, name) for name in ("post", "put", "patch"))


class _Rearranged(type):
    """The metaclass of schema classes with a fixed method resolution order. The classes made by
    `@extend_schema` come first, and drf-spectacular's classes come last.

    The order must be fixed here, because `@extend_schema` derives its classes from the class in
    DEFAULT_SCHEMA_CLASS, which may be the project's own.
    """

    of_view: type
    """The schema class of the view, without the declarations for one handler."""

    def mro(cls) -> list[type]:
        extensions = [each for each in super().mro()[1:] if _is_extension(each)]
        # Declarations for one handler also come before the first class of the view.
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
    """Return True if a class extends drf-spectacular's schema class, but is not part of it."""
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
