"""Writes descriptions. A keyword that is not published becomes a short phrase in the
description.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolbooth.examples import WORDS_OF_FORMATS
from toolbooth.jsonvalue import Json, shorten
from toolbooth.publish.nodes import array_of, identity, object_of, values_of

MAX_PHRASE = 80
"""A phrase longer than this is left out."""

MAX_LIST = 401
"""A list of names or values has at most this many characters, with the ellipsis."""

TAKEN_FORMAT = "date-time"
"""The only text format that every client accepts."""

_ENUM_KEYS = frozenset({"type", "const", "enum"})


def describe(keywords: Json, more: str | None) -> Json:
    """Return the keywords, with `more` added to the description."""
    text = join_texts(keywords.get("description"), more)
    return {**keywords, "description": text} if text else keywords


def join_texts(text: str | None, more: str | None) -> str | None:
    """Return `text` followed by `more` in brackets. If `text` already contains `more`, return only
    `text`.
    """
    if text and more and more not in text:
        return f"{text} ({more})"
    return text or more


def describe_format(keywords: Json) -> Json:
    """Write the `format` of a string in words. `date-time` is kept as a keyword."""
    words = format_phrase(keywords.get("format"))
    if keywords.get("type") != "string" or words is None:
        return keywords
    kept = {key: each for key, each in keywords.items() if key != "format"}
    return describe(kept, words)


def format_phrase(name: Any) -> str | None:
    """Return the words for a `format`. Return None for `date-time`, which is kept as a keyword."""
    if not isinstance(name, str) or name == TAKEN_FORMAT:
        return None
    return WORDS_OF_FORMATS.get(name, name)


def shorten_list(text: str) -> str:
    """Shorten a list of names or values that is too long to read."""
    return shorten(text, MAX_LIST)


def phrase_of(word: str, schema: Any) -> str | None:
    """Return a word followed by a schema. Return None if the phrase would be too long, or if the
    schema is empty.
    """
    written = dict(object_of(schema))
    written.pop("title", None)
    written.pop("description", None)
    if not written:
        return None
    if written.keys() == {"type"}:
        text = str(written["type"])
    elif written.keys() <= _ENUM_KEYS:
        # A list of choices is useful even if its end is missing. A schema that is cut in the middle
        # is not.
        return shorten_list(f"{word} {' or '.join(map(value_text, values_of(written)))}")
    else:
        text = identity(written)
    # The published schema has no definitions, so a reference would point to nothing.
    is_short = len(text) <= MAX_PHRASE and "$ref" not in text
    return f"{word} {text}" if is_short else None


def value_text(value: Any) -> str:
    """Return a value for people to read: text without quotes."""
    return value if isinstance(value, str) else identity(value)


def pattern_phrase(pattern: str, schema: Any) -> str:
    """Describe the keys that match a pattern of `patternProperties`."""
    keys = f"keys matching {pattern}"
    return phrase_of(f"{keys}:", schema) or keys


def dependency_phrases(schema: Json) -> Iterator[str]:
    """Yield phrases for `dependentRequired` and for its older name `dependencies`."""
    for name, names in dependencies(schema):
        yield f"{name} needs {', '.join(names)}"


def dependencies(schema: Json) -> Iterator[tuple[str, list[Any]]]:
    """Yield each key that requires other keys, together with those keys."""
    every = object_of(schema.get("dependentRequired")) | object_of(schema.get("dependencies"))
    for name, needed in every.items():
        if names := array_of(needed):
            yield name, names


def combinations_phrase(objects: list[Json]) -> str | None:
    """Return the phrase for alternative objects that are published as one object. It says which
    keys belong together. None if there is nothing to say.
    """
    labels_of_each = [list(_key_labels(keywords)) for keywords in _without_covered(objects)]
    shared = set(labels_of_each[0]).intersection(*labels_of_each)
    phrases = dict.fromkeys(_keys_phrase(labels, shared) for labels in labels_of_each)
    if len(phrases) < 2:
        return None
    return shorten_list(f"combinations: {' or '.join(phrases)}")


def _without_covered(objects: list[Json]) -> list[Json]:
    """Return the objects. Leave out an object if another one is equal but requires fewer keys."""
    alike: dict[str, list[Json]] = {}
    for keywords in objects:
        alike.setdefault(identity({**keywords, "required": None}), []).append(keywords)
    return [keywords for group in alike.values() for keywords in _least_required(group)]


def _least_required(group: list[Json]) -> list[Json]:
    """Remove objects that allow nothing more than another one. All objects of `group` differ only
    in their required keys. One that requires `a` covers one that requires `a` and `b`.
    """
    kept: list[Json] = []
    # Those that require the least come first, because only they can cover others.
    for keywords in sorted(group, key=lambda each: len(each.get("required", ()))):
        required = set(keywords.get("required", ()))
        if not any(required.issuperset(each.get("required", ())) for each in kept):
            kept.append(keywords)
    return kept


def _keys_phrase(labels: list[str], shared: set[str]) -> str:
    own = ", ".join(label for label in labels if label not in shared)
    return f"({own})" if own else "none of these"


def _key_labels(keywords: Json) -> Iterator[str]:
    """Yield a label for each key of an object: the key with its description."""
    required: list[str] = keywords.get("required", [])
    properties: Json = keywords.get("properties", {})
    if text := keywords.get("description"):
        yield text
    for name in dict.fromkeys([*properties, *required]):
        # `false` as the schema of a key means that it may not be sent.
        if properties.get(name) is not False:
            yield _key_label(name, properties.get(name), is_required=name in required)


def _key_label(name: str, schema: Any, *, is_required: bool) -> str:
    values = values_of(schema)
    if len(values) == 1:
        return f"{name}={values[0]}"
    return name if is_required else f"{name}?"
