"""Writes the descriptions of parameters that take JSON text. They say that JSON text is expected,
and have an example and the choices.

The published type of such a parameter is a string, so agents see the inner type only in the
description. What the author's own description already says is not repeated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from toolbooth.examples import Examples
from toolbooth.jsonvalue import Json, Schema, is_array, is_object, write_json
from toolbooth.references import subschemas
from toolbooth.sample import json_in, sample_value

EXAMPLE_KEY = "x-toolbooth-example"
"""A key in the schema while it is being written. It holds the example of a `JsonText`, as JSON
text.
"""

_SAYS_JSON = re.compile(r"\bjson\b", re.IGNORECASE)
_FORMS: dict[Any, str] = {"object": "a JSON object", "array": "a JSON list"}
_COUNTED: dict[Any, str] = {"object": "Properties", "array": "Items"}
_SOLE_CHOICES = {
    "[]": "a JSON list of",
    ".*": "a JSON object with the values",
    ".(keys)": "a JSON object with the keys",
}
_ENDS = (".", "!", "?", ":", ";", "…", "。", "！", "？")  # noqa: RUF001


def describe_json_texts(document: Json) -> None:
    """Add a description to every text in the schema that takes a JSON object or array."""
    texts = list(_texts(document))
    # Made only for documents with such a text, because it reads the whole document.
    shown = Examples(document) if texts else None
    for node, text in texts:
        assert shown is not None
        _describe(node, text, shown)


def _texts(document: Json) -> Iterator[tuple[Json, Json]]:
    """Yield every node that takes JSON as text, and the schema of the text. The text may be the
    node itself, or one of its alternatives.
    """
    waiting: list[Any] = [document]
    while waiting:
        node = waiting.pop()
        if is_object(node):
            # A nullable text is an alternative, and the description belongs to the node.
            branches = (node, *node.get("anyOf", ()))
            yield from ((node, each) for each in branches if "contentSchema" in each)
            waiting += subschemas(node)


def _describe(node: Json, text: Json, shown: Examples) -> None:
    content, marked = text["contentSchema"], text.pop(EXAMPLE_KEY, None)
    if marked is not None:
        _move_lengths(text, content)
    # An author's `Json[T]` needs words only for the parts that the schema does not show.
    is_form = shown.is_complex(text)
    if marked is None and not (is_form and shown.tells(content)):
        return
    # An example of null shows nothing of the type.
    given = [] if marked in (None, "null") else [marked]
    for each in (node, text):
        if is_array(each.get("examples")):
            each["examples"] = [_as_text(example) for example in each["examples"]]
            given += each["examples"]
    said = node.get("description") or text.get("description") or ""
    example = next(iter(given), "null")
    described = _described(said, content, example, shown) if is_form else _scalar(said, example)
    # The description is also written at the alternative, because a reader may see only that.
    node["description"] = text["description"] = described


def _scalar(said: str, example: str) -> str:
    """Return the description of a number or boolean that is sent as JSON text."""
    head = "" if _SAYS_JSON.search(said) else "Takes JSON"
    return _joined(said.rstrip(), head, "" if example == "null" else example)


def _as_text(example: Any) -> str:
    """Return an example as JSON text. If the example is a text, the author has already written
    JSON.
    """
    return example if isinstance(example, str) else write_json(example)


def _move_lengths(text: Json, content: Any) -> None:
    """Move length limits, which an author wrote after `JsonText()`, from the text to the value
    inside it.
    """
    noun = _COUNTED.get(content.get("type"))
    for bound in ("min", "max"):
        length = text.pop(f"{bound}Length", None)
        if length is not None and noun is not None:
            content[bound + noun] = length


def _described(said: str, content: Any, given: str, shown: Examples) -> str:
    choices: dict[str, list[str]] = {}
    for place, values in _choices(shown, content, "", frozenset()):
        if not all(_mentions(said, value) for value in values):
            choices.setdefault(place, []).extend(values)
    example = _example(said, content, given, shown)
    if not _SAYS_JSON.search(said):
        head = f"Takes {_form(choices, shown.document.open(content).branches, example)}"
    else:
        head = f"Choices: {_labelled(choices)}" if choices else ""
    return _joined(said.rstrip(), head, example)


def _joined(said: str, head: str, example: str) -> str:
    """Join the author's description, a sentence and an example."""
    if not head and not example:
        return said
    if not head:
        starts = f"{said} E.g." if said.endswith(_ENDS[1:]) else f"{said.removesuffix('.')}, e.g."
        return f"{starts} {example}"
    sentence = f"{head}, e.g. {example}" if example else f"{head}."
    if not said:
        return sentence
    return f"{said} {sentence}" if said.endswith(_ENDS) else f"{said}. {sentence}"


