"""Other forms of a tool: `help: true` on any tool tells all that it takes, instead of calling it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import orjson

from toolbooth.boundary.read import text_as_object
from toolbooth.compile.json_schema import compile_json_schema
from toolbooth.contract import DEFAULT_LIMITS, Contract
from toolbooth.errors import ToolError
from toolbooth.jsonvalue import Json
from toolbooth.server.dispatch.help import help_of
from toolbooth.server.tool import Tool
from toolbooth.shape import Field, Shape

Form = Callable[[Any], Tool | None]
"""Finds the form of a tool that the arguments as sent ask for; None: the tool as it is."""
Withheld = Callable[[], Exception | None]
"""What a caller who may not call the tool is told; None: may call."""

BOOLEAN: Json = {"type": "boolean"}
MEANING = "Answers with all that the tool takes, and calls nothing."
_FLAG = Shape(types=frozenset(("boolean",)))


def first(*forms: Form | None) -> Form:
    """The first of these forms that what was sent asks for."""

    def form(sent: Any) -> Tool | None:
        return next(
            (found for each in forms if each is not None and (found := each(sent)) is not None),
            None,
        )

    return form


@dataclass(frozen=True, slots=True, kw_only=True)
class Help:
    """The form of a tool that tells of it."""

    name: str
    """What `help` is called."""
    tool: str
    find: Callable[[str], Tool]
    """Finds the tool by its name, once it is registered."""
    withheld: Withheld | None = None

    def form(self, sent: Any) -> Tool | None:
        """The tool that tells, where it is asked for."""
        found = text_as_object(sent, DEFAULT_LIMITS)
        asked = None if found is None else found.get(self.name)
        if asked is not True and asked != "true":
            return None
        schema = {
            "type": "object",
            "properties": {self.name: BOOLEAN},
            "additionalProperties": True,
        }
        return Tool(
            contract=compile_json_schema(schema, name=self.tool),
            function=self._told,
            withheld=self.withheld,
        )

    def _told(self, sent: Json) -> Json:
        refused = None if self.withheld is None else self.withheld()
        if refused is not None:  # who may not call a tool does not learn its fields either
            raise refused
        tool = self.find(self.tool)
        made = help_of(tool)
        if len(sent) > 1:
            made["called"] = "nothing: help was asked for"
        if (
            tool.breaks is not None
        ):  # a client holds every answer to what the tool says that it returns, but for errors
            raise ToolError(orjson.dumps(made).decode())
        return made


def is_free(contract: Contract, name: str) -> bool:
    """Whether a name means nothing to a tool."""
    return all(
        name not in form.fields and form.additional is None for form in contract.shape.objects
    )


def with_help(contract: Contract, name: str) -> Contract:
    """A tool's contract, with `help` among what is published."""
    return replace(contract, describe=partial(_described, contract, name))


def _described(contract: Contract, name: str) -> Json:
    schema = dict(contract.schema)
    return {**schema, "properties": {**schema.get("properties", {}), name: BOOLEAN}}


def declining(tool: Tool, name: str) -> Form:
    """The form of a tool for a call that says it wants no help: `help` is taken, and left out of
    what it gets.
    """
    made = replace(tool, contract=_without_help(tool.contract, name))

    def form(sent: Any) -> Tool | None:
        found = text_as_object(sent, DEFAULT_LIMITS)
        return made if found is not None and name in found else None

    return form


def _without_help(contract: Contract, name: str) -> Contract:
    shape = contract.shape.extended({name: Field(name=name, shape=_FLAG, required=False)})

    def validate(sent: Json) -> Any:
        return contract.validate({key: each for key, each in sent.items() if key != name})

    return replace(contract, shape=shape, validate=validate, validation_proves_shape=False)


def helped(tool: Tool, name: str, find: Callable[[str], Tool]) -> Tool:
    """A tool that also takes `help: true`; one that has an argument of that name stays as it is."""
    if not is_free(tool.contract, name):
        return tool
    told = Help(name=name, tool=tool.name, find=find, withheld=tool.withheld)
    form = first(told.form, tool.form, declining(replace(tool, form=None), name))
    return replace(
        tool, contract=with_help(tool.contract, name), form=form, about=lambda: _about(tool, name)
    )


def _about(tool: Tool, name: str) -> Json:
    own = {} if tool.about is None else dict(tool.about())
    return {**own, "protocol": {**own.get("protocol", {}), name: MEANING}}
