"""Core schema -> Shape: which JSON a Pydantic type takes, and under which keys.

The keys come from the core schema, not from the JSON Schema: only the former knows every alias. An
author's before, wrap or plain validator makes its node free: what it takes, only its author knows.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, cast

from pydantic import SecretBytes, SecretStr
from pydantic.json_schema import GenerateJsonSchema

from toolbooth.compile.flatten import collision, hoist
from toolbooth.compile.json_schema import shape_of_schema
from toolbooth.compile.pydantic.core_schema import (
    DEFAULTS,
    FIELD_LISTS,
    Config,
    Node,
    alias_paths,
    extra_of,
    fields_of,
    is_authors,
    marker_of,
)
from toolbooth.compile.shape_builder import (
    Shapes,
    array_shape,
    free_shape,
    json_type_of,
    object_shape,
)
from toolbooth.markers import JsonText, Unpack, Verbatim
from toolbooth.shape import ArrayShape, Field, JsonType, ObjectShape, Shape

Path = list[str | int]
Route = tuple[Path, Shape]

_TEXT = ("str", "bytes", "uuid", "url", "multi-host-url", "complex", "json")
_TIME = ("date", "time", "datetime", "timedelta")
_ARRAYS = ("list", "set", "frozenset", "generator", "deque")
_NOT_JSON = ("is-instance", "is-subclass", "callable", "missing-sentinel")
_SECRETS = (SecretStr, SecretBytes)


@dataclass(slots=True)
class ShapeBuilder:
    """Builds the shapes of one contract; `shapes.finish()` comes before any use."""

    shapes: Shapes = field(default_factory=Shapes)
    definitions: dict[str, Node] = field(default_factory=dict[str, Node])
    knots: dict[str, Shape] = field(default_factory=dict[str, Shape])
    mistakes: list[str] = field(default_factory=list[str])
    owner: str = ""
    """The parameter or field that is being built, for messages."""
    json_texts: list[tuple[str, Shape]] = field(default_factory=list[tuple[str, Shape]])
    """What JsonText was put on, to be judged when all shapes are finished."""
    unsendable: list[str] = field(default_factory=list[str])
    """Who has a type that no JSON can bring."""

    def open(self, core: Node) -> Node:
        """Take in the definitions of a whole core schema; returns the node they are for."""
        if core["type"] != "definitions":
            return core
        self.definitions.update({each["ref"]: each for each in core["definitions"]})
        return core["schema"]

    def build(self, node: Node, config: Config = DEFAULTS) -> Shape:
        """The shape of one node."""
        kind = node["type"]
        config = Config.of(node, config)
        strict = bool(node.get("strict", config.strict))
        if (marker := marker_of(node)) is not None:
            return self._marked(marker, node["steps"][0], config)
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
        return self._composed(kind, node, config, strict)

    def _composed(self, kind: str, node: Node, config: Config, strict: bool) -> Shape:
        """The shape of a node that is made of others."""
        match kind:
            case "default" | "custom-error" | "dataclass" | "function-after" | "missing-sentinel":
                return self._inner(node, config)
            case "function-before" | "function-wrap" | "function-plain":
                return self._authored(node, config)
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
                values = self._part(node.get("values_schema"), config)
                return object_shape(ObjectShape(additional=values or free_shape()))
            case "json-or-python":
                return self.build(node["json_schema"], config)
            case "lax-or-strict":
                # The strict branch says what the type is; the lax one only adds coercions.
                return self.build(node["strict_schema"], config)
            case "chain":
                return self.build(node["steps"][0], config)
            case _:
                return free_shape()

    def _part(self, node: Node | None, config: Config) -> Shape | None:
        return None if node is None else self.build(node, config)

    def fields(self, node: Node, config: Config, noun: str = "field") -> ObjectShape:
        """One list of fields (or of parameters), with all the keys by which each may be sent."""
        made = ObjectShape(additional=self._rest(node, config))
        routes: dict[str, list[Route]] = {}
        for name, each in fields_of(node):
            paths = accepted_paths(name, each, config)
            owner = f"{noun} {name!r}"
            if unpack_of(each["schema"]) is not None:
                self._unpack(made, owner, each, str(paths[0][0]), config)
            else:
                self._declare(made, owner, name, each, paths, routes, config)
        for key, below in routes.items():
            made.fields.setdefault(key, Field(name=key, shape=_routed(below), required=False))
        made.names = tuple(dict.fromkeys(each.name for each in made.fields.values()))
        return made

    def _unpack(self, outer: ObjectShape, owner: str, each: Node, key: str, config: Config) -> None:
        node = each["schema"]
        inner = self.hoisted(node, config, owner)
        marker = unpack_of(node)
        if inner is not None and marker is not None:
            absent = "omit" if is_optional(each) else "null" if is_nullable(node) else "empty"
            self.mistakes += hoist(outer, inner, (key,), marker.prefix, absent, owner)

    def _declare(
        self,
        made: ObjectShape,
        owner: str,
        name: str,
        each: Node,
        paths: list[Path],
        routes: dict[str, list[Route]],
        config: Config,
    ) -> None:
        self.owner = owner
        shape = self.build(each["schema"], config)
        if _says_password(each):
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

    def hoisted(self, node: Node, config: Config, owner: str) -> ObjectShape | None:
        """The fields of a model that is to be unpacked, even where its author's code makes the
        model itself free.
        """
        found = self.field_list(node, config)
        if found is None:
            self.mistakes.append(
                f"{owner} is marked Unpack() but is not a model with fields; remove the marker"
            )
            return None
        fields, inner, authored = found
        made = self.fields(fields, inner)
        if authored:
            for each in made.fields.values():
                each.shape = self._free(each.shape)
            made.additional = free_shape()
        return made

    def field_list(self, node: Node, config: Config) -> tuple[Node, Config, bool] | None:
        """The list of fields inside a node, its configuration, and whether an author's validator
        comes first.
        """
        authored = False
        while node["type"] not in FIELD_LISTS:
            config = Config.of(node, config)
            kind = node["type"]
            if kind == "definition-ref":
                node = self.definitions[node["schema_ref"]]
            elif kind == "chain" and marker_of(node):
                node = node["steps"][0]
            elif kind in (
                "default",
                "nullable",
                "model",
                "dataclass",
                "custom-error",
            ) or kind.startswith("function-"):
                authored = authored or (
                    kind in ("function-before", "function-wrap") and is_authors(node)
                )
                if node.get("root_model") or "schema" not in node:
                    return None
                node = node["schema"]
            else:
                return None
        return node, Config.of(node, config), authored

    def _rest(self, node: Node, config: Config) -> Shape | None:
        if extra_of(node, config) != "allow":
            return None
        return self._part(node.get("extras_schema"), config) or free_shape()

    def _marked(self, marker: Any, inner: Node, config: Config) -> Shape:
        owner = self.owner
        shape = self.build(inner, config)
        self.owner = owner
        if isinstance(marker, Unpack):
            where = f"{self.owner}: " if self.owner else ""
            self.mistakes.append(
                f"{where}Unpack() is only honoured on a parameter or field itself; move or remove it"
            )
        if not isinstance(marker, JsonText):
            return shape
        self.json_texts.append((self.owner, shape))
        return self.shapes.either((shape, Shape(json_text=True)))

    def _constants(self, node: Node, strict: bool) -> Shape:
        raw: list[Any] = node["expected"] if node["type"] == "literal" else node["members"]
        values = tuple(each.value if isinstance(each, Enum) else each for each in raw)
        if not all(isinstance(each, str | int | float | None) for each in values):
            return free_shape()
        return Shape(
            types=frozenset(json_type_of(each) for each in values), constants=values, strict=strict
        )

    def _definition_ref(self, node: Node) -> Shape:
        ref = node["schema_ref"]
        if ref not in self.knots:
            knot = self.knots[ref] = Shape()
            self.shapes.tie(knot, self.build(self.definitions[ref]))
        return self.knots[ref]

    def _inner(self, node: Node, config: Config) -> Shape:
        if node["type"] == "function-after" and _is_secret(node["function"]["function"]):
            return Shape(types=frozenset(("string",)), secret=True)
        return self.build(node["schema"], config)

    def _authored(self, node: Node, config: Config) -> Shape:
        if "schema" in node:
            inner = self.build(node["schema"], config)
            return self._free(inner) if is_authors(node) else inner
        if is_authors(node):
            return free_shape()
        # Pydantic's own types made of a plain function (addresses, patterns) say in JSON Schema
        # what they take.
        return shape_of_schema(GenerateJsonSchema().generate(cast("Any", node)))

    def _free(self, shape: Shape) -> Shape:
        """What an author's validator stands before: anything may be sent, but a secret stays one."""
        return self.shapes.either((free_shape(), shape))

    def _model(self, node: Node, config: Config) -> Shape:
        shape = self.build(node["schema"], config)
        if not node.get("custom_init"):
            return shape
        # An overridden __init__ may take further keys by name; what it does with them is its
        # author's business.
        further = inspect.signature(node["cls"].__init__).parameters.values()
        for form in shape.objects:
            for param in further:
                if param.kind is inspect.Parameter.KEYWORD_ONLY:
                    form.fields.setdefault(
                        param.name, Field(name=param.name, shape=free_shape(), required=False)
                    )
        return shape

    def _union(self, node: Node, config: Config) -> Shape:
        choices: Any = node["choices"]
        nodes: Iterable[Any] = choices.values() if node["type"] == "tagged-union" else choices
        plain = [cast("Any", each[0] if isinstance(each, tuple) else each) for each in nodes]
        return self.shapes.either(
            [self.build(each, config) for each in plain if not isinstance(each, str)]
        )

    def _tuple(self, node: Node, config: Config) -> Shape:
        shapes = [self.build(each, config) for each in node["items_schema"]]
        index: int | None = node.get("variadic_item_index")
        if index is None or index != len(shapes) - 1:
            return array_shape(
                ArrayShape(prefix=tuple(shapes) if index is None else tuple[Shape, ...]())
            )
        return array_shape(ArrayShape(prefix=tuple(shapes[:index]), items=shapes[index]))

    def _named_tuple(self, node: Node, config: Config) -> Shape:
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
    **{kind: Shape(types=frozenset(("string",)), temporal=True) for kind in _TIME},
}


