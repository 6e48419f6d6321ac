"""One operation -> the flat arguments of one tool, and where each goes: path, query, header or
body.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from toolbooth.django.describe.fields import Body, read_body, trimmed
from toolbooth.django.describe.operations import Operation, Parameter, Unknowable
from toolbooth.django.describe.paging import Bound
from toolbooth.jsonvalue import Json

Place = Literal["path", "query", "header", "body"]

WHOLE_BODY = "objects"
"""The argument that is the body itself, where the body is a list."""

_NOT_TO_BE_SET = frozenset(("authorization", "cookie", "accept", "content-type", "host"))
"""Headers that are the caller's own, whatever a description says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """Where one argument goes."""

    place: Place
    name: str
    joined: bool = False
    """A list goes into the query as one value, with commas."""
    choices: tuple[str, ...] = ()
    """All that it takes."""
    bound: Bound | None = None
    """Of a parameter of the paginator: what it takes."""
    narrows: bool = False
    """A filter of a list. Filters read what is empty as if it had not been sent."""
    idle: str = ""
    """Characters that say nothing in it, as spaces do."""


@dataclass(slots=True)
class Arguments:
    """The arguments of one tool."""

    properties: dict[str, Json] = field(default_factory=dict[str, Json])
    """As they are published."""
    wide: dict[str, Json] = field(default_factory=dict[str, Json])
    """As they are taken: relations also by object."""
    required: list[str] = field(default_factory=list[str])
    slots: dict[str, Slot] = field(default_factory=dict[str, Slot])
    relations: dict[str, Any] = field(default_factory=dict[str, Any])
    """Where relations stand among the arguments: a Relation, or the same for what is below."""
    unlisted: tuple[str, ...] = ()
    """Control arguments that are taken, but not listed."""
    definitions: dict[str, Json] = field(default_factory=dict[str, Json])
    whole: bool = False
    """The body is one argument."""
    controls: dict[str, str] = field(default_factory=dict[str, str])
    """Control arguments: what each is called here, and in `CONTROL_ARGUMENTS`."""
    left_out: list[str] = field(default_factory=list[str])
    """Fields that cannot be sent, with the reason."""

    def schema(self, properties: dict[str, Json]) -> Json:
        """A closed JSON Schema over these properties."""
        made = {
            "type": "object",
            "properties": properties,
            "required": self.required,
            "additionalProperties": False,
        }
        return {**made, "$defs": self.definitions} if self.definitions else made

    def called(self, control: str) -> str | None:
        """What a control argument is called here; None: it is not taken."""
        return next((name for name, own in self.controls.items() if own == control), None)

    def named(self, place: Place) -> dict[str, str]:
        """What the arguments of one place are called there, and here."""
        return {slot.name: name for name, slot in self.slots.items() if slot.place == place}


def arguments_of(operation: Operation) -> Arguments:
    """The arguments of an operation. Raises Unknowable."""
    made = Arguments(definitions=operation.definitions)
    body = _body(operation)
    taken = set(body.properties) if body is not None else set[str]()
    for name, parameter in operation.path.items():
        called = operation.key if name == "pk" else name
        own = _free(called, "in_path", {*taken, *made.slots})
        said = {} if own == called else {"description": f"which one: its {called} as it is now"}
        _add(made, own, Slot(place="path", name=name), parameter, said, required=True)
    for name, parameter in operation.query.items():
        slot = Slot(
            place="query",
            name=name,
            joined=parameter.joined,
            choices=parameter.choices,
            bound=parameter.bound,
            narrows=operation.lists and parameter.bound is None and not parameter.required,
            idle=parameter.idle,
        )
        _add(made, _free(name, "in_query", {*taken, *made.slots}), slot, parameter, {})
    for name, parameter in operation.headers.items():
        if name.lower() not in _NOT_TO_BE_SET:
            slot = Slot(place="header", name=name)
            _add(made, _free(name, "header", {*taken, *made.slots}), slot, parameter, {})
    if body is not None:
        _add_body(made, body, operation)
    return made


def _free(name: str, ending: str, taken: Iterable[str]) -> str:
    """A name that no other argument has."""
    while name in taken:
        name = f"{name}_{ending}"
    return name


def _add(
    made: Arguments,
    own: str,
    slot: Slot,
    parameter: Parameter,
    said: Json,
    *,
    required: bool = False,
) -> None:
    made.slots[own] = slot
    made.properties[own] = made.wide[own] = {**trimmed(parameter.schema), **said}
    if (
        slot.joined and parameter.schema.get("type") == "string"
    ):  # one of the choices, or several of them
        made.wide[own] = {
            "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]
        }
    elif parameter.schema.get("type") == "number":
        made.wide[own] = {"type": "number", "format": "decimal"}  # an address takes every digit
    elif (
        slot.place == "path"
        and parameter.schema.get("type") == "string"
        and "format" not in parameter.schema
    ):
        made.wide[own] = {
            **made.wide[own],
            "type": ["string", "integer"],
        }  # an address has no types
    if required or parameter.required:
        made.required.append(own)


def _body(operation: Operation) -> Body | None:
    schema = operation.body
    if schema is None:
        return None
    if schema.get("type") == "array":
        inner = {"type": "object", "properties": {WHOLE_BODY: schema}, "required": [WHOLE_BODY]}
        return read_body(inner, {WHOLE_BODY: operation.serializer}, operation.action.method)
    if schema.get("type") == "object" and "properties" in schema:
        fields: Any = getattr(operation.serializer, "fields", {})
        return read_body(schema, fields, operation.action.method)
    raise Unknowable(
        "its body has no known fields; give the action a serializer, or describe it with @extend_schema"
    )


def _add_body(made: Arguments, body: Body, operation: Operation) -> None:
    made.whole = cast("Json", operation.body).get("type") == "array"
    made.left_out += body.left_out
    made.properties |= body.properties
    made.wide |= body.wide
    made.required += body.required
    made.relations |= body.relations
    made.slots |= {name: Slot(place="body", name=name) for name in body.properties}
