"""Checks a corrected call against its shape and its published schema, including bounds, patterns,
formats and choices. The author's code never runs on a corrected call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

import orjson
from pydantic_core import SchemaValidator, ValidationError

from toolbooth.boundary import messages
from toolbooth.boundary.complexity import is_costly_to_check
from toolbooth.boundary.refusals import may_hold_secret
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
"""Formats that Pydantic accepts in more notations than JSON Schema does. The values are Pydantic's
names for them.
"""


_OF_THE_SHAPE = ("type", "additionalProperties", "unevaluatedProperties")
"""Keywords that are not checked here, because the shape has already checked them. A shape may
accept more than the published schema, such as an object for a named tuple.
"""


def as_published(shape: Shape, value: Any) -> Any:
    """Return the value as the published schema describes it. Where that declares JSON text, the
    value is written as JSON text.
    """
    return _as_published(shape, value) if _has_json_text(shape) else value


@lru_cache(maxsize=1024)
def _has_json_text(root: Shape) -> bool:
    return anywhere(root, lambda shape: shape.json_text)


def _as_published(shape: Shape, value: Any) -> Any:
    if shape.json_text:
        # Agents know only the published schema, and this field is text there.
        return value if value is None or isinstance(value, str) else write_json(value)
    # If there are several forms, it is not known which fields take JSON text.
    if is_object(value) and len(shape.objects) == 1:
        fields = shape.objects[0].fields
        made = {key: _as_published(fields[key].shape, value[key]) for key in value if key in fields}
        return {**value, **made}
    if is_array(value) and len(shape.arrays) == 1 and (items := shape.arrays[0].items) is not None:
        return [_as_published(items, each) for each in value]
    return value


def problems_with(contract: Contract, arguments: Any) -> list[Problem]:
    """Return the problems of arguments whose shape is right. If the check would take too long,
    return one problem for the whole call.
    """
    if contract.has_recursive_unions and is_costly_to_check(contract, arguments):
        return [Problem(code="too-complex", path=(), message=messages.UNCHECKED)]
    shown = None if may_hold_secret(contract.shape) else arguments
    return [_problem(each, shown) for each in _objections(contract, arguments)]


def _objections(contract: Contract, arguments: Any) -> Iterable[Objection]:
    if contract.validation_proves_shape:  # this does not run the author's code
        try:
            contract.validate(arguments)
        except InvalidValues as error:
            return error.objections
        return ()
    check = contract.cached_check
    if check is None:
        check = _compiled(contract)
        # A contract is frozen, but a cache does not change its meaning.
        object.__setattr__(contract, "cached_check", check)
    try:
        return _objections_of(check, arguments)
    except ValueError:  # it cannot read numbers as written
        # The floats are only for this check: the corrected call keeps every digit.
        return _objections_of(check, orjson.loads(orjson.dumps(arguments, default=float)))


def _objections_of(check: Any, arguments: Any) -> Iterable[Objection]:
    """Return the errors of the schema. Raises ValueError for values that are not JSON. Older
    versions of jsonschema-rs raise it only when the errors are read.
    """
    if check.is_valid(arguments):
        return ()
    return schema_objections(check.iter_errors(arguments), _OF_THE_SHAPE)


def _compiled(contract: Contract) -> Any:
    # Without our formats, a corrected call with `2026-01-01T10:00:00` would be discarded because it
    # has no time zone, although the tool accepts it.
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
    """Convert an error to a problem. `arguments` is None if no value may be shown."""
    path = said.model_path
    if said.kind == "missing":
        return Problem(code="missing", path=path, message=messages.MISSING)
    sent = look_up(arguments, path)
    message = value_messages.objection(said)
    if sent is not None and not isinstance(sent, dict | list):
        message = messages.with_value(message, sent)
    return Problem(code="invalid", path=path, message=message, kind=said.kind)
