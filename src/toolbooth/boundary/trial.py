"""Whether a corrected call would pass: by its shape and its published schema, with bounds, patterns,
formats and choices. The author's code never runs on arguments that nobody has sent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic_core import SchemaValidator, ValidationError

from toolbooth.boundary import messages
from toolbooth.contract import Contract, InvalidValues, Objection
from toolbooth.errors import Problem
from toolbooth.jsonvalue import look_up
from toolbooth.schema_objections import schema_objections
from toolbooth.shape_check import json_schema

_FORMATS = {
    "date": "date",
    "date-time": "datetime",
    "time": "time",
    "duration": "timedelta",
    "uuid": "uuid",
}
"""What the validation reads more leniently than JSON Schema says, with Pydantic's name for it."""


def problems_with(contract: Contract, arguments: Any) -> list[Problem]:
    """What is wrong with arguments that have the right shape."""
    if contract.validation_proves_shape:  # it runs no code of the author
        try:
            contract.validate(arguments)
        except InvalidValues as error:
            return [_problem(each, arguments) for each in error.objections]
        return []
    check = contract.cached_check
    if check is None:
        check = _compiled(contract)
        object.__setattr__(contract, "cached_check", check)
    if check.is_valid(arguments):
        return []
    return [_problem(each, arguments) for each in schema_objections(check.iter_errors(arguments))]


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
    path = said.model_path
    if said.kind == "missing":
        return Problem(code="missing", path=path, message=messages.MISSING)
    sent = look_up(arguments, path)
    message = messages.objection(said)
    if sent is not None and not isinstance(sent, dict | list):
        message = messages.with_value(message, sent)
    return Problem(code="invalid", path=path, message=message, kind=said.kind)
