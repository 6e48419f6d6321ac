"""Converts an operation to the flat arguments of a tool. Each argument belongs to one part of the
request: path, query, header or body.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from toolbooth.contract import Contract
from toolbooth.django.call.bodies import is_json
from toolbooth.django.describe import messages
from toolbooth.django.describe.declared_bodies import WHOLE_BODY
from toolbooth.django.describe.field_schemas import trimmed
from toolbooth.django.describe.fields import Fields, read_body
from toolbooth.django.describe.kinds import Kinds
from toolbooth.django.describe.openapi import Unknowable, as_plain
from toolbooth.django.describe.operations import Operation
from toolbooth.django.describe.paging import Bound
from toolbooth.django.describe.parameters import Parameter
from toolbooth.django.describe.two_users import merged, united
from toolbooth.equal_json import kept_once
from toolbooth.jsonvalue import Json

RequestPart = Literal["path", "query", "header", "body"]

_HEADERS_OF_THE_CALLER = frozenset(("authorization", "cookie", "accept", "content-type", "host"))
"""Headers that no argument may set, even if a description declares them."""

_TEXT_OR_TEXTS: Json = {
    "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """The part of the request that contains one argument, and the argument's name there."""

    part: RequestPart
    name: str
    comma_separated: bool = False
    """True if a list is sent in the query as one value, separated by commas."""
    choices: tuple[str, ...] = ()
    """The values that the argument accepts; empty if it accepts any value."""
    bound: Bound | None = None
    """The limits of a parameter of the paginator; None for other arguments."""
    is_filter: bool = False
    """True if the argument filters a list. A filter ignores an empty value."""
    ignored_characters: str = ""
    """Characters that are ignored in the value, as spaces are."""
    in_body: bool = False
    """True if the body must contain this part of the path too, as the key of the row."""


@dataclass(slots=True)
class Arguments(Fields):
    """The arguments of one tool."""

    slots: dict[str, Slot] = field(default_factory=dict[str, Slot])
    unlisted: tuple[str, ...] = ()
    """Control arguments that are accepted, but left out of `tools/list`."""
    repeats: bool = False
    """True if another listed tool describes the same fields."""
    definitions: dict[str, Json] = field(default_factory=dict[str, Json])
    whole: bool = False
    """True if a single argument holds the whole body."""
    updates: bool = False
    """True if a body field keeps its stored value when it is not sent."""
    plain: Contract | None = None
    """The contract that validates the body, if no serializer does."""
    kinds: Kinds | None = None
    """The fields of each kind of body; None if there is only one kind."""
    controls: dict[str, str] = field(default_factory=dict[str, str])
    """The control arguments, which the gateway adds to the tool. Maps the name in this tool to the
    name in `CONTROL_ARGUMENTS`.
    """
    withheld: dict[str, str] = field(default_factory=dict[str, str])
    """Maps each control argument that this tool must refuse to the reason."""

    def schema(self, properties: dict[str, Json]) -> Json:
        """Return a closed JSON Schema over these properties."""
        made = {
            "type": "object",
            "properties": properties,
            "required": self.required,
            "additionalProperties": False,
        }
        return {**made, "$defs": self.definitions} if self.definitions else made

    def called(self, control: str) -> str | None:
        """Return the name that a control argument has in this tool. Return None if the tool does
        not accept it.
        """
        return next((name for name, own in self.controls.items() if own == control), None)

    def path_in_body(self, path: tuple[str, ...]) -> tuple[str, ...]:
        """Convert the path of a value in the arguments to its path in the body. The two paths
        differ only if one argument holds the whole body.
        """
        return path[1:] if self.whole else path

    @property
    def published(self) -> list[str]:
        """The arguments that are published, without control arguments."""
        return [name for name in self.slots if name in self.properties]

    def named(self, part: RequestPart) -> dict[str, str]:
        """Return the arguments of one part of the request. Each key is the name in the request, and
        its value is the name of the argument.
        """
        return {slot.name: name for name, slot in self.slots.items() if slot.part == part}


def arguments_of(operation: Operation, for_superuser: Operation | None = None) -> Arguments:
    """Return the arguments of an operation. If the body has other fields for a superuser,
    `for_superuser` is the operation as described for a superuser.

    Raises:
        Unknowable: the body has no named fields, or a required field cannot be described.
    """
    made = Arguments(
        definitions=operation.definitions, plain=operation.plain, kinds=operation.kinds
    )
    body = _body(operation)
    if for_superuser is not None and body is not None:
        body = _with_fields_of(for_superuser, body)
        made.definitions = united(made.definitions, for_superuser.definitions)
    row_key = _row_key(operation, for_superuser, body)
    # An update may require the key in its body too. The argument in the path then fills both.
    needed = body is not None and row_key in body.required
    if body is not None and row_key is not None:
        _drop(body, row_key)
    # Fields of the body keep their names. A parameter of the same name gets an ending.
    taken = set(body.wide) if body is not None else set[str]()
    for name, parameter in operation.path.items():
        # `{pk}` is REST framework's word. Responses show the key under the model's name for it,
        # such as `id`, and agents look for that.
        called = parameter.documented_as or (operation.key if name == "pk" else name)
        own = _free(called, "in_path", {*taken, *made.slots})
        words = "" if own == called else messages.key_in_path(called)
        slot = Slot(part="path", name=name, in_body=needed and called == row_key)
        _add(made, own, slot, parameter, words)
    for name, parameter in operation.query.items():
        slot = _query_slot(name, parameter, operation)
        _add(made, _free(name, "in_query", {*taken, *made.slots}), slot, parameter)
    for name, parameter in operation.headers.items():
        if name.lower() not in _HEADERS_OF_THE_CALLER:
            slot = Slot(part="header", name=name)
            _add(made, _free(name, "header", {*taken, *made.slots}), slot, parameter)
    if body is not None:
        _add_body(made, body)
        made.whole = operation.takes_list
        made.updates = operation.action.name in ("update", "partial_update")
    # Lazy strings become text here, while the language of the catalogue is active.
    # The tools of a project repeat the same few schemas, so equal ones are kept once.
    made.properties, made.wide = _kept(made.properties), _kept(made.wide)
    made.definitions, made.offered = _kept(made.definitions), _kept(made.offered)
    return made


