"""The messages of a refusal about values: the rule of the type or of the author's validation, an
example, and the possible meaning of a wrong value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

from pydantic_core.core_schema import ErrorType

from toolbooth.boundary.messages import MISSING, UNREADABLE_VALUE, choices, count_of, with_value
from toolbooth.contract import UNREADABLE, UNREADABLE_DEFAULT, Objection
from toolbooth.jsonvalue import listed, quoted, shorten, write_json
from toolbooth.shape import ObjectShape, Shape

# --- errors of the author's validation ----------------------------------------------------------

_NOT_TAKEN = "has a form that is not accepted here"

_BY_TYPE = {
    "must be an object": (
        *("dict_type", "mapping_type", "model_type", "model_attributes_type"),
        *("dataclass_type", "arguments_type"),
    ),
    "must be an array": (
        *("list_type", "tuple_type", "set_type", "frozen_set_type", "deque_type", "iterable_type"),
    ),
    "must be text": ("string_type", "string_unicode"),
    "must be an integer": ("int_type", "int_parsing", "int_from_float"),
    "must be a number": ("float_type", "float_parsing"),
    "must be a decimal number": ("decimal_type", "decimal_parsing"),
    "must be true or false": ("bool_type", "bool_parsing"),
    "must be a date": ("date_type", "date_parsing", "date_from_datetime_parsing"),
    "must be a date without a time": ("date_from_datetime_inexact",),
    "must be a date and time as ISO 8601 text": (
        *("datetime_type", "datetime_parsing", "datetime_from_date_parsing"),
    ),
    "must be a time as ISO 8601 text": ("time_type", "time_parsing"),
    "must be a duration as ISO 8601 text": ("time_delta_type", "time_delta_parsing"),
    "must be a UUID": ("uuid_type", "uuid_parsing"),
    "must be a URL": ("url_type", "url_parsing", "url_syntax_violation"),
    "must be null": ("none_required",),
}
"""Our messages for Pydantic's errors about a type. In these cases, an example is enough to show how
to write a value.
"""

_TYPES = {kind: said for said, kinds in _BY_TYPE.items() for kind in kinds}

_BOUNDS = {
    "greater_than": ("must be greater than {}", "gt"),
    "greater_than_equal": ("must be at least {}", "ge"),
    "less_than": ("must be less than {}", "lt"),
    "less_than_equal": ("must be at most {}", "le"),
    "multiple_of": ("must be a multiple of {}", "multiple_of"),
    "string_pattern_mismatch": ("must match the pattern {}", "pattern"),
    "uuid_version": ("must be a UUID of version {}", "expected_version"),
    "url_scheme": ("must be a URL that starts with {}", "expected_schemes"),
}
"""Rules with a limit: our message, and the name of the limit in Pydantic's error."""

_LENGTHS = {
    "string_too_short": ("must have at least", "min_length", "character"),
    "string_too_long": ("must have at most", "max_length", "character"),
    "url_too_long": ("must have at most", "max_length", "character"),
    "too_short": ("must have at least", "min_length", "item"),
    "too_long": ("must have at most", "max_length", "item"),
    "decimal_max_digits": ("must have at most", "max_digits", "digit"),
    "decimal_max_places": ("must have at most", "decimal_places", "decimal place"),
}

_OTHERS = {
    "missing": MISSING,
    UNREADABLE: UNREADABLE_VALUE,
    UNREADABLE_DEFAULT: "its value could not be read from the default; send a value",
    "is_instance_of": _NOT_TAKEN,
    "is_subclass_of": _NOT_TAKEN,
    "callable_type": _NOT_TAKEN,
}
"""Our messages for errors for which Pydantic has no message, or a message with Python types."""

_CHOICES = ("enum", "literal_error")

SCHEMA_RULE = "schema_"
"""The prefix in the `kind` of errors that come from a JSON Schema."""

_MOST_FORMS = 8
"""A message names at most this many branches of a union."""

# An example never contains a URL, so it would not help with `url_scheme`. null needs no example.
_SHOWN = frozenset((*_TYPES, *_BOUNDS, *_LENGTHS, *_CHOICES)) - {"none_required", "url_scheme"}

_PYDANTICS = frozenset(get_args(ErrorType))
"""The kinds of errors for which Pydantic writes the message. If an author wrote the message, it is
not changed.
"""

# Longer prefixes come first, because a shorter one would match before them.
_VOCABULARY = (
    ("Input should be", "must be"),
    ("Input should", "must"),
    ("Input is", "is"),
    ("datetime", "date and time"),
    ("timedelta", "duration"),
    ("dictionary", "object"),
    ("Dictionary", "Object"),
)


def can_be_shown(kind: str | None) -> bool:
    """Return True if an example is enough to explain this error. It is not enough if the author's
    own code may require more than the type and the schema.
    """
    return kind is not None and (kind in _SHOWN or kind.startswith(SCHEMA_RULE))


def objection(said: Objection, shape: Shape | None = None) -> str:
    """Return the message for one error of the author's validation. It contains no Python words."""
    kind = said.kind
    if kind in _TYPES or kind in _OTHERS:
        return _TYPES.get(kind) or _OTHERS[kind]
    # Pydantic's sentence has the choices as Python writes them, in single quotes.
    if kind in _CHOICES and shape is not None and shape.constants:
        return f"must be {choices(shape.constants)}"
    if kind.startswith("union_tag_"):
        return _tagged(said)
    text = _limited(kind, said.context) or said.message
    # Pydantic puts these words before the message of an author's own exception.
    for start in ("Value error, ", "Assertion failed, "):
        text = text.removeprefix(start)
    if kind in _PYDANTICS:
        for python, ours in _VOCABULARY:
            text = text.replace(python, ours)
    return text


