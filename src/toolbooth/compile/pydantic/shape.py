"""Builds the Shape of a core schema: the keys and the JSON that a Pydantic type accepts.

The keys come from the core schema, because the JSON Schema does not have every alias. If a node has
an author's before, wrap or plain validator, any value may be sent, because only the author knows
which values the validator accepts.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from pydantic import SecretBytes, SecretStr
from pydantic.json_schema import GenerateJsonSchema

from toolbooth.compile.flatten import Absent, collision, flatten
from toolbooth.compile.json_schema import shape_of_schema
from toolbooth.compile.mistakes import not_a_model, unpacks_itself
from toolbooth.compile.pydantic.alias_routes import Route, shape_of_routes
from toolbooth.compile.pydantic.core_schema import (
    AUTHORED,
    DEFAULTS,
    FIELD_LISTS,
    Config,
    CoreNode,
    below,
    extra_of,
    fields_of,
    is_authors,
    is_labelled,
    marker_of,
)
from toolbooth.compile.pydantic.field_nodes import (
    KeyPath,
    accepted_paths,
    find_marker,
    is_nullable,
    is_optional,
    is_password,
)
from toolbooth.compile.shape_builder import (
    Shapes,
    array_shape,
    free_shape,
    json_type_of,
    object_shape,
)
from toolbooth.markers import JsonText, Unpack, Verbatim
from toolbooth.shape import ArrayShape, Field, JsonType, ObjectShape, Shape, Temporal

_TEXT = ("str", "bytes", "uuid", "url", "multi-host-url", "complex", "json")
_TIME: tuple[tuple[str, Temporal], ...] = (
    ("date", "date"),
    ("time", "time"),
    ("datetime", "date-time"),
    ("timedelta", "duration"),
)
_ARRAYS = ("list", "set", "frozenset", "generator", "deque")
_NOT_JSON = ("is-instance", "is-subclass", "callable", "missing-sentinel")
_TRANSPARENT = ("default", "nullable", "model", "dataclass", "custom-error")
_CONVERTING = ("lax-or-strict", "function-plain", "enum", "json")
"""Types of nodes that validate JSON differently from Python values. For example, an address can be
made from an integer, and a member of an IntEnum from text. In a union, Pydantic may therefore
choose another branch for JSON.
"""
_SECRETS = (SecretStr, SecretBytes)


@dataclass(slots=True)
class ShapeBuilder:
    """Builds the shapes of one contract. The shapes can be used only after `shapes.finish()`."""

    shapes: Shapes = field(default_factory=Shapes)
    definitions: dict[str, CoreNode] = field(default_factory=dict[str, CoreNode])
    knots: dict[str, Shape] = field(default_factory=dict[str, Shape])
    mistakes: list[str] = field(default_factory=list[str])
    owner: str = ""
    """The parameter or field that is being built. Messages name it."""
    json_texts: list[tuple[str, Shape]] = field(default_factory=list[tuple[str, Shape]])
    """The parameters with JsonText. They are checked when all shapes are finished."""
    unsendable: list[str] = field(default_factory=list[str])
    """The parameters or fields whose type no JSON value can be converted to."""
    unpacking: list[int] = field(default_factory=list[int])
    """The models that are being unpacked at the moment, the innermost last."""

    def open(self, core: CoreNode) -> CoreNode:
        """Store the definitions of a core schema and return its main node."""
        if core["type"] != "definitions":
            return core
        self.definitions.update({each["ref"]: each for each in core["definitions"]})
        return core["schema"]

    def build(self, node: CoreNode, config: Config = DEFAULTS) -> Shape:
        kind = node["type"]
        config = Config.of(node, config)
        strict = bool(node.get("strict", config.strict))
        if (marker := marker_of(node)) is not None:
            return self._shape_of_marked(marker, node["steps"][0], config)
        if kind in _SCALARS:
            return replace(_SCALARS[kind], strict=strict)
        if kind == "str" and (node.get("coerce_numbers_to_str") or config.numbers_as_text):
            return Shape(types=frozenset(("string", "number")), decimal=True)
        if kind in _TEXT:
            return Shape(types=frozenset(("string",)))
        if kind in _NOT_JSON and "schema" not in node:
            self.unsendable.append(self.owner)
            return Shape()
        if kind in _ARRAYS:
            return array_shape(ArrayShape(items=self._part(node.get("items_schema"), config)))
        if kind in FIELD_LISTS:
            return object_shape(self.fields(node, config))
        return self._composite(kind, node, config, strict)

    def _composite(self, kind: str, node: CoreNode, config: Config, strict: bool) -> Shape:
        """Return the shape of a node that contains other nodes."""
        match kind:
            case "default" | "custom-error" | "dataclass" | "function-after" | "missing-sentinel":
                return self._inner(node, config)
            case "function-before" | "function-wrap" | "function-plain":
                return self._function(node, config)
            case "model":
                return self._model(node, config)
            case "definition-ref":
                return self._definition_ref(node)
            case "nullable":
                return self.shapes.either(
                    (self.build(node["schema"], config), Shape(types=frozenset(("null",))))
                )
            case "union" | "tagged-union":
                return self._union(node, config)
            case "literal" | "enum":
                return self._constants(node, strict)
            case "tuple":
                return self._tuple(node, config)
            case "named-tuple":
                return self._named_tuple(node, config)
            case "dict" | "ordered-dict" | "counter":
                # Every key is text, so its type does not decide on a branch.
                if self._holds(("union",), node.get("keys_schema", {"type": "any"}), set()):
                    self.shapes.ambiguous = True
                values = self._part(node.get("values_schema"), config)
                return object_shape(ObjectShape(additional=values or free_shape()))
            case "json-or-python":
                return self.build(node["json_schema"], config)
            case "lax-or-strict":
                # The strict branch has the type. The lax branch only adds coercions.
                return self.build(node["strict_schema"], config)
            case "chain":
                return self.build(node["steps"][0], config)
            case _:
                return free_shape()

    def _part(self, node: CoreNode | None, config: Config) -> Shape | None:
        return None if node is None else self.build(node, config)

    def fields(self, node: CoreNode, config: Config, noun: str = "field") -> ObjectShape:
        """Return the object type for a list of fields or parameters, with all keys of each."""
        made = ObjectShape(additional=self._additional(node, config))
        routes: dict[str, list[Route]] = {}
        for name, each in fields_of(node):
            paths = accepted_paths(name, each, config)
            owner = f"{noun} {name!r}"
            if find_marker(each["schema"], Unpack) is not None:
                self._unpack(made, owner, each, str(paths[0][0]), config)
            else:
                self._declare(made, owner, name, each, paths, routes, config)
        for key, inner in routes.items():
            made.fields.setdefault(
                key, Field(name=key, shape=shape_of_routes(inner), required=False)
            )
        made.names = tuple(dict.fromkeys(each.name for each in made.fields.values()))
        return made

    def _unpack(
        self, outer: ObjectShape, owner: str, each: CoreNode, key: str, config: Config
    ) -> None:
        node = each["schema"]
        inner = self.flattened_fields(node, config, owner)
        marker = find_marker(node, Unpack)
        if inner is not None and marker is not None:
            self.mistakes += flatten(outer, inner, (key,), marker.prefix, _absent(each), owner)

    def _declare(
        self,
        made: ObjectShape,
        owner: str,
        name: str,
        each: CoreNode,
        paths: list[KeyPath],
        routes: dict[str, list[Route]],
        config: Config,
    ) -> None:
        self.owner = owner
        shape = self.build(each["schema"], config)
        if is_password(each):
            shape = self.shapes.either((shape, Shape(secret=True)))
        whole = [str(path[0]) for path in paths if len(path) == 1]
        found = Field(
            name=whole[0] if whole else name,
            shape=shape,
            required=not is_optional(each),
            verbatim=find_marker(each["schema"], Verbatim) is not None,
        )
        for key in whole:
            taken = made.fields.setdefault(key, found)
            if taken is not found:
                self.mistakes.append(collision(key, taken, owner))
        if len(paths) > 1 and any(len(path) > 1 for path in paths):
            made.exclusive_paths = (*made.exclusive_paths, tuple(tuple(path) for path in paths))
        for path in paths:
            if len(path) > 1:
                routes.setdefault(str(path[0]), []).append((path[1:], shape))

    def flattened_fields(self, node: CoreNode, config: Config, owner: str) -> ObjectShape | None:
        """Return the fields of a model that is unpacked. Return None if the type has no fields.
        They are returned even if the author's code decides about the model as a whole.
        """
        found = self.field_list(node, config)
        if found is None:
            self.mistakes.append(not_a_model(owner))
            return None
        fields, inner, authored = found
        if id(fields) in self.unpacking:
            self.mistakes.append(unpacks_itself(owner))
            return None
        self.unpacking.append(id(fields))
        made = self.fields(fields, inner)
        self.unpacking.pop()
        if authored:
            for each in made.fields.values():
                each.shape = self._free(each.shape)
            made.additional = free_shape()
        return made

    def field_list(self, node: CoreNode, config: Config) -> tuple[CoreNode, Config, bool] | None:
        """Return the list of fields inside a node, its configuration, and whether an author's
        validator runs before it. Return None if there is no list of fields.
        """
        authored = False
        while node["type"] not in FIELD_LISTS:
            config = Config.of(node, config)
            kind = node["type"]
            if kind == "definition-ref":
                node = self.definitions[node["schema_ref"]]
            elif kind == "chain" and marker_of(node):
                node = node["steps"][0]
            elif kind in _TRANSPARENT or kind.startswith("function-"):
                authored = authored or (kind in AUTHORED and is_authors(node))
                if node.get("root_model") or "schema" not in node:
                    return None
                node = node["schema"]
            else:
                return None
        return node, Config.of(node, config), authored

    def _additional(self, node: CoreNode, config: Config) -> Shape | None:
        if extra_of(node, config) != "allow":
            return None
        return self._part(node.get("extras_schema"), config) or free_shape()

    def _shape_of_marked(self, marker: Any, inner: CoreNode, config: Config) -> Shape:
        owner = self.owner
        shape = self.build(inner, config)
        self.owner = owner
        if isinstance(marker, Unpack):
            where = f"{self.owner}: " if self.owner else ""
            self.mistakes.append(
                f"{where}Unpack() is only honoured on a parameter or field itself; "
                "move or remove it"
            )
        if not isinstance(marker, JsonText):
            return shape
        self.json_texts.append((self.owner, shape))
        return self.shapes.either((shape, Shape(json_text=True)))

    def _constants(self, node: CoreNode, strict: bool) -> Shape:
        members: list[Any] = node["expected"] if node["type"] == "literal" else node["members"]
        values = tuple(map(_constant, members))
        if not all(isinstance(each, str | int | float | None) for each in values):
            return free_shape()
        types: frozenset[JsonType] = frozenset(json_type_of(each) for each in values)
        return Shape(types=types, constants=values, strict=strict)

    def _definition_ref(self, node: CoreNode) -> Shape:
        ref = node["schema_ref"]
        if ref not in self.knots:
            knot = self.knots[ref] = Shape()
            self.shapes.tie(knot, self.build(self.definitions[ref]))
        return self.knots[ref]

    def _inner(self, node: CoreNode, config: Config) -> Shape:
        shape = self.build(node["schema"], config)
        if node["type"] == "function-after" and _is_secret(node["function"]["function"]):
            return self.shapes.either((shape, Shape(secret=True)))
        return shape

    def _function(self, node: CoreNode, config: Config) -> Shape:
        if "schema" in node:
            inner = self.build(node["schema"], config)
            return self._free(inner) if is_authors(node) else inner
        if is_authors(node):
            return free_shape()
        # Pydantic's own types that are a plain function (addresses, patterns) describe themselves
        # in JSON Schema.
        core: Any = node
        return shape_of_schema(GenerateJsonSchema().generate(core))

    def _free(self, shape: Shape) -> Shape:
        """Return the shape of a value that an author's validator gets. Anything may be sent, but
        secrets are still marked.
        """
        return self.shapes.behind_validator(shape)

    def _model(self, node: CoreNode, config: Config) -> Shape:
        shape = self.build(node["schema"], config)
        if not node.get("custom_init"):
            return shape
        # An overridden __init__ may accept further keys by name. Only its author knows their types.
        further = inspect.signature(node["cls"].__init__).parameters.values()
        for form in shape.objects:
            for param in further:
                if param.kind is inspect.Parameter.KEYWORD_ONLY and param.name not in form.fields:
                    field = Field(name=param.name, shape=free_shape(), required=False)
                    form.fields[param.name] = field
                    form.names = (*form.names, param.name)
        return shape

    def _union(self, node: CoreNode, config: Config) -> Shape:
        choices: Any = node["choices"]
        nodes: Iterable[Any] = choices.values() if node["type"] == "tagged-union" else choices
        shapes: list[Shape] = []
        for each in nodes:
            choice = each[0] if is_labelled(each) else each
            shapes.append(self.build(choice, config))
        if node["type"] == "tagged-union":  # the tag decides on the branch
            return self.shapes.either(shapes)
        is_ordered = node.get("mode") == "left_to_right"
        by_type = not is_ordered and not self._holds(_CONVERTING, node, set())
        return self.shapes.union(shapes, by_type=by_type)

    def _holds(self, kinds: tuple[str, ...], node: CoreNode, seen: set[str]) -> bool:
        """Return True if this node, or a node inside it, is of one of these kinds."""
        if node["type"] in kinds:
            return True
        ref = node.get("schema_ref", "")
        if ref and ref not in seen:
            seen.add(ref)
            return self._holds(kinds, self.definitions[ref], seen)
        return any(self._holds(kinds, child, seen) for child in below(node))

    def _tuple(self, node: CoreNode, config: Config) -> Shape:
        shapes = [self.build(each, config) for each in node["items_schema"]]
        index: int | None = node.get("variadic_item_index")
        if index is None:
            return array_shape(ArrayShape(prefix=tuple(shapes)))
        if index != len(shapes) - 1:
            return array_shape(ArrayShape())
        return array_shape(ArrayShape(prefix=tuple(shapes[:index]), items=shapes[index]))

    def _named_tuple(self, node: CoreNode, config: Config) -> Shape:
        form = ObjectShape()
        for each in node["fields"]:
            shape = self.build(each["schema"], config)
            form.fields[each["name"]] = Field(
                name=each["name"], shape=shape, required=not is_optional(each)
            )
        form.names = tuple(form.fields)
        in_order = tuple(each.shape for each in form.fields.values())
        return self.shapes.either((object_shape(form), array_shape(ArrayShape(prefix=in_order))))


_SCALARS: dict[str, Shape] = {
    "none": Shape(types=frozenset(("null",))),
    "bool": Shape(types=frozenset(("boolean",))),
    "int": Shape(types=frozenset(("integer",))),
    "float": Shape(types=frozenset(("number",))),
    "decimal": Shape(types=frozenset(("number", "string")), decimal=True),
    **{kind: Shape(types=frozenset(("string",)), temporal=time) for kind, time in _TIME},
}


def _constant(member: Any) -> Any:
    return member.value if isinstance(member, Enum) else member


def _absent(field: CoreNode) -> Absent:
    """Return what an unpacked model becomes if none of its fields is sent."""
    if is_optional(field):
        return "omit"
    return "null" if is_nullable(field["schema"]) else "empty"


def _is_secret(function: Any) -> bool:
    if isinstance(function, type):
        return issubclass(function, _SECRETS)
    return getattr(function, "__qualname__", "").startswith("Secret.")
