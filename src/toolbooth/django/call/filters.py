"""A query: its filters may come in one object, and the fields that it is to show must be fields."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from toolbooth.boundary.refusals import holds_secret
from toolbooth.compile.json_schema import shape_of_schema
from toolbooth.django.call.caller import REFUSALS, Caller, caller
from toolbooth.django.call.invocation import SyncInvocation
from toolbooth.errors import Problem, ToolInputError
from toolbooth.jsonvalue import Json, near_name, quoted, same_name
from toolbooth.server.controls import split_controls


def asking(call: SyncInvocation, function: Callable[[Json], Any]) -> Callable[[Json], Any]:
    """The function of a call, which may have more to say than where its values go."""
    own = {each: name for name, each in call.arguments.controls.items()}
    if own.keys().isdisjoint(("filters", "filter_keys")):
        return function
    return Query(call=call, function=function, filters=own.get("filters", ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A call with `filters` or `filter_keys`; `function` runs it once the filters are flat and the
    keys are known.
    """

    call: SyncInvocation
    function: Callable[[Json], Any]
    filters: str
    """What `filters` is called here; nothing where it is not taken."""

    def __call__(self, arguments: Json) -> Any:
        """Run the call. Raises ToolInputError with the paths of what was sent."""
        name = self.filters
        inner: Json = arguments.get(name, {})
        flat = {key: each for key, each in arguments.items() if key != name} | inner
        try:
            check_keys(self.call, caller(), flat, arguments)
            return self.function(flat)
        except ToolInputError as error:
            # Say where each value was sent.
            where = [
                (name, *each.path) if each.path[:1] and each.path[0] in inner else each.path
                for each in error.problems
            ]
            problems = [
                replace(each, path=path) for each, path in zip(error.problems, where, strict=True)
            ]
            raise error.replaced(problems=problems) from error.__cause__


def check_keys(call: SyncInvocation, who: Caller, arguments: Json, called: Json) -> None:
    """Whether `filter_keys` names fields that the view shows to this caller. Raises ToolInputError.

    `called`: the arguments of the call as it was sent, to be sent again.
    """
    sent, asked = split_controls(arguments, call.arguments.controls)
    if asked.filter_keys is None:
        return
    try:
        fields: Json = getattr(call.view(who, sent).get_serializer(), "fields", {})
    except REFUSALS:
        return  # the view says so itself
    shown = tuple(name for name, field in fields.items() if not field.write_only)
    name = next(name for name, own in call.arguments.controls.items() if own == "filter_keys")
    meant = [key if key in shown else same_name(key[:128], shown) for key in asked.filter_keys]
    told = [
        Problem(
            code="invalid", path=(name, index), message=_no_field(key, near_name(key[:128], shown))
        )
        for index, key in enumerate(asked.filter_keys)
        if key not in shown
    ]
    if not asked.filter_keys:
        told = [
            Problem(
                code="invalid", path=(name,), message="names no field; leave it out to be shown all"
            )
        ]
    if told:
        found = [key for key in dict.fromkeys(meant) if key is not None]
        corrected = {**called, name: found} if found and None not in meant else None
        if corrected is not None and _holds_secret(call, corrected):
            corrected = None
        raise ToolInputError(told, tool=call.tool, declared={(name,): shown}, corrected=corrected)


def _no_field(key: str, near: str | None) -> str:
    return f"there is no field {quoted(key)}" + (f"; did you mean {quoted(near)}?" if near else "")


def _holds_secret(call: SyncInvocation, arguments: Json) -> bool:
    return holds_secret(
        shape_of_schema(call.arguments.schema(call.arguments.wide), root=True), arguments
    )
