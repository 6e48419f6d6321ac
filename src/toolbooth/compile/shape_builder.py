"""Shapes being built: unions and recursion, settled once everything that they refer to is there."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import combinations
from typing import Any

from toolbooth.secret_names import is_secret_name
from toolbooth.shape import (
    EVERY_TYPE,
    ArrayShape,
    JsonType,
    ObjectShape,
    Shape,
    Temporal,
    is_integer_only,
    shapes_above,
    walk,
)

Fill = Callable[[Shape, list[Shape]], None]


def free_shape() -> Shape:
    """Anything may be sent here, unexamined."""
    return Shape(types=EVERY_TYPE, opaque=True)


def object_shape(form: ObjectShape) -> Shape:
    """An object of this one form."""
    return Shape(types=frozenset(("object",)), objects=(form,))


def array_shape(form: ArrayShape) -> Shape:
    """An array of this one form."""
    return Shape(types=frozenset(("array",)), arrays=(form,))


def json_type_of(value: Any) -> JsonType:
    """The JSON type of a value as Python holds it."""
    for kind, name in _PYTHON_TYPES.items():
        if isinstance(value, kind):
            return name
    return "string"


_PYTHON_TYPES: dict[type, JsonType] = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    dict: "object",
    list: "array",
}


class Shapes:
    """The open ends of one contract's shapes. No shape may be used before `finish`."""

    def __init__(self) -> None:
        self._waiting: dict[int, tuple[Shape, Fill, tuple[Shape, ...]]] = {}
        self.ambiguous = False
        """Whether a union has branches that take the same JSON type; known after `finish`."""

    def either(self, choices: Iterable[Shape]) -> Shape:
        """A shape that fits where any of `choices` does."""
        return self.fill_later(Shape(), fill_either, choices)

    def behind_validator(self, shape: Shape) -> Shape:
        """A shape in front of which an author's validator runs: anything may be sent."""
        return self.fill_later(Shape(), _fill_behind_validator, (shape,))

    def union(self, choices: Iterable[Shape], *, by_type: bool) -> Shape:
        """`either` of branches that the author's validation chooses from; `by_type`: by the JSON
        type of the value, if each branch has another type.
        """
        if not by_type:
            self.ambiguous = True
            return self.fill_later(Shape(), _fill_ambiguous, choices)
        return self.fill_later(Shape(), self._fill_union, choices)

    def tie(self, knot: Shape, shape: Shape) -> None:
        """Let `knot`, which others hold already, be `shape`."""
        self.fill_later(knot, fill_either, (shape,))

    def finish(self, root: Shape) -> None:
        """Fill every open shape, the ones it is made of first, and mark what holds secrets."""
        while self._waiting:
            self._settle(next(iter(self._waiting.values()))[0])
        _mark_secrets(root)

    def fill_later(self, shape: Shape, fill: Fill, parts: Iterable[Shape]) -> Shape:
        """Call `fill` with the shape and its parts once they are filled themselves."""
        self._waiting[id(shape)] = (shape, fill, tuple(parts))
        return shape

    def _fill_union(self, shape: Shape, choices: list[Shape]) -> None:
        if any(_overlap(one, other) for one, other in combinations(choices, 2)):
            self.ambiguous = True
            _fill_ambiguous(shape, choices)
        else:
            fill_either(shape, choices)

    def _settle(self, shape: Shape) -> Shape:
        if found := self._waiting.pop(id(shape), None):
            _, fill, parts = found
            fill(shape, [self._settle(part) for part in parts])
        return shape


def _mark_secrets(root: Shape) -> None:
    """Mark the shapes that are a secret, or have one below them."""
    forms = [form for shape in walk(root) for form in shape.objects]
    for each in (field for form in forms for field in form.fields.values()):
        if is_secret_name(each.name) and _is_free_text(each.shape):
            # Other fields may share the shape, so it is not changed itself.
            each.shape = replace(each.shape, secret=True)
    with_secret = shapes_above(root, lambda shape: shape.secret)
    for shape in walk(root):
        shape.has_secret = id(shape) in with_secret


def _is_free_text(shape: Shape) -> bool:
    return "string" in shape.types and shape.constants is None and not shape.secret


def fill_either(shape: Shape, choices: list[Shape]) -> None:
    """Make `shape` fit where any of `choices` does."""
    texts = [choice for choice in choices if "string" in choice.types]
    scalars = [choice for choice in choices if choice.types - {"object", "array", "null"}]
    shape.types = frozenset[JsonType]().union(*(choice.types for choice in choices))
    # Each form once: a schema whose definitions double would double the forms, too.
    shape.objects = tuple(dict.fromkeys(form for choice in choices for form in choice.objects))
    shape.arrays = tuple(dict.fromkeys(form for choice in choices for form in choice.arrays))
    shape.opaque = any(choice.opaque for choice in choices)
    shape.behind = _declared_types(choices) if shape.opaque else frozenset()
    if scalars and all(choice.constants is not None for choice in scalars):
        shape.constants = tuple(each for choice in scalars for each in choice.constants or ())
    shape.strict = any(choice.strict for choice in choices)
    shape.secret = any(choice.secret for choice in choices)
    shape.decimal = any(choice.decimal for choice in choices)
    shape.integral = any(choice.integral for choice in choices)
    shape.temporal = _temporal(texts)
    shape.json_text = any(choice.json_text for choice in choices)
    shape.ambiguous = any(choice.ambiguous for choice in choices)


def _temporal(texts: list[Shape]) -> Temporal:
    """The kind of time that every text is of."""
    kinds: set[Temporal] = {each.temporal for each in texts}
    if not kinds or "" in kinds:
        return ""
    return kinds.pop() if len(kinds) == 1 else "any"


def _fill_ambiguous(shape: Shape, choices: list[Shape]) -> None:
    fill_either(shape, choices)
    shape.ambiguous = True


def _overlap(one: Shape, other: Shape) -> bool:
    """Whether the JSON type of a value may not tell which of two branches it is for. An integer
    is for `int` rather than for `float`, however it is validated.
    """
    types = one.types | other.types
    is_decimal = one.decimal or other.decimal
    return bool(one.types & other.types) or (is_decimal and {"integer", "number"} <= types)


def _fill_behind_validator(shape: Shape, parts: list[Shape]) -> None:
    fill_either(shape, [free_shape(), *parts])
    shape.integral = shape.integral or any(map(is_integer_only, parts))
    shape.behind = _declared_types(parts)


def _declared_types(choices: list[Shape]) -> frozenset[JsonType]:
    """The types that the author's code gets; none if that may be anything."""
    if any(choice.opaque and not choice.behind for choice in choices):
        return frozenset()
    return frozenset[JsonType]().union(*(choice.behind or choice.types for choice in choices))
