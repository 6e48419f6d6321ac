"""A foreign JSON Schema -> Shape and Contract: the same protection for tools whose types are not
Python's.

An object that declares properties is closed unless it says otherwise (`additionalProperties: true`
or a schema, `patternProperties`): what it would ignore is what gets lost. What the shape cannot say
(bounds, formats, `not`, `if`) is left to the schema's own validation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from toolbooth.compile.shape_builder import Shapes, free_shape, json_type_of
from toolbooth.contract import DEFAULT_LIMITS, Contract, InvalidValues, Limits, Objection, Param
from toolbooth.errors import ContractError
from toolbooth.jsonvalue import NoSuchPart, Schema, is_array, is_mapping, resolve_pointer
from toolbooth.markers import VERBATIM_KEYWORD
from toolbooth.shape import EVERY_TYPE, ArrayShape, Field, JsonType, ObjectShape, Shape, json_schema

_OBJECT_KEYS = (
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "minProperties",
)
_ARRAY_KEYS = ("items", "prefixItems", "minItems", "maxItems")
_IN_PLACE = ("anyOf", "oneOf")
_TIME_FORMATS = ("date", "date-time", "time", "duration")


def compile_json_schema(
    schema: Schema,
    function: Callable[..., Any] | None = None,
    *,
    name: str = "",
    description: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Contract:
    """Compile a tool whose arguments a JSON Schema describes; `function` gets them as one dict.

    Raises:
        ContractError: the schema is not one, or its root does not describe an object.
    """
    owner = name or getattr(function, "__name__", "tool")
    try:
        own = json_schema().validator_for(
            dict(schema), validate_formats=True, retriever=_no_network
        )
    except ValueError as error:
        raise ContractError(
            owner, [f"not a usable JSON Schema: {str(error).splitlines()[0]}"]
        ) from None
    shape = shape_of_schema(schema, root=True)
    if not shape.objects:
        raise ContractError(
            owner, ["the root of an inputSchema must describe an object (type: object)"]
        )

    def validate(arguments: Any) -> dict[str, Any]:
        if not own.is_valid(arguments):
            raise InvalidValues(lambda: _objections(own.iter_errors(arguments)))
        return arguments

    if description is None:
        description = str(schema.get("description") or "")
    return Contract(
        name=owner,
        description=description,
        shape=shape,
        describe=lambda: dict(schema),
        validate=validate,
        bind=lambda arguments: {"arguments": arguments},
        params=(Param(name="arguments", positional=True),),
        function=function,
        limits=limits,
    )


def _no_network(uri: str) -> Any:
    raise ValueError(
        f"{uri} is not fetched: the specification forbids it; bring the definition along"
    )


def shape_of_schema(schema: Any, *, root: bool = False) -> Shape:
    """The shape of a JSON Schema. A root object without properties is closed: a tool without
    arguments.
    """
    reader = _SchemaReader(schema)
    made = reader.shape(schema, root=root)
    reader.shapes.finish(made)
    return made


class _SchemaReader:
    """Reads one schema document, and follows its local references."""

    def __init__(self, document: Any) -> None:
        self.document = document
        self.shapes = Shapes()
        self.knots: dict[str, Shape] = {}

    def shape(self, node: Any, *, root: bool = False) -> Shape:
        if not is_mapping(node) or not node:
            return Shape() if node is False else free_shape()
        parts = [self._own(node, root=root)]
        if isinstance(node.get("$ref"), str):
            parts.append(self._reference(node["$ref"]))
        for key in _IN_PLACE:
            if isinstance(node.get(key), list):
                parts.append(self.shapes.either([self.shape(each) for each in node[key]]))
        parts += [self.shape(each) for each in node.get("allOf") or ()]
        # Keys that only a condition declares are declared all the same.
        parts += [self.shape(node[key]) for key in ("then", "else") if key in node]
        for key in ("dependentSchemas", "dependencies"):
            table: Schema = node.get(key) or {}
            parts += [self.shape(each) for each in table.values() if is_mapping(each)]
        return self.shapes.both(parts) if len(parts) > 1 else parts[0]

    def _reference(self, ref: str) -> Shape:
        if ref not in self.knots:
            knot = self.knots[ref] = Shape()
            self.shapes.tie(knot, self.shape(self._resolve(ref)))
        return self.knots[ref]

    def _resolve(self, ref: str) -> Any:
        """What a reference points to: anything, if that is not in the document."""
        try:
            return resolve_pointer(self.document, ref)
        except NoSuchPart:
            return True

    def _own(self, schema: Schema, *, root: bool) -> Shape:
        """What the node itself says, its combinators apart."""
        made = Shape(types=_types(schema), opaque=not _says_anything(schema))
        if "const" in schema or "enum" in schema:
            values = tuple(schema["enum"] if "enum" in schema else (schema["const"],))
            if all(isinstance(each, str | int | float | None) for each in values):
                made.constants = values
        made.secret = schema.get("format") == "password"
        made.temporal = schema.get("format") in _TIME_FORMATS
        made.decimal = schema.get("format") == "decimal"
        if made.opaque:
            return made
        if "object" in made.types:
            made.objects = (self._object(schema, root=root),)
        if "array" in made.types:
            made.arrays = (self._array(schema),)
        return made

    def _object(self, schema: Schema, *, root: bool) -> ObjectShape:
        declared: Schema = schema.get("properties") or {}
        required: set[str] = set(schema.get("required") or ())
        additional = self._additional(schema, declared, root=root)
        made = ObjectShape(additional=additional, names=tuple(declared))
        for key, node in declared.items():
            made.fields[key] = Field(
                name=key,
                shape=self.shape(node),
                required=key in required,
                verbatim=is_mapping(node) and node.get(VERBATIM_KEYWORD) is True,
            )
        return made

    def _additional(self, schema: Schema, declared: Schema, *, root: bool) -> Shape | None:
        """The shape of undeclared keys; None if there may be none."""
        additional: Any = schema.get("additionalProperties", schema.get("unevaluatedProperties"))
        if additional is True or is_mapping(additional):
            return self.shape(additional)
        if schema.get("patternProperties"):
            return free_shape()
        if additional is not None or declared or root:
            return None
        combined = any(key in schema for key in (*_IN_PLACE, "allOf"))
        return None if combined else free_shape()

    def _array(self, schema: Schema) -> ArrayShape:
        items: Any = schema.get("items", True)
        prefix: list[Any] = schema.get("prefixItems") or []
        if is_array(items):  # tuples of draft 7
            prefix = items
            items = schema.get("additionalItems", True)
        return ArrayShape(prefix=tuple(map(self.shape, prefix)), items=self.shape(items))


def _types(schema: Schema) -> frozenset[JsonType]:
    declared: Any = schema.get("type")
    if declared is None and ("const" in schema or "enum" in schema):
        values = schema["enum"] if "enum" in schema else [schema["const"]]
        return frozenset(json_type_of(each) for each in values)
    if declared is None and any(key in schema for key in _OBJECT_KEYS):
        declared = "object"
    if declared is None and any(key in schema for key in _ARRAY_KEYS):
        declared = "array"
    if isinstance(declared, str):
        declared = [declared]
    types: frozenset[JsonType] = frozenset(declared or EVERY_TYPE)
    return types | frozenset[JsonType](("null",)) if schema.get("nullable") is True else types


def _says_anything(schema: Schema) -> bool:
    keys = (*_OBJECT_KEYS, *_ARRAY_KEYS, *_IN_PLACE, "type", "enum", "const", "allOf")
    return any(key in schema for key in keys)


def _objections(errors: Iterable[Any]) -> Iterable[Objection]:
    for error in errors:
        path = tuple(error.instance_path)
        if error.kind.name in ("anyOf", "oneOf") and (branch := _nearest(error)):
            yield from _objections(branch)
        elif error.kind.name == "required":
            yield Objection(model_path=(*path, error.kind.property), kind="missing", message="")
        else:
            yield Objection(model_path=path, kind="invalid", message=_sentence(error.kind))


def _nearest(error: Any) -> list[Any]:
    """The errors of the branch of a union that fits best: it has the right type, and the fewest
    errors.
    """
    path = list(error.instance_path)
    branches: list[list[Any]] = getattr(error.kind, "context", [])
    typed = [branch for branch in branches if not _has_wrong_type(branch, path)]
    return min(typed, key=len, default=list[Any]())


def _has_wrong_type(branch: list[Any], path: list[Any]) -> bool:
    return any(error.kind.name == "type" and list(error.instance_path) == path for error in branch)


def _sentence(kind: Any) -> str:
    """The demand of the schema, without an echo of the value."""
    wording, attribute = _WORDING.get(kind.name, ("", ""))
    if not wording:
        return f"does not satisfy {kind.name!r} of the schema"
    value: Any = getattr(kind, attribute)
    if is_array(value):
        value = ", ".join(map(repr, value))
    return wording.format(value)


_WORDING = {
    "minimum": ("must be at least {}", "limit"),
    "maximum": ("must be at most {}", "limit"),
    "exclusiveMinimum": ("must be greater than {}", "limit"),
    "exclusiveMaximum": ("must be less than {}", "limit"),
    "multipleOf": ("must be a multiple of {}", "multiple_of"),
    "minLength": ("must have at least {} characters", "limit"),
    "maxLength": ("must have at most {} characters", "limit"),
    "minItems": ("must have at least {} items", "limit"),
    "maxItems": ("must have at most {} items", "limit"),
    "pattern": ("must match the pattern {}", "pattern"),
    "format": ("must be a valid {}", "format"),
    "enum": ("must be one of {}", "options"),
    "const": ("must be {!r}", "expected_value"),
    "type": ("must be of type {}", "types"),
}