def _routed(routes: list[Route]) -> Shape:
    """The shape below the first step of alias paths: only what some path reads may be sent."""
    ends = [shape for path, shape in routes if not path]
    if ends:
        return ends[0]
    steps: dict[str | int, list[Route]] = {}
    for path, shape in routes:
        steps.setdefault(path[0], []).append((path[1:], shape))
    places = [step for step in steps if isinstance(step, int)]
    names = [step for step in steps if isinstance(step, str)]
    types: set[JsonType] = set()
    types |= {"array"} if places else set()
    types |= {"object"} if names else set()
    fields = {name: Field(name=name, shape=_routed(steps[name]), required=False) for name in names}
    return Shape(
        types=frozenset(types),
        objects=(ObjectShape(fields=fields, names=tuple(fields)),) if names else (),
        arrays=(_positions(places, steps),) if places else (),
    )


def _positions(places: list[int], steps: dict[str | int, list[Route]]) -> ArrayShape:
    """An array of which only some positions are read, from its start or from its end."""
    length = max(places) + 1
    unread = Shape(
        types=frozenset(("null",))
    )  # no path leads there, so nothing but null may stand there
    prefix = (_routed(steps[index]) if index in steps else unread for index in range(length))
    return ArrayShape(prefix=tuple(prefix), closed=True, last=max(0, -min(places)))


