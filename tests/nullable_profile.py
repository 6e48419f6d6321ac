"""A third profile, written as a user would write it: the dialect of OpenAPI 3.0.

It has no type `null`. A node that may be null has `nullable: true` beside its one type. Only a few
formats are known, and a `default` is not read.
"""

from typing import Any

from toolbooth.publish import Portable

FORMATS = {"date", "date-time", "enum"}


class NullableProfile(Portable):
    """`nullable: true` instead of a null branch or a sentence."""

    def keeps_annotation(self, key: str, value: Any) -> bool:
        return key == "description"

    def write_nullable(self, node: dict[str, Any], *, required: bool) -> dict[str, Any]:
        return {**node, "nullable": True}

    def write_null(self, *, required: bool) -> dict[str, Any]:
        return {"type": "string", "nullable": True, "enum": []}

    def write_typed(self, node: dict[str, Any]) -> dict[str, Any]:
        known = node.get("format") in FORMATS
        return {key: value for key, value in node.items() if key != "format" or known}
