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
        """Fill every open shape, after the ones it is made of, and mark the shapes of secrets."""
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
        # Taken out first: a shape that contains itself is found settled when its parts are filled.
        if found := self._waiting.pop(id(shape), None):
            _, fill, parts = found
            fill(shape, [self._settle(part) for part in parts])
        return shape


def _mark_secrets(root: Shape) -> None:
    """Mark the shapes that are a secret, or have one below them."""
    forms = [form for shape in walk(root) for form in shape.objects]
    for each in (field for form in forms for field in form.fields.values()):
        if is_secret_name(each.name):
            # Other fields may share the shape, so it is not changed itself.
            each.shape = _as_secret(each.shape)
    with_secret = shapes_above(root, lambda shape: shape.secret)
    for shape in walk(root):
        shape.has_secret = id(shape) in with_secret


_OF_SECRETS = frozenset[JsonType](("string", "integer", "number"))


def _as_secret(shape: Shape) -> Shape:
    """Return the shape of a field with the name of a secret, marked where the secret is: a text, a
    number, or a list of them. Of a map such as `cookies: dict[str, str]` only the values are
    secret, so that a refusal can name the wrong one. Objects with declared fields are judged by the
    names of these.
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
    """Make `shape` fit where any of `choices` does."""
    texts = [choice for choice in choices if "string" in choice.types]
    # `Literal["a"] | None` has choices only. `Literal["a"] | int` takes other values too.
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
    # One text without a kind of time may be anything, so the union has no kind either.
    kinds: set[Temporal] = {each.temporal for each in texts}
    if not kinds or "" in kinds:
        return ""
    return kinds.pop() if len(kinds) == 1 else "any"


def _fill_ambiguous(shape: Shape, choices: list[Shape]) -> None:
    fill_either(shape, choices)
    shape.ambiguous = True


def _overlap(one: Shape, other: Shape) -> bool:
    """Whether a value can belong to either of two branches by its JSON type. An integer belongs to
    `int` rather than to `float`, however it is validated.
    """
    types = one.types | other.types
    # 5 may be meant for the int or for the Decimal, while beside a float it is always the int.
    is_decimal = one.decimal or other.decimal
    return bool(one.types & other.types) or (is_decimal and {"integer", "number"} <= types)


def _fill_behind_validator(shape: Shape, parts: list[Shape]) -> None:
    # The free shape makes the union free; the others add the keys and types that are known.
    fill_either(shape, [free_shape(), *parts])
    shape.integral = shape.integral or any(map(is_integer_only, parts))
    shape.behind = _declared_types(parts)


def _declared_types(choices: list[Shape]) -> frozenset[JsonType]:
    """The types that the author's code gets; none if that may be anything."""
    if any(choice.opaque and not choice.behind for choice in choices):
        return frozenset()
    return frozenset[JsonType]().union(*(choice.behind or choice.types for choice in choices))
