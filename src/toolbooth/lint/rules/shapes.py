"""Rules about the structure of an `inputSchema`: its root, its types and its references."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toolbooth.jsonvalue import NoSuchPart, resolve_pointer
from toolbooth.lint.fixes import as_portable
from toolbooth.lint.listing import Tool
from toolbooth.lint.rule import Fault, fault, tool_rule
from toolbooth.lint.schemas import (
    COMBINATORS,
    SchemaNode,
    as_dict,
    as_list,
    names_old_dialect,
    outside_references,
)

_HAS_TYPE = ("type", "anyOf", "oneOf", "allOf", "$ref", "$dynamicRef", "enum", "const")


# --- the root ---


@tool_rule(fix=as_portable)
def root_untyped(tool: Tool) -> Iterator[Fault]:
    """The root of the inputSchema does not declare that it is an object.

    Write `"type": "object"` at the root, also for a tool without arguments.
    """
    written = tool.root.get("type")
    if not isinstance(tool.schema, dict):
        missing = tool.schema is None
        yield Fault(
            message="there is no inputSchema" if missing else "the inputSchema is not an object"
        )
    elif written is None:
        yield Fault(message="the root has no type")
    # `["object", "null"]`; a list without "object" is reported by `root_not_object`.
    elif "object" in as_list(written):
        yield Fault(message="the type of the root is a list")


@tool_rule()
def root_not_object(tool: Tool) -> Iterator[Fault]:
    """The root of the inputSchema is not an object.

    Arguments are always an object. Make the value one of its properties.
    """
    written = tool.root.get("type", "object")
    if written != "object" and "object" not in as_list(written):
        yield Fault(message=f"the root is of type {written}")


@tool_rule(fix=as_portable)
def root_combinator(tool: Tool) -> Iterator[Fault]:
    """The root of the inputSchema has alternatives or conditions.

    List all properties in one object, and describe in the description which of them belong
    together.
    """
    for key in (*COMBINATORS, "enum", "const"):
        if key in tool.root:
            yield Fault(message=f"{key} at the root", value=key)


@tool_rule(fix=as_portable)
def no_properties(tool: Tool) -> Iterator[Fault]:
    """The root of the inputSchema has no `properties`.

    Write `"properties": {}` for a tool without arguments.
    """
    if isinstance(tool.schema, dict) and not isinstance(tool.root.get("properties"), dict):
        yield Fault(message="the root has no properties")


@tool_rule(fix=as_portable)
def old_dialect(tool: Tool) -> Iterator[Fault]:
    """`$schema` names a draft other than 2020-12.

    Leave `$schema` out: 2020-12 is the default of MCP.
    """
    named = tool.root.get("$schema")
    if names_old_dialect(named):
        yield Fault(message=f"$schema is {named}", value=str(named))


# --- types ---


@tool_rule(fix=as_portable)
def untyped(tool: Tool) -> Iterator[Fault]:
    """A value has no type.

    Give every node a type. If any value is accepted, list the types in an `anyOf`.
    """
    for node in tool.nodes:
        if (
            node.is_value
            # `true` and `false` have a rule of their own, `boolean_schema`.
            and isinstance(node.schema, dict)
            and not node.keywords.keys() & set(_HAS_TYPE)
        ):
            yield fault(node, "no type")


@tool_rule(fix=as_portable)
def untyped_enum(tool: Tool) -> Iterator[Fault]:
    """An enum or const has no type beside it.

    Write the type of the values beside the enum or const.
    """
    for node in tool.nodes:
        if (
            node.is_value
            and "type" not in node.keywords
            and ("enum" in node.keywords or "const" in node.keywords)
        ):
            yield fault(node, "values without a type")


@tool_rule(fix=as_portable)
def boolean_schema(tool: Tool) -> Iterator[Fault]:
    """`true` or `false` is used in place of a schema.

    Replace `true` with a schema that has a type; remove properties that are `false`.
    """
    for node in tool.nodes:
        if isinstance(node.schema, bool) and node.is_value:
            yield fault(node, f"{str(node.schema).lower()} in place of a schema")


@tool_rule(fix=as_portable)
def type_list(tool: Tool) -> Iterator[Fault]:
    """`type` is a list.

    Write one type. For an optional value, leave `null` out and do not require the property. For a
    real choice, use `anyOf`.
    """
    for node in tool.nodes:
        # For the root, `root_untyped` reports it.
        if node.role != "root" and isinstance(node.keywords.get("type"), list):
            yield fault(node, f"type is a list ({', '.join(map(str, node.kinds))})")


@tool_rule(fix=as_portable)
def null_option(tool: Tool) -> Iterator[Fault]:
    """A value may be null, because an `anyOf` or `oneOf` has a null branch.

    Publish only the other type, and do not require the property. The server should still accept
    null.
    """
    for node in tool.nodes:
        options = [*as_list(node.keywords.get("anyOf")), *as_list(node.keywords.get("oneOf"))]
        # For the root, `root_combinator` reports it.
        if node.role != "root" and any(as_dict(option).get("type") == "null" for option in options):
            yield fault(node, "null as an alternative")


@tool_rule()
def union(tool: Tool) -> Iterator[Fault]:
    """A value may have several types.

    Choose one type if you can, or use two parameters instead. If both types are needed, explain in
    the description when to send which.
    """
    parameters = {each.pointer for each in tool.parameters}
    for node in tool.nodes:
        options = [
            as_dict(option).get("type", "?") for option in as_list(node.keywords.get("anyOf"))
        ]
        if node.role != "root" and len(set(map(str, options)) - {"null"}) > 1:
            # Hosts that parse the arguments from the model's text read each of them as a whole: as
            # text if it may be text, otherwise as JSON, with all its contents.
            is_cut_out = node.pointer in parameters and "string" in options
            value = "text" if is_cut_out else "other"
            yield fault(node, f"anyOf {', '.join(map(str, options))}", value)


@tool_rule(fix=as_portable)
def combinator(tool: Tool) -> Iterator[Fault]:
    """A node below the root has `oneOf`, `allOf`, `not` or a condition.

    Merge `allOf` into one schema, write `anyOf` for `oneOf`, and put conditions in words.
    """
    for node in tool.nodes:
        for key in COMBINATORS:
            if (
                key in node.keywords
                and node.role != "root"
                # `anyOf` is the portable form of a choice. `then` and `else` have no effect without
                # an `if`, which is reported.
                and key not in ("anyOf", "then", "else")
            ):
                yield fault(node, f"{key} below the root", key)


@tool_rule(fix=as_portable)
def mixed_object(tool: Tool) -> Iterator[Fault]:
    """An object below the root has both `properties` and alternatives.

    Merge them into one object, or put the shared properties into each alternative.
    """
    for node in tool.nodes:
        if (
            node.role != "root"
            and "properties" in node.keywords
            and node.keywords.keys() & {"anyOf", "oneOf"}
        ):
            yield fault(node, "properties together with alternatives")


# --- references ---


@tool_rule(fix=as_portable)
def reference(tool: Tool) -> Iterator[Fault]:
    """The schema uses references: `$ref`, `$defs`, anchors.

    Write definitions where they are used.
    """
    for node in tool.nodes:
        for key in (
            "$ref",
            "$dynamicRef",
            "$recursiveRef",
            "$defs",
            "definitions",
            "$anchor",
            "$dynamicAnchor",
        ):
            if key in node.keywords:
                yield fault(node, key, key)


@tool_rule(fix=as_portable)
def recursion(tool: Tool) -> Iterator[Fault]:
    """A definition refers to itself.

    Cut it at the depth that agents need, and describe deeper levels in words.
    """
    refs = [(node, node.keywords["$ref"]) for node in tool.nodes if _is_local_ref(node)]
    # By each target, the references inside of it.
    leads: dict[str, set[str]] = {target: set() for _, target in refs}
    for target, inside in leads.items():
        for node, to in refs:
            if node.pointer == target or node.pointer.startswith(f"{target}/"):
                inside.add(to)
    # A definition may contain itself by way of others: `Node` has `Edge`, and `Edge` has `Node`.
    circles = {target for target in leads if target in _reachable(leads, target)}
    for node, target in refs:
        if target in circles:
            yield fault(node, f"{target} refers to itself")


def _reachable(leads: Mapping[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    waiting = [*leads[start]]
    while waiting:
        target = waiting.pop()
        if target not in found:
            found.add(target)
            waiting += leads[target]
    return found


@tool_rule(fix=as_portable)
def external_reference(tool: Tool) -> Iterator[Fault]:
    """A `$ref` points outside the schema.

    Copy the definition into the schema. The specification forbids clients to fetch it
    automatically.
    """
    for node, target in outside_references(tool.schema):
        yield fault(node, f"refers to {target}")


@tool_rule(fix=as_portable)
def dangling_reference(tool: Tool) -> Iterator[Fault]:
    """A `$ref` points to nothing.

    Correct it, or copy the definition to the place where it is used.
    """
    for node in tool.nodes:
        if _is_local_ref(node) and not _leads_somewhere(tool.root, node.keywords["$ref"]):
            yield fault(node, f"{node.keywords['$ref']} does not exist")


def _leads_somewhere(root: Any, ref: str) -> bool:
    try:
        resolve_pointer(root, ref)
    except NoSuchPart:
        return False
    return True


def _is_local_ref(node: SchemaNode) -> bool:
    ref = node.keywords.get("$ref")
    return isinstance(ref, str) and (ref == "#" or ref.startswith("#/"))
