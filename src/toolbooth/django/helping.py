"""`help: true` on any tool: all that it takes, told instead of calling it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import orjson

from toolbooth.contract import Contract, Field, Shape
from toolbooth.django.arguments import Arguments
from toolbooth.django.invocation import SyncInvocation
from toolbooth.django.offers import filters_of
from toolbooth.django.protocol import TABLE, opened
from toolbooth.django.relations import Relation
from toolbooth.errors import ToolError
from toolbooth.server.help import help_of
from toolbooth.server.tools import Tool
from toolbooth.sources.json_schema import compile_json_schema

Json = dict[str, Any]
Form = Callable[[Any], Tool | None]
Withheld = Callable[[], Exception | None]
"""What a caller who may not call the tool is told; None: may call."""


def first(*forms: Form | None) -> Form:
    """The first of these forms that what was sent asks for."""

    def form(sent: Any) -> Tool | None:
        return next((found for each in forms if each is not None and (found := each(sent)) is not None), None)

    return form


@dataclass(frozen=True, slots=True, kw_only=True)
class Help:
    """The form of a tool that tells of it."""

    name: str
    """What `help` is called."""
    withheld: Withheld
    tool: str
    find: Callable[[str], Tool]
    """Finds the tool by its name, once it is registered."""

    def form(self, sent: Any) -> Tool | None:
        """The tool that tells, where it is asked for."""
        found = opened(sent)
        asked = cast("Json", found).get(self.name) if isinstance(found, dict) else None
        if asked is not True and asked != "true":
            return None
        schema = {"type": "object", "properties": {self.name: _BOOLEAN}, "additionalProperties": True}
        return Tool(contract=compile_json_schema(schema, name=self.tool), function=self._told, withheld=self.withheld)

    def _told(self, sent: Json) -> Json:
        refused = self.withheld()
        if refused is not None:  # who may not call a tool does not learn its fields either
            raise refused
        tool = self.find(self.tool)
        made = help_of(tool)
        if len(sent) > 1:
            made["called"] = "nothing: help was asked for"
        if tool.breaks is not None:  # a client holds every answer to what the tool says that it returns, but for errors
            raise ToolError(orjson.dumps(made).decode())
        return made


def help_form(call: SyncInvocation, find: Callable[[str], Tool], withheld: Withheld) -> Form | None:
    """The form of a view's tool that tells of it; None where it has none."""
    name = next((name for name, own in call.arguments.protocol.items() if own == "help"), None)
    return None if name is None else Help(name=name, tool=call.tool, find=find, withheld=withheld).form


_BOOLEAN = TABLE["help"].schema


def about(arguments: Arguments, most: int | None) -> Json:
    """What help tells of a tool beside its fields; `most`: so many rows can be made in one call, None: one."""
    filters = filters_of(arguments)
    protocol = {name: TABLE[own].meaning for name, own in arguments.protocol.items()}
    relations = dict(_relations(arguments.relations, ""))
    made: Json = {}
    if filters:
        made["filters"] = filters
    if most is not None:
        made["bulk"] = f'Send {{"objects": [{{…}}, …]}} to make up to {most:,} at once: all are made, or none.'
    if relations:
        made["relations"] = relations
    if protocol:
        made["protocol"] = protocol
    return made


def _relations(found: Any, path: str) -> Iterator[tuple[str, Json]]:
    """How the row of each relation can be named, by the path of the relation."""
    if isinstance(found, Relation):
        yield path, {"by": "key, or an object with any of these", "names": list(found.lookups)}
    elif isinstance(found, list):
        yield from _relations(cast("list[Any]", found)[0], f"{path}[]")
    elif isinstance(found, dict):
        for name, each in cast("Mapping[str, Any]", found).items():
            yield from _relations(each, f"{path}.{name}" if path else name)


# --- tools whose contract is a function's ---


def is_free(contract: Contract, name: str) -> bool:
    """Whether a name means nothing to a hand-written tool."""
    return all(name not in form.fields and form.rest is None for form in contract.shape.objects)


def about_written(contract: Contract, own: Contract, names: Mapping[str, str]) -> Json:
    """What help tells of a hand-written tool beside its fields: what its contract takes that is not its own."""
    fields = {name for form in contract.shape.objects for name in form.fields}
    free = {each: name for name, each in names.items() if is_free(own, each) and (each in fields or name == "help")}
    return {"protocol": {each: TABLE[name].meaning for each, name in free.items()}}


def with_help(contract: Contract, name: str) -> Contract:
    """A hand-written tool's contract, with `help` among what is published."""
    return replace(contract, describe=partial(_described, contract, name))


def without_help(contract: Contract, name: str) -> Contract:
    """The same for a call that says `help: false`: it is taken, and left out of what the function gets."""
    form = contract.shape.objects[0]
    told = replace(form, fields={**form.fields, name: Field(name=name, shape=_FLAG, required=False)}, whole=None)
    shape = replace(contract.shape, objects=(told,), compiled=None, apart=None, plain=None)

    def validate(sent: Json) -> Any:
        return contract.validate({key: each for key, each in sent.items() if key != name})

    return replace(contract, shape=shape, validate=validate, proves=False)


def declining(tool: Tool, name: str) -> Form:
    """The form of a hand-written tool for a call that says it wants no help."""

    def form(sent: Any) -> Tool | None:
        found = opened(sent)
        return tool if isinstance(found, dict) and name in found else None

    return form


_FLAG = Shape(types=frozenset(("boolean",)))


def _described(contract: Contract, name: str) -> Json:
    schema = dict(contract.schema)
    return {**schema, "properties": {**schema.get("properties", {}), name: _BOOLEAN}}
