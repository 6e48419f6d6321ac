"""What cannot be described costs a detail, never the tool.

A serializer that needs a real request, or a query, is described from its class: from the fields
that it declares and its Meta. A field that drf-spectacular cannot describe takes any value; the
serializer decides when it is called.
"""

from __future__ import annotations

from functools import lru_cache
from inspect import getattr_static
from typing import Any

from drf_spectacular import plumbing as untyped_plumbing
from drf_spectacular.drainage import warn as untyped_warn
from drf_spectacular.openapi import AutoSchema
from rest_framework import serializers

from toolbooth.django.describe import messages
from toolbooth.jsonvalue import Json, is_mapping

plumbing: Any = untyped_plumbing
warn: Any = untyped_warn
UntypedSchema: Any = AutoSchema

_SCALAR: Json = {"type": ["string", "number", "boolean"]}

_CHOOSING = ("__init__", "fields", "get_fields", "get_field_names", "get_extra_kwargs")
"""What decides which fields a serializer has: a bare one has REST framework's own."""

_ORIGINAL = "toolbooth_original"
"""The attribute of a class made by `bare`: the project's own."""


class LenientSchema(UntypedSchema):
    """Comes last before drf-spectacular's own class."""

    def _get_serializer(self) -> Any:
        found = UntypedSchema._get_serializer(self)
        if found is not None:
            return found
        return from_class_of_view(self.view)

    def _is_list_view(self, serializer: Any = None) -> bool:
        """A list of which no serializer is known is a list too."""
        if UntypedSchema._is_list_view(self, serializer):
            return True
        is_list = getattr(self.view, "action", None) == "list" and self.method == "GET"
        return is_list and serializer is None and self.get_response_serializers() is None

    def _get_filter_parameters(self) -> list[Json]:
        found: list[Json] = []
        for backend in self.get_filter_backends():
            try:
                found += self._parameters_of(backend)
            except Exception as error:
                warn(messages.filters_by_name(backend.__name__, error))
                found += filters_by_name(self.view)
        return found

    def _parameters_of(self, backend: Any) -> list[Json]:
        self.get_filter_backends = lambda: [backend]
        try:
            return UntypedSchema._get_filter_parameters(self)
        finally:
            del self.get_filter_backends

    def _map_basic_serializer(self, serializer: Any, direction: Any) -> Any:
        serializer = plumbing.force_instance(serializer)
        try:
            return UntypedSchema._map_basic_serializer(self, serializer, direction)
        except Exception as error:
            if is_bare(serializer):
                raise
            warn(messages.described_from_class(serializer.__class__.__name__, error))
            return UntypedSchema._map_basic_serializer(self, bare(serializer), direction)

    def _map_serializer_field(self, field: Any, direction: Any, bypass: bool = False) -> Any:
        try:
            return UntypedSchema._map_serializer_field(self, field, direction, bypass)
        except Exception as error:
            return _any_value(field, error)

    def _insert_field_validators(self, field: Any, schema: Json) -> None:
        try:
            UntypedSchema._insert_field_validators(self, field, schema)
        except Exception as error:
            _any_value(field, error)


def _any_value(field: Any, error: Exception) -> Json | None:
    warn(messages.described_as_anything(str(field.field_name), error))
    return None if field.read_only else {}


def filters_by_name(view: Any) -> list[Json]:
    """The filters of a view that only a call can make, as far as its class names them: such as
    those of a model that is read in a scope. Which values they take is left to them.
    """
    declared: Any = getattr(view, "filterset_class", None)
    fields: Any = getattr(view, "filterset_fields", None) or ()
    if declared is not None:
        names = [*getattr(declared, "base_filters", ())]
    elif is_mapping(fields):
        names = [_filter_name(name, each) for name, lookups in fields.items() for each in lookups]
    else:
        names = [] if isinstance(fields, str) else [*fields]
    return [{"in": "query", "name": name, "schema": dict(_SCALAR)} for name in names]


def _filter_name(field: str, lookup: str) -> str:
    return field if lookup == "exact" else f"{field}__{lookup}"


def from_class_of_view(view: Any) -> Any:
    """A serializer of a view that could not make one itself, for example because its context needs
    a query; None if its class is not known.
    """
    cls = class_of_view(view)
    if cls is None:
        return None
    try:
        return readable(cls(context=plumbing.build_serializer_context(view)))
    except Exception:  # it needs more context
        return _bare_class(cls)()


def class_of_view(view: Any) -> Any:
    """The serializer class of a view; None if it has none."""
    found: Any
    try:
        found = view.get_serializer_class()
    except Exception:  # it looks at the caller
        found = getattr(view, "serializer_class", None)
    return found if _is_serializer_class(found) else None


def _is_serializer_class(found: Any) -> bool:
    return isinstance(found, type) and issubclass(found, serializers.Serializer)


# --- serializers without the project's code ---


def readable(serializer: Any) -> Any:
    """The serializer itself if its fields can be read, else a bare one."""
    item: Any = getattr(serializer, "child", serializer)
    if not isinstance(item, serializers.Serializer):
        return serializer
    try:
        _: Any = item.fields
    except Exception:  # it needs a real request
        return bare(serializer)
    return serializer


def fields_of(serializer: Any) -> Any:
    """The fields of a serializer; those of a bare one if they cannot be read."""
    return readable(serializer).fields


def bare(serializer: Any) -> Any:
    """A serializer with the fields that its class declares, without the project's code that
    chooses them.
    """
    child: Any = getattr(serializer, "child", None)
    if child is not None:
        return _bare_class(child.__class__)(many=True)
    return _bare_class(serializer.__class__)()


def bare_of_class(cls: Any) -> Any:
    """A bare serializer of a class; one that has no fields at all is made as it is."""
    return _bare_class(cls)() if _is_serializer_class(cls) else cls()


def is_bare(serializer: Any) -> bool:
    """Whether a serializer is from `bare`."""
    return hasattr(serializer, _ORIGINAL)


def is_below_bare(field: Any) -> bool:
    """Whether a field is of a serializer from `bare`, or of one within it."""
    while field is not None:
        if is_bare(field):
            return True
        field = field.parent
    return False


def original_class(serializer: Any) -> Any:
    """The project's own class of a serializer."""
    return getattr(serializer, _ORIGINAL, serializer.__class__)


@lru_cache(4096)
def _bare_class(cls: Any) -> Any:
    models: Any = serializers.ModelSerializer
    stock: Any = models if models in cls.__mro__ else serializers.Serializer
    names = {"__module__": cls.__module__, "__qualname__": cls.__qualname__, _ORIGINAL: cls}
    methods = {each: getattr_static(stock, each) for each in _CHOOSING if hasattr(stock, each)}
    return type(cls.__name__, (cls,), {**names, **methods})
