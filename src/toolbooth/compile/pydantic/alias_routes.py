"""Makes the Shape for alias paths. With `AliasPath("address", "city")`, the value of a field is
sent inside another object, here `address`.
"""

from __future__ import annotations

from toolbooth.compile.pydantic.field_nodes import KeyPath
from toolbooth.shape import ArrayShape, Field, JsonType, ObjectShape, Shape

Route = tuple[KeyPath, Shape]
"""The remaining steps of an alias path, and the shape of the field at its end."""


def shape_of_routes(routes: list[Route]) -> Shape:
    """Return the shape of the object or array at the first step of several alias paths. Parts of it
    that no path reads may not be sent.
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
    """Return the shape of an array. The model reads only some of its items; a negative index counts
    from the end.
    """
    length = max(positions) + 1
    # No path reads the other items, so they must be null.
    unread = Shape(types=frozenset(("null",)))
    prefix = [unread] * length
    for index in range(length):
        if index in steps:
            prefix[index] = shape_of_routes(steps[index])
    # `AliasPath("tags", -1)` reads the last item: negative positions count from the end.
    return ArrayShape(prefix=tuple(prefix), closed=True, last=max(0, -min(positions)))
