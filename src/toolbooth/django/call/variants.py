"""Which variant of a view's tool a call asks for: help, the next page of a result, or many rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from toolbooth.django.call.bulk import Bulk
from toolbooth.django.results.continuation import Continuation
from toolbooth.jsonvalue import Json
from toolbooth.server.controls import ROW_KEYS
from toolbooth.server.dispatch.variants import first_variant
from toolbooth.server.tool import Tool, Variant


@dataclass(frozen=True, slots=True)
class Variants:
    """The variants of one tool."""

    names: frozenset[str]
    """The arguments that ask for a variant. Without any of them, the tool is called as it is."""
    find: Variant

    def __call__(self, sent: Any) -> Tool | None:
        """The variant for the arguments as sent; None: the tool as it is."""
        if type(sent) is dict and self.names.isdisjoint(cast("Json", sent)):
            return None
        return self.find(sent)


def variants_of(help: Variant | None, continuation: Continuation, bulk: Bulk | None) -> Variants:
    """The variants that a view's tool has. The first of them that is asked for is called."""
    names: set[str] = set()
    variants: list[Variant] = []
    help_name = continuation.results.arguments.called("help")
    if help is not None and help_name is not None:
        names.add(help_name)
        variants.append(help)
    token = continuation.results.token
    if token is not None:
        names.add(token)
        variants.append(continuation.variant)
    if bulk is not None:
        names.update(ROW_KEYS)
        variants.append(bulk.variant)
    return Variants(frozenset(names), first_variant(*variants))