def _kept(schemas: dict[str, Json]) -> dict[str, Json]:
    # A schema with lazy strings is not plain JSON, and is written as text first.
    return {name: kept_once(each, as_plain) for name, each in schemas.items()}


def _row_key(
    operation: Operation, for_superuser: Operation | None, body: Fields | None
) -> str | None:
    """Return the name of the body field with the row's key. Return None if there is no such field.
    The path contains the same key, and an update cannot change it, so one argument is enough for
    both.
    """
    key = operation.key
    lookup: str = getattr(operation.action.view, "lookup_field", "pk")
    is_by_key = operation.assigns_key and "pk" in operation.path and lookup in ("pk", key)
    if body is None or not is_by_key or key not in body.wide:
        return None
    if operation.serializer is None and operation.plain is None:  # its author describes the body
        return key if operation.action.name in ("update", "partial_update") else None
    described = [operation] if for_superuser is None else [operation, for_superuser]
    fields: list[Any] = [getattr(each.serializer, "fields", {}).get(key) for each in described]
    sources = {each.source for each in fields if each is not None}
    # A field named `id` may show another column. Then it is not the key of the row.
    return key if sources and sources <= {"pk", key} else None


def _drop(body: Fields, name: str) -> None:
    for named in (body.properties, body.wide, body.offered):
        named.pop(name, None)
    if name in body.required:
        body.required.remove(name)


def _query_slot(name: str, parameter: Parameter, operation: Operation) -> Slot:
    return Slot(
        part="query",
        name=name,
        comma_separated=parameter.comma_separated,
        choices=parameter.choices,
        bound=parameter.bound,
        is_filter=operation.lists and parameter.bound is None and not parameter.required,
        ignored_characters=parameter.ignored_characters,
    )


def _free(name: str, ending: str, taken: Iterable[str]) -> str:
    """Return the name. If it is taken, add the ending until the name is unique."""
    while name in taken:
        name = f"{name}_{ending}"
    return name


def _add(made: Arguments, own: str, slot: Slot, parameter: Parameter, words: str = "") -> None:
    published = trimmed(parameter.schema)
    if words:
        published["description"] = words
    made.slots[own] = slot
    made.properties[own] = published
    made.wide[own] = _wide(slot, parameter.schema, published)
    # The URL needs all the values of its path, even if its author documents one as optional.
    if slot.part == "path" or parameter.required:
        made.required.append(own)


def _wide(slot: Slot, schema: Json, published: Json) -> Json:
    """Return the schema of all values that a parameter accepts. It may accept more than the
    published schema, because a URL contains only text.
    """
    kind = schema.get("type")
    if slot.comma_separated and kind == "string":
        return _TEXT_OR_TEXTS  # one of the choices, or several of them
    if kind == "number":
        return {"type": "number", "format": "decimal"}  # with every digit
    # Agents send keys that consist of digits as numbers.
    if slot.part == "path" and kind == "string" and "format" not in schema:
        return {**published, "type": ["string", "integer"]}
    return published


def _body(operation: Operation) -> Fields | None:
    schema = operation.body
    if schema is None:
        return None
    if operation.plain is not None:
        # No serializer reads this body, so the published values are exactly those that are
        # accepted.
        fields: dict[str, Json] = schema["properties"]
        return Fields(properties=fields, wide=fields, required=[*schema.get("required", ())])
    action = operation.action
    read = partial(
        read_body,
        method=action.method,
        is_form=not is_json(operation.media_type),
        creates=action.name == "create" and action.method == "POST",
    )
    if schema.get("type") == "array":
        # The arguments of a tool are an object, so a list gets a name.
        inner = {"type": "object", "properties": {WHOLE_BODY: schema}, "required": [WHOLE_BODY]}
        return read(inner, {WHOLE_BODY: operation.serializer})
    if schema.get("type") == "object" and "properties" in schema:
        serializer_fields: Any = getattr(operation.serializer, "fields", {})
        return read(schema, serializer_fields)
    raise Unknowable(messages.BODY_WITHOUT_FIELDS)


def _with_fields_of(operation: Operation, body: Fields) -> Fields:
    """Add the fields of another operation's body to `body`. Return `body` unchanged if the other
    body is missing or cannot be described, or if only one of the two bodies is a list.
    """
    try:
        others = _body(operation)
    except Unknowable:
        return body
    # One user may send a list and the other a single row. One tool cannot describe both.
    is_same_kind = others is not None and (WHOLE_BODY in others.wide) == (WHOLE_BODY in body.wide)
    return merged(body, others) if others is not None and is_same_kind else body


def _add_body(made: Arguments, body: Fields) -> None:
    made.left_out += body.left_out
    made.properties |= body.properties
    made.wide |= body.wide
    made.required += body.required
    made.relations |= body.relations
    made.offered |= body.offered
    made.slots |= {name: Slot(part="body", name=name) for name in body.wide}
