"""Makes the schemas of single fields. They lack uninformative keywords, and accept all values that
REST framework accepts.
"""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from toolbooth.django.describe import messages
from toolbooth.django.describe.date_forms import other_forms
from toolbooth.jsonvalue import Json, is_array, is_object
from toolbooth.publish.words import format_phrase
from toolbooth.secret_names import is_secret_name

JSON_TYPES = ["object", "array", "number", "boolean"]
"""The types that a JSONField accepts, besides null. Text is not among them, because a document that
is sent as JSON text is parsed first.
"""

ANY_ITEMS = {"type": ["object", "string", "number", "boolean"]}
"""The schema to publish for the items of a list in a JSON document. Lists of lists are accepted
too, but publishing them is not worth the tokens.
"""

LONG_TEXT = 200
"""A number of characters. Limits of this length or more are not listed: they are those of URLs and
email addresses.
"""

MOST_LABELS = 30
"""The most choices that a description explains."""

_INTEGER_LIMITS = (2**15, 2**31, 2**32, 2**63, 2**64)
"""Limits of a database's integers. They do not come from the author of the field."""

_NUMBER_FORMATS = ("int32", "int64", "float", "double")

_NOISE = frozenset(
    ("title", "readOnly", "writeOnly", "example", "examples", "externalDocs", "discriminator")
)


def trimmed(schema: Json) -> Json:
    """Return a schema without uninformative keywords."""
    made = {key: each for key, each in schema.items() if key not in _NOISE}
    # `int64` or `double` describes the column. An agent would send the same number without it.
    if made.get("format") in _NUMBER_FORMATS:
        del made["format"]
    for key in ("minimum", "maximum"):
        if key in made and _is_integer_limit(made[key]):
            del made[key]
    # Python's regular expressions have syntax that those of JSON Schema do not have.
    if "(?" in str(made.get("pattern", "")):
        del made["pattern"]
    if is_object(made.get("items")):
        made["items"] = trimmed(made["items"])
    if is_object(made.get("properties")):
        made["properties"] = {key: trimmed(each) for key, each in made["properties"].items()}
    return made


def without_loose_limits(schema: Json) -> Json:
    """Return a schema without limits of length that callers seldom reach. This saves tokens in
    lists of tools. Help and refusals still contain the limits.
    """
    made = {key: each for key, each in schema.items() if not _is_loose_limit(key, each)}
    if is_object(made.get("items")):
        made["items"] = without_loose_limits(made["items"])
    if is_object(made.get("properties")):
        inner = made["properties"].items()
        made["properties"] = {key: without_loose_limits(each) for key, each in inner}
    return made


def _is_loose_limit(key: str, value: Any) -> bool:
    is_long = key == "maxLength" and value >= LONG_TEXT
    # Every text field that refuses the empty text has a minimum of 1.
    return is_long or (key, value) == ("minLength", 1)


def without_words(schema: Json) -> Json:
    """Return a schema without descriptions. Lists and objects keep their descriptions, which may
    contain an example.
    """
    made = dict(schema)
    if _is_document(schema) or not _kinds(schema) & {"array", "object"}:
        made.pop("description", None)
    if is_object(made.get("items")):
        made["items"] = without_words(made["items"])
    if is_object(made.get("properties")):
        made["properties"] = {key: without_words(each) for key, each in made["properties"].items()}
    return made


def _is_integer_limit(value: Any) -> bool:
    if not isinstance(value, int):
        return False
    # An integer of 32 bits is at least -2**31 and at most 2**31 - 1.
    return any(abs(value) in (limit, limit - 1) for limit in _INTEGER_LIMITS)


def scalar_schema(schema: Json, found: Any, name: str) -> Json:
    """Return the schema of a scalar. It accepts all values that REST framework accepts."""
    made = trimmed(schema)
    if isinstance(found, serializers.JSONField):
        # drf-spectacular writes an empty schema for this field. If there is more, its author has
        # described the document.
        if not made.keys() & {"type", "properties", "anyOf", "oneOf"}:
            types = [*JSON_TYPES, *_null(found)]
            return {**made, "type": types, "additionalProperties": True, "items": ANY_ITEMS}
    elif isinstance(found, serializers.DictField):
        if not is_object(made.get("additionalProperties")):
            return {**made, "additionalProperties": True}
    elif isinstance(found, serializers.DecimalField):
        made.pop("pattern", None)
        return {**made, "type": ["number", "string", *_null(found)], "format": "decimal"}
    elif isinstance(found, serializers.ChoiceField):
        return _choices(made, found)
    elif isinstance(found, serializers.CharField):
        return _text(made, found, name)
    forms = other_forms(found)
    if forms:  # the boundary would ask for ISO 8601, which the field refuses
        made.pop("format", None)
        return with_words(made, forms)
    return made


def _null(found: Any) -> list[str]:
    return ["null"] if found.allow_null else []


