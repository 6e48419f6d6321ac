"""Ways to publish that a create accepts many rows: each is a `tools/list`, made from the two that
the gateway has.

`single` is the list with a sentence in each create, `separate` the one with `BULK_TOOLS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Json = dict[str, Any]
Tools = Mapping[str, Json]

SENTENCE = ' Many: {"objects": [{…}]}, all or none.'
_CONTROLS = ("help",)
"""Arguments of a create that are not fields of its row."""
_TEXT = {"type": "string", "description": "JSON text"}


def _creates(
    single: Tools, separate: Tools, change: Callable[[Json, Json], tuple[Json, str]]
) -> dict[str, Json]:
    """The single list with another schema and description of each create. `change` gets the schema
    of a create and that of its rows.
    """
    made: dict[str, Json] = {}
    for name, tool in single.items():
        bulk = separate.get(name.replace("__create", "__bulk_create"))
        if not name.endswith("__create") or bulk is None:
            made[name] = tool
            continue
        rows = bulk["inputSchema"]["properties"]["objects"]
        schema, words = change(tool["inputSchema"], rows)
        description = tool["description"].removesuffix(SENTENCE) + words
        made[name] = {**tool, "inputSchema": schema, "description": description}
    return made


def sentence(single: Tools, _separate: Tools) -> Tools:
    return single


def bulk_tools(_single: Tools, separate: Tools) -> Tools:
    return separate


def bulk_tools_of_text(_single: Tools, separate: Tools) -> Tools:
    """Separate tools, with the rows as JSON text."""
    made = dict(separate)
    for name, tool in separate.items():
        if name.endswith("__bulk_create"):
            schema = tool["inputSchema"]
            words = f"{_TEXT['description']}: a list of rows of {name.replace('bulk_', '')}"
            properties = {**schema["properties"], "objects": {**_TEXT, "description": words}}
            made[name] = {**tool, "inputSchema": {**schema, "properties": properties}}
    return made


def any_of(single: Tools, separate: Tools) -> Tools:
    """Two alternatives at the root: a row, or many."""

    def change(schema: Json, rows: Json) -> tuple[Json, str]:
        controls = {name: schema["properties"][name] for name in _CONTROLS}
        many = {"properties": {"objects": rows, **controls}, "required": ["objects"]}
        one = {key: each for key, each in schema.items() if key != "type"}
        return {"type": "object", "anyOf": [one, many]}, " All rows are made, or none."

    return _creates(single, separate, change)


def optional_rows(single: Tools, separate: Tools) -> Tools:
    """`objects` beside the fields; the required fields are named only in the description."""
    return _creates(single, separate, lambda schema, rows: _with(schema, rows))


def optional_text(single: Tools, separate: Tools) -> Tools:
    """The same, with the rows as JSON text."""
    return _creates(single, separate, lambda schema, _rows: _with(schema, _TEXT))


def _with(schema: Json, objects: Json) -> tuple[Json, str]:
    required = ", ".join(schema.get("required", ()))
    words = f" Required: {required}." if required else ""
    made = {key: each for key, each in schema.items() if key != "required"}
    properties = {**schema["properties"], "objects": objects}
    return {**made, "properties": properties}, f"{words} Or many: objects, all or none."


FORMS: Mapping[str, Callable[[Tools, Tools], Tools]] = {
    "a sentence in each create": sentence,
    "BULK_TOOLS": bulk_tools,
    "BULK_TOOLS, rows as JSON text": bulk_tools_of_text,
    "anyOf of two forms": any_of,
    "objects optional, nothing required": optional_rows,
    "objects optional as JSON text, nothing required": optional_text,
}
