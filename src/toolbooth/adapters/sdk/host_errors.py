"""Converts a refusal to the exception that hosts expect. The cause of this exception is Pydantic's
ValidationError.

Hosts log the exception, and their middleware sees it. `keep_request` sends the complete result.
With `errors="protocol"`, it sends the JSON-RPC error that is made here.
"""

from __future__ import annotations

from typing import Any, get_args

from mcp.shared.exceptions import MCPError
from pydantic_core import InitErrorDetails, PydanticCustomError, ValidationError

from toolbooth.boundary.handle import Errors
from toolbooth.boundary.render import META_KEY
from toolbooth.contract import Contract
from toolbooth.errors import INVALID_PARAMS, Problem, ToolInputError
from toolbooth.jsonvalue import Json, JsonPath
from toolbooth.server import messages
from toolbooth.shape import JsonType, Shape, item_shape

_WRONG_TYPES: dict[JsonType, str] = {
    "integer": "int_parsing",
    "number": "float_parsing",
    "boolean": "bool_parsing",
    "string": "string_type",
    "object": "model_type",
    "array": "list_type",
    "null": "none_required",
}


def check_errors(errors: Errors) -> None:
    """Raise ValueError if `errors` is not one of the ways to answer refusals."""
    if errors not in get_args(Errors):
        raise ValueError(messages.errors_must_be(errors, get_args(Errors)))


def protocol_error(result: Json) -> MCPError | None:
    """Return a JSON-RPC error with the text and the data of a refusal. Return None if the result is
    not a refusal.
    """
    refusal = result.get("_meta", {}).get(META_KEY)
    if refusal is None:
        return None
    text: str = result["content"][0]["text"]
    return MCPError(code=INVALID_PARAMS, message=text, data={META_KEY: refusal})


def validation_error(error: ToolInputError, contract: Contract, tool: str) -> ValidationError:
    """Return the problems of a refusal as a ValidationError. The error contains none of the values
    that were sent.
    """
    details = [_details(each, contract.shape) for each in error.problems]
    return ValidationError.from_exception_data(tool, details)


def _details(problem: Problem, shape: Shape) -> InitErrorDetails:
    kind: Any = _kind(problem, shape)
    # A custom error, so that the text is ours. The input is left out, because hosts log it.
    said = PydanticCustomError(kind, "{said}", {"said": problem.message})
    return InitErrorDetails(type=said, loc=problem.path, input=None)


def _kind(problem: Problem, shape: Shape) -> str:
    """Return Pydantic's name for the kind of a problem. Hosts log these names."""
    if problem.kind is not None:
        return problem.kind
    nested = len(problem.path) > 1
    if problem.code == "missing":
        return "missing" if nested else "missing_argument"
    if problem.code in ("unknown-key", "nested-wrapper"):
        return "extra_forbidden" if nested else "unexpected_keyword_argument"
    if problem.code == "wrong-type":
        types = _shape_at(shape, problem.path).types
        return next((_WRONG_TYPES[each] for each in _WRONG_TYPES if each in types), "wrong-type")
    return problem.code


def _shape_at(shape: Shape, path: JsonPath) -> Shape:
    """Return the shape of the value at a path. In a union, the first object or array is used."""
    found: Shape | None = shape
    for step in path:
        if isinstance(step, int):
            found = item_shape(found.arrays[0], step) if found.arrays else None
        elif found.objects:
            form = found.objects[0]
            found = form.fields[step].shape if step in form.fields else form.additional
        else:
            found = None
        if found is None:
            return Shape()
    return found
