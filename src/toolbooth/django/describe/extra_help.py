"""What `help: true` tells of the gateway's tools beside their fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from toolbooth.contract import Contract
from toolbooth.django.call.caller import caller
from toolbooth.django.call.invocation import SyncInvocation
from toolbooth.django.describe import messages
from toolbooth.django.describe.arguments import Arguments
from toolbooth.django.describe.gateway_arguments import filters_of
from toolbooth.django.describe.relations import Relation
from toolbooth.jsonvalue import Json, is_array, is_object
from toolbooth.server.controls import CONTROL_ARGUMENTS, HELP_KEY, is_free
from toolbooth.server.dispatch.variants import help_variant
from toolbooth.server.tool import AccessCheck, Tool, Variant


def help_variant_of_view(
    call: SyncInvocation, find: Callable[[str], Tool], access_check: AccessCheck
) -> Variant | None:
    """The variant of a view's tool that answers with its help; None where it has none."""
    name = call.arguments.called("help")
    return None if name is None else help_variant(name, call.tool, find, access_check)


def help_schema_of_view(call: SyncInvocation) -> Callable[[], Json | None] | None:
    """Finds the input schema for the caller who asks; None if all callers may send the same."""
    return (lambda: call.schema_for(caller())) if call.body_serializer.dynamic else None


def extra_help_of_view(arguments: Arguments, most: int | None) -> Json:
    """What help tells of a tool beside its fields; `most`: so many rows can be made in one call,
    None: one.
    """
    filters = filters_of(arguments)
    controls = {name: CONTROL_ARGUMENTS[own].meaning for name, own in arguments.controls.items()}
    published = {
        name: each for name, each in arguments.relations.items() if name in arguments.properties
    }
    relations = dict(_relations(published, ""))
    made: Json = {}
    if filters:
        made["filters"] = filters
    if most is not None:
        made["bulk"] = messages.help_about_many(most)
    if relations:
        made["relations"] = relations
    if controls:
        made[HELP_KEY] = controls
    return made


def with_placeholders(arguments: Arguments, example: Json) -> Json:
    """An example with placeholders for keys of rows, in the URL and in relations: any key that it
    made up could be that of a real row.
    """
    made: Json = {}
    for name, value in example.items():
        slot = arguments.slots.get(name)
        if slot is not None and slot.part == "path":
            made[name] = messages.placeholder(name)
        elif slot is None and is_array(value):  # many rows
            made[name] = [with_placeholders(arguments, each) for each in value]
        else:
            made[name] = _without_keys(value, arguments.relations.get(name))
    return made


def _without_keys(value: Any, relations: Any) -> Any:
    if isinstance(relations, Relation):
        return messages.placeholder(relations.key)
    if is_array(value) and is_array(relations):
        return [_without_keys(each, relations[0]) for each in value]
    if is_object(value) and is_object(relations):
        return {name: _without_keys(each, relations.get(name)) for name, each in value.items()}
    return value


def _relations(found: Any, path: str) -> Iterator[tuple[str, Json]]:
    """How the row of each relation can be named, by the path of the relation."""
    if isinstance(found, Relation):
        yield path, {"by": messages.RELATION_BY, "names": list(found.lookups)}
    elif is_array(found):
        yield from _relations(found[0], f"{path}[]")
    elif is_object(found):
        for name, each in found.items():
            yield from _relations(each, f"{path}.{name}" if path else name)


def extra_help_of_function(contract: Contract, own: Contract, names: Mapping[str, str]) -> Json:
    """What help tells of a hand-written tool beside its fields: what its contract takes that is not
    its own.
    """
    fields = {name for form in contract.shape.objects for name in form.fields}
    free = {
        each: name
        for name, each in names.items()
        if is_free(own, each) and (each in fields or name == "help")
    }
    return {HELP_KEY: {each: CONTROL_ARGUMENTS[name].meaning for each, name in free.items()}}
