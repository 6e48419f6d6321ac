"""The arguments of a tool -> the shape that the boundary guards, and the fields that a refusal
lists.
"""

from __future__ import annotations

from collections.abc import Iterable

from toolbooth.boundary.keys.declared import declared_among
from toolbooth.compile.json_schema import shape_of_schema
from toolbooth.django.describe.arguments import Arguments
from toolbooth.django.describe.relations import mark_names
from toolbooth.errors import Declared
from toolbooth.server.controls import with_controls
from toolbooth.shape import Shape


def argument_shape(arguments: Arguments) -> Shape:
    """What a tool takes, its control arguments included."""
    shape = shape_of_schema(arguments.schema(arguments.wide), root=True)
    mark_names(shape, arguments.relations)
    return with_controls(shape, arguments.controls)


def declared_arguments(arguments: Arguments, names: Iterable[str]) -> Declared:
    """Some of the arguments of a tool, for a refusal of its view."""
    return declared_among(names, argument_shape(arguments).objects)
