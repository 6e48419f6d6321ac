"""Writes arguments as a model does in OpenAI's strict mode: every declared key is written, and keys
that the call leaves out get null.

Strict mode makes every property required. So a model cannot leave out a key, and defaults are never
used (docs/project/evidence/wire.md, Converters). The model writes the keys in the order of the
schema.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, repeat
from typing import Any

from toolbooth.jsonvalue import Json, NoSuchPart, Schema, is_array, is_object, resolve_pointer
from toolbooth.testing.offline_schema import is_schema, offline_validator, refuse_outside_references


def fill_keys(value: Any, schema: Schema) -> Any:
    """Return the value with every key that the schema declares, at every depth.

    Raises:
        ContractError: if the schema refers to a file or URL.
    """
    refuse_outside_references(schema)
    return _Filler(schema).fill(value, schema)


class _Filler:
    def __init__(self, root: Schema) -> None:
        self.root = root
        self.definitions = {name: root[name] for name in ("$defs", "definitions") if name in root}

    def fill(self, value: Any, schema: Any) -> Any:
        if is_object(value):
            return self._object(value, list(self._parts(value, schema)))
        if is_array(value):
            return self._array(value, list(self._parts(value, schema)))
        return value

    def _object(self, table: Json, parts: list[Schema]) -> Json:
        declared: Json = {}
        for part in parts:
            declared |= part.get("properties", {})
        made: Json = dict.fromkeys(declared)
        for name, value in table.items():
            made[name] = self.fill(value, declared[name]) if name in declared else value
        return made

    def _array(self, items: list[Any], parts: list[Schema]) -> list[Any]:
        prefix: Any = next((part["prefixItems"] for part in parts if "prefixItems" in part), ())
        rest: Any = next((part["items"] for part in parts if "items" in part), True)
        schemas: Iterable[Any] = chain(prefix, repeat(rest))
        # `repeat` has no end, so the last item ends the loop.
        return [self.fill(each, schema) for each, schema in zip(items, schemas, strict=False)]

    def _parts(self, value: Any, schema: Any) -> Iterable[Schema]:
        """Yield the schemas that apply to this value. References and unions are resolved."""
        if not is_schema(schema):  # `true` and `false` declare no keys
            return
        if "$ref" in schema:
            yield from self._parts(value, self._resolve(schema["$ref"]))
        yield schema
        for each in schema.get("allOf", ()):
            yield from self._parts(value, each)
        for union in ("anyOf", "oneOf"):
            yield from self._parts(value, self._branch(value, schema.get(union, ())))

    def _branch(self, value: Any, branches: Iterable[Any]) -> Any:
        """Return the branch that the value matches. If there is none, return the first branch with
        the type of the value.
        """
        of_kind = [each for each in branches if self._is_of_kind(value, each)]
        for each in of_kind:
            if self._fits(value, each):
                return each
        return of_kind[0] if of_kind else None

    def _is_of_kind(self, value: Any, branch: Any) -> bool:
        kind = "object" if isinstance(value, dict) else "array"
        return any(part.get("type") == kind for part in self._parts(value, branch))

    def _fits(self, value: Any, branch: Schema) -> bool:
        # A branch is compiled as a document of its own. A `$ref` such as `#/$defs/Address` inside
        # it needs the definitions of the whole schema.
        return offline_validator({**branch, **self.definitions}).is_valid(value)

    def _resolve(self, pointer: str) -> Any:
        try:
            return resolve_pointer(self.root, pointer)
        except NoSuchPart:
            return {}
