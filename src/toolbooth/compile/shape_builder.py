"""Builds shapes with unions and recursion. Such a shape refers to other shapes, and is filled when
these exist.
"""

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
    """Return a shape that accepts any value. The value is not examined."""
    return Shape(types=EVERY_TYPE, opaque=True)


def object_shape(form: ObjectShape) -> Shape:
    """Return a shape for an object of this type."""
    return Shape(types=frozenset(("object",)), objects=(form,))


def array_shape(form: ArrayShape) -> Shape:
    """Return a shape for an array of this type."""
    return Shape(types=frozenset(("array",)), arrays=(form,))


def json_type_of(value: Any) -> JsonType:
    """Return the JSON type of a Python value."""
    for kind, name in _PYTHON_TYPES.items():
        if isinstance(value, kind):
            return name
    return "string"


# bool comes before int, because True is an instance of int.
_PYTHON_TYPES: dict[type, JsonType] = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    dict: "object",
    list: "array",
}


class Shapes:
    """The unfinished shapes of one contract. The shapes can be used only after `finish`."""

    def __init__(self) -> None:
        self._waiting: dict[int, tuple[Shape, Fill, tuple[Shape, ...]]] = {}
        self.ambiguous = False
        """True if a union has branches that accept the same JSON type. This is known after
        `finish`.
        """

    def either(self, choices: Iterable[Shape]) -> Shape:
        """Return a shape that fits if one of `choices` fits."""
        return self.fill_later(Shape(), fill_either, choices)

    def behind_validator(self, shape: Shape) -> Shape:
        """Return the shape of a value that an author's validator gets. It accepts anything."""
        return self.fill_later(Shape(), _fill_behind_validator, (shape,))

    def union(self, choices: Iterable[Shape], *, by_type: bool) -> Shape:
        """Return the shape of a union whose branch is chosen by the author's validation. With
        `by_type`, the JSON type of the value chooses, if no two branches accept the same type.
        """
        if not by_type:
            self.ambiguous = True
            return self.fill_later(Shape(), _fill_ambiguous, choices)
        return self.fill_later(Shape(), self._fill_union, choices)

    def tie(self, knot: Shape, shape: Shape) -> None:
        """Make `knot` equal to `shape`. Other shapes already contain `knot`, as in a recursive
        type.
        """
        self.fill_later(knot, fill_either, (shape,))

    def finish(self, root: Shape) -> None:
        """Fill every unfinished shape and mark the secrets. The parts of a shape are filled before
        the shape.
        """
        while self._waiting:
            self._settle(next(iter(self._waiting.values()))[0])
        _mark_secrets(root)

    def fill_later(self, shape: Shape, fill: Fill, parts: Iterable[Shape]) -> Shape:
        """Return `shape`, which is still empty. Later, when the parts are filled, `fill` is called
        with the shape and its parts.
        """
        self._waiting[id(shape)] = (shape, fill, tuple(parts))
        return shape

    def _fill_union(self, shape: Shape, choices: list[Shape]) -> None:
        if any(_overlap(one, other) for one, other in combinations(choices, 2)):
            self.ambiguous = True
            _fill_ambiguous(shape, choices)
        else:
            fill_either(shape, choices)

    def _settle(self, shape: Shape) -> Shape:
        # Removed before its parts are filled, so that a shape that contains itself is not filled
        # twice.
        if found := self._waiting.pop(id(shape), None):
            _, fill, parts = found
            fill(shape, [self._settle(part) for part in parts])
        return shape


def _mark_secrets(root: Shape) -> None:
    """Mark the shapes that are a secret or contain a secret."""
    forms = [form for shape in walk(root) for form in shape.objects]
    for each in (field for form in forms for field in form.fields.values()):
        if is_secret_name(each.name):
            # Other fields may share the shape, so a copy is changed.
            each.shape = _as_secret(each.shape)
    with_secret = shapes_above(root, lambda shape: shape.secret)
    for shape in walk(root):
        shape.has_secret = id(shape) in with_secret


_OF_SECRETS = frozenset[JsonType](("string", "integer", "number"))


def _as_secret(shape: Shape) -> Shape:
    """Return the shape of a field that has the name of a secret. A text, a number, or a list of
    them is marked as a secret. In a dict such as `cookies: dict[str, str]`, only the values are
    marked, so that a refusal can still name a wrong key. In an object with declared fields, nothing
    is marked, because the names of these fields decide.
    """
    if _may_be_secret(shape) or any(map(_may_be_secret, _items(shape))):
        return replace(shape, secret=True)
    return replace(shape, objects=tuple(map(_with_secret_values, shape.objects)))


def _may_be_secret(shape: Shape) -> bool:
    # The values of an enum are published, so they are no secrets.
    return not shape.secret and shape.constants is None and bool(shape.types & _OF_SECRETS)


def _items(shape: Shape) -> list[Shape]:
    return [form.items for form in shape.arrays if form.items is not None]


def _with_secret_values(form: ObjectShape) -> ObjectShape:
    values = form.additional
    if form.fields or values is None or not _may_be_secret(values):
        return form
    return replace(form, additional=replace(values, secret=True))


def fill_either(shape: Shape, choices: list[Shape]) -> None:
    """Change `shape` so that it fits if one of `choices` fits."""
    texts = [choice for choice in choices if "string" in choice.types]
    # `Literal["a"] | None` has only choices. `Literal["a"] | int` accepts other values too.
    scalars = [choice for choice in choices if choice.types - {"object", "array", "null"}]
    shape.types = frozenset[JsonType]().union(*(choice.types for choice in choices))
    # Each form is added once. Otherwise a schema that repeats its definitions would multiply the
    # forms.
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
    """Return the kind of date or time that all texts have; "any" if they have several kinds."""
    # If one text is not a time, it may be anything, so the union has no kind of time.
    kinds: set[Temporal] = {each.temporal for each in texts}
    if not kinds or "" in kinds:
        return ""
    return kinds.pop() if len(kinds) == 1 else "any"


def _fill_ambiguous(shape: Shape, choices: list[Shape]) -> None:
    fill_either(shape, choices)
    shape.ambiguous = True


def _overlap(one: Shape, other: Shape) -> bool:
    """Return True if a value may fit both branches, judged by its JSON type. For `int` and `float`,
    this is False, because an integer always belongs to `int`.
    """
    types = one.types | other.types
    # 5 may be the int or the Decimal. With a float instead of the Decimal, it is always the int.
    is_decimal = one.decimal or other.decimal
    return bool(one.types & other.types) or (is_decimal and {"integer", "number"} <= types)


def _fill_behind_validator(shape: Shape, parts: list[Shape]) -> None:
    # The free shape makes the union free. The others add the known keys and types.
    fill_either(shape, [free_shape(), *parts])
    shape.integral = shape.integral or any(map(is_integer_only, parts))
    shape.behind = _declared_types(parts)


def _declared_types(choices: list[Shape]) -> frozenset[JsonType]:
    """Return the JSON types that the author's code may get. Empty if it may get any type."""
    if any(choice.opaque and not choice.behind for choice in choices):
        return frozenset()
    return frozenset[JsonType]().union(*(choice.behind or choice.types for choice in choices))