def _limited(kind: str, context: Mapping[str, Any]) -> str:
    """Return the message of a rule with its limit. Return empty text if the rule has no limit."""
    rule, name = _BOUNDS.get(kind, ("", ""))
    if name in context:
        return rule.format(_plain(context[name]))
    rule, name, noun = _LENGTHS.get(kind, ("", "", ""))
    if name not in context:
        return ""
    # Pydantic counts the keys of a dict, and calls them items.
    noun = "key" if context.get("field_type") == "Dictionary" else noun
    return f"{rule} {count_of(context[name], noun)}"


def _plain(limit: Any) -> Any:
    """Return a whole number such as 5.0 without its point."""
    return int(limit) if isinstance(limit, float) and limit.is_integer() else limit


# Pydantic's messages name the tag: "Unable to extract tag using discriminator 'kind'".
_MISSING_TAG = re.compile(r"'([^']*)'")
_WRONG_TAG = re.compile(r"using '?([^']*?)'? does")


def _tagged(said: Objection) -> str:
    """Report a wrong tag of a union whose branches are not known."""
    pattern = _WRONG_TAG if said.kind == "union_tag_invalid" else _MISSING_TAG
    found = pattern.search(said.message)
    tag = found.group(1) if found else "the tag"
    if said.kind == "union_tag_invalid":
        return f"must have one of {said.message.rpartition('tags: ')[2]} as {quoted(tag)}"
    return f"must have {quoted(tag)}, which selects the form"


def forms_by_tag(forms: Sequence[ObjectShape], tag: str, sent: Mapping[str, Any]) -> str:
    """Report a missing or invalid tag. List each valid value of the tag, with the fields that it
    needs.
    """
    start = "must be one of" if tag in sent else MISSING
    return f"{start}: {_forms(forms, tag)}"


def with_tag_sent(message: str, value: Any) -> str:
    """Add the tag that was sent to the message, if it is short."""
    return (
        message if value is None or isinstance(value, dict | list) else with_value(message, value)
    )


def _forms(forms: Sequence[ObjectShape], tag: str) -> str:
    said = "; ".join(_form(form, tag) for form in forms[:_MOST_FORMS])
    return f"{said}; or {len(forms) - _MOST_FORMS} others" if len(forms) > _MOST_FORMS else said


def _form(form: ObjectShape, tag: str) -> str:
    values = choices(form.fields[tag].shape.constants or ())
    others = [name for name in form.names if name != tag and form.fields[name].required]
    return f"{values} with {listed(tuple(others), 6)}" if others else values


def forms_by_fields(lacking: Sequence[tuple[str, ...]]) -> str:
    """Report missing fields of an object for which a union is declared. Several branches are
    possible.
    """
    # The same fields may be missing from two forms.
    forms = dict.fromkeys(" and ".join(map(quoted, names)) for names in lacking)
    return f"one of these is required, but none was sent: {'; or '.join(forms)}"


def sent_as(name: str) -> str:
    """Report a missing field that was sent under another name."""
    return f"is required, but was sent as {quoted(name)}"


def sent_inside(name: str) -> str:
    """Report a missing field that was sent inside another field."""
    return f"is required, but was sent inside {quoted(name)}"


def plain_choices(constants: Iterable[Any]) -> str:
    """Return the choices for a placeholder. They are not quoted."""
    return shorten(" or ".join(str(each) for each in constants if each is not None), 60)


def invalid_key(said: Objection) -> str:
    """Report an invalid key of an open object."""
    return f"as a key: {objection(said)}"


def no_form_fits(reasons: list[str]) -> str:
    """Join the messages of all branches of a union."""
    if len(reasons) == 1:
        return reasons[0]
    # A union may have dozens of branches, and a few reasons are enough for an agent.
    return "fits none of the accepted forms: " + "; ".join(reasons[:4])


# --- advice -------------------------------------------------------------------------------------

UNKNOWN = "leave it out if unknown"
NULL_IF_UNKNOWN = "null if unknown"
NULL_IF_NONE = "send null if there is none"
KEEP_OR_CLEAR = "leave it out to keep it, null to clear it"
UNKNOWN_OR_NONE = "leave it out if unknown, null if there is none"
PLACEHOLDER = "is a placeholder; send a real value"


def with_advice(message: str, advice: Iterable[str]) -> str:
    """Add the advice to the message of a problem."""
    return "; ".join((message.removesuffix("."), *advice))


def example(value: str) -> str:
    """Return the advice that shows an example."""
    return f"e.g. {value}"


def if_number(*numbers: str) -> str:
    """Return the advice with the one or two numbers that a text may mean."""
    if len(numbers) == 1:
        return f"send {numbers[0]} if that is the number"
    return f"send {' or '.join(numbers)}, whichever is meant"


def default_or_null(default: Any) -> str:
    """Return the advice for a nullable field whose default is not null."""
    return f"leave it out for {write_json(default)}, null for none"


def several_or_one(parts: list[Any], *wholes: Any) -> str:
    """Return the advice for a text with commas, where an array of text or numbers is declared."""
    ones = "".join(f", {write_json([each])} for one" for each in wholes)
    return f"send {write_json(parts)} for {len(parts)} values{ones}"


def as_utc(number: str, unit: str) -> str:
    """Return the advice for a number that the corrected call sends as a date and time."""
    return f"{number} is read as {unit} since 1970 in UTC"


def if_seconds(date: str, unit: str) -> str:
    """Return the advice for a number that was sent where a date is declared."""
    return f"send {write_json(date)} if these are {unit} since 1970 (UTC)"
