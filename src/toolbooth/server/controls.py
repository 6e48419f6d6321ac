"""Control arguments. A caller may send these in any call, beside the arguments of the tool. They
are for the server, such as `help`.

All hosts use the table in this module. If a tool has an argument with the same name as a control
argument, callers cannot send the control argument. You can give the control argument another name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, Literal

from toolbooth.boundary import repairs
from toolbooth.boundary.read import text_as_object
from toolbooth.boundary.repairs import CLIENT_KEYS
from toolbooth.compile.json_schema import shape_of_schema
from toolbooth.contract import DEFAULT_LIMITS, Contract, InvalidValues, Objection
from toolbooth.jsonvalue import Json, Schema, is_array, recased
from toolbooth.server import messages
from toolbooth.shape import Field, Shape

Mode = Literal["summary", "page", "full"]

HELP_KEY = "protocol"
"""The key under which help lists the control arguments. Do not change it, because clients read it.
"""

BOOLEAN: Json = {"type": "boolean"}
_BOOLEAN_SHAPE = Shape(types=frozenset(("boolean",)))


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlArgument:
    """One control argument."""

    schema: Json
    """The schema that is published for it. It is short, because many tools list it."""
    meaning: str
    """The text that describes it in help."""
    exact: bool = False
    """True if the argument is never repaired (see `Field.exact`). A repair could turn a preview
    into a write.
    """
    other_names: tuple[str, ...] = ()
    """The names of similar arguments in other products (see `Field.other_names`)."""


CONTROL_ARGUMENTS: Mapping[str, ControlArgument] = {
    "help": ControlArgument(
        schema=BOOLEAN,
        meaning=messages.HELP_MEANS,
    ),
    "filters": ControlArgument(
        schema={"type": "object", "description": "any filter"},
        meaning=messages.FILTERS_MEANS,
    ),
    "filter_keys": ControlArgument(
        schema={"type": "array", "items": {"type": "string"}},
        meaning=messages.FILTER_KEYS_MEANS,
    ),
    "page": ControlArgument(
        schema={"type": "integer", "minimum": 1},
        meaning=messages.PAGE_MEANS,
    ),
    "page_size": ControlArgument(
        schema={"type": "integer", "minimum": 1},
        meaning=messages.PAGE_SIZE_MEANS,
    ),
    "mode": ControlArgument(
        schema={"type": "string", "enum": ["summary", "page", "full"]},
        meaning=messages.MODE_MEANS,
    ),
    "continuation_token": ControlArgument(
        schema={"type": "string"},
        meaning=messages.CONTINUATION_TOKEN_MEANS,
    ),
    "verify": ControlArgument(
        schema={"type": "boolean"},
        meaning=messages.VERIFY_MEANS,
    ),
    "preview": ControlArgument(
        schema={"type": "boolean"},
        meaning=messages.PREVIEW_MEANS,
        exact=True,
        other_names=(
            *("dry_run", "dry", "validate_only", "validation_only", "simulate", "simulation"),
            *("test_only", "check_only", "what_if", "no_op", "preview_only", "is_preview"),
        ),
    ),
    "idempotency_key": ControlArgument(
        schema={"type": "string", "minLength": 1, "maxLength": 128},
        meaning=messages.IDEMPOTENCY_KEY_MEANS,
        exact=True,
        other_names=("idempotency", "idempotency_token", "request_key", "client_request_id"),
    ),
}
"""All control arguments by their default names. They are published in this order."""

GUARDED = frozenset(
    recased(name)
    for own, argument in CONTROL_ARGUMENTS.items()
    if argument.exact
    for name in (own, *argument.other_names)
)
"""The names of control arguments that are never repaired, and the names of these arguments in other
products. All are in lower case and without separators.
"""

ROW_KEYS = ("objects", "data", "items", "_items", "body")
"""Keys for several rows in one call. Only the first one is documented."""

RESERVED = (*ROW_KEYS, "action", "resource", "params")
"""Names that already have another meaning: the keys for several rows, and the arguments of
dispatchers.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Controls:
    """The control arguments that one call sent. None and False mean that an argument was not
    sent.
    """

    mode: Mode | None = None
    page: int | None = None
    page_size: int | None = None
    filter_keys: tuple[str, ...] | None = None
    verify: bool = False
    preview: bool = False
    idempotency_key: str | None = None


