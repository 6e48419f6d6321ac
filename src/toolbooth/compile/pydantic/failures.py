"""Handles unexpected exceptions of the author's code during the validation. These are exceptions
that Pydantic does not report as validation errors.

Pydantic lets such an exception through, and the path at which it was raised is lost. Toolbooth
reports it as a problem with a path. So every function of the author in a core schema is called
through a guard:

- Most guards raise an error instead, which Pydantic reports with its path, together with all other
  errors.
- In a union, and inside an author's wrap validator, this error could be ignored, and the exception
  would be lost. For default factories and similar functions, Pydantic reports no errors at all. In
  these cases, the guard stores in the exception which function raised it, and raises it again.
  `places.py` then finds the path.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from pydantic_core import (
    InitErrorDetails,
    PydanticCustomError,
    PydanticOmit,
    PydanticUseDefault,
    ValidationError,
)

from toolbooth.compile.pydantic.core_schema import (
    CoreNode,
    below,
    is_authors,
    with_children,
)
from toolbooth.compile.pydantic.guard import guard
from toolbooth.compile.pydantic.places import Noted, note, place_of
from toolbooth.contract import UNREADABLE, UNREADABLE_DEFAULT, InvalidValues, Objection
from toolbooth.errors import ToolError, ToolInputError
from toolbooth.jsonvalue import JsonPath

logger = logging.getLogger("toolbooth")

Passing = tuple[type[Exception], ...]
"""Exceptions that the author's code raises for its host. They pass through unchanged."""

_REPORTED = (ValueError, AssertionError, PydanticOmit, PydanticUseDefault)
"""The exceptions that Pydantic expects from a validator and handles itself."""

_SAFE_FACTORIES = (None, list, dict, set, frozenset, tuple, str, int, float, bool)
"""Default factories that never raise an exception."""


class Failures:
    """Handles the exceptions in the validation of one tool."""

    def __init__(self, tool: str, core: CoreNode, passing: Passing) -> None:
        self._tool = tool
        self._core = core
        self._definitions: dict[str, CoreNode] = {each["ref"]: each for each in core["definitions"]}
        self._passing = (*passing, ToolError, ToolInputError)
        self._expected = (*_REPORTED, *self._passing)

    def guarded(self) -> CoreNode:
        """Return the core schema with a guard around every function of the author."""
        schema, definitions = self._core["schema"], self._core["definitions"]
        # A definition may be used at several places. If one of them hides errors, all count as
        # hidden.
        hidden = any(_hides_definition(each, hidden=False) for each in (schema, *definitions))
        return {
            **self._core,
            "schema": self._guard(schema, hidden=False),
            "definitions": [self._guard(each, hidden=hidden) for each in definitions],
        }

    def _guard(self, node: CoreNode, *, hidden: bool) -> CoreNode:
        """Return the node with a guard around the author's functions.

        `hidden` is true if an outer node may ignore the errors of these functions.
        """
        below_hidden = hidden or _hides_errors(node)
        made = with_children(node, lambda child: self._guard(child, hidden=below_hidden))
        if node["type"].startswith("function-"):
            return {**made, "function": self._guarded_validator(node, hidden=hidden)}
        if callable(node.get("discriminator")):
            discriminator = guard(node["discriminator"], partial(_note, node), takes=1)
            return {**made, "discriminator": discriminator}
        if node.get("default_factory") not in _SAFE_FACTORIES:
            takes = 1 if node.get("default_factory_takes_data") else 0
            failed = partial(_note_default, node)
            factory = guard(node["default_factory"], failed, takes=takes)
            return {**made, "default_factory": factory}
        return made

    def _guarded_validator(self, node: CoreNode, *, hidden: bool) -> CoreNode:
        function = node["function"]["function"]
        if not is_authors(node):
            return node["function"]
        failed = partial(_note if hidden else self._report, node)
        # `info` or the handler of a wrap validator is a second argument.
        takes_more = node["function"]["type"] == "with-info" or node["type"] == "function-wrap"
        takes = None if takes_more else 1
        return {**node["function"], "function": guard(function, failed, takes=takes)}

    def _report(self, node: CoreNode, error: Exception, value: Any, *_: Any) -> Exception | None:
        """Return the error to raise instead of an exception. Return None if Pydantic handles the
        exception itself.
        """
        if isinstance(error, self._expected):
            return None
        return self._error(error, node, value)

    def _error(self, error: Exception, node: CoreNode, value: Any) -> ValueError:
        """Return the error to raise instead of an exception that was raised inside `node`."""
        kind, path = self._place(error, node, value)
        said: Any = PydanticCustomError(kind, "unreadable")
        # Pydantic adds the path of the value itself. Only a deeper path must be added here.
        if not path:
            return said
        details = InitErrorDetails(type=said, loc=path, input=None)
        return ValidationError.from_exception_data("", [details])

    def _place(self, error: Exception, node: CoreNode, value: Any) -> tuple[Any, JsonPath]:
        """Return the kind of problem for an exception, and the path at which it was raised. The
        exception is logged; agents do not see it.
        """
        logger.error("validating the arguments of %r failed", self._tool, exc_info=error)
        path, is_default = place_of(error, node, value, self._definitions)
        return UNREADABLE_DEFAULT if is_default else UNREADABLE, path

    def refusing(
        self,
        run: Callable[[Any], Any],
        objections: Callable[[ValidationError], Any],
    ) -> Callable[[Any], Any]:
        """Return a function that calls `run`. It converts the exceptions of `run` to InvalidValues,
        except those that the host expects.
        """

        def validate(arguments: Any) -> Any:
            try:
                return run(arguments)
            except ValidationError as error:
                # Errors are converted only when they are read, because a hostile call may have a
                # million of them.
                raise InvalidValues(partial(objections, error), error.error_count()) from None
            # ToolError and similar exceptions are an answer of the tool, and not a fault in its
            # validation.
            except self._passing:
                raise
            except Exception as error:
                kind, path = self._place(error, self._core["schema"], arguments)
                found = [Objection(model_path=path, kind=kind, message="")]
                raise InvalidValues(lambda: found) from None

        return validate


def _hides_errors(node: CoreNode) -> bool:
    """Return True if a node may ignore an error that is raised inside it."""
    if node["type"] == "function-wrap":
        # An author's wrap validator may catch the error and return another value.
        return is_authors(node)
    # If one branch fails, another one may fit. So its error may be dropped.
    return node["type"] == "union"


def _hides_definition(node: CoreNode, *, hidden: bool) -> bool:
    """Return True if a definition is used where errors may be ignored."""
    if node["type"] == "definition-ref":
        return hidden
    hidden = hidden or _hides_errors(node)
    return any(_hides_definition(each, hidden=hidden) for each in below(node))


def _note(node: CoreNode, error: Exception, value: Any, *_: Any) -> None:
    note(error, Noted(node, value, is_default=False))


def _note_default(node: CoreNode, error: Exception, *_: Any) -> None:
    note(error, Noted(node, None, is_default=True))
