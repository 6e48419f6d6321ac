"""Whether a corrected call would pass: by its shape and its published schema, with the bounds,
patterns, formats and choices in it. The author's code never runs on arguments that nobody has sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

import orjson
from pydantic_core import SchemaValidator, ValidationError

from toolbooth.boundary import messages
from toolbooth.boundary.values import messages as value_messages
from toolbooth.contract import Contract, InvalidValues, Objection
from toolbooth.errors import Problem
from toolbooth.jsonvalue import is_array, is_object, look_up, write_json
from toolbooth.schema_objections import schema_objections
from toolbooth.shape import Shape, anywhere
from toolbooth.shape_check import json_schema

_FORMATS = {
    "date": "date",
    "date-time": "datetime",
    "time": "time",
    "duration": "timedelta",
    "uuid": "uuid",
}
"""What the validation reads more leniently than JSON Schema says, with Pydantic's name for it."""


_OF_THE_SHAPE = ("type", "additionalProperties", "unevaluatedProperties")
"""What the shape decides: some of it takes more than is published, such as an object for a tuple
with names.
"""


def as_published(shape: Shape, value: Any) -> Any:
    """The value as the published schema has it: JSON text where that is declared."""
    return _as_published(shape, value) if _has_json_text(shape) else value


@lru_cache(maxsize=1024)
def _has_json_text(root: Shape) -> bool:
    return anywhere(root, lambda shape: shape.json_text)


def _as_published(shape: Shape, value: Any) -> Any:
    if shape.json_text:
        return value if value is None or isinstance(value, str) else write_json(value)
    if is_object(value) and len(shape.objects) == 1:
        fields = shape.objects[0].fields
        made = {key: _as_published(fields[key].shape, value[key]) for key in value if key in fields}
        return {**value, **made}
    if is_array(value) and len(shape.arrays) == 1 and (items := shape.arrays[0].items) is not None:
        return [_as_published(items, each) for each in value]
    return value


def problems_with(contract: Contract, arguments: Any) -> list[Problem]:
    """What is wrong with arguments that have the right shape."""
    shown = None if contract.shape.has_secret else arguments
    return [_problem(each, shown) for each in _objections(contract, arguments)]


def _objections(contract: Contract, arguments: Any) -> Iterable[Objection]:
    if contract.validation_proves_shape:  # it runs no code of the author
        try:
            contract.validate(arguments)
        except InvalidValues as error:
            return error.objections
        return ()
    check = contract.cached_check
    if check is None:
        check = _compiled(contract)
        object.__setattr__(contract, "cached_check", check)
    try:
        is_valid = check.is_valid(arguments)
    except ValueError:  # numbers kept as written, which the compiled check cannot read
        arguments = orjson.loads(orjson.dumps(arguments, default=float))
        is_valid = check.is_valid(arguments)
    return () if is_valid else schema_objections(check.iter_errors(arguments), _OF_THE_SHAPE)


def _compiled(contract: Contract) -> Any:
    formats = {name: _reads(kind) for name, kind in _FORMATS.items()}
    return json_schema().validator_for(
        dict(contract.schema), validate_formats=True, formats=formats
    )


def _reads(kind: str) -> Callable[[str], bool]:
    validator = SchemaValidator({"type": kind})  # pyright: ignore[reportArgumentType]

    def is_read(text: str) -> bool:
        try:
            validator.validate_python(text)
        except ValidationError:
            return False
        return True

    return is_read


def _problem(said: Objection, arguments: Any) -> Problem:
    """`arguments` is None if no value may be shown."""
    path = said.model_path
    if said.kind == "missing":
        return Problem(code="missing", path=path, message=messages.MISSING)
    sent = look_up(arguments, path)
    message = value_messages.objection(said)
    if sent is not None and not isinstance(sent, dict | list):
        message = messages.with_value(message, sent)
    return Problem(code="invalid", path=path, message=message, kind=said.kind)
