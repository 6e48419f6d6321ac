"""Writes the exact JSON Schema of the arguments as agents send them: with flattened fields, and
only with keys that are accepted.

Pydantic writes the schema from a core schema that is rewritten first. Otherwise Pydantic would
publish the Python name of a field, even if the field is only accepted by an alias path.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import to_jsonable_python

from toolbooth.compile.pydantic.core_schema import (
    DEFAULTS,
    FIELD_LISTS,
    Config,
    CoreNode,
    below,
    each_child,
    extra_of,
    fields_of,
    marker_of,
)
from toolbooth.compile.pydantic.field_nodes import (
    accepted_paths,
    find_marker,
    is_nullable,
    is_optional,
)
from toolbooth.compile.pydantic.json_text_words import EXAMPLE_KEY, describe_json_texts
from toolbooth.compile.pydantic.shape import ShapeBuilder
from toolbooth.compile.pydantic.validator import for_wire
from toolbooth.jsonvalue import Schema, is_array, is_object
from toolbooth.markers import JsonText, Unpack
from toolbooth.references import subschemas
from toolbooth.shape_check import json_schema


class _Methods(dict[str, Callable[[Any], dict[str, Any]]]):
    """Maps each type of node to the generator's method for it. A method is looked up on first use.
    Pydantic would look up all of its sixty methods for each tool.
    """

    def __init__(self, generator: GenerateJsonSchema) -> None:
        super().__init__()
        self._generator = generator

    def __missing__(self, kind: str) -> Callable[[Any], dict[str, Any]]:
        method = self[kind] = getattr(self._generator, f"{kind.replace('-', '_')}_schema")
        return method


_PLAIN = frozenset((str, bool, int, type(None)))


class _Generator(GenerateJsonSchema):
    mode: Any = "validation"
    """Arguments are validated. Pydantic's own property looks this up over a hundred times for each
    tool.
    """

    def build_schema_type_to_method(self) -> Any:
        return _Methods(self)

    has_complex_defaults = False
    """True if some default is an object or an array."""

    # For each default, Pydantic builds a serializer. These values are JSON already.
    def encode_default(self, dft: Any) -> Any:
        if type(dft) in _PLAIN:
            return dft
        made = super().encode_default(dft)
        if made and (is_object(made) or is_array(made)):
            self.has_complex_defaults = True
        return made

    # A default that JSON cannot express is allowed. It is not published.
    def emit_warning(self, kind: Any, detail: str) -> None:
        pass

    # A title such as "User Id" only repeats the name `user_id`, so it is left out.
    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def set_schema(self, schema: Any) -> dict[str, Any]:
        return _with_repeats(super().set_schema(schema))

    def frozenset_schema(self, schema: Any) -> dict[str, Any]:
        return _with_repeats(super().frozenset_schema(schema))

    def tagged_union_schema(self, schema: Any) -> dict[str, Any]:
        made = super().tagged_union_schema(schema)
        # The author's own code chooses the branch, and a value may fit several.
        if callable(schema["discriminator"]):
            made["anyOf"] = made.pop("oneOf")
        return made


def _with_repeats(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a set without `uniqueItems`. Toolbooth accepts repeated items in a
    set.
    """
    return {key: value for key, value in schema.items() if key != "uniqueItems"}


