"""Converts exceptions of the host's own validation to refusals. The host validates the arguments of
tools of which only the schema is known.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from traceback import walk_tb
from types import CodeType
from typing import Any

from toolbooth.boundary.messages import UNREADABLE_VALUE
from toolbooth.compile.pydantic.places import place_of
from toolbooth.contract import UNREADABLE
from toolbooth.errors import Problem, ToolInputError
from toolbooth.jsonvalue import Json, JsonPath

logger = logging.getLogger("toolbooth")


def locals_where_failed(
    error: Exception, validating: CodeType, bodies: Collection[CodeType] = ()
) -> Mapping[str, Any] | None:
    """If an exception was raised in the host's validating function, return the local variables of
    that function. Return None if it was raised elsewhere, such as in the body of a tool.
    """
    found: Mapping[str, Any] | None = None
    for frame, _ in walk_tb(error.__traceback__):
        # The body of the tool is running, so the exception is from the tool itself. Its code may
        # also validate something.
        if frame.f_code in bodies:
            return None
        if frame.f_code is validating:
            found = frame.f_locals
    return found


def failed_path(error: Exception, core: Any, arguments: Json) -> JsonPath:
    """Log an exception that was raised while Pydantic validated arguments. Return the path of the
    argument that failed. `core` is the core schema that the host used.
    """
    logger.error("validating the arguments of a tool failed", exc_info=error)
    definitions: dict[str, Any] = {}
    # Pydantic puts models that are used in several places, or in themselves, into `definitions`.
    if core["type"] == "definitions":
        definitions = {each["ref"]: each for each in core["definitions"]}
        core = core["schema"]
    if core["type"] == "model":  # the host's own: one of its methods was running in any case
        core = core["schema"]
    if core["type"] == "call":
        params = core["arguments_schema"]["arguments_schema"]
        core = {"type": "typed-dict", "fields": {each["name"]: each for each in params}}
    return place_of(error, core, arguments, definitions)[0]


def unreadable(path: JsonPath) -> ToolInputError:
    """Return the refusal of a value that the validation could not read."""
    message = UNREADABLE_VALUE
    return ToolInputError([Problem(code="invalid", path=path, message=message, kind=UNREADABLE)])