def accepted_paths(name: str, field: Node, config: Config) -> list[Path]:
    """Every path by which a field may be sent, the published one first."""
    paths: list[Path] = alias_paths(field) if config.by_alias else []
    return [*paths, [name]] if not paths or config.by_name else paths


def is_optional(each: Node) -> bool:
    """Whether a field may be left out."""
    return not each["required"] if "required" in each else has_default(each["schema"])


def has_default(node: Node) -> bool:
    """Whether a schema brings a default of its own."""
    while node["type"] != "default":
        if node["type"].startswith("function-") and "schema" in node:
            node = node["schema"]
        elif marker_of(node):
            node = node["steps"][0]
        else:
            return False
    return True


def find_marker(node: Node, marker: type) -> Any:
    """The marker of this type that a field bears at the field itself."""
    while True:
        found = marker_of(node)
        if isinstance(found, marker):
            return found
        if found is not None:
            node = node["steps"][0]
        elif node["type"] in ("default", "nullable") or (
            node["type"].startswith("function-") and "schema" in node
        ):
            node = node["schema"]
        else:
            return None


def unpack_of(node: Node) -> Unpack | None:
    """The Unpack marker that a field bears."""
    return find_marker(node, Unpack)


def is_nullable(node: Node) -> bool:
    """Whether null may stand for a marked model."""
    while node["type"] != "nullable":
        if marker_of(node):
            node = node["steps"][0]
        elif node["type"] == "default":
            node = node["schema"]
        else:
            return False
    return True


def _is_secret(function: Any) -> bool:
    if isinstance(function, type):
        return issubclass(function, _SECRETS)
    return getattr(function, "__qualname__", "").startswith("Secret.")


def _says_password(field: Node) -> bool:
    """Whether the author marked a field as a secret, at the field or at any layer of its type."""
    node: Any = field
    while node is not None:
        metadata: dict[str, Any] = node.get("metadata") or {}
        said = {
            **_as_dict(metadata.get("pydantic_js_extra")),
            **_as_dict(metadata.get("pydantic_js_updates")),
        }
        if said.get("format") == "password":
            return True
        node = node["steps"][0] if marker_of(node) else node.get("schema")
    return False


def _as_dict(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
