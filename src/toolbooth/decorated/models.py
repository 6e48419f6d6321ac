"""Finds the model class that is marked with `Unpack`, and its fields as the author wrote them."""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AliasChoices
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined
from typing_extensions import is_typeddict

from toolbooth.compile.host_params import annotation_parts, is_unpack
from toolbooth.markers import Unpack

_UNIONS = (typing.Union, types.UnionType)
_NAMED_TYPES = ("__value__", "__supertype__", "__bound__")
"""The attributes that hold the actual type of a type alias, a NewType and a TypeVar."""


@dataclass(frozen=True, kw_only=True, eq=False)
class UnpackedModel:
    """The model of one unpacked parameter or field."""

    kind: Any
    """The class of the model. A TypedDict has no instances; its values are dicts."""
    prefix: str
    takes_none: bool
    default: Any
    """The default of the whole model; None if it has no default."""

    @property
    def name(self) -> str:
        """The name of the class, for messages."""
        return self.kind.__name__

    def is_given_by(self, value: Any) -> bool:
        """Return True if a value is an instance of the model. Also return True for None if the
        parameter may be None.
        """
        if value is None:
            return self.takes_none
        return not is_typeddict(self.kind) and isinstance(value, self.kind)

    @functools.cached_property
    def fields(self) -> Mapping[str, FieldInfo]:
        """Return the fields by Python name. Each has its annotation, default and aliases. Empty if
        the fields are not known.
        """
        found: Mapping[str, FieldInfo] | None = getattr(self.kind, "__pydantic_fields__", None)
        return _fields_by_hints(self.kind) if found is None else found


def unpacked_model(hint: Any, info: FieldInfo) -> UnpackedModel:
    """Return the model that an annotation marks with `Unpack`. `info` has the default of the
    parameter or field.
    """
    kind, takes_none = _class_in(hint)
    default = None if info.default is PydanticUndefined else info.default
    return UnpackedModel(
        kind=kind,
        prefix=_marker_in(hint).prefix,
        # Some authors write an optional model as `order: Order = None`, without `| None` in the
        # type.
        takes_none=takes_none or info.default is None,
        default=default,
    )


def is_marked(hint: Any) -> bool:
    """Return True if an annotation contains the marker `Unpack`, at any depth."""
    return any(map(is_unpack, annotation_parts(hint)))


def keys_of(name: str, info: FieldInfo) -> list[str]:
    """Return the keys that a field or parameter accepts, the published one first."""
    alias = info.validation_alias
    choices = alias.choices if isinstance(alias, AliasChoices) else [alias]
    return [*(each for each in choices if isinstance(each, str)), name]


def _marker_in(hint: Any) -> Unpack:
    found = next(filter(is_unpack, annotation_parts(hint)))
    return found if isinstance(found, Unpack) else Unpack()


def _class_in(hint: Any) -> tuple[Any, bool]:
    """Return the class in an annotation, without `Annotated`, `| None` and type aliases. Also
    return whether None is allowed.
    """
    takes_none = False
    while True:
        names = [each for each in _NAMED_TYPES if hasattr(hint, each)]
        origin = typing.get_origin(hint)
        if names:
            hint = getattr(hint, names[0])
        elif origin is Annotated or origin in _UNIONS:
            parts = typing.get_args(hint)
            takes_none = takes_none or type(None) in parts
            hint = next(each for each in parts if each is not type(None))
        else:
            # `Page[int]` of a generic class: its fields are those of the class `Page`.
            return origin or hint, takes_none


def _fields_by_hints(kind: Any) -> Mapping[str, FieldInfo]:
    """Return the fields of a TypedDict or a standard dataclass."""
    if not dataclasses.is_dataclass(kind):
        hints = _hints_of(kind, getattr(kind, "__annotations__", {}))
        return {name: FieldInfo.from_annotation(hint) for name, hint in hints.items()}
    fields = dataclasses.fields(kind)
    hints = _hints_of(kind, {each.name: each.type for each in fields})
    return {each.name: _dataclass_field(hints[each.name], each) for each in fields}


def _hints_of(kind: Any, written: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the annotations of a class. If one of them names a class that does not exist yet,
    return all of them as the author wrote them.
    """
    try:
        return typing.get_type_hints(kind, include_extras=True)
    except NameError:
        return written


def _dataclass_field(hint: Any, field: dataclasses.Field[Any]) -> FieldInfo:
    # Pydantic accepts `Field(...)` as the default of a field in a standard dataclass.
    written = field.default if isinstance(field.default, FieldInfo) else field
    return FieldInfo.from_annotated_attribute(hint, written)
