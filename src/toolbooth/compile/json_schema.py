"""A foreign JSON Schema -> Shape and Contract: the same protection for tools whose types are not
Python's.

An object that declares properties is closed unless it says otherwise (`additionalProperties: true`
or a schema, `patternProperties`): what it would ignore is what gets lost. What the shape cannot say
(bounds, formats, `not`, `if`) is left to the schema's own validation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from toolbooth.compile.shape_builder import Shapes, free_shape, json_type_of
from toolbooth.contract import DEFAULT_LIMITS, Contract, InvalidValues, Limits, Objection, Param
from toolbooth.errors import ContractError
from toolbooth.jsonvalue import NoSuchPart, Schema, resolve_pointer
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

    return Contract(
        name=owner,
        description=description
        if description is not None
        else str(schema.get("description") or ""),
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
    reader = _Reader(cast("Schema", schema))
    made = reader.shape(schema, root=root)
    reader.shapes.finish(made)
    return made


class _Reader:
    """Reads one schema document, following its local references."""

    def __init__(self, document: Schema) -> None:
        self.document = document
        self.shapes = Shapes()
        self.knots: dict[str, Shape] = {}

    def shape(self, node: Any, *, root: bool = False) -> Shape:
        if not isinstance(node, Mapping) or not node:
            return Shape() if node is False else free_shape()
        schema = cast("Schema", node)
        parts = [self._own(schema, root=root)]
        if isinstance(schema.get("$ref"), str):
            parts.append(self._reference(schema["$ref"]))
        for key in _IN_PLACE:
            if isinstance(schema.get(key), list):
                parts.append(self.shapes.either([self.shape(each) for each in schema[key]]))
        parts += [self.shape(each) for each in schema.get("allOf") or ()]
        # Keys that only a condition declares are declared all the same.
        parts += [self.shape(schema[key]) for key in ("then", "else") if key in schema]
        for key in ("dependentSchemas", "dependencies"):
            table = cast("Mapping[str, Any]", schema.get(key) or {})
            parts += [self.shape(each) for each in table.values() if isinstance(each, Mapping)]
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
        declared = cast("Schema", schema.get("properties") or {})
        required = set(cast("Iterable[str]", schema.get("required") or ()))
        made = ObjectShape(
            additional=self._rest(schema, declared, root=root), names=tuple(declared)
        )
        for key, node in declared.items():
            made.fields[key] = Field(name=key, shape=self.shape(node), required=key in required)
        return made

    def _rest(self, schema: Schema, declared: Schema, *, root: bool) -> Shape | None:
        further: Any = schema.get("additionalProperties", schema.get("unevaluatedProperties"))
        if further is True or isinstance(further, Mapping):
            return self.shape(further)
        if schema.get("patternProperties"):
            return free_shape()
        bare = (
            further is None
            and not declared
            and not root
            and not any(key in schema for key in (*_IN_PLACE, "allOf"))
        )
        return free_shape() if bare else None

    def _array(self, schema: Schema) -> ArrayShape:
        items: Any = schema.get("items", True)
        if isinstance(items, list):  # draft-07 tuples
            prefix, items = cast("list[Any]", items), schema.get("additionalItems", True)
        else:
            prefix = cast("list[Any]", schema.get("prefixItems") or [])
        return ArrayShape(prefix=tuple(map(self.shape, prefix)), items=self.shape(items))


def _types(schema: Schema) -> frozenset[JsonType]:
    said = schema.get("type")
    if said is None and ("const" in schema or "enum" in schema):
        values = schema["enum"] if "enum" in schema else [schema["const"]]
        return frozenset(json_type_of(each) for each in values)
    if said is None and any(key in schema for key in _OBJECT_KEYS):
        said = "object"
    if said is None and any(key in schema for key in _ARRAY_KEYS):
        said = "array"
    types = cast(
        "frozenset[JsonType]", frozenset((said,) if isinstance(said, str) else said or EVERY_TYPE)
    )
    return types | frozenset[JsonType](("null",)) if schema.get("nullable") is True else types


def _says_anything(schema: Schema) -> bool:
    keys = (*_OBJECT_KEYS, *_ARRAY_KEYS, *_IN_PLACE, "type", "enum", "const", "allOf")
    return any(key in schema for key in keys)


def _objections(errors: Iterable[Any]) -> Iterable[Objection]:
    for error in errors:
        place = tuple(error.instance_path)
        if error.kind.name in ("anyOf", "oneOf") and (branch := _nearest(error)):
            yield from _objections(branch)
        elif error.kind.name == "required":
            yield Objection(place=(*place, error.kind.property), kind="missing", message="")
        else:
            yield Objection(place=place, kind="invalid", message=_sentence(error.kind))


def _nearest(error: Any) -> list[Any]:
    """The errors of the branch of a union that came nearest: of the right type, with the fewest of
    them.
    """
    at = list(error.instance_path)
    branches: list[list[Any]] = getattr(error.kind, "context", [])
    typed = [
        each
        for each in branches
        if not any(e.kind.name == "type" and list(e.instance_path) == at for e in each)
    ]
    return min(typed, key=len, default=list[Any]())


def _sentence(kind: Any) -> str:
    """What the schema asks for, without an echo of the value."""
    wording, attribute = _WORDING.get(kind.name, ("", ""))
    if not wording:
        return f"does not satisfy {kind.name!r} of the schema"
    value: Any = getattr(kind, attribute)
    return wording.format(
        ", ".join(map(repr, cast("list[Any]", value))) if isinstance(value, list) else value
    )


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
