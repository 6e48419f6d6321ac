"""Checks one tool call of a client. Returns the arguments for the upstream server, or raises a
refusal.

The arguments are checked against a contract, which is compiled from the server's own schema. Only
undeclared keys are handled differently than elsewhere. If a schema does not say whether undeclared
keys are allowed, the policy may forward them. A note in the result then lists these keys.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from toolbooth.boundary.accept import accept_reading
from toolbooth.boundary.read import Reading, Unreadable, read_json
from toolbooth.boundary.refusals import names_of_tool, respelt
from toolbooth.boundary.repairs import Remark, Repair
from toolbooth.contract import Contract
from toolbooth.errors import Problem, ToolInputError
from toolbooth.jsonvalue import JsonPath, is_array, is_object, path_text
from toolbooth.proxy import messages
from toolbooth.proxy.rewriting import rewritten
from toolbooth.proxy.rules import Policy
from toolbooth.proxy.surplus import surplus_items
from toolbooth.proxy.tool import ProxiedTool
from toolbooth.server.redact import as_text
from toolbooth.shape import ObjectShape, Shape, item_shape

NO_KEYS: Mapping[JsonPath, Any] = MappingProxyType({})
_KEY_CODES = ("unknown-key", "nested-wrapper")


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision about a call that is not refused."""

    rewritten: str | None
    """The arguments as JSON. None means that they are forwarded as they were sent."""
    remarks: tuple[Remark, ...] = ()
    undeclared: tuple[JsonPath, ...] = ()
    """The paths of the undeclared keys that are forwarded."""

    @property
    def undeclared_names(self) -> list[str]:
        """Return the names of the undeclared keys that are forwarded. The note in the result lists
        them.
        """
        return [_name(path) for path in self.undeclared]

    @property
    def repairs(self) -> tuple[str, ...]:
        return tuple(each.code for each in self.remarks if isinstance(each, Repair))


UNCHANGED = Verdict(None)


def judge(tool: ProxiedTool, arguments: str | None, beside: list[Problem]) -> Verdict:
    """Return the verdict on a call. `beside` has one problem for each key that was sent next to
    `arguments` instead of in it.

    Raises:
        ToolInputError: the call is refused.
    """
    contract = tool.contract
    if contract is None:
        return UNCHANGED
    if beside:
        raise ToolInputError(beside, tool=tool.published)
    # MCP allows `arguments` to be left out, and some clients send null for that.
    if arguments is None or arguments == "null":
        accept_reading(contract, ({}, False, b"{}"))
        return UNCHANGED
    try:
        reading = read_json(arguments.encode(), contract.limits)
    except Unreadable as error:
        raise ToolInputError([error.problem], tool=tool.published) from None
    try:
        values, remarks = accept_reading(contract, reading)
    except ToolInputError as refusal:
        verdict = _without_undeclared(tool, contract, arguments, reading, refusal)
        if verdict is None:
            raise
        return verdict
    return _verdict(tool, contract, arguments, values, remarks)


def _verdict(
    tool: ProxiedTool,
    contract: Contract,
    arguments: str,
    values: Any,
    remarks: list[Remark],
    undeclared: Mapping[JsonPath, Any] = NO_KEYS,
) -> Verdict:
    """Return the verdict on a call with these values. `undeclared` are the keys that the policy
    forwards.

    Raises:
        ToolInputError: an array of the call has items that the tool does not declare.
    """
    surplus = surplus_items(contract.shape, values) if tool.has_silent_arrays else []
    if surplus and (tool.policy == "strict" or (tool.policy == "default" and not tool.read_only)):
        problems = [
            Problem(code="unknown-key", path=path, message=messages.UNDECLARED_ITEM)
            for path in surplus
        ]
        raise ToolInputError(problems, tool=tool.published)
    for path, value in undeclared.items():
        _put(values, path, value)
    is_repaired = any(isinstance(each, Repair) for each in remarks)
    text = rewritten(arguments, values) if is_repaired else None
    return Verdict(text, tuple(remarks), (*undeclared, *surplus))


