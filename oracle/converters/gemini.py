"""Gemini's own schema language, converted to JSON Schema so that values can be validated."""

from typing import Any


def as_json_schema(schema: Any) -> Any:
    """Its types are in capitals and null is `nullable`; everything else is as in JSON Schema."""
    if not isinstance(schema, dict):
        return schema
    made = {key: value for key, value in schema.items() if key != "nullable"}
    if isinstance(made.get("type"), str):
        made["type"] = made["type"].lower()
    if "properties" in made:
        made["properties"] = {
            name: as_json_schema(each) for name, each in made["properties"].items()
        }
    if "items" in made:
        made["items"] = as_json_schema(made["items"])
    if "anyOf" in made:
        made["anyOf"] = [as_json_schema(each) for each in made["anyOf"]]
    return {"anyOf": [made, {"type": "null"}]} if schema.get("nullable") else made
