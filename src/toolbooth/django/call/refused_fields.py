"""Makes the refusals of fields that the view would ignore."""

from __future__ import annotations

from typing import Any

from toolbooth.django import messages
from toolbooth.django.call.caller_fields import own_fields
from toolbooth.django.describe.argument_shape import declared_arguments
from toolbooth.django.describe.arguments import Arguments
from toolbooth.django.describe.declared_bodies import WHOLE_BODY
from toolbooth.django.describe.kinds import Kinds
from toolbooth.errors import Declared, Problem, ToolInputError
from toolbooth.jsonvalue import JsonPath


def not_read(
    tool: str, arguments: Arguments, serializer: Any, paths: list[JsonPath]
) -> ToolInputError:
    """Return the refusal of fields that the serializer does not have for this caller, or for this
    row.
    """
    above = (WHOLE_BODY,) if arguments.whole else ()
    problems = [_unknown((*above, *path), messages.NOT_YOURS_TO_SEND) for path in paths]
    item = getattr(serializer, "child", serializer)
    declared = _declared(arguments, (*above,) or tuple(own_fields(item)))
    return ToolInputError(problems, tool=tool, declared={(): declared})


def of_another_kind(
    tool: str, arguments: Arguments, kinds: Kinds, kind: str, names: list[str]
) -> ToolInputError:
    """Return the refusal of fields that rows of this kind do not have."""
    problems = [_unknown((name,), messages.of_another_kind(kind)) for name in names]
    declared = _declared(arguments, tuple(sorted(kinds.names[kind])))
    return ToolInputError(problems, tool=tool, declared={(): declared})


def kind_not_known(tool: str, kinds: Kinds, names: list[str]) -> ToolInputError:
    """Return the refusal of fields that only some kinds of rows have. It is used if the kind of the
    row is unknown.
    """
    message = messages.kind_needed(names)
    # The agent may know the kind of the row. With it in the call, the fields can be checked.
    problem = Problem(code="missing", path=(kinds.field,), message=message)
    return ToolInputError([problem], tool=tool)


def _unknown(path: JsonPath, message: str) -> Problem:
    return Problem(code="unknown-key", path=path, message=message)


def _declared(arguments: Arguments, of_body: tuple[str, ...]) -> Declared:
    """Return the arguments for the path of the URL, and those fields of the body that can be
    sent.
    """
    return declared_arguments(arguments, (*arguments.named("path").values(), *of_body))
