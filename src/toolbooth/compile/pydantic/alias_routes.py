"""Makes the Shape of alias paths: the objects and arrays that contain the field of an
`AliasPath("address", "city")`.
"""

from __future__ import annotations

from toolbooth.compile.pydantic.field_nodes import KeyPath
from toolbooth.shape import ArrayShape, Field, JsonType, ObjectShape, Shape

Route = tuple[KeyPath, Shape]
"""The remaining steps of an alias path, and the shape at its end."""


def shape_of_routes(routes: list[Route]) -> Shape:
    """Return the shape of the value at the first step of some alias paths. Parts of the value that
    no path reads are forbidden.
    """
    # A path that ends here reads the whole value. So the longer paths need no shape of their own.
    ends = [shape for path, shape in routes if not path]
    if ends:
        return ends[0]
    steps: dict[str | int, list[Route]] = {}
    for path, shape in routes:
        steps.setdefault(path[0], []).append((path[1:], shape))
    positions = [step for step in steps if isinstance(step, int)]
    names = [step for step in steps if isinstance(step, str)]
    types: set[JsonType] = set()
    made = Shape()
    if names:
        types.add("object")
        made.objects = (_object(names, steps),)
    if positions:
        types.add("array")
        made.arrays = (_array(positions, steps),)
    made.types = frozenset(types)
    return made


def _object(names: list[str], steps: dict[str | int, list[Route]]) -> ObjectShape:
    fields: dict[str, Field] = {}
    for name in names:
        fields[name] = Field(name=name, shape=shape_of_routes(steps[name]), required=False)
    return ObjectShape(fields=fields, names=tuple(names))


def _array(positions: list[int], steps: dict[str | int, list[Route]]) -> ArrayShape:
    """Return an array of which only some positions are read, counted from its start or its end."""
    length = max(positions) + 1
    # No path reads the other items, so they must be null.
    unread = Shape(types=frozenset(("null",)))
    prefix = [unread] * length
    for index in range(length):
        if index in steps:
            prefix[index] = shape_of_routes(steps[index])
    # `AliasPath("tags", -1)` reads the last item: negative positions count from the end.
    return ArrayShape(prefix=tuple(prefix), closed=True, last=max(0, -min(positions)))
