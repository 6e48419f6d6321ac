"""A query: its filters may come in one object, and the fields that it is to show must be fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from toolbooth.boundary.guard import near_name
from toolbooth.boundary.paths import quoted
from toolbooth.django.caller import REFUSALS, Caller, caller
from toolbooth.django.invocation import SyncInvocation
from toolbooth.django.protocol import taken_apart
from toolbooth.errors import Problem, ToolInputError

Json = dict[str, Any]


def asking(call: SyncInvocation, function: Callable[[Json], Any]) -> Callable[[Json], Any]:
    """The function of a call, which may have more to say than where its values go."""
    own = {each: name for name, each in call.arguments.protocol.items()}
    if own.keys().isdisjoint(("filters", "filter_keys")):
        return function
    return Query(call=call, function=function, filters=own.get("filters", ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A call with `filters` or `filter_keys`; `function` runs it once the filters are flat and the keys are known."""

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
            check_keys(self.call, caller(), flat)
            return self.function(flat)
        except ToolInputError as error:
            error.problems = tuple(_moved(error.problems, name, inner))
            raise


def _moved(problems: Iterable[Problem], name: str, inner: Json) -> Iterable[Problem]:
    """Problems where their values were sent."""
    for each in problems:
        inside = any(each.path == f"$.{key}" or each.path.startswith((f"$.{key}.", f"$.{key}[")) for key in inner)
        yield replace(each, path=f"$.{name}{each.path[1:]}") if inside else each


def check_keys(call: SyncInvocation, who: Caller, arguments: Json) -> None:
    """Whether `filter_keys` names fields that the view shows to this caller. Raises ToolInputError."""
    sent, asked = taken_apart(arguments, call.arguments)
    if asked.filter_keys is None:
        return
    try:
        fields: Json = getattr(call.view(who, sent).get_serializer(), "fields", {})
    except REFUSALS:
        return  # the view says so itself
    shown = tuple(name for name, field in fields.items() if not field.write_only)
    name = next(name for name, own in call.arguments.protocol.items() if own == "filter_keys")
    told = [
        Problem(code="invalid", path=f"$.{name}[{index}]", message=_no_field(key, shown))
        for index, key in enumerate(asked.filter_keys)
        if key not in shown
    ]
    if not asked.filter_keys:
        told = [Problem(code="invalid", path=f"$.{name}", message="names no field; leave it out to be shown all")]
    if told:
        raise ToolInputError(told, tool=call.tool, declared={f"$.{name}": shown})


def _no_field(key: str, shown: Iterable[str]) -> str:
    near = near_name(key[:128], shown)
    return f"there is no field {quoted(key)}" + (f"; did you mean {quoted(near)}?" if near else "")