def _example(said: str, content: Any, given: str, shown: Examples) -> str:
    """Return the author's example, if it fits the type and is not in the description already. If
    the author gave none, try to make an example from the type.
    """
    in_text = shown.fitting(content, json_in(said))
    try:
        value = json.loads(given)
    except ValueError:  # an author's own text
        value = None
    # An example that does not fit the type would teach agents a wrong call.
    if value in shown.fitting(content, [value]):
        return "" if value in in_text else given
    if in_text or not shown.tells(content) or any(shown.missing_in(content)):
        return ""
    made = sample_value(_with_all_fields(shown, content), shown.document.schema)
    return write_json(made) if shown.fitting(content, [made]) else ""


def _with_all_fields(shown: Examples, content: Any) -> Any:
    """Return the schema, changed so that an example for it has every field, also the optional
    ones.
    """
    # Agents see the type only in this example, so it includes optional fields.
    branch = shown.document.open(content).branches[0]
    return {**branch, "required": list(branch["properties"])} if "properties" in branch else branch


# --- choices ------------------------------------------------------------------------------------


def _choices(
    shown: Examples, schema: Any, place: str, above: frozenset[str]
) -> Iterator[tuple[str, list[str]]]:
    """Yield the choices inside a type, each with its path, such as `.kind` or `.lines[].kind`. In a
    path, `.*` means any key.
    """
    branches = shown.document.open(schema).branches
    if any(map(_values, branches)):
        yield place, [word for branch in branches for word in _words(branch)]
    for branch in branches:
        fields = branch.get("properties", {})
        written = write_json(fields)
        if fields and written in above:  # a model that contains itself
            continue
        above |= {written}
        keys = shown.document.open(branch.get("propertyNames", True)).branches
        if any(map(_values, keys)):
            yield f"{place}.(keys)", [word for each in keys for word in _words(each)]
        for step, each in _steps(branch, fields):
            yield from _choices(shown, each, place + step, above)


def _steps(branch: Schema, fields: Schema) -> Iterator[tuple[str, Any]]:
    """Yield each schema directly inside an object or array, with its step in the path."""
    yield from ((f".{name}", each) for name, each in fields.items())
    if is_object(others := branch.get("additionalProperties")):
        yield ".*", others
    prefix: list[Any] = branch.get("prefixItems", [])
    yield from ((f"[{index}]", each) for index, each in enumerate(prefix))
    if is_object(items := branch.get("items")):
        yield "[]", items


def _values(branch: Schema) -> list[Any]:
    if "const" in branch:
        return [branch["const"]]
    values = branch.get("enum")
    return values if is_array(values) else []


def _words(branch: Schema) -> list[str]:
    """Return the choices of a branch as JSON. If the branch has no choices, return its type."""
    return [write_json(value) for value in _values(branch)] or [f"any {branch.get('type', 'JSON')}"]


def _mentions(text: str, word: str) -> bool:
    """Return True if a text contains a choice, with or without its quotes."""
    # Not inside a longer word: "all" does not mention "a".
    return re.search(rf"(?<!\w){re.escape(word.strip(chr(34)))}(?!\w)", text) is not None


def _form(choices: dict[str, list[str]], branches: list[Schema], example: str) -> str:
    """Describe in words which JSON is accepted, with its choices."""
    if choices:
        [place, words] = next(iter(choices.items()))
        label = _SOLE_CHOICES.get(place) if len(choices) == 1 else None
        return f"{label} {', '.join(words)}" if label else f"JSON ({_labelled(choices)})"
    kinds = {branch.get("type") for branch in branches}
    return _FORMS.get(kinds.pop(), "JSON") if len(kinds) == 1 and not example else "JSON"


def _labelled(choices: dict[str, list[str]]) -> str:
    if choices.keys() == {"[]"}:
        return ", ".join(choices["[]"])
    labels = {place: place.removeprefix(".") for place in choices}
    labels |= {"[]": "items", ".*": "values", ".(keys)": "keys"}
    return "; ".join(f"{labels[place]}: {', '.join(words)}" for place, words in choices.items())
