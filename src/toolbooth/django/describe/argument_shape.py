"""Makes the shape of a tool's arguments, which the boundary uses to check a call. Also makes the
list of fields that a refusal shows.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from toolbooth.boundary.keys.declared import declared_among
from toolbooth.compile.json_schema import shape_of_schema
from toolbooth.django.describe.arguments import Arguments
from toolbooth.django.describe.relations import mark_names
from toolbooth.errors import Declared
from toolbooth.jsonvalue import Json, is_object
from toolbooth.server.controls import with_controls
from toolbooth.shape import Shape


def argument_shape(arguments: Arguments) -> Shape:
    """Return the shape of a tool's arguments, including its control arguments."""
    shape = _shape(arguments)
    if arguments.offered:
        _list_only(arguments.schema(arguments.properties), shape)
    return shape


def declared_arguments(arguments: Arguments, names: Iterable[str]) -> Declared:
    """Return the declarations of the arguments with these names. They are listed in the refusal of
    a view.
    """
    return declared_among(names, _shape(arguments).objects)


def _shape(arguments: Arguments) -> Shape:
    shape = shape_of_schema(arguments.schema(arguments.wide), root=True)
    mark_names(shape, arguments.relations)
    # Refusals give no example of a row's key: it could be the key of a real row.
    for name in arguments.named("path").values():
        shape.objects[0].fields[name].shape.is_row_key = True
    if arguments.updates:
        for name in arguments.named("body").values():
            shape.objects[0].fields[name].unsent = "kept"
    return with_controls(shape, arguments.controls)


def _list_only(published: Any, shape: Shape) -> None:
    """Make refusals list only the published fields. The shape still accepts unlisted fields,
    because some callers may send them.
    """
    if not is_object(published):
        return
    known: Json = published.get("properties") or {}
    for form in shape.objects:
        if known and form.additional is None:
            # `fields` still has all names, so a caller who may send more of them is not refused.
            form.names = tuple(name for name in form.names if name in known)
            for name in form.names:
                _list_only(known[name], form.fields[name].shape)
    for form in shape.arrays:
        if form.items is not None:
            _list_only(published.get("items"), form.items)
