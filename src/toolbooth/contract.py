"""Contract: the compiled form of a tool.

`compile/` builds it once, at registration. `publish/` writes its schema, and the boundary checks
every call against it.
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
"""A call with more bytes is large. It is read outside the event loop, and the work on it is limited
more strictly.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of one call. Reading stops at the first limit that is exceeded."""

    max_bytes: int = 4 * 1024 * 1024
    max_depth: int = 200
    max_digits: int = 4_300
    max_values: int = 100_000
    """The number of values in one call, at all levels."""
    max_text: int = 1_500
    """The number of characters in a refusal."""

    lowered: bool = field(init=False, default=False)
    """True if a limit is lower than the limit of the JSON reader, or so low that even a small call
    may exceed it.
    """

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
        """Return the limits for a value that is `depth` levels deeper."""
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
    """True if Python accepts the parameter only by position."""
    injected: bool = False
    """True if the host fills the parameter. Then callers do not send it."""


# Not frozen, because creating a frozen object takes twice as long, and a refusal creates many.
@dataclass(unsafe_hash=True, slots=True, kw_only=True)
class Objection:
    """One error of the author's validation: the path in the author's model, the rule and the
    message.
    """

    model_path: JsonPath
    kind: str
    message: str
    context: Mapping[str, Any] = field(default_factory=dict[str, Any], compare=False)
    """The parameters of the rule, by Pydantic's names: `{"ge": 0}`."""


UNREADABLE = "unreadable"
UNREADABLE_DEFAULT = "unreadable_default"
"""The values of `Objection.kind` for an exception in the author's code, and for one in a default
factory.
"""


MOST_OBJECTIONS = 1_000
"""At most this many errors are kept. The others are only counted. A large call may have one error
for every value.
"""


class InvalidValues(Exception):
    """Raised by `Contract.validate` if the author's own validation refuses the arguments.

    `read` returns the errors; it is called only when they are needed. `count` is the number of
    errors; it is given only if there may be very many. `one_form` is true if only one branch of
    each union was tried.
    """

    def __init__(
        self, read: Callable[[], Iterable[Objection]], count: int = 0, *, one_form: bool = False
    ) -> None:
        self.read = read
        self.count = count
        self.one_form = one_form

    @property
    def more(self) -> int:
        """Return the number of errors that are not in `objections`."""
        return max(0, self.count - MOST_OBJECTIONS)

    @property
    def objections(self) -> tuple[Objection, ...]:
        """Return the errors of the validation."""
        return tuple(islice(self.read(), MOST_OBJECTIONS))


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """One compiled tool. The flags at the end are derived from `shape` and `params`."""

    name: str
    description: str
    shape: Shape
    """The shape of the whole `arguments` object."""
    describe: Callable[[], Mapping[str, Any]]
    """Writes the exact JSON Schema. Use `schema` instead, which caches it."""
    validate: Callable[[Any], Any]
    """Converts decoded arguments to the values of the function's parameters. Runs the author's own
    validation once. Raises InvalidValues.
    """
    check_unions: Callable[[Any], None] | None = None
    """Raises InvalidValues for arguments that `validate` would refuse too. It is faster, because it
    tries each branch of a union only once on each value. It may miss errors. None if there is no
    such check.
    """
    bind: Callable[[Any], dict[str, Any]] | None = None
    """Converts values to keyword arguments; None if the values already are keyword arguments."""
    params: tuple[Param, ...] = ()
    function: Callable[..., Any] | None = None
    validation_proves_shape: bool = False
    """True if the validation runs no author's code and converts nothing. Then the shape need not be
    checked first.
    """
    limits: Limits = DEFAULT_LIMITS
    listing_schema: Mapping[str, Any] | None = None
    """The schema for `tools/list`. None if the exact schema is used."""
    about_unknown: Callable[[JsonPath], str | None] | None = None
    """Returns advice for an undeclared key at a path, or None. The attribute itself is None if the
    tool never has any advice.
    """
    unsent: Callable[[Any], Iterable[Objection]] | None = None
    """Yields an error for each required field that is missing. Used if `validate` does not check
    required fields, but leaves that to the function. The function is not called if something else
    is wrong, so the missing fields are reported from here, together with all other problems.
    """
    controls: Mapping[str, str] = field(default_factory=dict[str, str])
    """The arguments that are meant for the server and not for the tool. Maps the name of each in
    this tool to its name in the server's table.
    """

    cached_schema: Mapping[str, Any] | None = field(init=False, default=None, repr=False)
    """The cache of `schema`. It stays empty if nothing needs the schema."""
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
    """True if no undeclared key may be sent at the top level."""
    flattened: bool = field(init=False, default=False)
    """True if the fields of a nested model were moved to a higher level. Then the values must be
    put back before the validation.
    """
    plain_keywords: bool = field(init=False, default=True)
    """True if no parameter is filled by the host or positional-only. Then the keyword arguments are
    passed on unchanged.
    """
    has_integers: bool = field(init=False, default=False)
    """True if an integer is declared somewhere. Then `5.0` must become 5 before the validation."""
    has_forms: bool = field(init=False, default=False)
    """True if some object may match one of several object types of a union."""
    has_decimals: bool = field(init=False, default=False)
    """True if a Decimal is declared somewhere. Then every digit must be kept."""
    has_recursive_unions: bool = field(init=False, default=False)
    """True if a union can contain itself. Then the number of combinations that the validation tries
    may multiply with each level, so they are counted.
    """
    takes_text: bool = field(init=False, default=False)
    """True if text may be sent at the top level. Then it must be searched for tags."""

    def __repr__(self) -> str:
        fields = (name for form in self.shape.objects for name in form.fields)
        return f"<Contract {self.name}({', '.join(fields)})>"

    @property
    def schema(self) -> Mapping[str, Any]:
        """Return the exact JSON Schema (2020-12) of the arguments."""
        schema = self.cached_schema
        if schema is None:
            schema = self.describe()
            # The class is frozen, but this is only a cache, so nobody notices the change.
            object.__setattr__(self, "cached_schema", schema)
            # The function that writes the schema is not needed any more.
            object.__setattr__(self, "describe", lambda: schema)
        return schema

    def __post_init__(self) -> None:
        forms = self.shape.objects
        # One open form is enough, because an undeclared key may be meant for it.
        closed = all(form.additional is None for form in forms)
        object.__setattr__(self, "closed", closed)
        flattened = any(form.flattened or form.flattened_below for form in forms)
        object.__setattr__(self, "flattened", flattened)
        plain_keywords = not any(param.injected or param.positional for param in self.params)
        object.__setattr__(self, "plain_keywords", plain_keywords)

        # In an opaque part, the author's own code gets the numbers as they were sent.
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
