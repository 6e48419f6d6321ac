"""A refusal as hosts know refusals: an exception that is caused by Pydantic's ValidationError.

Hosts log it, and their middleware sees it. `keep_request` sends the result in full.
"""

from __future__ import annotations

from pydantic_core import InitErrorDetails, PydanticCustomError, ValidationError

from toolbooth.errors import Problem, ProblemCode, ToolInputError

_PYDANTIC_TYPES: dict[ProblemCode, str] = {
    "missing": "missing_argument",
    "unknown-key": "unexpected_keyword_argument",
    "nested-wrapper": "unexpected_keyword_argument",
}
"""Hosts log which types of error there were, if they are Pydantic's own."""


def validation_error(error: ToolInputError, tool: str) -> ValidationError:
    """The problems of a refusal, without any value that was sent."""
    return ValidationError.from_exception_data(tool, [_details(each) for each in error.problems])


def _details(problem: Problem) -> InitErrorDetails:
    kind = PydanticCustomError(_PYDANTIC_TYPES.get(problem.code, problem.code), "{said}", {"said": problem.message})
    return InitErrorDetails(type=kind, loc=problem.path, input=None)
