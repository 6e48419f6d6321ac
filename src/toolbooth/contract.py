"""Contract: the compiled tool that everything shares.

`compile/` builds it once, at registration; `publish/` shows it; the boundary holds every call to
it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice
from typing import Any

from toolbooth.jsonvalue import JsonPath
from toolbooth.shape import Shape, has_recursive_unions, shapes_in_object, walk

LARGE = 64 * 1024
"""Bytes of a call from which on more care is taken that it does not cost too much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much one call may bring. Nothing past a limit is read further than to refuse it."""

    max_bytes: int = 4 * 1024 * 1024
    max_depth: int = 200
    max_digits: int = 4_300
    max_values: int = 100_000
    """Values in one call, at all levels: work is done for each of them."""
    max_text: int = 1_500
    """Characters in a refusal, however bad the input."""

    lowered: bool = field(init=False, default=False)
    """Below the limits that the reader has by itself, or a limit that small calls may exceed."""

    def __post_init__(self) -> None:
        # A value takes at least one byte, so a call below LARGE bytes has fewer values than that.
        # Only a limit below LARGE can be exceeded by a small call.
        is_small = self.max_bytes < LARGE or self.max_values < LARGE
        is_lower = is_small or self.max_depth < 200 or self.max_digits < 4_300
        object.__setattr__(self, "lowered", is_lower)
        if self.max_depth > 200 or self.max_digits > 4_300:
            raise ValueError(
                "the reader goes 200 levels deep and to 4,300 digits; limits can only be lower"
            )

    def below(self, depth: int) -> Limits:
        """The limits for a value this many levels down."""
        return _below(self, depth) if depth else self


@lru_cache(maxsize=1024)
def _below(limits: Limits, depth: int) -> Limits:
    return replace(limits, max_depth=max(0, limits.max_depth - depth))


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True, kw_only=True)
class Param:
    """One parameter of the author's function."""

    name: str
    positional: bool = False
    """Python allows it by position only."""
    injected: bool = False
    """Filled by the host, never from the wire."""


# Not frozen: a refusal makes them, and freezing costs as much again.
@dataclass(unsafe_hash=True, slots=True, kw_only=True)
class Objection:
    """One error of the author's validation: its place in the author's model, rule and message."""

    model_path: JsonPath
    kind: str
    message: str
    context: Mapping[str, Any] = field(default_factory=dict[str, Any], compare=False)
    """The parameters of the rule, by Pydantic's names: `{"ge": 0}`."""


UNREADABLE = "unreadable"
UNREADABLE_DEFAULT = "unreadable_default"
"""The kinds of objections for an exception in the author's code, and in a default factory."""


MOST_OBJECTIONS = 1_000
"""Past this many, objections are only counted: a large call may have one for every value."""


