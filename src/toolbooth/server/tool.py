"""Tool: one registered tool, and how `tools/list` shows it."""

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
"""Which tools the caller is shown, by name."""

Variant = Callable[[Any], "Tool | None"]
"""Finds the tool to run for these arguments; None: the tool itself."""

AccessCheck = Callable[[], Exception | None]
"""The error for a caller who may not call a tool; None: may call."""

PARAMS = "params"
"""The argument of a dispatcher that may hold the fields of an action."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionTable:
    """The tools behind a dispatcher: resource -> action -> tool. One that takes no `resource` has a
    single one, "".

    A target is the `action` of a sub-tool, with its `resource` if there are several.
    """

    resources: Mapping[str, Mapping[str, Tool]]
    only: str = ""
    """The name of the only resource, if there is only one. A call may leave it out."""
    help: str = "help"
    """The argument that asks for help: `"help": true`."""
    help_action: str = ""
    """The action that asks for help too. Another name is chosen if the author has an action of that
    name.
    """
    keys: tuple[str, ...] = field(init=False)
    """The arguments that name the sub-tool of a call."""
    own: frozenset[str] = field(init=False)
    """The dispatcher's own arguments. Fields with these names go into `params`."""

    def __post_init__(self) -> None:
        keys = ("action",) if "" in self.resources else ("resource", "action")
        object.__setattr__(self, "keys", keys)
        object.__setattr__(self, "own", frozenset((*keys, PARAMS, self.help)))
        if not self.help_action:
            is_taken = any(self.help in actions for actions in self.resources.values())
            free = f"tool_{self.help}" if is_taken else self.help
            object.__setattr__(self, "help_action", free)

    def call(self, target: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
        """The dispatcher's call with these fields: flat, unless one of them has a name of the
        call's own.
        """
        # Flat is the shorter form, but a field called `action` would replace the action itself.
        if self.own.isdisjoint(fields):
            return {**target, **fields}
        return {**target, PARAMS: dict(fields)}

    def subs(self) -> Iterator[tuple[dict[str, str], Tool]]:
        """Every sub-tool, with its target."""
        for resource, actions in self.resources.items():
            for action, tool in actions.items():
                yield target_of(resource, action), tool

    @property
    def size(self) -> int:
        """How many sub-tools there are."""
        return sum(map(len, self.resources.values()))

    def mapped(self, change: Callable[[Tool], Tool | None]) -> ActionTable:
        """The same with other sub-tools; None leaves one out."""
        resources: dict[str, dict[str, Tool]] = {}
        for resource, actions in self.resources.items():
            changed = {action: change(tool) for action, tool in actions.items()}
            kept = {action: tool for action, tool in changed.items() if tool is not None}
            if kept:
                resources[resource] = kept
        return replace(self, resources=resources)

    def only_shown(self, shows: Shows) -> ActionTable:
        """The same without the sub-tools that the caller is not shown."""
        return self.mapped(lambda tool: tool if shows(tool.name) else None)


def target_of(resource: str, action: str) -> dict[str, str]:
    """The arguments that name one action; `resource` is "" if there is only one."""
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
    """Calls that run at a time, if the tool is sync and there is an event loop."""
    profile: Profile = PORTABLE
    """How `tools/list` writes the input schema."""
    table: ActionTable | None = None
    """Of a dispatcher: its sub-tools."""
    extra_help: Callable[[], Mapping[str, Any]] | None = None
    """The entries that help adds to the tool's fields."""
    help_schema: Callable[[], Mapping[str, Any] | None] | None = None
    """The input schema for the caller who asks for help, if not all callers may send the same;
    None: that of the contract.
    """
    placeholders: Callable[[Json], Json] | None = None
    """Writes placeholders into an example of its arguments, instead of keys that rows may have."""
    list_words: Callable[[], str] | None = None
    """For a dispatcher: the words that only `tools/list` adds to the description."""
    variant: Variant | None = None
    """Another tool to run instead, if the arguments ask for it: many rows at once, for example."""
    refuses_key: bool = False
    """It may write, and takes no idempotency key: one in `_meta` is refused."""
    access_check: AccessCheck | None = None
    """The error for a caller who may not call the tool. It replaces a refusal, which would name
    the tool's fields.
    """

    @property
    def is_dispatcher(self) -> bool:
        """Whether calls are routed to sub-tools, each of which passes the boundary itself."""
        return self.table is not None

    @property
    def name(self) -> str:
        return self.contract.name

    @property
    def schema_for_caller(self) -> Mapping[str, Any]:
        """The exact input schema, with the fields that this caller may send."""
        own = None if self.help_schema is None else self.help_schema()
        return self.contract.schema if own is None else own

    @property
    def controls(self) -> Mapping[str, Any]:
        """The control arguments that the tool takes, with their meanings."""
        return {} if self.extra_help is None else self.extra_help().get(HELP_KEY, {})

    def owns(self, key: str) -> bool:
        """Whether a key is a field of the tool's own."""
        is_field = any(key in form.fields for form in self.contract.shape.objects)
        return is_field and key not in self.controls

    @cached_property
    def is_async(self) -> bool:
        """Whether calling gives something to await."""
        return is_async(self.function) or inspect.isasyncgenfunction(self.function)

    @cached_property
    def turns(self) -> TurnsByLoop:
        """Whose turn it is, if the tool is sync."""
        return TurnsByLoop(self.max_running)

    @cached_property
    def needs_loop(self) -> bool:
        """Whether a call needs an event loop: to await the tool, or to limit its time."""
        # One sub-tool is enough, since it is not known yet which of them is called.
        return (
            self.is_async or self.timeout is not None or any(sub.needs_loop for sub in self._below)
        )

    @cached_property
    def has_secret(self) -> bool:
        """Whether a secret may be among the arguments; of a dispatcher, those of any of its
        sub-tools.
        """
        return self.contract.shape.has_secret or any(sub.has_secret for sub in self._below)

    @property
    def _below(self) -> list[Tool]:
        subs = () if self.table is None else self.table.subs()
        return [sub for _, sub in subs]

    @cached_property
    def header_params(self) -> dict[tuple[str, ...], tuple[str, str]]:
        """The parameters that are mirrored in `Mcp-Param-*` headers: path -> header token and JSON
        type.
        """
        return dict(header_params(self.profile.input_schema(self.contract), ()))

    @cached_property
    def output_schema(self) -> dict[str, Any] | None:
        """The JSON Schema of the structured result, where the return annotation describes an
        object.
        """
        try:
            raw = inspect.signature(self.function).return_annotation
        except ValueError:  # written in C, without a signature
            return None
        hint = Hints(self.function).returns(raw)
        # These describe no fields of their own, so a schema of the result would not help a client.
        if hint in (inspect.Signature.empty, None, Any, str, dict, *get_args(Content)):
            return None
        try:
            return _result_schema(hint)
        except TypeError:  # not hashable
            return _result_schema.__wrapped__(hint)

    @cached_property
    def output_check(self) -> Callable[[str], str | None] | None:
        """A function that returns how a JSON result breaks the output schema; None without one."""
        schema = self.output_schema
        if schema is None or schema == _ANY_OBJECT:
            # Any object fits this schema.
            return None
        validator = json_schema().validator_for(schema)

        def check(text: str) -> str | None:
            found = _read(text)
            return None if validator.is_valid(found) else next(validator.iter_errors(found)).message

        return check

    def listing(self) -> dict[str, Any]:
        """The tool as `tools/list` shows it."""
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
    """A result as a client reads it, with every digit of an integer."""
    try:
        return jiter.from_json(text.encode())
    except ValueError:  # deeper than this reader goes
        return json.loads(text)


_ANY_OBJECT = {"type": "object", "additionalProperties": True}


@lru_cache(256)
def _result_schema(hint: Any) -> dict[str, Any] | None:
    """Return the JSON Schema of a return type, if it is an object. Many tools share a type."""
    try:
        schema = TypeAdapter[Any](hint).json_schema(mode="serialization")
    except (PydanticUserError, PydanticSchemaGenerationError, PydanticInvalidForJsonSchema):
        return None
    if "$ref" in schema:  # a recursive type: the root itself must be an object
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
    """Yield the properties with `x-mcp-header`: their path, the header's token, the JSON type."""
    for name, node in schema.get("properties", {}).items():
        if not is_object(node):  # `true`, which some profiles leave as it is
            continue
        token = node.get("x-mcp-header")
        if isinstance(token, str) and node.get("type") in ("string", "integer", "boolean"):
            yield (*path, name), (token, node["type"])
        yield from header_params(node, (*path, name))
