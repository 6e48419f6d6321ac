"""Reads one tool of an upstream server. Makes its contract, and the definition that clients see."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from toolbooth.boundary.render import META_KEY
from toolbooth.compile.json_schema import compile_json_schema
from toolbooth.contract import Contract
from toolbooth.errors import ContractError, ContractWarning
from toolbooth.jsonvalue import Json, NoSuchPart, is_object
from toolbooth.lint.listing import Tool
from toolbooth.lint.rules.protocol import HEADER, header_parameter
from toolbooth.proxy import messages
from toolbooth.proxy.message import json_text, members, spliced, with_member
from toolbooth.proxy.rules import Policy, Publish, Rules
from toolbooth.proxy.surplus import has_silent_arrays
from toolbooth.publish.profiles import portable
from toolbooth.references import References
from toolbooth.server.tool import header_params
from toolbooth.shape_check import json_schema

UNGUARDED: Json = {"guarded": False}
"""Marks a tool whose schema cannot be compiled, and its results."""
CHANGED: Json = {"changed": True}
"""Marks a tool whose definition has changed since the last start."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProxiedTool:
    """One tool that is ready for calls."""

    name: str
    """The name of the tool on the upstream server."""
    published: str
    """The name of the tool that clients see."""
    listing: str
    """The definition that clients see, as JSON."""
    contract: Contract | None
    """None if the schema cannot be compiled. The calls of such a tool are forwarded unguarded."""
    policy: Policy
    read_only: bool
    idempotent: bool
    has_silent_arrays: bool
    """True if the tool has an array whose schema does not say whether more items are allowed."""
    wrapped_in: str | None
    """The name of the only parameter, if the clients send the fields of this parameter directly."""
    header_params: dict[tuple[str, ...], tuple[str, str]]
    """The arguments that headers repeat for the server. Maps the path of each argument to the name
    in its header, and to its JSON type.
    """
    shown_headers: dict[tuple[str, ...], tuple[str, str]]
    """The arguments that clients repeat in headers. The paths differ if `wrapped_in` is set."""
    definition: str
    """The definition as the server sent it. A later definition is compared with it."""


class Forbidden(ValueError):
    """The protocol does not allow this definition of a tool. The message contains the reason."""


def read_tool(definition: str, rules: Rules) -> ProxiedTool | None:
    """Return the tool for a definition. Return None if the rules hide the tool.

    Raises:
        Forbidden: the protocol does not allow the definition, or the policy is `strict` and the
            schema cannot be compiled.
    """
    found = json.loads(definition)
    name = found.get("name") if is_object(found) else None
    if not isinstance(name, str) or not name:
        raise Forbidden(messages.NO_NAME)
    if not rules.shows(name):
        return None
    policy = rules.policy_of(name)
    published = name if rules.observe else rules.published_name(name)
    publish: Publish = "as-is" if rules.observe else rules.publish
    flatten = rules.flatten and not rules.observe
    return _made(definition, published, policy, publish, flatten)


@lru_cache(maxsize=4096)  # each session lists the same tools, and to compile one takes time
def _made(
    definition: str, published: str, policy: Policy, publish: Publish, flatten: bool
) -> ProxiedTool:
    found: Json = json.loads(definition)
    schema = found.get("inputSchema")
    if not is_object(schema) or schema.get("type") != "object":
        raise Forbidden(messages.NO_OBJECT_SCHEMA)
    if not json_schema().meta.is_valid(schema):
        raise Forbidden(messages.INVALID_SCHEMA)
    if HEADER in definition:
        _check_headers(found)
    inner = _lone_object(schema) if flatten else None
    name, shown = (None, schema) if inner is None else inner
    contract = _contract(published, shown)
    if contract is None and policy == "strict":
        raise Forbidden(messages.STRICT_LEAVES_OUT)
    listing = definition
    if publish == "portable" and contract is not None:
        shown = portable(shown)
    if shown is not schema:
        listing = _with_schema(listing, shown)
    if published != found["name"]:
        listing = with_member(listing, "name", json_text(published))
    if contract is None:
        listing = marked(listing, UNGUARDED)
    hints = found.get("annotations")
    hints = hints if is_object(hints) else {}
    return ProxiedTool(
        name=found["name"],
        published=published,
        listing=listing,
        contract=contract,
        policy=policy,
        read_only=hints.get("readOnlyHint") is True,
        idempotent=hints.get("idempotentHint") is True,
        has_silent_arrays=contract is not None and has_silent_arrays(contract.shape),
        wrapped_in=name,
        header_params=dict(header_params(schema, ())),
        shown_headers=dict(header_params(shown, ())),
        definition=definition,
    )


def _contract(name: str, schema: Json) -> Contract | None:
    try:
        with warnings.catch_warnings():
            # Only the author of the server could act on a warning, and this user is somebody else.
            warnings.simplefilter("ignore", ContractWarning)
            return compile_json_schema(schema, name=name, description="")
    except (ContractError, RecursionError):
        return None


def _check_headers(found: Json) -> None:
    """Raise Forbidden if `x-mcp-header` is used where the protocol does not allow it. Clients must
    ignore a tool with this mistake.
    """
    fault = next(iter(header_parameter.check(Tool(entry=found, name=found["name"]))), None)
    if fault is not None:
        raise Forbidden(fault.message)


def _with_schema(listing: str, schema: Json) -> str:
    spans = members(listing, _start(listing), last=True)
    return spliced(listing, [(spans["inputSchema"], json_text(schema))])


def marked(listing: str, mark: Json) -> str:
    """Return a definition with a mark added to the proxy's part of its `_meta`."""
    found: Any = json.loads(listing).get("_meta")
    meta: Json = found if is_object(found) else {}
    own: Any = meta.get(META_KEY)
    made = {**meta, META_KEY: {**(own if is_object(own) else {}), **mark}}
    return with_member(listing, "_meta", json_text(made))


def _start(text: str) -> int:
    return text.index("{")


def _lone_object(schema: Json) -> tuple[str, Json] | None:
    """If the tool has only one parameter, and this is an object with declared fields, return the
    name and the schema of the parameter. Return None otherwise.
    """
    properties: Any = schema.get("properties")
    if not is_object(properties) or len(properties) != 1 or schema.get("additionalProperties"):
        return None
    name, inner = next(iter(properties.items()))
    if not is_object(inner):
        return None
    if "$ref" in inner:
        try:
            inner = References(schema).target(inner, inner["$ref"])
        except NoSuchPart:
            return None
    if not is_object(inner) or inner.get("type") != "object" or not inner.get("properties"):
        return None
    definitions = {key: schema[key] for key in ("$schema", "$defs", "definitions") if key in schema}
    return name, {**inner, **definitions}
