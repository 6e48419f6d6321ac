"""Finds the variant of a view's tool that a call needs. The variants are help, the next page of a
result, many rows, a preview, and a write with a key.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

from toolbooth.boundary.read import text_as_object
from toolbooth.contract import DEFAULT_LIMITS
from toolbooth.django.call.bulk import Bulk
from toolbooth.django.call.caller import caller
from toolbooth.django.call.invocation import SyncInvocation
from toolbooth.django.call.keyed_write import KeyedWrite, with_key
from toolbooth.django.call.previews import previewable
from toolbooth.django.results.continuation import Continuation
from toolbooth.jsonvalue import Json
from toolbooth.server.controls import ROW_KEYS
from toolbooth.server.dispatch.variants import first_variant
from toolbooth.server.key_argument import KEY
from toolbooth.server.tool import Tool, Variant


@dataclass(frozen=True, slots=True)
class Variants:
    """The variants of one tool."""

    names: frozenset[str]
    """The arguments that ask for a variant. Without any of them, the tool itself is called."""
    find: Variant

    def __call__(self, sent: Any) -> Tool | None:
        """Return the variant for the arguments as sent, or None for the tool itself."""
        # The usual call asks for no variant. It is recognised without parsing JSON in texts.
        is_plain = type(sent) is dict and self.names.isdisjoint(cast("Json", sent))
        if is_plain and caller().own_meta is None:
            return None
        return self.find(sent)


def variants_of(
    help: Variant | None,
    continuation: Continuation,
    bulk: Bulk,
    find: Callable[[str], Tool],
    *,
    takes_rows: bool,
) -> Variants:
    """Return the variants of a view's tool. If the arguments of a call fit several variants, the
    first of them is called. `find` returns the tool with a name, once the tool is registered.
    """
    names: set[str] = set()
    variants: list[Variant] = []
    help_name = continuation.results.arguments.called("help")
    # Help comes first, so that a call with `help: true` never writes.
    if help is not None and help_name is not None:
        names.add(help_name)
        variants.append(help)
    token = continuation.results.token
    if token is not None:
        names.add(token)
        variants.append(continuation.variant)
    if takes_rows:
        names.update(ROW_KEYS)
        variants.append(bulk.variant)
    preview = bulk.call.arguments.called("preview")
    if preview is not None:
        names.add(preview)
        variants.append(partial(_previewed, bulk.call, find, preview))
    # A read changes nothing, so it can be repeated without a key.
    if bulk.call.action.method != "GET":
        names.update(filter(None, [bulk.call.arguments.called(KEY)]))
        variants.append(partial(_keyed, bulk, find))
    return Variants(frozenset(names), first_variant(*variants))


def _previewed(
    call: SyncInvocation, find: Callable[[str], Tool], name: str, sent: Any
) -> Tool | None:
    """Return the tool that previews a write. Return None if the call does not ask for a preview.
    The tool itself refuses values that are neither true nor false.
    """
    found = text_as_object(sent, DEFAULT_LIMITS) or {}
    if found.get(name) is not True:
        return None
    tool = find(call.tool)
    return replace(tool, function=previewable(call, tool.function))


def _keyed(bulk: Bulk, find: Callable[[str], Tool], sent: Any) -> Tool | None:
    """Return the tool that makes a write once for its key. Return None if the call has no key."""
    found = text_as_object(sent, DEFAULT_LIMITS) or {}
    if bulk.call.arguments.called(KEY) not in found and caller().own_meta is None:
        return None
    tool = find(bulk.call.tool)
    if isinstance(tool.function, KeyedWrite):  # the tool for many rows has its key already
        return None
    return replace(tool, function=with_key(bulk.call, tool.function, bulk.results.chosen))
