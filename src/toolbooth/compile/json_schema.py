"""Compiles a JSON Schema to a Shape and a Contract. The schema is not from Pydantic, so tools of
any origin get the same protection.

If an object declares properties, no other keys may be sent, unless `additionalProperties` is true
or a schema. Otherwise the value of an ignored key would be lost. If a part of the schema applies
only under a condition (`if`, `then`), only its keys are used. A shape cannot express all rules,
such as bounds, formats, `not` and `if`. A JSON Schema validator checks these.
`docs/reference/law.md` has all rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property
from typing import Any

from toolbooth.compile.schema_shapes import SchemaShapes
from toolbooth.compile.shape_builder import free_shape, json_type_of, object_shape
from toolbooth.contract import DEFAULT_LIMITS, Contract, InvalidValues, Limits, Param
from toolbooth.errors import ContractError
from toolbooth.jsonvalue import NoSuchPart, Schema, is_array, is_mapping
from toolbooth.markers import VERBATIM_KEYWORD
from toolbooth.references import References
from toolbooth.schema_objections import schema_objections
from toolbooth.shape import (
    EVERY_TYPE,
    ArrayShape,
    Field,
    JsonType,
    ObjectShape,
    Shape,
    Temporal,
    Unsent,
)
from toolbooth.shape_check import json_schema

_OBJECT_KEYS = (
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "minProperties",
)
_ARRAY_KEYS = ("items", "prefixItems", "minItems", "maxItems")
_MAP_KEYS = ("minProperties", "maxProperties", "propertyNames")
_REFERENCES = ("$ref", "$dynamicRef")
_IN_PLACE = ("anyOf", "oneOf")
_DEPENDENT = ("dependentSchemas", "dependentRequired", "dependencies")
_BRANCHES = ("if", "then", "else")
_CONDITIONAL = frozenset((*_BRANCHES, *_DEPENDENT))
_APPLICATORS = frozenset((*_REFERENCES, *_IN_PLACE, *_CONDITIONAL, "allOf"))
_ASSERTIONS = frozenset((*_OBJECT_KEYS, *_ARRAY_KEYS, "type", "enum", "const"))
_ANY_OBJECT = ObjectShape(additional=free_shape())
_TIME_FORMATS: dict[Any, Temporal] = {
    "date": "date",
    "date-time": "date-time",
    "time": "time",
    "duration": "duration",
}


def compile_json_schema(
    schema: Schema,
    function: Callable[..., Any] | None = None,
    *,
    name: str = "",
    description: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Contract:
    """Compile a tool whose arguments are described by a JSON Schema. `function` gets the arguments
    as one dict.

    Raises:
        ContractError: if the schema is not valid, or its root does not describe an object.
    """
    owner = name or getattr(function, "__name__", "tool")
    try:
        # The schema is also compiled as it is, because a shape does not express all of its rules.
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
            raise InvalidValues(lambda: schema_objections(own.iter_errors(arguments)))
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
    """Return the shape of a JSON Schema. With `root`, the schema describes the arguments of a tool.
    If it then has no properties, it is closed too, because the tool has no arguments.
    """
    reader = _SchemaReader(schema)
    described = reader.shape(schema)
    return reader.finish_root(schema, described) if root else reader.finish(described)


class _SchemaReader:
    """Reads one schema document and follows its references."""

    def __init__(self, document: Any) -> None:
        self.document = document
        self.shapes = SchemaShapes()
        self.knots: dict[int, Shape] = {}
        # Up to draft-07, the keywords beside a `$ref` are ignored.
        self.refs_hide_keywords = is_mapping(document) and "draft-0" in str(document.get("$schema"))

    def shape(self, node: Any) -> Shape:
        if not is_mapping(node) or not node:
            # `true` and `{}` allow anything, and only `false` allows nothing.
            return Shape() if node is False else free_shape()
        references = [self._reference(node, key) for key in _REFERENCES if key in node]
        if references and self.refs_hide_keywords:
            return references[0]
        parts = [self._own(node), *references]
        for key in _IN_PLACE:
            if isinstance(node.get(key), list):
                parts.append(self.shapes.either([self.shape(each) for each in node[key]]))
        parts += [self.shape(each) for each in node.get("allOf") or ()]
        if not node.keys().isdisjoint(_CONDITIONAL):
            # One choice is the free shape, because the condition may not apply.
            parts.append(self.shapes.either([free_shape(), *self._conditional(node)]))
        return self.shapes.both(parts) if len(parts) > 1 else parts[0]

    def finish(self, shape: Shape) -> Shape:
        self.shapes.finish(shape)
        return shape

    def finish_root(self, schema: Any, described: Shape) -> Shape:
        """Return the shape of the whole arguments, which are always an object."""
        unsaid = self.shapes.unsaid
        # In MCP the arguments are an object, even if the schema lacks `type: object`.
        anything = object_shape(ObjectShape(additional=unsaid))
        made = self.finish(self.shapes.both([anything, described]))
        # Rules about the number and names of keys only matter if undeclared keys may be sent.
        is_map = is_mapping(schema) and any(key in schema for key in _MAP_KEYS)
        if described.opaque and not described.objects and not is_map:
            return described
        forms = list(made.objects)
        for index, form in enumerate(forms):
            if form.patterns and form.unmatched is unsaid:
                forms[index] = replace(form, unmatched=None, is_silent=True)
            elif form.additional is unsaid and (form.fields or not is_map):
                forms[index] = replace(form, additional=None, is_silent=True)
        made.objects = tuple(forms)
        return made

    def _conditional(self, node: Schema) -> list[Shape]:
        """Return the parts of the schema that apply only under a condition. Their keys are always
        accepted. The validator decides if their types apply.
        """
        found = [self.shape(node[key]) for key in _BRANCHES if key in node]
        names: list[str] = []
        for key in _DEPENDENT:
            table: Schema = node.get(key) or {}
            names += table
            found += [self.shape(each) for each in table.values() if not is_array(each)]
            names += [name for each in table.values() if is_array(each) for name in each]
        if names:
            found.append(object_shape(self._named(names)))
        return found

    def _named(self, names: Iterable[str]) -> ObjectShape:
        """Return an object type with these keys. Their values may have any type."""
        fields = {
            name: Field(name=name, shape=self.shapes.unsaid, required=False) for name in names
        }
        return self.shapes.form(fields, self.shapes.unsaid, {}, fields)

    def _reference(self, node: Schema, keyword: str) -> Shape:
        try:
            target = self._target(node, keyword)
        except NoSuchPart:
            # The validator also knows schemas outside this document, such as the meta-schemas.
            return Shape(types=EVERY_TYPE, opaque=True, objects=(_ANY_OBJECT,))
        if id(target) not in self.knots:
            # Stored before the target is read, because the target may refer to itself.
            knot = self.knots[id(target)] = free_shape()
            self.shapes.tie(knot, self.shape(target))
        return self.knots[id(target)]

    @cached_property
    def references(self) -> References:
        """Return the references of the document. They are read on first use, because most schemas
        have none.
        """
        return References(self.document)

    def _target(self, node: Schema, keyword: str) -> Any:
        ref = node[keyword]
        if keyword == "$dynamicRef":
            return self.references.dynamic_target(node, ref)
        return self.references.target(node, ref)

    def _own(self, schema: Schema) -> Shape:
        """Return the shape of the schema's own keywords. Its combinators (`allOf`, `anyOf` and so
        on) are ignored.
        """
        made = Shape(types=_types(schema), opaque=not _says_anything(schema))
        values = _constants(schema)
        # The validator compares choices that are objects; the shape does not.
        if values and all(isinstance(each, str | int | float | None) for each in values):
            made.constants = tuple(values)
        made.secret = schema.get("format") == "password"
        made.temporal = _TIME_FORMATS.get(str(schema.get("format")), "")
        made.decimal = schema.get("format") == "decimal"
        if made.opaque:
            # A node without assertions is free. But its `unevaluatedProperties` may open an object
            # that another part declares.
            others = schema.get("unevaluatedProperties")
            made.objects = (_ANY_OBJECT,) if others is True or is_mapping(others) else ()
            return made
        if "object" in made.types:
            made.objects = (self._object(schema),)
        if "array" in made.types:
            made.arrays = (self._array(schema),)
        return made

    def _object(self, schema: Schema) -> ObjectShape:
        declared: Schema = schema.get("properties") or {}
        required: list[str] = schema.get("required") or []
        patterns: Schema = schema.get("patternProperties") or {}
        others = self._others(schema)
        shapes = {key: self.shape(node) for key, node in declared.items()}
        # A name that is only in `required` accepts the same values as an undeclared key.
        is_said = others not in (None, self.shapes.forbidden) and not patterns
        unnamed = others if is_said and others is not None else self.shapes.unsaid
        # `required` and the objects of an `enum` may name keys that are not in `properties`.
        for key in (*required, *_keys_of(_constants(schema))):
            shapes.setdefault(key, unnamed)
        fields = {
            key: Field(
                name=key,
                shape=shape,
                required=key in required,
                verbatim=_is_verbatim(declared.get(key)),
                unsent=_unsent(declared.get(key)),
            )
            for key, shape in shapes.items()
        }
        by_pattern = {pattern: self.shape(node) for pattern, node in patterns.items()}
        return self.shapes.form(fields, others, by_pattern, fields)

    def _others(self, schema: Schema) -> Shape | None:
        """Return the shape of all keys that are not declared and match no pattern. Return None if
        such keys are forbidden.
        """
        if "additionalProperties" in schema:
            additional = schema["additionalProperties"]
        elif "unevaluatedProperties" in schema:
            additional = schema["unevaluatedProperties"]
            # The parts that apply decide which keys this keyword is about.
            if is_mapping(additional) and not schema.keys().isdisjoint(_APPLICATORS):
                additional = True
        else:
            return None if schema.get("properties") else self.shapes.unsaid
        return self.shapes.forbidden if additional is False else self.shape(additional)

    def _array(self, schema: Schema) -> ArrayShape:
        prefix: list[Any] = schema.get("prefixItems") or []
        rest = "items"
        if is_array(schema.get(rest)):  # tuples in draft-07
            prefix, rest = schema[rest], "additionalItems"
        return ArrayShape(
            prefix=tuple(map(self.shape, prefix)),
            items=self.shape(schema.get(rest, True)),
            is_silent=bool(prefix) and schema.keys().isdisjoint((rest, "unevaluatedItems")),
        )


def _types(schema: Schema) -> frozenset[JsonType]:
    declared: Any = schema.get("type")
    if declared is None and ("const" in schema or "enum" in schema):
        return frozenset(json_type_of(each) for each in _constants(schema))
    if declared is None:
        implied = (("object", _OBJECT_KEYS), ("array", _ARRAY_KEYS))
        # Many schemas have `properties` without `type: object`, but mean an object.
        declared = [kind for kind, keys in implied if not schema.keys().isdisjoint(keys)]
    if isinstance(declared, str):
        declared = [declared]
    types: frozenset[JsonType] = frozenset(declared or EVERY_TYPE)
    # `nullable` is how OpenAPI 3.0 allows null; JSON Schema itself ignores it.
    return types | frozenset[JsonType](("null",)) if schema.get("nullable") is True else types


def _says_anything(schema: Schema) -> bool:
    return not schema.keys().isdisjoint(_ASSERTIONS)


def _constants(schema: Schema) -> list[Any]:
    """Return the values that `enum` or `const` lists. Empty if the schema accepts other values
    too.
    """
    if "enum" in schema:
        return list(schema["enum"])
    return [schema["const"]] if "const" in schema else []


def _unsent(schema: Any) -> Unsent:
    """Return "null" if the default of the schema is null. Otherwise return an empty text."""
    # `get` would return None both for a default of null and for no default.
    has_null = is_mapping(schema) and "default" in schema and schema["default"] is None
    return "null" if has_null else ""


def _is_verbatim(node: Any) -> bool:
    return is_mapping(node) and node.get(VERBATIM_KEYWORD) is True


def _keys_of(values: Iterable[Any]) -> list[str]:
    """Return all keys of those values that are objects."""
    return [key for value in values if is_mapping(value) for key in value]
