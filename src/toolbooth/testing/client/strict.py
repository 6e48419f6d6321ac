"""Arguments as a model writes them under OpenAI's strict mode: every declared key, null where
nothing is said.

Strict converters make every property required, so nothing can be left out, and defaults are never
exercised (docs/project/evidence/wire.md, Converters). The model writes the keys in the order of the
schema.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from toolbooth.jsonvalue import NoSuchPart, Schema, resolve_pointer
from toolbooth.testing.offline_schema import offline_validator, refuse_outside_references


def filled(value: Any, schema: Schema) -> Any:
    """The value with every key that the schema declares for its objects, at every depth.

    Raises:
        ContractError: the schema refers to a file or URL.
    """
    refuse_outside_references(schema)
    return _Filler(schema).fill(value, schema)


class _Filler:
    def __init__(self, root: Schema) -> None:
        self.root = root
        self.definitions = {name: root[name] for name in ("$defs", "definitions") if name in root}

    def fill(self, value: Any, schema: Any) -> Any:
        if isinstance(value, dict):
            return self._object(cast("dict[str, Any]", value), list(self._parts(value, schema)))
        if isinstance(value, list):
            return self._array(cast("list[Any]", value), list(self._parts(value, schema)))
        return value

    def _object(self, table: dict[str, Any], parts: list[Schema]) -> dict[str, Any]:
        declared = {
            name: node for part in parts for name, node in part.get("properties", {}).items()
        }
        made = {
            name: self.fill(table[name], node) if name in table else None
            for name, node in declared.items()
        }
        return {**made, **{key: each for key, each in table.items() if key not in declared}}

    def _array(self, items: list[Any], parts: list[Schema]) -> list[Any]:
        prefix = next((part["prefixItems"] for part in parts if "prefixItems" in part), ())
        rest = next((part["items"] for part in parts if "items" in part), True)
        return [
            self.fill(each, prefix[index] if index < len(prefix) else rest)
            for index, each in enumerate(items)
        ]

    def _parts(self, value: Any, schema: Any) -> Iterable[Schema]:
        """The schema without its references and unions: what it says of this value."""
        if not isinstance(schema, Mapping):  # `true` and `false` say nothing of keys
            return
        node = cast("Schema", schema)
        if "$ref" in node:
            yield from self._parts(value, self._referred(node["$ref"]))
        yield node
        for each in node.get("allOf", ()):
            yield from self._parts(value, each)
        for union in ("anyOf", "oneOf"):
            yield from self._parts(value, self._branch(value, node.get(union, ())))

    def _branch(self, value: Any, branches: Iterable[Any]) -> Any:
        """The branch that the value has chosen; where none fits it, the first for values of its
        kind.
        """
        kind = "object" if isinstance(value, dict) else "array"
        of_kind = [
            each
            for each in branches
            if any(part.get("type") == kind for part in self._parts(value, each))
        ]
        fitting = (each for each in of_kind if self._fits(value, each))
        return next(fitting, of_kind[0] if of_kind else None)

    def _fits(self, value: Any, branch: Schema) -> bool:
        return offline_validator({**branch, **self.definitions}).is_valid(value)

    def _referred(self, pointer: str) -> Any:
        try:
            return resolve_pointer(self.root, pointer)
        except NoSuchPart:
            return {}
