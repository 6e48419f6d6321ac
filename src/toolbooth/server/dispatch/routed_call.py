"""RoutedCall: a dispatcher's call whose sub-tool is known. It converts refusals of the sub-tool, so
that their paths and their corrected calls are those of the dispatcher's call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from toolbooth.boundary.examine import examine
from toolbooth.boundary.read import Reading
from toolbooth.boundary.refusals import holds_secret
from toolbooth.boundary.repairs import Remark
from toolbooth.errors import Declared, Problem, ToolError, ToolInputError
from toolbooth.jsonvalue import Json, JsonPath
from toolbooth.server.tool import PARAMS, ActionTable, Tool


# Frozen and keyword-only would cost more than the rest of the routing of a correct call.
@dataclass(slots=True)
class RoutedCall:
    """A dispatcher's call whose sub-tool is known."""

    table: ActionTable
    tool: Tool
    """The sub-tool."""
    reading: Reading
    """The arguments for the sub-tool."""
    target: Mapping[str, Any]
    """The arguments that name the sub-tool. `help` is one of them if the call asks for help."""
    inside: Mapping[str, JsonPath] = field(default_factory=dict[str, JsonPath])
    """The keys that were sent inside another object, each with the path of that object:
    `("params",)`.
    """
    remarks: tuple[Remark, ...] = ()
    """The repairs and notes on the dispatcher's own arguments."""
    slips: tuple[Problem, ...] = ()
    """The problems of the dispatcher's own arguments. Despite them, the call's meaning is clear."""
    beside: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The resource, if the dispatcher has only one and the call still names it. A corrected call
    then names it too.
    """

    def refusal(self) -> ToolInputError:
        """Return the refusal of a call that has problems only in the dispatcher's own arguments."""
        contract = self.tool.contract
        arguments: Json = self.reading[0]
        # Numbers that are kept as written cannot be put into a result. The examination converts
        # them to the declared types, as in every other corrected call.
        if self.reading[1]:
            arguments, _ = examine(contract.shape, arguments, contract.limits, thorough=True)
        # The corrected call would repeat all values, so it is left out if one of them is a secret.
        shown = not holds_secret(contract.shape, arguments)
        return ToolInputError((), tool=self.tool.name, corrected=arguments if shown else None)

    def refusal_of_call(self, error: ToolInputError, dispatcher: str) -> ToolInputError:
        """Convert a refusal of the sub-tool to a refusal of the dispatcher's call. It names the
        dispatcher, because the sub-tool may not be listed.
        """
        moved = error.moved(partial(sent_at, self.inside))
        declared = moved.declared
        if declared and self.table.help in self.target:
            # The call asked for help, which takes only these arguments and not the fields of the
            # sub-tool.
            types = {**dict.fromkeys(self.table.keys, "text"), self.table.help: "boolean"}
            declared = {(): Declared(types={**types, "page": "integer"})}
        named = {**self.beside, **self.target}
        corrected = moved.corrected
        if corrected is not None:
            corrected = self.table.call(named, corrected)
        form = None if moved.form is None else self.table.call(named, moved.form)
        return moved.replaced(
            problems=(*self.slips, *moved.problems),
            tool=dispatcher,
            target=self.named,
            declared=declared,
            corrected=corrected,
            form=form,
            # The call was not empty, because it named an action.
            is_empty=False,
        )

    @property
    def named(self) -> tuple[str, ...]:
        """Return what the call names: a resource and an action, or `help`."""
        named = tuple(self.target[key] for key in self.table.keys if key in self.target)
        return (*named, self.table.help) if self.table.help in self.target else named

    def error_of_call(self, error: ToolError, dispatcher: str) -> ToolError:
        """Convert an error of the sub-tool to an error of the dispatcher's call."""
        # An error with another tool's name was raised on purpose, for example by a tool that calls
        # another one.
        if error.tool != self.tool.name:
            return error
        return ToolError(dispatcher, error.message, error.details, target=self.named)

    def all_remarks(self, remarks: list[Remark]) -> list[Remark]:
        """Return the repairs and notes of the whole call. Their paths are those of the dispatcher's
        call.
        """
        if not remarks and not self.remarks:
            return remarks
        moved = [replace(each, path=sent_at(self.inside, each.path)) for each in remarks]
        return [*self.remarks, *moved]


def sent_at(inside: Mapping[str, JsonPath], path: JsonPath) -> JsonPath:
    """Return the path of a sub-tool's argument in the dispatcher's call."""
    first = path[0] if path else None
    if isinstance(first, str) and first in inside:
        return (*inside[first], *path)
    return path


def named_tool(table: ActionTable, sent: Mapping[str, Any]) -> Tool | None:
    """Return the sub-tool if the call names it exactly. Otherwise return None."""
    action = sent.get("action")
    resource = "" if "" in table.resources else sent.get("resource")
    # A list or an object cannot be a key: `{"action": []}` would raise TypeError below.
    if type(action) is not str or type(resource) is not str:
        return None
    return table.resources.get(resource, {}).get(action)


def is_own_params(tool: Tool, params: Mapping[str, Any]) -> bool:
    """Return True if the sub-tool has a field `params`, and the call means this field. The call
    means it if the value of `params` has no key that is another field of the sub-tool.
    """
    if not tool.owns(PARAMS):
        return False
    return not any(key in form.fields for form in tool.contract.shape.objects for key in params)