def undeclared_paths(error: ToolInputError) -> list[str]:
    """Return the names of the undeclared keys because of which a call was refused, for a report."""
    return [_name(each.path) for each in error.problems if each.code in _KEY_CODES and each.path]


# --- undeclared keys that a policy forwards -----------------------------------------------------


def _without_undeclared(
    tool: ProxiedTool,
    contract: Contract,
    arguments: str,
    reading: Reading,
    refusal: ToolInputError,
) -> Verdict | None:
    """Check a refused call again without its undeclared keys. Return a verdict if the call has no
    other faults and the policy forwards these keys. Return None if the call stays refused.
    """
    paths = [each.path for each in refusal.problems if each.code in _KEY_CODES]
    if refusal.more or len(paths) != len(refusal.problems):
        return None
    for problem in refusal.problems:
        if not _is_forwarded(tool, contract, problem):
            return None
    kept, taken = _split(reading[0], paths)
    if len(taken) != len(paths):
        return None  # a key inside JSON text: the text would have to be written anew
    try:
        values, remarks = accept_reading(contract, (kept, reading[1], as_text(kept).encode()))
    except ToolInputError:
        return None
    return _verdict(tool, contract, arguments, values, remarks, taken)


def _is_forwarded(tool: ProxiedTool, contract: Contract, problem: Problem) -> bool:
    forms = list(_forms_at(contract.shape, problem.path[:-1]))
    # If the schema itself forbids undeclared keys, the call is refused. The server would refuse it
    # too.
    if not forms or not all(form.is_silent for form in forms):
        return False
    return _may_forward(tool.policy, tool.read_only, contract, forms, problem)


def _may_forward(
    policy: Policy,
    read_only: bool,
    contract: Contract,
    forms: list[ObjectShape],
    problem: Problem,
) -> bool:
    if policy == "lenient":
        return True
    if policy == "strict" or not read_only or problem.code == "nested-wrapper":
        return False
    # A key that is certainly a misspelt declared name would have no effect. So the caller has to
    # correct it.
    names = names_of_tool(contract.shape)
    return all(respelt(str(problem.path[-1]), form, names) is None for form in forms)


def _forms_at(shape: Shape, path: JsonPath) -> Iterator[ObjectShape]:
    """Yield the shape of an object at this path. If the schema has a union there, yield the shape
    of each branch that is an object.
    """
    if not path:
        yield from shape.objects
        return
    step, *rest = path
    for below in _below(shape, step):
        yield from _forms_at(below, tuple(rest))


def _below(shape: Shape, step: str | int) -> Iterator[Shape]:
    if isinstance(step, int):
        found = (item_shape(form, step) for form in shape.arrays)
        yield from (each for each in found if each is not None)
        return
    for form in shape.objects:
        if step in form.fields:
            yield form.fields[step].shape
        elif form.additional is not None:
            yield form.additional


def _split(value: Any, paths: list[JsonPath]) -> tuple[Any, dict[JsonPath, Any]]:
    """Return a copy of the value without the parts at these paths. Also return the removed parts,
    by path.
    """
    taken: dict[JsonPath, Any] = {}
    for path in paths:
        kept, found = _taken_out(value, path)
        if found:
            value, taken[path] = kept, found[0]
    return value, taken


def _taken_out(value: Any, path: JsonPath) -> tuple[Any, list[Any]]:
    """Return a copy of the value without the part at this path, and a list with the removed part.
    If there is no part at this path, return the value itself and an empty list.
    """
    step, *rest = path
    if is_object(value) and step in value:
        copy = dict(value)
        if not rest:
            return copy, [copy.pop(str(step))]
        copy[str(step)], found = _taken_out(value[step], tuple(rest))
        return copy, found
    if is_array(value) and isinstance(step, int) and step < len(value) and rest:
        items = list(value)
        items[step], found = _taken_out(value[step], tuple(rest))
        return items, found
    return value, []


def _put(value: Any, path: JsonPath, taken: Any) -> None:
    *steps, last = path
    for step in steps:
        value = value[step]
    value[last] = taken


def _name(path: JsonPath) -> str:
    return path_text(path, "").removeprefix(".")