class InvalidValues(Exception):
    """The author's own validation refused. Raised by `Contract.validate`; its objections are read
    only if needed. `count`: how many there are, if there may be very many. `one_form`: of each
    union, they are about one form only.
    """

    def __init__(
        self, read: Callable[[], Iterable[Objection]], count: int = 0, *, one_form: bool = False
    ) -> None:
        self.read = read
        self.count = count
        self.one_form = one_form

    @property
    def more(self) -> int:
        """How many objections are not among `objections`."""
        return max(0, self.count - MOST_OBJECTIONS)

    @property
    def objections(self) -> tuple[Objection, ...]:
        """The errors of the validation."""
        return tuple(islice(self.read(), MOST_OBJECTIONS))


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """One compiled tool. The flags at the end are derived from its shape and its params."""

    name: str
    description: str
    shape: Shape
    """Of the whole `arguments` object."""
    describe: Callable[[], Mapping[str, Any]]
    """Writes the exact JSON Schema. Use `schema`, which keeps it."""
    validate: Callable[[Any], Any]
    """Decoded arguments -> the function's values, by the author's own validation, once. Raises
    InvalidValues.
    """
    check_unions: Callable[[Any], None] | None = None
    """Raises InvalidValues for arguments to which `validate` would object, if it can find that out
    without trying a form of a union twice on one value. None: it is not known how.
    """
    bind: Callable[[Any], dict[str, Any]] | None = None
    """Values -> keyword arguments; None if the values already are."""
    params: tuple[Param, ...] = ()
    function: Callable[..., Any] | None = None
    validation_proves_shape: bool = False
    """No author's code runs in the validation, and it coerces nothing: it needs no check of the
    shape before.
    """
    limits: Limits = DEFAULT_LIMITS
    listing_schema: Mapping[str, Any] | None = None
    """A schema to list instead of the exact one, if that repeats itself."""
    about_unknown: Callable[[JsonPath], str | None] | None = None
    """Returns advice for an undeclared key, by its path; None if there is none."""
    unsent: Callable[[Any], Iterable[Objection]] | None = None
    """Yields the required fields that a call lacks, if `validate` leaves them to the function: that
    is not called if something else is wrong, but all problems are reported at once.
    """
    controls: Mapping[str, str] = field(default_factory=dict[str, str])
    """Arguments for the server: the name of each here, and in the server's own table."""

    cached_schema: Mapping[str, Any] | None = field(init=False, default=None, repr=False)
    """The cache of `schema`: a server that is only called never writes it."""
    cached_check: Any = field(init=False, default=None, repr=False, compare=False)
    """The cache of `boundary/trial.py`: the compiled check of the schema."""
    cached_places: dict[JsonPath, Any] = field(
        init=False, default_factory=dict[JsonPath, Any], repr=False, compare=False
    )
    """The cache of `boundary/cures/in_place.py`, by path."""
    cached_advice: dict[JsonPath, Any] = field(
        init=False, default_factory=dict[JsonPath, Any], repr=False, compare=False
    )
    """The cache of `boundary/values/explain.py`, by path."""
    closed: bool = field(init=False, default=True)
    """No undeclared key may be sent at the top level."""
    flattened: bool = field(init=False, default=False)
    """Fields were moved up, so values must be put back in place before validation."""
    plain_keywords: bool = field(init=False, default=True)
    """No parameter is injected or positional: the function is called with keywords as they are."""
    has_integers: bool = field(init=False, default=False)
    """There is an integer somewhere, so `5.0` must be read as 5 before validation."""
    has_forms: bool = field(init=False, default=False)
    """Some object may have one of several forms."""
    has_decimals: bool = field(init=False, default=False)
    """There is a Decimal somewhere, so every digit must be kept."""
    has_recursive_unions: bool = field(init=False, default=False)
    """The forms that the validation tries may multiply with each level, so they are counted."""
    takes_text: bool = field(init=False, default=False)
    """Text may be sent at the top level, so it must be looked at for tags."""

    def __repr__(self) -> str:
        fields = (name for form in self.shape.objects for name in form.fields)
        return f"<Contract {self.name}({', '.join(fields)})>"

    @property
    def schema(self) -> Mapping[str, Any]:
        """The exact JSON Schema (2020-12) of the arguments, all that `publish` needs."""
        schema = self.cached_schema
        if schema is None:
            schema = self.describe()
            # The class is frozen for everyone who holds a contract. A cache is no change that they
            # could notice.
            object.__setattr__(self, "cached_schema", schema)
            # The function that wrote it is not needed again.
            object.__setattr__(self, "describe", lambda: schema)
        return schema

    def __post_init__(self) -> None:
        forms = self.shape.objects
        # One open form is enough: an undeclared key may then be meant for it.
        closed = all(form.additional is None for form in forms)
        object.__setattr__(self, "closed", closed)
        flattened = any(form.flattened or form.flattened_below for form in forms)
        object.__setattr__(self, "flattened", flattened)
        plain_keywords = not any(param.injected or param.positional for param in self.params)
        object.__setattr__(self, "plain_keywords", plain_keywords)

        # In an opaque part the author's own code reads the numbers, as they were sent.
        checked = [shape for shape in walk(self.shape) if not shape.opaque]
        has_integers = any("integer" in shape.types for shape in checked)
        object.__setattr__(self, "has_integers", has_integers)
        has_forms = any(len(shape.objects) > 1 for shape in walk(self.shape))
        object.__setattr__(self, "has_forms", has_forms)
        has_decimals = any(shape.decimal for shape in checked)
        object.__setattr__(self, "has_decimals", has_decimals)
        object.__setattr__(self, "has_recursive_unions", has_recursive_unions(self.shape))
        # Only the top level counts: a client whose tag parser goes wrong puts the later arguments
        # of a call into an earlier one, never into a value inside it (`boundary/swallowed.py`).
        top = [shape for form in forms for shape in shapes_in_object(form)]
        takes_text = any("string" in shape.types for shape in top)
        object.__setattr__(self, "takes_text", takes_text)
