"""What `help: true` tells of the gateway's tools beside their fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from toolbooth.contract import Contract
from toolbooth.django import messages
from toolbooth.django.call.invocation import SyncInvocation
from toolbooth.django.describe.arguments import Arguments
from toolbooth.django.describe.gateway_arguments import filters_of
from toolbooth.django.describe.relations import Relation
from toolbooth.jsonvalue import Json, is_array, is_object
from toolbooth.server.dispatch.variants import Form, Help, Withheld, is_free
from toolbooth.server.results.arguments import TABLE
from toolbooth.server.tool import Tool


def help_variant(
    call: SyncInvocation, find: Callable[[str], Tool], withheld: Withheld
) -> Form | None:
    """The variant of a view's tool that answers with help; None if it has none."""
    name = call.arguments.called("help")
    if name is None:
        return None
    return Help(name=name, tool=call.tool, find=find, withheld=withheld).form


def about(arguments: Arguments, most: int | None) -> Json:
    """What help tells of a tool beside its fields; `most`: so many rows can be made in one call,
    None: one.
    """
    filters = filters_of(arguments)
    protocol = {name: TABLE[own].meaning for name, own in arguments.protocol.items()}
    relations = dict(_relations(arguments.relations, ""))
    made: Json = {}
    if filters:
        made["filters"] = filters
    if most is not None:
        made["bulk"] = messages.help_about_many(most)
    if relations:
        made["relations"] = relations
    if protocol:
        made["protocol"] = protocol
    return made


def _relations(found: Any, path: str) -> Iterator[tuple[str, Json]]:
    """How the row of each relation can be named, by the path of the relation."""
    if isinstance(found, Relation):
        yield path, {"by": messages.RELATION_BY, "names": list(found.lookups)}
    elif is_array(found):
        yield from _relations(found[0], f"{path}[]")
    elif is_object(found):
        for name, each in found.items():
            yield from _relations(each, f"{path}.{name}" if path else name)


def about_written(contract: Contract, own: Contract, names: Mapping[str, str]) -> Json:
    """What help tells of a hand-written tool beside its fields: what its contract takes that is not
    its own.
    """
    fields = {name for form in contract.shape.objects for name in form.fields}
    free = {
        each: name
        for name, each in names.items()
        if is_free(own, each) and (each in fields or name == "help")
    }
    return {"protocol": {each: TABLE[name].meaning for each, name in free.items()}}
