"""Rules about what the protocol itself requires. Clients check this when they receive the list of
tools.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

import jsonschema_rs

from toolbooth.lint.listing import Tool
from toolbooth.lint.rule import Fault, fault, tool_rule
from toolbooth.lint.schemas import SchemaNode, as_dict, escape_step, names_old_dialect

# The characters of a token in RFC 9110, which the name of an HTTP header consists of.
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
HEADER = "x-mcp-header"
# The errors at these places have rules of their own.
_OTHER_RULES = (("items",), ("exclusiveMinimum",), ("exclusiveMaximum",))


@tool_rule()
def invalid_schema(tool: Tool) -> Iterator[Fault]:
    """The inputSchema is not a valid JSON Schema 2020-12.

    Correct it. One such schema can make every request of a session fail, also requests for other
    tools.
    """
    plain = {key: value for key, value in tool.root.items() if key != "$schema"}
    if _meta_schema().is_valid(plain):
        return
    errors = _meta_schema().iter_errors(plain)
    messages = dict.fromkeys((tuple(error.instance_path), error.message) for error in errors)
    by_pointer = {node.pointer: node for node in tool.nodes}
    for steps, message in messages:
        if steps[-1:] not in _OTHER_RULES:
            yield _schema_fault(by_pointer, steps, message)


@cache
def _meta_schema() -> jsonschema_rs.Draft202012Validator:
    # The meta-schema is part of jsonschema-rs: nothing is fetched.
    return jsonschema_rs.Draft202012Validator(
        {"$ref": "https://json-schema.org/draft/2020-12/schema"}, offline=True
    )


def _schema_fault(
    by_pointer: Mapping[str, SchemaNode], steps: Sequence[str | int], message: str
) -> Fault:
    """Return a fault at the node nearest to the error. The message names the wrong keyword."""
    names = [f"/{escape_step(str(step))}" for step in steps]
    pointers = ["#" + "".join(names[:end]) for end in range(len(steps) + 1)]
    # The root is always one of the nodes, so there is at least one index.
    end = max(index for index, pointer in enumerate(pointers) if pointer in by_pointer)
    node, keyword = by_pointer[pointers[end]], ".".join(map(str, steps[end:]))
    # The validator's own sentence, "not valid under any of the schemas listed in the 'anyOf'
    # keyword", is about the meta-schema and does not help an author.
    if keyword == "type":
        return fault(node, f"there is no type {json.dumps(node.keywords.get('type'))}")
    return fault(node, f"{keyword}: {message}" if keyword else message)


@tool_rule()
def output_not_object(tool: Tool) -> Iterator[Fault]:
    """The root of the outputSchema is not of type object.

    Return an object, such as `{"items": [...]}` for a list. In protocol revisions up to 2025-11-25,
    nothing else is allowed. One such schema makes clients of these revisions lose all tools.
    """
    output = tool.entry.get("outputSchema")
    if output is not None and as_dict(output).get("type") != "object":
        yield Fault(
            message=f"the outputSchema is of type {as_dict(output).get('type')}",
            path="outputSchema",
        )


@tool_rule()
def output_dialect(tool: Tool) -> Iterator[Fault]:
    """`$schema` of the outputSchema names a draft other than 2020-12.

    Leave `$schema` out: 2020-12 is the default of MCP. Clients that check results accept no other
    draft, and refuse every call of the tool.
    """
    named = as_dict(tool.entry.get("outputSchema")).get("$schema")
    if names_old_dialect(named):
        yield Fault(message=f"$schema is {named}", path="outputSchema", value=str(named))


@tool_rule()
def header_parameter(tool: Tool) -> Iterator[Fault]:
    """`x-mcp-header` is used where the protocol does not allow it.

    It is allowed on properties of type string, integer or boolean, outside arrays and alternatives.
    Each header needs a different name.
    """
    seen: set[str] = set()
    for node in tool.nodes:
        if HEADER not in node.keywords:
            continue
        token = node.keywords[HEADER]
        reachable = node.role == "property" and re.fullmatch(r"#(/properties/[^/]+)+", node.pointer)
        if not reachable:
            yield fault(node, f"{HEADER} is not on a plain property")
        elif not isinstance(token, str) or not _TOKEN.fullmatch(token):
            yield fault(node, f"{HEADER} is not a header name")
        elif node.kind not in ("string", "integer", "boolean"):
            yield fault(node, f"{HEADER} on a node of type {node.keywords.get('type')}")
        # HTTP does not distinguish upper and lower case in names of headers.
        elif token.lower() in seen:
            yield fault(node, f"{HEADER} {token} is used twice")
        else:
            seen.add(token.lower())
