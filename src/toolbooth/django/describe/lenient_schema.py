"""Describes views whose code needs a real request. If a part of a view cannot be described, the
tool is published without this part.

A serializer that needs a real request or a query is described from the declared fields and the Meta
of its class. If drf-spectacular cannot describe a field, the tool accepts any value for the field,
and the serializer checks the value in the call.
"""

from __future__ import annotations

from copy import deepcopy
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
"""The attributes that choose the fields of a serializer. A serializer from `bare` has REST
framework's own.
"""

_ANNOTATION = "_spectacular_annotation"
"""The attribute in which drf-spectacular keeps the declarations of authors."""

_ORIGINAL = "toolbooth_original"
"""The attribute of a class made by `bare` that holds the project's own class."""


class LenientSchema(UntypedSchema):
    """Tolerates errors in the project's code. In the method resolution order, this class is the
    last one before drf-spectacular's own class.
    """

    def _get_serializer(self) -> Any:
        found = UntypedSchema._get_serializer(self)
        if found is not None:
            return found
        return from_class_of_view(self.view)

    def _is_list_view(self, serializer: Any = None) -> bool:
        """Return True if a view answers with a list. This also works if its serializer is
        unknown.
        """
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
        # One backend at a time, so that an error in one does not hide the filters of the others.
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
            # A bare serializer has no code of the project to leave out, so another attempt would
            # fail too.
            if is_bare(serializer):
                raise
            warn(messages.described_from_class(serializer.__class__.__name__, error))
            return UntypedSchema._map_basic_serializer(self, bare(serializer), direction)

    def _map_serializer_field(self, field: Any, direction: Any, bypass: bool = False) -> Any:
        if direction == "request" and _is_only_shown(field):
            return {"readOnly": True}
        _copy_documentation(field)
        try:
            found = UntypedSchema._map_serializer_field(self, field, direction, bypass)
        except Exception as error:
            return _any_value(field, error)
        if isinstance(field, serializers.ChoiceField) and not field.choices and found:
            _drop_type(found)
        return found

    def _map_response_type_hint(self, method: Any) -> Any:
        # It may be the author's own dictionary, from `@extend_schema_field`, and drf-spectacular
        # writes into it later.
        return deepcopy(UntypedSchema._map_response_type_hint(self, method))

    def _insert_field_validators(self, field: Any, schema: Json) -> None:
        try:
            UntypedSchema._insert_field_validators(self, field, schema)
        except Exception as error:
            _any_value(field, error)


def _is_only_shown(field: Any) -> bool:
    """Return True for a read-only field of a serializer. drf-spectacular describes such a field
    with all that is nested in it, and then removes it from the body.
    """
    return field.read_only and isinstance(field.parent, serializers.Serializer)


def _copy_documentation(field: Any) -> None:
    """Give a field its own copy of the declarations that an author has made for it, because
    drf-spectacular 0.27 changes them.
    """
    declared: Any = getattr(field, _ANNOTATION, None)
    if is_mapping(declared) and is_mapping(declared.get("field")):
        setattr(field, _ANNOTATION, {**declared, "field": deepcopy(declared["field"])})


def _drop_type(schema: Json) -> None:
    """Remove the type of a choice field without choices. A real request may fill in the choices, so
    the type that drf-spectacular 0.27 writes may be wrong.
    """
    schema.get("items", schema).pop("type", None)


def _any_value(field: Any, error: Exception) -> Json | None:
    warn(messages.described_as_anything(str(field.field_name), error))
    # An empty schema accepts any value. A read-only field cannot be sent, so it is left out.
    return None if field.read_only else {}


def filters_by_name(view: Any) -> list[Json]:
    """Return the filters that the class of a view names. This is used if the filters can only be
    made in a call, for example because their model is read in a scope. The values of the filters
    are unknown.
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
    """Make a serializer for a view that could not make one itself, for example because its context
    needs a query. Return None if the serializer's class is unknown.
    """
    cls = class_of_view(view)
    if cls is None:
        return None
    try:
        return readable(cls(context=plumbing.build_serializer_context(view)))
    except Exception:  # it needs more context
        return _bare_class(cls)()


def class_of_view(view: Any) -> Any:
    """Return the serializer class of a view. Return None if the view has none."""
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
    """Return the serializer if its fields can be read. Otherwise return the result of `bare`."""
    item: Any = getattr(serializer, "child", serializer)
    if not isinstance(item, serializers.Serializer):
        return serializer
    try:
        _: Any = item.fields
    except Exception:  # it needs a real request
        return bare(serializer)
    return serializer


def fields_of(serializer: Any) -> Any:
    """Return the fields of a serializer. If they cannot be read, return the fields of the result of
    `bare`.
    """
    return readable(serializer).fields


def bare(serializer: Any) -> Any:
    """Return a serializer that has all fields that its class declares. It lacks the project's code
    that chooses among these fields.
    """
    child: Any = getattr(serializer, "child", None)
    if child is not None:
        return _bare_class(child.__class__)(many=True)
    return _bare_class(serializer.__class__)()


def bare_of_class(cls: Any) -> Any:
    """Return a serializer of a class, as `bare` makes it. If the class has no fields, return an
    instance of the class itself.
    """
    return _bare_class(cls)() if _is_serializer_class(cls) else cls()


def is_bare(serializer: Any) -> bool:
    """Return True if a serializer was made by `bare`."""
    return hasattr(serializer, _ORIGINAL)


def is_below_bare(field: Any) -> bool:
    """Return True if a field belongs to a serializer from `bare`. The field may be nested in it."""
    while field is not None:
        if is_bare(field):
            return True
        field = field.parent
    return False


def original_class(serializer: Any) -> Any:
    """Return the project's class of a serializer, even if `bare` made the serializer."""
    return getattr(serializer, _ORIGINAL, serializer.__class__)


@lru_cache(4096)
def _bare_class(cls: Any) -> Any:
    models: Any = serializers.ModelSerializer
    stock: Any = models if models in cls.__mro__ else serializers.Serializer
    # drf-spectacular names components after the class, so the name and the module stay.
    names = {"__module__": cls.__module__, "__qualname__": cls.__qualname__, _ORIGINAL: cls}
    methods = {each: getattr_static(stock, each) for each in _CHOOSING if hasattr(stock, each)}
    return type(cls.__name__, (cls,), {**names, **methods})
