"""Builds the shapes of a JSON Schema. Some parts of a schema must all fit, as in `allOf`. Other
parts apply only under a condition. From these, only the keys are used.

If several parts declare the same field, their schemas are merged. Merging is limited, because a
small schema could otherwise grow without end. Beyond a limit, the shape accepts more than the
schema does, and the JSON Schema validator refuses the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from toolbooth.compile.shape_builder import Fill, Shapes, fill_either, free_shape
from toolbooth.shape import EVERY_TYPE, ArrayShape, Field, JsonType, ObjectShape, Shape, walk

_MOST_MERGED = 2_000
_DEEPEST_MERGE = 20
"""Limits for merged fields: how many shapes are made, and how deep they are. Only a hostile schema
needs more.
"""

_MOST_FORMS = 64
"""If a value must fit several unions, their branches are combined. At most this many combinations
are made.
"""


class SchemaShapes(Shapes):
    """The unfinished shapes of one JSON Schema.

    Two shapes for undeclared keys have a special meaning until `finish` is called. `unsaid` means
    that the object does not mention undeclared keys. They may be sent, unless another part of the
    schema declares keys for the same object. `forbidden` means that the object itself forbids
    undeclared keys.
    """

    def __init__(self) -> None:
        super().__init__()
        # Both are compared by identity, because an equal shape may have an ordinary meaning.
        self.unsaid = free_shape()
        self.forbidden = Shape()
        self._known: dict[tuple[str, frozenset[Shape]], Shape] = {}
        self._made_of: dict[int, tuple[Shape, ...]] = {}
        """The parts of each merged shape, by the shape's id."""
        self._keys_of: dict[int, tuple[Shape, ...]] = {}
        """The parts of each shape that only declares keys, by the shape's id."""
        self._depths: dict[int, int] = {}
        self._depth = 0

    def both(self, parts: Iterable[Shape]) -> Shape:
        """Return a shape that fits if all `parts` fit. It has the keys of every part. A part that
        accepts anything only adds its keys.
        """
        # The shape is free until it is filled. A schema that only refers to itself stays free.
        return self.fill_later(free_shape(), self._fill_both, parts)

    def finish(self, root: Shape) -> None:
        super().finish(root)
        for form in (form for shape in walk(root) for form in shape.objects):
            form.is_silent = (form.unmatched if form.patterns else form.additional) is None
            # The marks were needed only for merging. From here on, None means "no further keys".
            form.additional = None if form.additional is self.forbidden else form.additional
            form.unmatched = None if form.unmatched is self.forbidden else form.unmatched

    # --- parts that all hold ---

    def _fill_both(self, shape: Shape, parts: list[Shape]) -> None:
        # Shapes that are merged while this one is being filled are one level deeper.
        self._depth = self._depths.get(id(shape), 0)
        distinct = dict.fromkeys(parts)
        firm = [part for part in distinct if not (part.opaque or id(part) in self._keys_of)]
        if not firm:
            # A free value stays free, even if a condition names keys in it.
            fill_either(shape, [part for part in parts if part.opaque])
            return
        first, *others = firm
        shape.opaque, shape.types, shape.constants = False, first.types, first.constants
        shape.objects, shape.arrays = first.objects, first.arrays
        for other in others:
            # `number` and `integer` together leave `integer`.
            shape.types = frozenset(
                kind for kind in shape.types | other.types if _in_both(kind, shape, other)
            )
            shape.objects = self._objects_of_both(shape.objects, other.objects)
            shape.arrays = _arrays_of_both(shape.arrays, other.arrays)
            # Of two lists of choices, the first one is kept. The validator still checks the other.
            shape.constants = shape.constants or other.constants
        loose = [form for part in distinct if part not in firm for form in part.objects]
        if loose:
            shape.objects = tuple(self._declaring(form, loose) for form in shape.objects)
        # `type: string` beside `properties` accepts no object, so the fields are not needed.
        if "object" not in shape.types:
            shape.objects = ()
        if "array" not in shape.types:
            shape.arrays = ()
        shape.secret = any(part.secret for part in parts)
        for part in parts:
            shape.temporal = shape.temporal or part.temporal
        shape.decimal = any(part.decimal for part in parts)

    def _objects_of_both(
        self, mine: tuple[ObjectShape, ...], theirs: tuple[ObjectShape, ...]
    ) -> tuple[ObjectShape, ...]:
        if not mine or not theirs:
            # A missing form adds nothing. Then the other side alone decides.
            return mine or theirs
        # Two unions of 64 forms that must both fit would make 4,096 forms.
        if len(mine) * len(theirs) > max(len(mine), len(theirs), _MOST_FORMS):
            return tuple(self._declaring(form, theirs) for form in mine)
        forms = (self._with_keys_of(one, other) for one in mine for other in theirs)
        return tuple(dict.fromkeys(forms))

    def _with_keys_of(self, mine: ObjectShape, theirs: ObjectShape) -> ObjectShape:
        """Return one object type that has the keys of both."""
        # A part that only adds `minProperties` has nothing to merge.
        if mine is theirs or self._is_silent(theirs):
            return mine
        if self._is_silent(mine):
            return theirs
        fields = {**theirs.fields, **mine.fields}
        shared = [key for key in mine.fields if key in theirs.fields]
        for key in shared:
            fields[key] = self._field_of_both(mine.fields[key], theirs.fields[key])
        patterns = dict(mine.patterns)
        for pattern, shape in theirs.patterns:
            patterns[pattern] = self._shape_of_both(patterns.get(pattern, shape), shape)
        others = self._others_of_both(_others(mine), _others(theirs))
        return self.form(fields, others, patterns, (*mine.names, *theirs.names))

    def _is_silent(self, form: ObjectShape) -> bool:
        return form.additional is self.unsaid and not form.fields

    def _field_of_both(self, mine: Field, theirs: Field) -> Field:
        return Field(
            name=mine.name,
            shape=self._shape_of_both(mine.shape, theirs.shape),
            required=mine.required or theirs.required,
            verbatim=mine.verbatim or theirs.verbatim,
        )

    def _shape_of_both(self, mine: Shape, theirs: Shape) -> Shape:
        """Return a shape for values that fit both shapes. Beyond the limits, return only one of the
        two, which accepts more values.
        """
        firm: dict[Shape, None] = {}
        loose: list[Shape] = []
        for shape in (mine, theirs):
            for part in self._made_of.get(id(shape), (shape,)):
                if id(part) in self._keys_of:
                    loose.append(part)
                else:
                    firm[part] = None
        parts = [*firm, self._keys(loose)]
        said = tuple(part for part in parts if part is not self.unsaid)
        # Fewer than two parts are left, so there is nothing to merge.
        if len(said) < 2:
            return said[0] if said else self.unsaid
        made = self._merged("both", said, self._fill_both)
        if made is None:
            return said[0]
        self._made_of[id(made)] = said
        return made

    def _others_of_both(self, mine: Shape | None, theirs: Shape | None) -> Shape | None:
        """Return the shape of undeclared keys for an object that must fit two object types. If one
        of the two explicitly allows undeclared keys, they are allowed. If one of the two merely
        does not mention them, that is not enough.
        """
        opening = list(filter(self._opens, (mine, theirs)))
        if len(opening) == 2 and mine is not None and theirs is not None:
            return self._shape_of_both(mine, theirs)
        if opening:
            return opening[0]
        if self.forbidden in (mine, theirs):
            return self.forbidden
        return self.unsaid if mine is theirs is self.unsaid else None

    def _opens(self, others: Shape | None) -> bool:
        return others not in (None, self.unsaid, self.forbidden)

    def form(
        self,
        fields: dict[str, Field],
        others: Shape | None,
        patterns: Mapping[str, Shape],
        names: Iterable[str],
    ) -> ObjectShape:
        """Return an object type. `others` is the shape of keys that are not declared and match no
        pattern; None if such keys are forbidden.
        """
        made = ObjectShape(fields=fields, additional=others, names=tuple(dict.fromkeys(names)))
        if patterns:
            made.patterns, made.unmatched = tuple(patterns.items()), others
            made.additional = self.either([*patterns.values(), others or self.forbidden])
        return made

    # --- parts that only declare keys ---

    def _declaring(self, form: ObjectShape, loose: Sequence[ObjectShape]) -> ObjectShape:
        """Return an object type that also has the keys of `loose`. The types of these keys are not
        checked.
        """
        fields = dict(form.fields)
        known = self._keys_of_forms(loose)
        for key, shape in known.fields.items():
            fields[key] = self._field_of_both(fields.get(key, shape), shape)
        patterns = {**dict(known.patterns), **dict(form.patterns)}
        others = _others(form)
        # A condition that allows further keys may apply, so the object must be open.
        if self._opens(_others(known)):
            others = _others(known)
        elif others is self.unsaid and _others(known) is None:
            others = None
        return self.form(fields, others, patterns, (*form.names, *known.names))

    def _keys_of_forms(self, forms: Sequence[ObjectShape]) -> ObjectShape:
        """Return one object type with the keys of all `forms`. A value that fits one of them also
        fits the result.
        """
        fields: dict[str, list[Field]] = {}
        patterns: dict[str, list[Shape]] = {}
        for form in forms:
            for key, field in form.fields.items():
                fields.setdefault(key, []).append(field)
            for pattern, shape in form.patterns:
                patterns.setdefault(pattern, []).append(shape)
        every = [_others(form) for form in forms]
        # Keys that a condition forbids are free if the condition does not apply.
        is_free = not every or self.unsaid in every or self.forbidden in every
        others = self.unsaid if is_free else None
        if any(map(self._opens, every)):
            others = free_shape()
        declared = {key: self._any_of_fields(key, each) for key, each in fields.items()}
        by_pattern = {pattern: self._keys(each) for pattern, each in patterns.items()}
        return self.form(declared, others, by_pattern, declared)

    def _any_of_fields(self, name: str, fields: list[Field]) -> Field:
        shape = self._keys([field.shape for field in fields])
        verbatim = any(field.verbatim for field in fields)
        return Field(name=name, shape=shape, required=False, verbatim=verbatim)

    def _keys(self, parts: Iterable[Shape]) -> Shape:
        """Return a shape that accepts any type and has the keys of all `parts`. If there are too
        many keys, it accepts any key.
        """
        distinct: dict[Shape, None] = {}
        for part in parts:
            # Parts of merged parts are used, so that a shape is not merged with itself repeatedly.
            distinct |= dict.fromkeys(self._keys_of.get(id(part), (part,)))
        distinct.pop(self.unsaid, None)
        if not distinct:
            return self.unsaid
        made = self._merged("keys", tuple(distinct), self._fill_keys)
        if made is None:
            return free_shape()
        self._keys_of[id(made)] = tuple(distinct)
        return made

    def _fill_keys(self, shape: Shape, parts: list[Shape]) -> None:
        self._depth = self._depths[id(shape)]
        shape.types = EVERY_TYPE
        shape.opaque = any(part.opaque for part in parts)
        shape.secret = any(part.secret for part in parts)
        shape.decimal = any(part.decimal for part in parts)
        if not shape.opaque:
            shape.objects = (self._keys_of_forms([f for part in parts for f in part.objects]),)
            arrays = dict.fromkeys(form for part in parts for form in part.arrays)
            shape.arrays = tuple(map(self._keys_of_array, arrays)) or (ArrayShape(),)

    def _keys_of_array(self, form: ArrayShape) -> ArrayShape:
        items = None if form.items is None else self._keys([form.items])
        return ArrayShape(prefix=tuple(self._keys([each]) for each in form.prefix), items=items)

    def _merged(self, how: str, parts: tuple[Shape, ...], fill: Fill) -> Shape | None:
        """Return the merged shape of these parts. The same parts always give the same object,
        because a schema may contain itself. Beyond the limits, return None.
        """
        # The order of the parts does not matter, so it is not part of the key.
        key = (how, frozenset(parts))
        if key not in self._known:
            if len(self._known) >= _MOST_MERGED or self._depth >= _DEEPEST_MERGE:
                return None
            made = self._known[key] = self.fill_later(Shape(), fill, parts)
            self._depths[id(made)] = self._depth + 1
        return self._known[key]


def _others(form: ObjectShape) -> Shape | None:
    """Return the shape of keys that are not declared and match no pattern."""
    return form.unmatched if form.patterns else form.additional


def _arrays_of_both(
    mine: tuple[ArrayShape, ...], theirs: tuple[ArrayShape, ...]
) -> tuple[ArrayShape, ...]:
    """Return the array types that restrict their items. If only an `anyOf` beside them restricts
    the items, return the types of its alternatives.
    """
    if theirs and not any(_says_more(form) for form in mine):
        return theirs
    return mine


def _says_more(form: ArrayShape) -> bool:
    """Return True if an array type restricts its items."""
    return bool(form.prefix) or (form.items is not None and not form.items.opaque)


def _in_both(kind: JsonType, mine: Shape, theirs: Shape) -> bool:
    return all(
        kind in each.types or (kind == "integer" and "number" in each.types)
        for each in (mine, theirs)
    )
