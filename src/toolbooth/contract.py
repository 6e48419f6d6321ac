"""Contract: the compiled tool that everything shares.

Sources build it once, at registration; publish shows it; the boundary holds every call to it.
A Shape says which JSON may stand where. It knows nothing of where it came from, so a Python signature, a model
and a foreign JSON Schema are guarded by the same code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

JsonType = Literal["null", "boolean", "integer", "number", "string", "object", "array"]

EVERY_TYPE: frozenset[JsonType] = frozenset(("null", "boolean", "integer", "number", "string", "object", "array"))


@dataclass(slots=True, kw_only=True, eq=False)
class Shape:
    """Which JSON may stand at one place. Mutable only while its source builds it (recursion needs a knot)."""

    types: frozenset[JsonType] = frozenset()
    objects: tuple[ObjectShape, ...] = ()
    arrays: tuple[ArrayShape, ...] = ()
    free: bool = False
    """Any, or the author's own code: nothing from here down is repaired or refused."""
    constants: tuple[Any, ...] | None = None
    """The only scalars that fit, where the type says so; tells the branches of a union apart."""
    strict: bool = False
    """No number or boolean is read out of text here."""
    secret: bool = False
    hides: bool = False
    """A secret stands here or below, so nothing from here is echoed."""
    exact: bool = False
    """A Decimal: every digit counts."""
    timelike: bool = False
    """Text of a date or time: a bare number is a guess even as text."""
    json_text: bool = False
    """JSON text is a declared form, not a repair."""
    compiled: Callable[[Any], bool] | None = None
    """The compiled yes or no of `gate.fits`, made on first use."""
    apart: tuple[Shape, ...] | None = None
    """Each form of a union by itself, for `gate.fitting_form`, made on first use."""
    plain: frozenset[type] | None = None
    """The types of `gate.plain_types`, made on first use."""


@dataclass(slots=True, kw_only=True, eq=False)
class Field:
    """One declared key of an object."""

    name: str
    """The published name; aliases are further keys to the same Field."""
    shape: Shape
    required: bool = True
    verbatim: bool = False
    """Null and empty text are not read as 'not sent'."""
    place: tuple[str, ...] = ()
    """Where the author's model has it, when flattening moved it; empty: under its own key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A model whose fields were hoisted: where it stands, and what it is when none of its keys is sent."""

    place: tuple[str, ...]
    absent: Literal["empty", "null", "omit"]


@dataclass(slots=True, kw_only=True, eq=False)
class ObjectShape:
    """One form of object: its declared keys, and what an undeclared key may hold (None: the object is closed)."""

    fields: dict[str, Field] = field(default_factory=dict[str, Field])
    rest: Shape | None = None
    rest_place: tuple[str, ...] = ()
    groups: tuple[Group, ...] = ()
    arranged: bool = False
    """Fields were hoisted to this level, so their values must be put back in place."""
    deep: bool = False
    """Fields were hoisted somewhere below this level."""
    names: tuple[str, ...] = ()
    """The published names, in order."""
    rivals: tuple[tuple[tuple[str | int, ...], ...], ...] = ()
    """For each field that several paths lead to: those paths, of which only one may be sent."""
    whole: dict[str, Shape] | None = None
    """The fields of `gate.integer_fields`, made on first use."""


@dataclass(slots=True, kw_only=True, eq=False)
class ArrayShape:
    """One form of array: shapes by position, then one for all further items (None: anything)."""

    prefix: tuple[Shape, ...] = ()
    items: Shape | None = None
    closed: bool = False
    """What stands between the prefix and the last items would never be read, so it may not be sent."""
    last: int = 0
    """So many items, counted from the end, are read, where the array is closed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much one call may bring. Nothing past a limit is read further than to refuse it."""

    max_bytes: int = 4 * 1024 * 1024
    max_depth: int = 200
    max_digits: int = 4_300
    max_text: int = 1_500
    """Characters in a refusal, however bad the input."""

    lowered: bool = field(init=False, default=False)
    """Below what the reader holds to by itself."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "lowered", self.max_depth < 200 or self.max_digits < 4_300)
        if self.max_depth > 200 or self.max_digits > 4_300:
            raise ValueError("the reader goes 200 levels deep and to 4,300 digits; limits can only be lower")

    def below(self, depth: int) -> Limits:
        """The limits for what stands this many levels down."""
        return replace(self, max_depth=max(0, self.max_depth - depth)) if depth else self


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True, kw_only=True)
class Param:
    """One parameter of the author's function."""

    name: str
    positional: bool = False
    """Python allows it by position only."""
    injected: bool = False
    """Filled by the host, never from the wire."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Objection:
    """One thing the author's validation said: where (in the author's places), which rule, in which words."""

    place: tuple[str | int, ...]
    kind: str
    message: str


class InvalidValues(Exception):
    """The author's own validation refused; raised by `Contract.validate`. What it said is read only if needed."""

    def __init__(self, read: Callable[[], Iterable[Objection]]) -> None:
        self.read = read
        super().__init__(read)

    @property
    def objections(self) -> tuple[Objection, ...]:
        """Everything that the validation said."""
        return tuple(self.read())


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """One compiled tool."""

    name: str
    description: str
    shape: Shape
    """Of the whole `arguments` object."""
    describe: Callable[[], Mapping[str, Any]]
    """Writes the exact JSON Schema: use `schema`, which keeps it."""
    validate: Callable[[Any], Any]
    """Decoded arguments -> the function's values, by the author's own validation, once. Raises InvalidValues."""
    bind: Callable[[Any], dict[str, Any]] | None
    """Values -> keyword arguments; None where the values already are."""
    params: tuple[Param, ...]
    function: Callable[..., Any] | None
    special: bool
    """Some parameter is injected or positional, so the call is not plain keywords."""
    integers: bool
    """Validation takes some integer only as such, so `5.0` must be read as 5 before."""
    exact: bool
    """A Decimal stands somewhere, so every digit must be kept."""
    proves: bool
    """Validation alone proves the shape: no author's code runs in it, and it coerces nothing."""
    limits: Limits = DEFAULT_LIMITS
    brief: Mapping[str, Any] | None = None
    """A schema to be listed instead of the exact one, which says some things twice; None: there is none."""
    written: Mapping[str, Any] | None = field(init=False, default=None)
    """The schema, once it was asked for: a server that is only called never writes it."""
    closed: bool = field(init=False, default=True)
    """No undeclared key may stand at the top level."""
    arranged: bool = field(init=False, default=False)
    """Fields were hoisted, so values must be put back in place before validation."""

    @property
    def schema(self) -> Mapping[str, Any]:
        """The exact JSON Schema (2020-12) of the arguments, all that `publish` needs."""
        if self.written is None:
            object.__setattr__(self, "written", self.describe())
            object.__setattr__(self, "describe", lambda: self.written)  # what it was written from is not needed again
        return cast("Mapping[str, Any]", self.written)

    def __post_init__(self) -> None:
        object.__setattr__(self, "closed", all(form.rest is None for form in self.shape.objects))
        object.__setattr__(self, "arranged", any(form.arranged or form.deep for form in self.shape.objects))