def exact_schema(core: CoreNode, builder: ShapeBuilder) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of the arguments as agents send them."""
    # Closed like the validator, so that the published schema forbids the keys that the boundary
    # refuses.
    generator = _Generator()
    made = generator.generate(for_wire(_Wire(builder).node(core, DEFAULTS)), mode="validation")
    if generator.has_complex_defaults:
        _remove_refused_defaults(made)
    if "$ref" in made:  # a recursive model: the root itself must be an object
        own = made["$defs"][made["$ref"].rpartition("/")[2]]
        made = {**own, "$defs": made["$defs"]}
    # A model's docstring is for readers of the code. The tool has its own description.
    made.pop("description", None)
    describe_json_texts(made)
    return made


def _remove_refused_defaults(document: Schema) -> None:
    """Remove each object and array in a default that the schema itself does not allow. Pydantic
    writes a model with its computed fields, and by its serialization aliases. An agent that sends
    these back would be refused.
    """
    shared = {"$defs": document.get("$defs", {})}
    waiting: list[Any] = [document]
    while waiting:
        node = waiting.pop()
        if is_object(node):
            value = node.get("default")
            is_complex = is_object(value) or is_array(value)
            if is_complex and not _allows({**node, **shared}, value):
                del node["default"]
            waiting += subschemas(node)


def _allows(schema: Schema, value: Any) -> bool:
    try:
        return json_schema().validator_for(schema, offline=True).is_valid(value)
    except ValueError:  # the author has customised the schema, and it is invalid
        return True


_SELF_EXPLANATORY = FIELD_LISTS | {
    "none",
    "bool",
    "int",
    "float",
    "str",
    "bytes",
    "decimal",
    "uuid",
    "url",
    "literal",
    "enum",
    "date",
    "time",
    "datetime",
    "timedelta",
    "nullable",
    "default",
    "union",
    "tagged-union",
    "definitions",
    "definition-ref",
    "model",
    "dataclass",
    "function-after",
    "model-field",
    "typed-dict-field",
    "dataclass-field",
}
_PYDANTICS_METADATA = frozenset(("pydantic_js_functions", "pydantic_js_updates"))


def is_self_explanatory(core: CoreNode) -> bool:
    """Return True if the node has only Pydantic's own types. Its JSON Schema can then be written
    without an error or a warning.
    """
    if isinstance(marker_of(core), Unpack):
        return is_self_explanatory(core["steps"][0])
    kind = core["type"]
    is_empty = kind in FIELD_LISTS and not any(fields_of(core))
    if kind not in _SELF_EXPLANATORY or is_empty or _is_customised(core):
        return False
    return all(map(is_self_explanatory, below(core)))


def _is_customised(core: CoreNode) -> bool:
    """Return True if the author has customised the JSON Schema of a node, with a dict or with
    code.
    """
    # A model has its configuration under one name, a dataclass or TypedDict under another.
    cls: Any = core.get("cls")
    own: Any = getattr(cls, "model_config", None) or getattr(cls, "__pydantic_config__", None)
    config: dict[str, Any] = own or {}
    if config.get("json_schema_extra"):
        return True
    metadata: dict[str, Any] = core.get("metadata") or {}
    # Pydantic adds one function to a model. A second one, or one from another module, is the
    # author's.
    writers: list[Any] = metadata.get("pydantic_js_functions") or []
    pydantics = not writers or (
        len(writers) == 1 and getattr(writers[0], "__module__", "").startswith("pydantic.")
    )
    return not pydantics or not metadata.keys() <= _PYDANTICS_METADATA


@dataclass(slots=True, frozen=True)
class _Wire:
    """Rewrites a core schema so that it describes the arguments as agents send them. `builder` has
    the definitions of the core schema.
    """

    builder: ShapeBuilder

    def node(self, node: CoreNode, config: Config) -> CoreNode:
        config = Config.of(node, config)
        marker = marker_of(node)
        if isinstance(marker, JsonText):
            return _json_text(marker, node, self.node(node["steps"][0], config))
        if marker is not None:
            return self.node(node["steps"][0], config)
        if node["type"] in FIELD_LISTS:
            made = self.fields(node, config)
        else:
            made = each_child(node, lambda child: self.node(child, config))
        # Only a model that contains itself, or is used several times, becomes a definition.
        if node.get("ref") in self.builder.definitions:
            return {**made, "ref": node["ref"]}
        made.pop("ref", None)  # without references, it is described in place
        return made

    def fields(self, node: CoreNode, config: Config) -> CoreNode:
        """Rewrite a node that lists fields as a plain dict of fields. Pydantic has several types of
        such nodes.
        """
        table: dict[str, CoreNode] = {}
        self._add(table, node, config, prefix="", optional=False)
        extras = node.get("extras_schema")
        made: CoreNode = {
            "type": "typed-dict",
            "fields": table,
            "extra_behavior": extra_of(node, config),
        }
        return {**made, "extras_schema": self.node(extras, config)} if extras else made

    def _add(
        self,
        table: dict[str, CoreNode],
        node: CoreNode,
        config: Config,
        *,
        prefix: str,
        optional: bool,
    ) -> None:
        routes: dict[str, CoreNode] = {}
        for name, each in fields_of(node):
            left_out = optional or is_optional(each)
            unpack = find_marker(each["schema"], Unpack)
            if unpack is not None:
                found = self.builder.field_list(each["schema"], config)
                if found is not None:
                    inner, inner_config, _ = found
                    # If the whole model may be null, none of its fields is required.
                    left_out = left_out or is_nullable(each["schema"])
                    self._add(
                        table, inner, inner_config, prefix=prefix + unpack.prefix, optional=left_out
                    )
                continue
            paths = accepted_paths(name, each, config)
            whole = next((str(path[0]) for path in paths if len(path) == 1), None)
            if whole is None:
                routes[name] = {**each, "paths": paths[0], "required": not left_out}
            else:
                table[prefix + whole] = self._field(each, config, required=not left_out)
        # These fields come last, because an alias path must not replace a field with its own key.
        for each in routes.values():
            first, *rest = each["paths"]
            inner = _route(rest, self._field(each, config, required=each["required"]))
            table.setdefault(prefix + str(first), _typed_field(inner, required=each["required"]))

    def _field(self, each: CoreNode, config: Config, *, required: bool) -> CoreNode:
        schema = self.node(each["schema"], config)
        metadata = dict(each.get("metadata") or {})
        is_text = find_marker(each["schema"], JsonText) is not None
        # The author's default is an instance, but agents send JSON text, so it is written as text.
        if is_text and schema["type"] == "default" and schema.get("default") is not None:
            schema = {**schema, "default": _json(schema["default"])}
        return _typed_field(schema, required=required, metadata=metadata)


def _typed_field(schema: CoreNode, *, required: bool, metadata: Any = None) -> CoreNode:
    return {
        "type": "typed-dict-field",
        "schema": schema,
        "required": required,
        "metadata": metadata or {},
    }


def _route(path: list[str | int], end: CoreNode) -> CoreNode:
    """Return the schema for an alias path: the objects and lists along it, with the field at the
    end.
    """
    if not path:
        return end["schema"]
    inner = _route(path[1:], end)
    if isinstance(path[0], int):
        return {"type": "list", "items_schema": inner}
    table = {path[0]: _typed_field(inner, required=end["required"], metadata=end["metadata"])}
    return {"type": "typed-dict", "fields": table, "extra_behavior": "forbid"}


def _json_text(marker: JsonText, node: CoreNode, content: CoreNode) -> CoreNode:
    """Return the schema of a string that takes JSON text. The example of the marker is kept for
    `describe_json_texts`.
    """
    updates = {key: said for key in ("description", "examples") if (said := _said(node, key))}
    example = marker.example
    updates[EXAMPLE_KEY] = example if isinstance(example, str) else _json(example)
    # null is sent as null, and not as the text "null".
    if is_nullable(node):
        content = content["schema"]
    text: CoreNode = {
        "type": "json",
        "schema": content,
        "metadata": {"pydantic_js_updates": updates},
    }
    return {"type": "nullable", "schema": text} if is_nullable(node) else text


def _json(value: Any) -> str:
    # Without `round_trip`, a model would be written with its computed fields.
    return json.dumps(to_jsonable_python(value, round_trip=True), ensure_ascii=False)


def _said(node: CoreNode, key: str) -> Any:
    """Return the value that the author wrote under `key` in the metadata. If the node wraps other
    nodes, these are searched too.
    """
    while True:
        metadata: dict[str, Any] = node.get("metadata") or {}
        updates: dict[str, Any] = metadata.get("pydantic_js_updates") or {}
        if updates.get(key):
            return updates[key]
        # The marker may be outside or inside the layer with the author's text.
        if marker_of(node):
            node = node["steps"][0]
        elif node["type"] in ("default", "nullable"):
            node = node["schema"]
        else:
            return None
