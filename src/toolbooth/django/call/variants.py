"""Which form of a view's tool a call asks for: help, the next page of a result, or many rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from toolbooth.django.call.bulk import Bulk
from toolbooth.django.results.continuation import Continuation
from toolbooth.jsonvalue import Json
from toolbooth.server.dispatch.variants import Form, Help, first
from toolbooth.server.results.arguments import ROW_KEYS
from toolbooth.server.tool import Tool


@dataclass(frozen=True, slots=True)
class Variants:
    """The other forms of one tool."""

    names: frozenset[str]
    """The arguments that ask for another form. Without any of them, the tool is called as it is."""
    find: Form

    def __call__(self, sent: Any) -> Tool | None:
        """The form for the arguments as sent; None: the tool as it is."""
        if type(sent) is dict and self.names.isdisjoint(cast("Json", sent)):
            return None
        return self.find(sent)


def variants_of(help: Help | None, continuation: Continuation, bulk: Bulk | None) -> Variants:
    """The forms that a view's tool has. The first of them that is asked for is called."""
    names: set[str] = set()
    forms: list[Form] = []
    if help is not None:
        names.add(help.name)
        forms.append(help.form)
    token = continuation.results.token
    if token is not None:
        names.add(token)
        forms.append(continuation.form)
    if bulk is not None:
        names.update(ROW_KEYS)
        forms.append(bulk.form)
    return Variants(frozenset(names), first(*forms))
