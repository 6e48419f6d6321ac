"""Rules about texts for the model: descriptions, examples, and parameters whose contents are not
shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from toolbooth.alternatives import JSON_TEXT
from toolbooth.examples import Examples
from toolbooth.jsonvalue import NoSuchPart, resolve_pointer
from toolbooth.lint.listing import Tool
from toolbooth.lint.rule import Fault, fault, tool_rule
from toolbooth.lint.schemas import SchemaNode, as_dict, as_list
from toolbooth.sample import is_filled, json_in

_SCALARS = ("string", "integer", "number", "boolean")
# The names in the law (docs/project/evidence/nested-wrapper.md), and usual names of request models.
_WRAPPERS = re.compile(
    r"arguments|args|attributes|body|data|fields|input|model|options|params|parameters|payload"
    r"|req|request|request_\w+"
)
# An object with one key and a scalar, in an example such as `{"value": "example.com"}`. Many
# authors write it with single quotes.
_ONE_KEY = re.compile(r"\{\s*[\"'](\w+)[\"']\s*:\s*(?:\"[^\"{}]*\"|'[^'{}]*'|[\w.-]+)\s*\}")
_SAYS_JSON = re.compile(r"\bJSON\b")


# --- descriptions ---


@tool_rule()
def no_tool_description(tool: Tool) -> Iterator[Fault]:
    """A tool has no description.

    Describe its purpose, when to use it, and its result.
    """
    if not tool.description.strip():
        yield Fault(message="the tool has no description")


@tool_rule()
def no_parameter_description(tool: Tool) -> Iterator[Fault]:
    """A parameter has no description.

    One phrase is enough: the meaning, and the unit or the format.
    """
    for node in tool.parameters:
        if not node.text.strip() and not _described_by_reference(tool, node):
            yield fault(node, "no description")


def _described_by_reference(tool: Tool, node: SchemaNode) -> bool:
    """Return True if a parameter is a reference, and its definition has a description."""
    target = node.keywords.get("$ref")
    try:
        found = resolve_pointer(tool.root, target) if isinstance(target, str) else None
    except NoSuchPart:
        # The target is in another document, or missing: other rules are about that.
        return True
    return bool(str(as_dict(found).get("description", "")).strip())


@tool_rule()
def long_tool_description(tool: Tool) -> Iterator[Fault]:
    """The description of a tool is longer than a client accepts or shows.

    Put the most important facts first. Move the rest to the parameters, or to a resource.
    """
    # The claims of the clients have the bound, so the rule yields the size of every description.
    size = len(tool.description)
    yield Fault(message=f"the description has {size:,} characters", value=size)


@tool_rule()
def long_parameter_description(tool: Tool) -> Iterator[Fault]:
    """A description inside the schema is longer than a client shows.

    Shorten it, with the essentials first.
    """
    for node in tool.nodes:
        if node.role != "root":
            yield fault(node, f"its description has {len(node.text):,} characters", len(node.text))


# --- examples (docs/project/evidence/parameter-transformation.md) ---


@tool_rule()
def opaque_parameter(tool: Tool) -> Iterator[Fault]:
    """Neither the type nor an example shows what to write for an object or array, at any depth.

    Show an example as JSON in the description: `Tags, e.g. ["security", "critical"]`. It must fit
    the type; `{}` and `[]` show nothing. No example is needed for choices, declared fields,
    booleans, and texts with a format such as `uuid` or `date`.
    """
    for found in Examples(tool.schema).missing():
        yield Fault(path=found.path, message="no example shows its content")


@tool_rule()
def no_example(tool: Tool) -> Iterator[Fault]:
    """A text parameter expects JSON, but has no example.

    Show one in the description: `Headers as JSON, e.g. {"Accept": "text/html"}`.
    """
    for node in tool.parameters:
        # For a text that declares JSON by its media type, `opaque_parameter` looks for an example.
        is_declared = node.keywords.get("contentMediaType") == JSON_TEXT
        if not is_declared and _takes_json_text(node) and not _has_example(node):
            yield fault(node, "takes JSON, and there is no example")


def _has_example(node: SchemaNode) -> bool:
    keywords = node.keywords
    given = as_list(keywords.get("examples")) or as_list(keywords.get("enum"))
    return bool(given or "example" in keywords or any(map(is_filled, json_in(node.text))))


def _takes_json_text(node: SchemaNode) -> bool:
    is_declared = node.keywords.get("contentMediaType") == JSON_TEXT
    return node.kind == "string" and (is_declared or bool(_SAYS_JSON.search(node.text)))


# --- the wrong shape ---


@tool_rule()
def json_for_simple_value(tool: Tool) -> Iterator[Fault]:
    """A simple value is wrapped in JSON, such as `{"value": "example.com"}` for a host name.

    Accept the value itself: `host="example.com"`.
    """
    for node in tool.parameters:
        if _takes_json_text(node) and _wants_scalar_text(node):
            yield fault(node, "JSON text for a simple value")
        elif node.kind == "object" and _holds_one_scalar(node):
            yield fault(node, "an object around a simple value")


def _wants_scalar_text(node: SchemaNode) -> bool:
    if as_dict(node.keywords.get("contentSchema")).get("type") in _SCALARS:
        return True
    texts = [
        node.text,
        *(each for each in as_list(node.keywords.get("examples")) if isinstance(each, str)),
    ]
    return any(
        match[1] in _value_names(node) for text in texts for match in _ONE_KEY.finditer(text)
    )


def _holds_one_scalar(node: SchemaNode) -> bool:
    properties = as_dict(node.keywords.get("properties"))
    names = [name for name in properties if name in _value_names(node)]
    return (
        len(properties) == 1
        and bool(names)
        and as_dict(properties[names[0]]).get("type") in _SCALARS
    )


def _value_names(node: SchemaNode) -> tuple[str, ...]:
    # A parameter `host` that takes `{"host": "example.com"}` repeats its own name inside.
    return ("value", "val", "text", node.name)


@tool_rule()
def wrapper_parameter(tool: Tool) -> Iterator[Fault]:
    """The arguments are wrapped in one object, such as `request`, `data` or `params`.

    Publish the fields flat. In Python: `request: Annotated[Model, Unpack()]`.
    """
    for node in tool.parameters:
        inside = _properties_of(tool, node)
        # A single object is a wrapper under any name.
        sole = len(tool.parameters) == 1
        if inside and (sole or _WRAPPERS.fullmatch(node.name.lower())):
            yield fault(
                node, f"wraps {', '.join(list(inside)[:4])}{' …' if len(inside) > 4 else ''}"
            )


def _properties_of(tool: Tool, node: SchemaNode) -> dict[str, Any]:
    """Return the properties of a parameter. The parameter may also be a reference, or a union of an
    object and null.
    """
    options = [
        node.keywords,
        *(
            as_dict(option)
            for key in ("anyOf", "allOf")
            for option in as_list(node.keywords.get(key))
        ),
    ]
    for option in options:
        # Only references of the usual form, `#/$defs/Name`, are followed.
        target = str(option.get("$ref", "")).rpartition("/")
        shared = as_dict(tool.root.get(target[0].removeprefix("#/")))
        found = as_dict(option.get("properties")) or as_dict(
            as_dict(shared.get(target[2])).get("properties")
        )
        if found:
            return found
    return {}