NO_CONTROLS = Controls()
_READ = frozenset(each.name for each in fields(Controls))


def split_controls(sent: Json, known: Mapping[str, str]) -> tuple[Json, Controls]:
    """Split the arguments of a call into the tool's own arguments and the control arguments.
    `known` maps the names of the control arguments in this tool to their names in
    `CONTROL_ARGUMENTS`.
    """
    # Most calls have no control argument: then nothing is copied.
    if known.keys().isdisjoint(sent):
        return sent, NO_CONTROLS
    own: Json = {}
    others: Json = {}
    for name, value in sent.items():
        if name not in known:
            others[name] = value
        # Those without a field in `Controls`, such as `help`, are handled elsewhere and only
        # removed here.
        elif known[name] in _READ:
            own[known[name]] = tuple(value) if is_array(value) else value
    return others, Controls(**own)


def check_plain(asked: Controls, *, has_key: bool) -> None:
    """Raise RuntimeError if a call asks for a preview, or has an idempotency key that is not
    claimed. Code that is about to write calls this function, so that a bug cannot ignore a preview
    or a key. `has_key` is true if the key is claimed.
    """
    if asked.preview or (asked.idempotency_key is not None and not has_key):
        raise RuntimeError(messages.NOT_A_PLAIN_WRITE)


def is_true(value: Any) -> bool:
    """Return True if the boundary would read a value as true. It also reads the text `"true"`, even
    if it is encoded twice.

    If this function did not recognise a request for help, the tool would run.
    """
    if not isinstance(value, str):
        return value is True
    found = repairs.text(_BOOLEAN_SHAPE, value, DEFAULT_LIMITS)
    return not isinstance(found, repairs.Unrepairable) and found[0] is True


def asks_for_preview(contract: Contract, sent: Any) -> bool:
    """Return True if a call asks for a preview, and the tool has previews. Only `true` counts,
    because this argument is never repaired.
    """
    # The tool may have its own `preview`, or the control argument may be renamed.
    name = next((each for each, own in contract.controls.items() if own == "preview"), None)
    if name is None:
        return False
    found = text_as_object(sent, contract.limits)
    return found is not None and found.get(name) is True


def is_free(contract: Contract, name: str) -> bool:
    """Return True if a tool does not declare a name, and does not accept it as an undeclared key
    either.
    """
    return all(
        name not in form.fields and form.additional is None for form in contract.shape.objects
    )


def publishing(contract: Contract, schemas: Mapping[str, Schema]) -> Contract:
    """Return the contract with these control arguments added to its schema."""
    return replace(contract, describe=partial(_described, contract, schemas))


def _described(contract: Contract, schemas: Mapping[str, Schema]) -> Json:
    schema = dict(contract.schema)
    return {**schema, "properties": {**schema.get("properties", {}), **schemas}}


def accepting(
    contract: Contract, schemas: Mapping[str, Schema], known: Mapping[str, str]
) -> Contract:
    """Return a contract that also accepts these control arguments. The author's validation does not
    get them. `known` maps their names in this tool to their names in `CONTROL_ARGUMENTS`.
    """
    fields = {
        name: Field(name=name, shape=shape_of_schema(schema), required=False)
        for name, schema in schemas.items()
    }

    def validate(sent: Json) -> Any:
        named = ((name, schema) for name, schema in schemas.items() if name in sent)
        objections = [each for one in named for each in wrong_length(*one, sent[one[0]])]
        # All problems are raised together. The author's own validation runs only if the control
        # arguments are right.
        if objections:
            raise InvalidValues(lambda: objections)
        return contract.validate({key: each for key, each in sent.items() if key not in schemas})

    form = contract.shape.objects[0]
    # The form and the shape are new objects, because the compiled checks in the old ones do not
    # know the new fields.
    more = replace(form, fields={**form.fields, **fields}, names=(*form.names, *fields))
    shape = with_controls(replace(contract.shape, objects=(more,)), known)
    return replace(
        contract,
        shape=shape,
        validate=validate,
        # The author's validation does not get the control arguments, so it does not check them.
        validation_proves_shape=False,
        controls={**contract.controls, **known},
    )


