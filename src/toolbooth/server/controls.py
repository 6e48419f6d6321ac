"""Control arguments: what a caller may ask of any tool, beside what its view takes. One table,
nothing of Django.

A host's own argument of such a name stays the host's: ours is then not offered on that tool, and
can be renamed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, Literal, cast

from toolbooth.boundary.repairs import CLIENT_KEYS
from toolbooth.compile.json_schema import shape_of_schema
from toolbooth.contract import Contract
from toolbooth.jsonvalue import Json, Schema
from toolbooth.shape import Field

Mode = Literal["summary", "page", "full"]

HELP_KEY = "protocol"
"""The key of help under which the control arguments are listed. Clients read it: the name stays."""

BOOLEAN: Json = {"type": "boolean"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlArgument:
    """One control argument."""

    schema: Json
    """As it is published: short, for it stands in many tools."""
    meaning: str
    """What `help` says of it."""


CONTROL_ARGUMENTS: Mapping[str, ControlArgument] = {
    "help": ControlArgument(
        schema=BOOLEAN,
        meaning="Answers with all that the tool takes, and calls nothing.",
    ),
    "filters": ControlArgument(
        schema={"type": "object", "description": "any filter"},
        meaning="The filters in one object; each may also be sent by itself.",
    ),
    "filter_keys": ControlArgument(
        schema={"type": "array", "items": {"type": "string"}},
        meaning="The fields to answer with; all others are left out of every row.",
    ),
    "page": ControlArgument(
        schema={"type": "integer", "minimum": 1},
        meaning="Which page of the rows, from 1.",
    ),
    "page_size": ControlArgument(
        schema={"type": "integer", "minimum": 1},
        meaning="Rows in a page.",
    ),
    "mode": ControlArgument(
        schema={"type": "string", "enum": ["summary", "page", "full"]},
        meaning="summary: what there is, without the rows; page: a bounded page; "
        "full: all that is answered at once, whatever its size.",
    ),
    "continuation_token": ControlArgument(
        schema={"type": "string"},
        meaning="Goes on where an earlier answer ended; stands in that call instead of its fields.",
    ),
    "verify": ControlArgument(
        schema={"type": "boolean"},
        meaning="Answers with the whole object instead of a receipt.",
    ),
}
"""By their own names, in the order in which they are published."""

ROW_KEYS = ("objects", "data", "items", "_items", "body")
"""Keys under which many rows may be sent at once; the first is the documented one."""

RESERVED = (*ROW_KEYS, "action", "resource", "params")
"""Names that mean something else: rows, and the arguments of dispatchers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Controls:
    """What one call asks of the gateway itself; None or False: nothing."""

    mode: Mode | None = None
    page: int | None = None
    page_size: int | None = None
    filter_keys: tuple[str, ...] | None = None
    verify: bool = False


NO_CONTROLS = Controls()
_READ = frozenset(each.name for each in fields(Controls))


def split_controls(sent: Json, known: Mapping[str, str]) -> tuple[Json, Controls]:
    """What is for the view, and what is asked of the gateway. `known`: what each is called here,
    and in the table.
    """
    if known.keys().isdisjoint(sent):
        return sent, NO_CONTROLS
    own = {known[name]: _frozen(each) for name, each in sent.items() if name in known}
    asked = Controls(**{name: each for name, each in own.items() if name in _READ})
    return {name: each for name, each in sent.items() if name not in known}, asked


def _frozen(value: Any) -> Any:
    return tuple(cast("list[Any]", value)) if isinstance(value, list) else value


def is_free(contract: Contract, name: str) -> bool:
    """Whether a name means nothing to a tool."""
    return all(
        name not in form.fields and form.additional is None for form in contract.shape.objects
    )


def publishing(contract: Contract, schemas: Mapping[str, Schema]) -> Contract:
    """The contract with these control arguments in its schema."""
    return replace(contract, describe=partial(_described, contract, schemas))


def _described(contract: Contract, schemas: Mapping[str, Schema]) -> Json:
    schema = dict(contract.schema)
    return {**schema, "properties": {**schema.get("properties", {}), **schemas}}


def accepting(contract: Contract, schemas: Mapping[str, Schema]) -> Contract:
    """The contract that takes these control arguments too, and validates the others alone."""
    fields = {
        name: Field(name=name, shape=shape_of_schema(schema), required=False)
        for name, schema in schemas.items()
    }

    def validate(sent: Json) -> Any:
        return contract.validate({key: each for key, each in sent.items() if key not in schemas})

    shape = contract.shape.extended(fields)
    return replace(contract, shape=shape, validate=validate, validation_proves_shape=False)


def control_names(renamed: Mapping[str, str | None]) -> dict[str, str]:
    """What each control argument is called; those that are switched off are left out."""
    names = {name: renamed.get(name, name) for name in CONTROL_ARGUMENTS}
    return {name: each for name, each in names.items() if each is not None}


def instructions(renamed: Mapping[str, str | None]) -> str:
    """What a server says of them once, so that no tool has to."""
    said = [
        f"{name}: {CONTROL_ARGUMENTS[own].meaning}" for own, name in control_names(renamed).items()
    ]
    return " ".join(["Many tools take these arguments too.", *said]) if said else ""


def naming_mistakes(renamed: Any) -> Iterator[str]:
    """What is wrong with the setting that renames control arguments."""
    if not isinstance(renamed, Mapping):
        yield f"must be a dict that renames protocol arguments, or switches them off with None, not {renamed!r}"
        return
    given = cast("Mapping[Any, Any]", renamed)
    for name in given:
        if name not in CONTROL_ARGUMENTS:
            yield f"there is no protocol argument {name!r}; there are {', '.join(CONTROL_ARGUMENTS)}"
    for name, new in given.items():
        if new is not None and not (isinstance(new, str) and new.isascii() and new.isidentifier()):
            yield f"{name!r} must be given a name of letters, digits and _, or None, not {new!r}"
        elif new in RESERVED or new in CLIENT_KEYS:
            yield f"{name!r} cannot be called {new!r}, which means something else"
    names = [
        str(given.get(name, name))
        for name in CONTROL_ARGUMENTS
        if given.get(name, name) is not None
    ]
    for twice in sorted({name for name in names if names.count(name) > 1}):
        yield f"two protocol arguments would be called {twice!r}"
