"""Rules about the contents of an `inputSchema`: arrays, objects, values and their constraints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toolbooth.lint.fixes import as_portable, in_words, value_text
from toolbooth.lint.listing import Tool
from toolbooth.lint.rule import Fault, fault, tool_rule
from toolbooth.lint.schemas import COMBINATORS, SchemaNode, as_dict, as_list

_EXCLUSIVE = ("exclusiveMinimum", "exclusiveMaximum")
_SCALARS = ("string", "integer", "number", "boolean")
_CONSTRAINTS = (
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
)
_UNCOMMON = (
    "patternProperties",
    "propertyNames",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "contains",
    "minContains",
    "maxContains",
    "unevaluatedProperties",
    "unevaluatedItems",
    "contentSchema",
    "discriminator",
)


# --- arrays and objects ---


@tool_rule(fix=as_portable)
def array_without_items(tool: Tool) -> Iterator[Fault]:
    """An array does not declare its items.

    Give it `items`, with a type.
    """
    for node in tool.nodes:
        if (
            "array" in node.kinds
            # A part of an `allOf` may leave the items to another part.
            and node.role != "part"
            and not node.keywords.keys() & {"items", "prefixItems"}
        ):
            yield fault(node, "an array without items")


@tool_rule(fix=as_portable)
def tuple_items(tool: Tool) -> Iterator[Fault]:
    """An array has a schema for each position.

    Use an object with a name for each position instead. Or write one schema for all items, and
    describe the order in words.
    """
    for node in tool.nodes:
        # A list is the form of the drafts before 2020-12, which introduced `prefixItems` for it.
        if isinstance(node.keywords.get("items"), list):
            yield fault(node, "items is a list", "items")
        elif "prefixItems" in node.keywords:
            yield fault(node, "prefixItems", "prefixItems")


@tool_rule(fix=as_portable)
def boolean_additional_properties(tool: Tool) -> Iterator[Fault]:
    """`additionalProperties` is `true` or `false`.

    Leave it out of the published schema, and enforce it on the server.
    """
    for node in tool.nodes:
        extra = node.keywords.get("additionalProperties")
        if isinstance(extra, bool):
            yield fault(node, f"additionalProperties: {str(extra).lower()}", str(extra).lower())


@tool_rule()
def open_map(tool: Tool) -> Iterator[Fault]:
    """An object accepts any keys, with values of one type (`dict[str, X]`).

    If the keys are known, list them. Otherwise publish an array of objects with a name and a value,
    which every client accepts.
    """
    for node in tool.nodes:
        if isinstance(node.keywords.get("additionalProperties"), dict):
            yield fault(node, "keys of the caller's choice")


@tool_rule()
def empty_object(tool: Tool) -> Iterator[Fault]:
    """A parameter is an object without declared properties.

    List its properties. If they vary, accept JSON text (`JsonText`) and give an example.
    """
    for node in tool.nodes:
        known = node.keywords.get("properties") or as_dict(
            node.keywords.get("additionalProperties")
        )
        if (
            node.kind == "object"
            # The root is not a value: a tool without arguments has an empty object there, and that
            # is fine.
            and node.is_value
            and not known
            and not node.keywords.keys() & set(COMBINATORS)
        ):
            yield fault(node, "an object without properties")


@tool_rule(fix=as_portable)
def undeclared_required(tool: Tool) -> Iterator[Fault]:
    """A required name is not among the properties.

    Declare the property, or do not require it.
    """
    for node in tool.nodes:
        # An alternative often requires a property that the object around it declares.
        if node.role == "part" or (node.role == "option" and "properties" not in node.keywords):
            continue
        for name in as_list(node.keywords.get("required")):
            if isinstance(name, str) and name not in as_dict(node.keywords.get("properties")):
                yield fault(node, f'"{name}" is required and not declared')


@tool_rule(fix=as_portable)
def misplaced_keyword(tool: Tool) -> Iterator[Fault]:
    """A node that is not an object has `properties`, or a node that is not an array has `items`.

    Correct the type, or remove the keyword.
    """
    for node in tool.nodes:
        for key, kind in (("properties", "object"), ("required", "object"), ("items", "array")):
            # A node without a single type may be an object or an array as well.
            if key in node.keywords and node.kind not in (None, kind):
                yield fault(node, f"{key} on a node of type {node.kind}", key)


# --- values ---


@tool_rule(fix=as_portable)
def const(tool: Tool) -> Iterator[Fault]:
    """A value is fixed with `const`.

    Write an `enum` of one value.
    """
    for node in tool.nodes:
        if "const" in node.keywords:
            yield fault(node, "const")


@tool_rule(fix=as_portable)
def complex_enum(tool: Tool) -> Iterator[Fault]:
    """An enum is on an array or an object, or lists arrays or objects.

    Put the enum on the items, or describe the values in words.
    """
    for node in tool.nodes:
        values = as_list(node.keywords.get("enum"))
        if values and (
            # As text, because an invalid schema may have an object in `type`, which no set can
            # contain.
            {"array", "object"} & set(map(str, node.kinds))
            or any(_is_complex(value) for value in values)
        ):
            yield fault(node, "an enum of arrays or objects")


def _is_complex(value: Any) -> bool:
    return isinstance(value, (dict, list))


def _number_enums(node: SchemaNode) -> Mapping[str, bool]:
    values = as_list(node.keywords.get("enum"))
    scalar = values and not any(
        isinstance(value, str) or value is None or _is_complex(value) for value in values
    )
    return {"enum": True} if scalar and node.kind in _SCALARS else {}


@tool_rule(fix=in_words(_number_enums))
def number_enum(tool: Tool) -> Iterator[Fault]:
    """An enum lists numbers or booleans.

    Make the values text. Or write the bounds in the schema, and name the values in the description.
    """
    for node in tool.nodes:
        if _number_enums(node):
            yield fault(node, f"an enum of type {node.kind}")


@tool_rule(fix=as_portable)
def null_default(tool: Tool) -> Iterator[Fault]:
    """The default is null.

    Leave the default out, because an optional field needs none.
    """
    for node in tool.nodes:
        if "default" in node.keywords and node.keywords["default"] is None:
            yield fault(node, "default: null")


def _odd_formats(node: SchemaNode) -> Mapping[str, bool]:
    named = node.keywords.get("format")
    # `date-time` is the only usual format that Gemini's API accepts; for others it refuses the
    # tool.
    if isinstance(named, str) and node.kind == "string" and named != "date-time":
        return {"format": True}
    return {}


@tool_rule(fix=as_portable)
def string_format(tool: Tool) -> Iterator[Fault]:
    """A text has a `format` other than `date-time`.

    Describe the format in the description, with an example.
    """
    for node in tool.nodes:
        if _odd_formats(node):
            yield fault(node, f"format: {node.keywords['format']}", node.keywords["format"])


def _exclusive_bounds(node: SchemaNode) -> Mapping[str, bool]:
    return {
        key: True
        for key in _EXCLUSIVE
        # In draft 04, these are booleans beside `minimum` and `maximum`: `boolean_bound` is about
        # them.
        if key in node.keywords and not isinstance(node.keywords[key], bool)
    }


@tool_rule(fix=in_words(_exclusive_bounds))
def exclusive_bound(tool: Tool) -> Iterator[Fault]:
    """A number has an `exclusiveMinimum` or `exclusiveMaximum`.

    For integers, write `minimum` and `maximum`. For other numbers, put the bound in the
    description.
    """
    for node in tool.nodes:
        for key in _exclusive_bounds(node):
            yield fault(node, f"{key}: {value_text(node.keywords[key])}")


@tool_rule(fix=as_portable)
def boolean_bound(tool: Tool) -> Iterator[Fault]:
    """`exclusiveMinimum` or `exclusiveMaximum` is a boolean, as in draft 04.

    Write the bound itself: `"exclusiveMinimum": 0`.
    """
    for node in tool.nodes:
        for key in _EXCLUSIVE:
            if isinstance(node.keywords.get(key), bool):
                yield fault(node, f"{key}: {str(node.keywords[key]).lower()}")


@tool_rule(fix=as_portable)
def uncommon_keyword(tool: Tool) -> Iterator[Fault]:
    """A keyword is used that few clients know.

    Describe the rule in the description.
    """
    for node in tool.nodes:
        for key in _UNCOMMON:
            if key in node.keywords:
                yield fault(node, key, key)


def _unstated_constraints(node: SchemaNode) -> Mapping[str, bool]:
    """Return the constraints of a node that its description does not mention."""
    if not node.is_value:
        return {}
    # A format that `string_format` reports is not reported twice.
    kept = node.keywords.keys() - _odd_formats(node)
    # False means that the fix leaves the keyword in place. Some clients enforce it.
    return {key: False for key in _CONSTRAINTS if key in kept and not _is_stated(node, key)}


def _is_stated(node: SchemaNode, key: str) -> bool:
    value = node.keywords[key]
    if key == "uniqueItems":
        return value is not True or any(
            word in node.text for word in ("twice", "unique", "distinct", "duplicate")
        )
    # A boolean bound has a rule of its own, and is not a constraint.
    return isinstance(value, bool) or value_text(value) in node.text


@tool_rule(fix=in_words(_unstated_constraints))
def unstated_constraint(tool: Tool) -> Iterator[Fault]:
    """A constraint is in the schema, but not in the description.

    Repeat it in the description, because some clients show the model nothing else.
    """
    for node in tool.nodes:
        for key in _unstated_constraints(node):
            yield fault(node, f"{key} is not in the description", key)