def as_number(schema: Json) -> Json:
    """Return the schema to publish for a decimal with few digits. Every client keeps such a decimal
    exact as a number. Text is accepted too, but the published schema is shorter without it.
    """
    kinds = [kind for kind in schema["type"] if kind != "string"]
    made = {key: each for key, each in schema.items() if key != "format"}
    # The default of a decimal is text, such as `"0.00"`, and would violate the published type.
    if isinstance(made.get("default"), str):
        made["default"] = float(made["default"])
    return {**made, "type": kinds[0] if len(kinds) == 1 else kinds}


# --- text ---


def _text(schema: Json, found: Any, name: str) -> Json:
    made = _text_or_blank(schema) if found.allow_blank else schema
    # The boundary does not repeat a value of this format in a refusal.
    is_secret = found.style.get("input_type") == "password" or is_secret_name(name)
    return {**made, "format": "password"} if is_secret else made


def _text_or_blank(schema: Json) -> Json:
    """Return one schema for text that may be empty. drf-spectacular writes a separate branch for
    the empty text. The pattern is removed, because the empty text would violate it.
    """
    branches: list[Json] = schema.get("oneOf", [])
    # The branch for the empty text is `{"type": "string", "maxLength": 0}`.
    longer = next((each for each in branches if each.get("maxLength") != 0), schema)
    made = {**schema, **longer}
    made.pop("oneOf", None)
    made.pop("pattern", None)
    return made


# --- choices ---


def _choices(schema: Json, found: Any) -> Json:
    """Return the schema of a field with choices. It contains the empty choice if the field allows
    it, and the labels that differ from their values. If the choices are only known in a request,
    the schema accepts any value, and the field decides.
    """
    if not found.choices:
        return _without_choices(schema)
    if isinstance(found, serializers.MultipleChoiceField) and "items" in schema:
        made: Json = {**schema, "items": _with_blank(schema["items"], found)}
    else:
        made = _with_blank(schema, found)
    # Labels may be lazy strings.
    labels = {value: str(label) for value, label in found.choices.items()}
    telling = [f"{value} = {label}" for value, label in labels.items() if _says_more(label, value)]
    if not telling or len(labels) > MOST_LABELS:
        return made
    return with_words(made, ", ".join(telling))


def _without_choices(schema: Json) -> Json:
    made = {key: each for key, each in schema.items() if key not in ("enum", "oneOf")}
    if is_object(made.get("items")):
        made["items"] = _without_choices(made["items"])
    return made


def _with_blank(schema: Json, found: Any) -> Json:
    if found.allow_blank and "enum" in schema and "" not in schema["enum"]:
        return {**schema, "enum": [*schema["enum"], ""]}
    return schema


def _says_more(label: str, value: Any) -> bool:
    # A label such as `In progress` adds nothing to the value `IN_PROGRESS`.
    return _letters(str(value)) != _letters(label.replace(" ", ""))


def _letters(text: str) -> str:
    return text.lower().replace("_", "").replace("-", "")


def with_words(schema: Json, words: str) -> Json:
    """Return a schema with `words` added at the end of its description."""
    before = str(schema.get("description") or "").rstrip(". ")
    return {**schema, "description": f"{before}. {words}" if before else words}


def in_words(schema: Json) -> Json:
    """Return the schema of a field for a list of tools. A JSON document is listed as text. The
    description mentions null, because many clients do not find it in the type.
    """
    if _is_document(schema):
        return _saying_null(_as_text(schema), schema)
    made = dict(schema)
    if is_object(made.get("items")):
        made["items"] = in_words(made["items"])
    if is_object(made.get("properties")):
        made["properties"] = {key: in_words(each) for key, each in made["properties"].items()}
    return _saying_null(made, schema)


def _is_document(schema: Json) -> bool:
    """Return True if a schema accepts any JSON value except text."""
    return set(JSON_TYPES) <= _kinds(schema)


def _as_text(schema: Json) -> Json:
    """Return a schema for a document that is sent as JSON text. Gemini refuses an object schema
    without properties, and OpenAI's strict mode sends no fields in such an object.
    """
    words = schema.get("description")
    text = f"{messages.JSON_TEXT}: {words}" if words else messages.JSON_TEXT
    return {"type": "string", "description": text}


def _saying_null(schema: Json, original: Json) -> Json:
    if not _takes_null(original):
        return schema
    # A profile that writes formats in words does not repeat these.
    words = schema.get("description") or format_phrase(schema.get("format"))
    text = str(words or "").rstrip(". ")
    return {**schema, "description": f"{text}, {messages.OR_NULL}" if text else messages.OR_NULL}


def _takes_null(schema: Json) -> bool:
    branches: list[Json] = schema.get("anyOf") or schema.get("oneOf") or []
    return "null" in _kinds(schema) or any(map(_takes_null, branches))


def _kinds(schema: Json) -> set[Any]:
    """Return the types in a schema's own `type` keyword."""
    kinds = schema.get("type")
    return set(kinds) if is_array(kinds) else {kinds}
