"""Tool: one registered tool, and its entry in `tools/list`."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, get_args

import jiter
from pydantic import TypeAdapter
from pydantic.errors import (
    PydanticInvalidForJsonSchema,
    PydanticSchemaGenerationError,
    PydanticUserError,
)

from toolbooth.boundary.run import is_async
from toolbooth.compile.hints import Hints
from toolbooth.content import Content
from toolbooth.contract import Contract
from toolbooth.jsonvalue import Json, is_array, is_object
from toolbooth.publish import PORTABLE, Profile
from toolbooth.server.controls import HELP_KEY
from toolbooth.server.running import MOST_RUNNING, TurnsByLoop
from toolbooth.shape_check import json_schema

Shows = Callable[[str], bool]
"""A function that returns True if the caller may see the tool with this name."""

Variant = Callable[[Any], "Tool | None"]
"""A function that returns the tool to run for these arguments. It returns None if the tool itself
should run.
"""

AccessCheck = Callable[[], Exception | None]
"""A function that returns the error for a caller who may not call a tool. It returns None for all
other callers.
"""

PARAMS = "params"
"""The argument of a dispatcher that may contain the fields of an action."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionTable:
    """The tools behind a dispatcher, by resource and action.

    If the dispatcher has no argument `resource`, the table has only the resource "". The *target*
    of a call is `{"action": ...}`; if there are several resources, it also has `resource`.
    """

    resources: Mapping[str, Mapping[str, Tool]]
    only: str = ""
    """The name of the only resource, if the dispatcher has just one. A call may leave it out."""
    help: str = "help"
    """The name of the argument that asks for help: `"help": true`."""
    help_action: str = ""
    """The action that asks for help too. If the author already has an action with this name,
    another name is used.
    """
    keys: tuple[str, ...] = field(init=False)
    """The arguments that name the sub-tool of a call."""
    own: frozenset[str] = field(init=False)
    """The dispatcher's own arguments. If a sub-tool has a field with one of these names, the field
    must be sent in `params`.
    """

    def __post_init__(self) -> None:
        keys = ("action",) if "" in self.resources else ("resource", "action")
        object.__setattr__(self, "keys", keys)
        object.__setattr__(self, "own", frozenset((*keys, PARAMS, self.help)))
        if not self.help_action:
            is_taken = any(self.help in actions for actions in self.resources.values())
            free = f"tool_{self.help}" if is_taken else self.help
            object.__setattr__(self, "help_action", free)

    def call(self, target: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return the dispatcher's call for these fields. The fields are sent flat. If one of them
        has the name of a dispatcher's argument, all are sent inside `params`.
        """
        # The flat form is shorter, but a field called `action` would replace the action itself.
        if self.own.isdisjoint(fields):
            return {**target, **fields}
        return {**target, PARAMS: dict(fields)}

    def subs(self) -> Iterator[tuple[dict[str, str], Tool]]:
        """Yield every sub-tool with the arguments that name it."""
        for resource, actions in self.resources.items():
            for action, tool in actions.items():
                yield target_of(resource, action), tool

    @property
    def size(self) -> int:
        """Return the number of sub-tools."""
        return sum(map(len, self.resources.values()))

    def mapped(self, change: Callable[[Tool], Tool | None]) -> ActionTable:
        """Return a table in which `change` has replaced the sub-tools. If `change` returns None,
        the sub-tool is left out.
        """
        resources: dict[str, dict[str, Tool]] = {}
        for resource, actions in self.resources.items():
            changed = {action: change(tool) for action, tool in actions.items()}
            kept = {action: tool for action, tool in changed.items() if tool is not None}
            if kept:
                resources[resource] = kept
        return replace(self, resources=resources)

    def only_shown(self, shows: Shows) -> ActionTable:
        """Return the table with only those sub-tools that the caller may see."""
        return self.mapped(lambda tool: tool if shows(tool.name) else None)


def target_of(resource: str, action: str) -> dict[str, str]:
    """Return the arguments that name one action. `resource` is "" if a call need not name a
    resource.
    """
    return {"resource": resource, "action": action} if resource else {"action": action}


@dataclass(frozen=True, kw_only=True)
class Tool:
    """One registered tool."""

    contract: Contract
    function: Callable[..., Any]
    title: str | None = None
    annotations: Mapping[str, Any] | None = None
    timeout: float | None = None
    max_running: int = MOST_RUNNING
    """How many calls may run at the same time. Only for sync tools in an event loop."""
    profile: Profile = PORTABLE
    """How `tools/list` writes the input schema."""
    table: ActionTable | None = None
    """For a dispatcher: its sub-tools."""
    extra_help: Callable[[], Mapping[str, Any]] | None = None
    """Returns additional entries for the help of the tool."""
    help_schema: Callable[[], Mapping[str, Any] | None] | None = None
    """Returns the input schema for the current caller. Needed if not all callers may send the same
    fields. If this is None, all callers get the schema of the contract.
    """
    placeholders: Callable[[Json], Json] | None = None
    """Replaces values that could be keys of existing database rows by placeholders. It is used for
    examples of the arguments.
    """
    list_words: Callable[[], str] | None = None
    """For a dispatcher: returns text that is added to its description, but only in `tools/list`."""
    variant: Variant | None = None
    """Returns another tool to run, if the arguments ask for it. An example is a tool for many rows
    at once.
    """
    refuses_key: bool = False
    """True if the tool may write, but does not accept idempotency keys. Then a key in `_meta` is
    refused.
    """
    access_check: AccessCheck | None = None
    """Returns the error for a caller who may not call the tool. Such a caller gets this error
    instead of a refusal, because a refusal would name the fields.
    """

    @property
    def is_dispatcher(self) -> bool:
        """Return True if the tool passes its calls on to sub-tools. The boundary then checks the
        arguments of the sub-tool.
        """
        return self.table is not None

    @property
    def name(self) -> str:
        return self.contract.name

    @property
    def schema_for_caller(self) -> Mapping[str, Any]:
        """Return the exact input schema for the current caller. It has only the fields that this
        caller may send.
        """
        own = None if self.help_schema is None else self.help_schema()
        return self.contract.schema if own is None else own

    @property
    def controls(self) -> Mapping[str, Any]:
        """Return the control arguments of the tool, each with its meaning."""
        return {} if self.extra_help is None else self.extra_help().get(HELP_KEY, {})

    def owns(self, key: str) -> bool:
        """Return True if a key is one of the tool's own fields. Control arguments are not."""
        is_field = any(key in form.fields for form in self.contract.shape.objects)
        return is_field and key not in self.controls

    @cached_property
    def is_async(self) -> bool:
        """Return True if a call returns an awaitable."""
        return is_async(self.function) or inspect.isasyncgenfunction(self.function)

    @cached_property
    def turns(self) -> TurnsByLoop:
        """Return the object that limits how many calls of a sync tool run at the same time."""
        return TurnsByLoop(self.max_running)

    @cached_property
    def needs_loop(self) -> bool:
        """Return True if a call needs an event loop, because the tool or one of its sub-tools is
        async or has a time limit.
        """
        # One async sub-tool is enough, because it is not known yet which one is called.
        return (
            self.is_async or self.timeout is not None or any(sub.needs_loop for sub in self._below)
        )

    @cached_property
    def has_secret(self) -> bool:
        """Return True if the arguments may contain a secret. For a dispatcher, this includes the
        arguments of all sub-tools.
        """
        return self.contract.shape.has_secret or any(sub.has_secret for sub in self._below)

    @property
    def _below(self) -> list[Tool]:
        subs = () if self.table is None else self.table.subs()
        return [sub for _, sub in subs]

    @cached_property
    def header_params(self) -> dict[tuple[str, ...], tuple[str, str]]:
        """Return the parameters that are repeated in `Mcp-Param-*` headers. The path of each is
        mapped to the name of its header and its JSON type.
        """
        return dict(header_params(self.profile.input_schema(self.contract), ()))

    @cached_property
    def output_schema(self) -> dict[str, Any] | None:
        """Return the JSON Schema of the structured result. Return None if the return type is not an
        object.
        """
        try:
            raw = inspect.signature(self.function).return_annotation
        except ValueError:  # written in C, without a signature
            return None
        hint = Hints(self.function).returns(raw)
        # These types declare no fields, so a schema of the result would not help a client.
        if hint in (inspect.Signature.empty, None, Any, str, dict, *get_args(Content)):
            return None
        try:
            return _result_schema(hint)
        except TypeError:  # not hashable
            return _result_schema.__wrapped__(hint)

    @cached_property
    def output_check(self) -> Callable[[str], str | None] | None:
        """Return a function that says how a JSON result violates the output schema. Return None if
        the tool has no output schema.
        """
        schema = self.output_schema
        if schema is None or schema == _ANY_OBJECT:
            # Any object fits this schema, so no check is needed.
            return None
        validator = json_schema().validator_for(schema)

        def check(text: str) -> str | None:
            found = _read(text)
            return None if validator.is_valid(found) else next(validator.iter_errors(found)).message

        return check

    def listing(self) -> dict[str, Any]:
        """Return the tool as `tools/list` shows it."""
        made: dict[str, Any] = {"name": self.name}
        if self.title:
            made["title"] = self.title
        more = "" if self.list_words is None else self.list_words()
        words = " ".join(filter(None, (self.contract.description, more)))
        if words:
            made["description"] = words
        made["inputSchema"] = self.profile.input_schema(self.contract)
        if self.output_schema:
            made["outputSchema"] = self.output_schema
        if self.annotations:
            made["annotations"] = dict(self.annotations)
        return made


def _read(text: str) -> Any:
    """Parse a result as a client does, but keep every digit of integers."""
    try:
        return jiter.from_json(text.encode())
    except ValueError:  # too deep for this parser
        return json.loads(text)


_ANY_OBJECT = {"type": "object", "additionalProperties": True}


@lru_cache(256)
def _result_schema(hint: Any) -> dict[str, Any] | None:
    """Return the JSON Schema of a return type. Return None if the type is not an object. The result
    is cached, because many tools have the same return type.
    """
    try:
        schema = TypeAdapter[Any](hint).json_schema(mode="serialization")
    except (PydanticUserError, PydanticSchemaGenerationError, PydanticInvalidForJsonSchema):
        return None
    if "$ref" in schema:  # a recursive type, but the root itself must be an object
        schema = {**schema["$defs"][schema["$ref"].rpartition("/")[2]], "$defs": schema["$defs"]}
    return _untitled(schema) if schema.get("type") == "object" else None


def _untitled(schema: Any) -> Any:
    """Return the schema without Pydantic's titles, which only repeat the names and cost tokens."""
    if is_array(schema):
        return [_untitled(each) for each in schema]
    if not is_object(schema):
        return schema
    made: Json = {}
    for key, value in schema.items():
        if key in ("properties", "$defs"):  # here the keys are names, and one may be "title"
            made[key] = {name: _untitled(each) for name, each in value.items()}
        elif key != "title":
            made[key] = _untitled(value)
    return made


def header_params(
    schema: Mapping[str, Any], path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], tuple[str, str]]]:
    """Yield each property that has `x-mcp-header`: its path, the name of its header, and its JSON
    type.
    """
    for name, node in schema.get("properties", {}).items():
        if not is_object(node):  # `true`, which some profiles leave as it is
            continue
        token = node.get("x-mcp-header")
        if isinstance(token, str) and node.get("type") in ("string", "integer", "boolean"):
            yield (*path, name), (token, node["type"])
        yield from header_params(node, (*path, name))
