"""Finds the type and the default of each flat parameter, as the author of the model wrote them."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import SecretBytes, SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from toolbooth.decorated.function import FlatFunction
from toolbooth.decorated.models import UnpackedModel, is_marked, keys_of, unpacked_model
from toolbooth.decorated.shown import FACTORY, NOT_SENT, SECRET
from toolbooth.jsonvalue import is_object

_PLAIN_FACTORIES: tuple[Any, ...] = (list, dict, set, frozenset, tuple, str, int, float, bool)
"""Factories that are called to show their value, such as `[]` for `list`. For any other factory,
`<factory>` is shown.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnField:
    """A field as its author wrote it, without its constraints and markers."""

    annotation: Any
    default: Any


UNKNOWN = OwnField(annotation=Any, default=NOT_SENT)
"""Used for a key that is not a field of the model, such as a parameter of its own `__init__`."""


def own_fields(flat: FlatFunction) -> dict[str, OwnField]:
    """Return the fields of all parameters by published key."""
    found: dict[str, OwnField] = {}
    for param in flat.params:
        model = flat.models.get(param.name)
        if model is None:
            fields = [(keys_of(param.name, param.info), _own_field(param.info))]
        else:
            fields = _fields_of(model, model.prefix, model.default)
        for keys, field in fields:
            published = _published_name(flat, keys)
            found[published] = _without_secret(flat, published, field)
    return found


def _fields_of(
    model: UnpackedModel, prefix: str, instance: Any
) -> Iterator[tuple[list[str], OwnField]]:
    """Yield the fields of a model, each with its keys. Fields of models that are unpacked inside
    this model are included. `instance` is the default of the whole model.
    """
    for name, info in model.fields.items():
        # Pydantic has split the hint. It is joined again to find the marker. `None` is added
        # because `Annotated` needs at least one piece of metadata.
        hint: Any = typing.Annotated[(info.annotation, *info.metadata, None)]
        held = _held_by(instance, name)
        if is_marked(hint):
            inner = unpacked_model(hint, info)
            default = inner.default if held is PydanticUndefined else held
            yield from _fields_of(inner, prefix + inner.prefix, default)
        else:
            keys = [prefix + key for key in keys_of(name, info)]
            yield keys, _own_field(info, held)


def _held_by(instance: Any, name: str) -> Any:
    """Return the value of a field in an instance of the model. The instance may be a dict or
    None.
    """
    if is_object(instance):
        return instance.get(name, PydanticUndefined)
    return getattr(instance, name, PydanticUndefined)


def _own_field(info: FieldInfo, held: Any = PydanticUndefined) -> OwnField:
    default: Any = info.default if held is PydanticUndefined else held
    if default is PydanticUndefined:
        default = _made_by(info.default_factory)
    return OwnField(annotation=info.annotation, default=default)


def _made_by(factory: Any) -> Any:
    if factory is None:
        return NOT_SENT
    # Any other factory may have a side effect, so it is not called only to show its value.
    return factory() if factory in _PLAIN_FACTORIES else FACTORY


def _published_name(flat: FlatFunction, keys: list[str]) -> str:
    if not flat.is_finished:
        return keys[0]
    fields = flat.contract.shape.objects[0].fields
    return next((fields[key].name for key in keys if key in fields), keys[0])


def _without_secret(flat: FlatFunction, published: str, field: OwnField) -> OwnField:
    """Return the field. If its default is a secret, the default is hidden. Pydantic's `SecretStr`
    and `SecretBytes` already hide their values.
    """
    is_hidden = field.default is None or isinstance(field.default, SecretStr | SecretBytes)
    if is_hidden or not flat.is_finished:
        return field
    fields = flat.contract.shape.objects[0].fields
    if published not in fields or not fields[published].shape.has_secret:
        return field
    return OwnField(annotation=field.annotation, default=SECRET)
