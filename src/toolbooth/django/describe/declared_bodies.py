"""The bodies of actions that the settings declare: `BODIES` and `INHERITED_BODIES`.

Use these settings for actions whose code you cannot edit. For your own code, declare the body with
`@action(serializer_class=...)` or `@extend_schema(request=...)`.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, is_dataclass
from fnmatch import fnmatchcase
from typing import Any, get_origin

from django.utils.module_loading import import_string
from pydantic import BaseModel, create_model
from rest_framework.serializers import BaseSerializer
from typing_extensions import is_typeddict

from toolbooth.compile.json_schema import compile_json_schema
from toolbooth.compile.signature import compile_model
from toolbooth.contract import Contract
from toolbooth.django.conf import Configuration
from toolbooth.django.describe import messages
from toolbooth.django.describe.discovery import Action
from toolbooth.django.describe.name_patterns import sharing, tools
from toolbooth.django.describe.names import Name
from toolbooth.errors import ContractError
from toolbooth.jsonvalue import is_mapping, is_object, near_name

WHOLE_BODY = "objects"
"""The argument that holds the whole body, if the body is a list."""


class WrongBody(Exception):
    """An entry of `BODIES` that cannot be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredBody:
    """The body of one tool, as the settings declare it. If `is_set` is true, and `serializer` and
    `plain` are both None, the action takes no body.
    """

    is_set: bool = False
    serializer: Any = None
    """A serializer, or its class."""
    plain: Contract | None = None
    """The contract of a Pydantic model or a JSON Schema. The view gets the JSON that it accepts."""
    is_list: bool = False
    """True if the plain data is a list. The argument `WHOLE_BODY` then holds it."""
    is_inherited: bool = False
    """Whether the action reads its body with its view's own serializer."""


LEFT_TO_THE_VIEW = DeclaredBody()


def declared_body(tool: str, action: Action, chosen: Configuration) -> DeclaredBody:
    """Return the body that the settings declare for a tool.

    Raises:
        WrongBody: the entry for the tool cannot be used.
    """
    if tool not in chosen.bodies:
        # An entry of `BODIES` names one tool exactly, so patterns are used only for tools without
        # an entry.
        is_inherited = any(fnmatchcase(tool, pattern) for pattern in chosen.inherited_bodies)
        return DeclaredBody(is_inherited=is_inherited)
    if action.method == "GET":
        raise WrongBody(messages.GET_HAS_NO_BODY)
    given = _imported(chosen.bodies[tool])
    if given is None:
        return DeclaredBody(is_set=True)
    is_class = inspect.isclass(given)
    if isinstance(given, BaseSerializer) or (is_class and issubclass(given, BaseSerializer)):
        return DeclaredBody(is_set=True, serializer=given)
    # A tool takes an object, so a list becomes `{"objects": [...]}`.
    rows = _with_rows(given)
    plain = plain_body(tool, given if rows is None else rows)
    if plain is None:
        raise WrongBody(messages.NOT_A_BODY)
    return DeclaredBody(is_set=True, plain=plain, is_list=rows is not None)


def _with_rows(given: Any) -> Any:
    """If a declared body is a list, return an object type whose only field holds the list.
    Otherwise return None.
    """
    if get_origin(given) is list:
        fields: dict[str, Any] = {WHOLE_BODY: (given, ...)}
        return create_model("Rows", __config__={"extra": "forbid"}, **fields)
    if not is_mapping(given) or given.get("type") != "array" or "items" not in given:
        return None
    # References in the list start at the root of the schema, so the definitions stay there.
    rows = {key: each for key, each in given.items() if key != "$defs"}
    definitions = {key: given[key] for key in given if key == "$defs"}
    return {
        "type": "object",
        "properties": {WHOLE_BODY: rows},
        "required": [WHOLE_BODY],
        "additionalProperties": False,
        **definitions,
    }


def _imported(given: Any) -> Any:
    if not isinstance(given, str):
        return given
    try:
        return import_string(given)
    except Exception as error:
        # The code of a module may raise anything while it is imported.
        raise WrongBody(messages.cannot_import(given, error)) from error


def plain_body(tool: str, given: Any) -> Contract | None:
    """Return the contract of a Pydantic model, a dataclass, a TypedDict or a JSON Schema. Return
    None for anything else.

    Raises:
        WrongBody: the contract cannot be compiled.
    """
    try:
        if _is_model(given):
            made = compile_model(given, name=tool)
        elif is_mapping(given):
            made = compile_json_schema(given, name=tool)
        else:
            return None
    except ContractError as error:
        raise WrongBody(messages.cannot_compile(error.mistakes)) from error
    # A body without named fields cannot become arguments.
    return made if is_object(made.schema.get("properties")) else None


def _is_model(given: Any) -> bool:
    is_class = inspect.isclass(given)
    is_pydantic = is_class and issubclass(given, BaseModel)
    return is_pydantic or (is_class and is_dataclass(given)) or is_typeddict(given)


def entry_of_bodies(name: str) -> str:
    """Return the name by which messages refer to an entry of `BODIES`."""
    return f"TOOLBOOTH['BODIES'][{name!r}]"


def unknown_names(chosen: Configuration, names: Iterable[Name]) -> Iterator[tuple[str, str]]:
    """Yield each entry of `BODIES` that does not name a view's tool, and the reason."""
    every = list(names)
    known = list(tools(every))
    for name in chosen.bodies:
        if name not in known:
            # Two resources may want this short name, so that neither has it. Then the full names
            # are suggested.
            shared = [each.tool for each in every if each.short == name]
            yield entry_of_bodies(name), messages.no_such_tool(near_name(name, known), shared)


def unused_patterns_of_bodies(
    chosen: Configuration, names: Iterable[Name]
) -> Iterator[tuple[str, str]]:
    """Yield each pattern of `INHERITED_BODIES` that matches no view's tool, and the reason."""
    every = list(names)
    known = list(tools(every))
    for pattern in chosen.inherited_bodies:
        if not any(fnmatchcase(name, pattern) for name in known):
            why = messages.fits_no_tool(near_name(pattern, known), sharing(pattern, every))
            yield f"TOOLBOOTH['INHERITED_BODIES']: {pattern!r}", why
