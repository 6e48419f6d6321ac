"""Makes the answer to `help: true`, except for the part about the fields of a tool."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from toolbooth.contract import Contract
from toolbooth.django.call.asked_serializer import asked_serializer
from toolbooth.django.call.caller import caller
from toolbooth.django.call.caller_fields import schema_for
from toolbooth.django.call.invocation import SyncInvocation
from toolbooth.django.describe import messages
from toolbooth.django.describe.arguments import Arguments
from toolbooth.django.describe.described_requests import plausible_kwargs
from toolbooth.django.describe.gateway_arguments import filters_of
from toolbooth.django.describe.relations import Relation
from toolbooth.jsonvalue import Json, is_array, is_object
from toolbooth.server.controls import CONTROL_ARGUMENTS, HELP_KEY, is_free
from toolbooth.server.dispatch.variants import help_variant
from toolbooth.server.tool import AccessCheck, Tool, Variant

logger = logging.getLogger("toolbooth.django")


def help_variant_of_view(
    call: SyncInvocation, find: Callable[[str], Tool], access_check: AccessCheck
) -> Variant | None:
    """Return the variant of a view's tool that answers with the tool's help. Return None if the
    tool has no help.
    """
    name = call.arguments.called("help")
    return None if name is None else help_variant(name, call.tool, find, access_check)


def help_schema_of_view(call: SyncInvocation) -> Callable[[], Json | None] | None:
    """Return a function that makes the input schema for one caller. Return None if all callers may
    send the same fields.
    """
    return (lambda: _schema_for_caller(call)) if call.body_serializer.dynamic else None


def extra_help_of_view(arguments: Arguments, most: int | None) -> Json:
    """Return the help for a view's tool, without the help for its fields. `most` is the largest
    number of rows that one call can create, or None if a call can create only one row.
    """
    filters = filters_of(arguments)
    controls = {name: CONTROL_ARGUMENTS[own].meaning for name, own in arguments.controls.items()}
    # Some relations are accepted from certain callers only. The help that all callers get leaves
    # them out.
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
    """Return an example with placeholders in place of the keys of rows. Such keys occur in the URL
    and in relations. An invented key could belong to a real row.
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
    """Yield the path of each relation, and the ways in which a caller can name its row."""
    if isinstance(found, Relation):
        yield path, {"by": messages.RELATION_BY, "names": list(found.lookups)}
    elif is_array(found):
        yield from _relations(found[0], f"{path}[]")
    elif is_object(found):
        for name, each in found.items():
            yield from _relations(each, f"{path}.{name}" if path else name)


def extra_help_of_function(contract: Contract, own: Contract, names: Mapping[str, str]) -> Json:
    """Return the help for the control arguments that the gateway has added to a hand-written
    tool.
    """
    fields = {name for form in contract.shape.objects for name in form.fields}
    free = {
        each: name
        for name, each in names.items()
        # `help` is added after this contract is made, so it is not among its fields.
        if is_free(own, each) and (each in fields or name == "help")
    }
    return {HELP_KEY: {each: CONTROL_ARGUMENTS[name].meaning for each, name in free.items()}}


def _schema_for_caller(call: SyncInvocation) -> Json | None:
    """Return the input schema with the fields that this caller may send. Return None if the fields
    depend on the call.
    """
    action = call.action
    # Help needs no row, so the call may have no values for the URL.
    kwargs = plausible_kwargs(action)
    try:
        view = caller().admitted_view(action, kwargs)
        serializer = asked_serializer(view, call.body_serializer.of)
        return schema_for(serializer, call.arguments, is_partial=action.method == "PATCH")
    except Exception:  # it needs the row, or an object that middleware finds by the path
        logger.debug("the fields of %s cannot be said", call.tool, exc_info=True)
        return None
