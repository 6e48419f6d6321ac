"""Applies the setting `TOOLBOOTH["VERBATIM"]`. It lists arguments, as `tool.argument`, whose values
are accepted exactly as sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from toolbooth.contract import Contract
from toolbooth.django.conf import Configuration
from toolbooth.django.describe import messages
from toolbooth.django.describe.name_patterns import tools
from toolbooth.django.describe.names import Name
from toolbooth.jsonvalue import near_name
from toolbooth.shape import Field, ObjectShape


def with_verbatim(contract: Contract, chosen: Iterable[str]) -> Contract:
    """Return a contract in which the fields that the setting names are marked as verbatim."""
    start = f"{contract.name}."
    names = {each.removeprefix(start) for each in chosen if each.startswith(start)}
    if not names:
        return contract
    forms = tuple(_marked(form, names) for form in contract.shape.objects)
    return replace(contract, shape=replace(contract.shape, objects=forms))


def _marked(form: ObjectShape, names: set[str]) -> ObjectShape:
    # A field with several keys must stay one field, so it is replaced only once.
    marked: dict[int, Field] = {}
    for key, field in form.fields.items():
        if key in names:
            marked[id(field)] = replace(field, verbatim=True)
    fields = {key: marked.get(id(field), field) for key, field in form.fields.items()}
    return replace(form, fields=fields)


def verbatim_mistakes(
    chosen: Configuration, names: Iterable[Name], contracts: Mapping[str, Contract]
) -> Iterator[tuple[str, str]]:
    """Yield each entry of `VERBATIM` that is not the name of an argument, and the reason. `names`
    has the names of all possible tools. `contracts` has the contracts of the published tools.
    """
    every = list(names)
    for each in chosen.verbatim:
        reason = _mistake(each, every, contracts)
        if reason is not None:
            yield f"TOOLBOOTH['VERBATIM']: {each!r}", reason


def _mistake(entry: str, every: list[Name], contracts: Mapping[str, Contract]) -> str | None:
    known = list(tools(every))
    if entry in known:
        return messages.name_an_argument(entry)
    # The longest name, because the name of a tool may contain dots too.
    tool = max((name for name in known if entry.startswith(f"{name}.")), key=len, default=None)
    if tool is None:
        given = entry.rpartition(".")[0] or entry
        shared = [each.tool for each in every if entry.startswith(f"{each.short}.")]
        return messages.no_tool_named(given, near_name(given, known), shared)
    # The arguments of a tool that is not published are not known.
    if tool not in contracts:
        return None
    name = entry.removeprefix(f"{tool}.")
    fields = [key for form in contracts[tool].shape.objects for key in form.fields]
    return (
        None if name in fields else messages.no_such_argument(tool, name, near_name(name, fields))
    )