def wrong_length(name: str, schema: Schema, value: Any) -> Iterator[Objection]:
    """Yield an error if a text is too short or too long. The shape does not check lengths."""
    length = len(value) if isinstance(value, str) and "maxLength" in schema else None
    if length is not None and not schema["minLength"] <= length <= schema["maxLength"]:
        message = messages.text_of_length(schema["minLength"], schema["maxLength"], length)
        yield Objection(model_path=(name,), kind="invalid", message=message)


def with_controls(shape: Shape, known: Mapping[str, str]) -> Shape:
    """Return the shape, with the control arguments marked. A refusal does not list them among the
    fields of the tool, and some of them are never repaired. `known` maps their names in this tool
    to their names in `CONTROL_ARGUMENTS`.
    """
    form = shape.objects[0]
    exact = {
        name: _exact(form.fields[name], CONTROL_ARGUMENTS[own])
        for name, own in known.items()
        if CONTROL_ARGUMENTS[own].exact
    }
    marked = replace(
        form,
        fields={**form.fields, **exact},
        controls=form.controls.union(known),
        # These names are also guarded in tools without the argument: they are never removed as a
        # client's key, because a `dry_run` that is ignored becomes a write.
        guarded=GUARDED.union(map(recased, exact)),
    )
    return replace(shape, objects=(marked,))


def _exact(field: Field, argument: ControlArgument) -> Field:
    names = frozenset(map(recased, argument.other_names))
    return replace(field, shape=replace(field.shape, strict=True), exact=True, other_names=names)


def control_names(renamed: Mapping[str, str | None]) -> dict[str, str]:
    """Return the names of the control arguments, by their default names. Those that are switched
    off are left out.
    """
    names = {name: renamed.get(name, name) for name in CONTROL_ARGUMENTS}
    return {name: each for name, each in names.items() if each is not None}


def instructions(renamed: Mapping[str, str | None]) -> str:
    """Return the text about control arguments for the instructions of the server. It is there only
    once, and not in the description of each tool.
    """
    names = control_names(renamed)
    meanings = [f"{name}: {CONTROL_ARGUMENTS[own].meaning}" for own, name in names.items()]
    rows = f"{ROW_KEYS[0]}: {messages.OBJECTS_MEANS}"
    return " ".join([messages.MANY_TOOLS_TAKE, *meanings, rows])


def naming_mistakes(renamed: Any) -> Iterator[str]:
    """Yield a message for each mistake in the setting that renames control arguments."""
    # The setting is Python code of the user, and may contain anything.
    given: Mapping[Any, Any] = renamed
    if not isinstance(renamed, Mapping):
        yield messages.controls_not_a_map(renamed)
        return
    for name in given:
        if name not in CONTROL_ARGUMENTS:
            yield messages.unknown_control(name, CONTROL_ARGUMENTS)
    for name, new in given.items():
        if new is not None and not (isinstance(new, str) and new.isascii() and new.isidentifier()):
            yield messages.control_needs_a_name(name, new)
        # A client's own keys are removed before the arguments are read. The argument `data` may be
        # a list of rows.
        elif new in RESERVED or new in CLIENT_KEYS:
            yield messages.control_name_is_reserved(name, new)
    names = Counter(str(name) for name in control_names(given).values())
    for name in sorted(names):
        if names[name] > 1:
            yield messages.control_name_twice(name)
