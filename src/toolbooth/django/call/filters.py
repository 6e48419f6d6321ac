"""Runs a call that reads rows. Its filters may be sent in one object, and `filter_keys` must name
fields of the result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from toolbooth.boundary.refusals import holds_secret
from toolbooth.compile.json_schema import shape_of_schema
from toolbooth.django import messages
from toolbooth.django.call.asked_serializer import asked_serializer
from toolbooth.django.call.caller import REFUSALS, Caller, caller
from toolbooth.django.call.invocation import SyncInvocation
from toolbooth.errors import Declared, Problem, ToolInputError
from toolbooth.jsonvalue import Json, JsonPath, near_name, same_name
from toolbooth.server.controls import split_controls


def query_of(call: SyncInvocation, function: Callable[[Json], Any]) -> Callable[[Json], Any]:
    """Return the function of a call, wrapped if the call takes `filters` or `filter_keys`."""
    own = {each: name for name, each in call.arguments.controls.items()}
    if own.keys().isdisjoint(("filters", "filter_keys")):
        return function
    return Query(call=call, function=function, filters=own.get("filters", ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A call with `filters` or `filter_keys`. `__call__` moves the values of `filters` to the top
    level, checks `filter_keys`, and then calls `function`.
    """

    call: SyncInvocation
    function: Callable[[Json], Any]
    filters: str
    """The name of `filters` in this tool; empty if the tool does not take it."""

    def __call__(self, arguments: Json) -> Any:
        """Run the call. Raises ToolInputError with the paths of the arguments as sent."""
        name = self.filters
        inner: Json = arguments.get(name, {})
        # No key is in both: `Validation` refuses a filter that is also sent beside `filters`.
        flat = {key: each for key, each in arguments.items() if key != name} | inner
        who = caller()

        def run() -> Any:
            check_keys(self.call, who, flat, arguments)
            return self.function(flat)

        try:
            return self.call.within(who, split_controls(flat, self.call.arguments.controls)[0], run)
        except ToolInputError as error:
            problems = [_as_sent(each, name, inner) for each in error.problems]
            raise error.replaced(problems=problems) from error.__cause__


def _as_sent(problem: Problem, name: str, filters: Json) -> Problem:
    """Return a problem with the path of the value as it was sent. If the value was sent in
    `filters`, the path begins with that argument.
    """
    path = problem.path
    if not path or path[0] not in filters:
        return problem
    return replace(problem, path=(name, *path))


def _serializer_of(view: Any) -> Any:
    return view.get_serializer()


def check_keys(call: SyncInvocation, who: Caller, arguments: Json, called: Json) -> None:
    """Check that `filter_keys` names fields that the view shows to this caller. `called` has the
    arguments as they were sent; the corrected call in the refusal is made from them.

    Raises:
        ToolInputError: `filter_keys` names an unknown field.
    """
    sent, asked = split_controls(arguments, call.arguments.controls)
    if asked.filter_keys is None:
        return
    name = next(name for name, own in call.arguments.controls.items() if own == "filter_keys")
    try:
        serializer = asked_serializer(call.view(who, sent), _serializer_of)
    except REFUSALS:
        return  # the view refuses the call itself
    # If the names were not checked, a misspelt one would return rows without that field, and the
    # agent would think that the field is empty.
    if serializer is None:
        unknown = Problem(code="invalid", path=(name,), message=messages.FIELDS_NOT_KNOWN)
        raise ToolInputError([unknown], tool=call.tool)
    fields: Json = getattr(serializer, "fields", {})
    # A write-only field, such as a password, is in no response.
    shown = tuple(name for name, field in fields.items() if not field.write_only)
    problems = [
        _no_such_field(key, (name, index), shown)
        for index, key in enumerate(asked.filter_keys)
        if key not in shown
    ]
    # An empty list would return rows without any field.
    if not asked.filter_keys:
        problems = [Problem(code="invalid", path=(name,), message=messages.NAMES_NO_FIELD)]
    if problems:
        keys = _meant(asked.filter_keys, shown)
        corrected = {**called, name: keys} if keys else None
        # The corrected call is shown to the agent, and a secret must not be repeated.
        if corrected is not None and _holds_secret(call, corrected):
            corrected = None
        fields_shown = Declared(types=dict.fromkeys(shown, messages.FIELD_OF_THE_RESULT))
        declared: dict[JsonPath, Declared] = {(name,): fields_shown}
        raise ToolInputError(problems, tool=call.tool, declared=declared, corrected=corrected)


_LONGEST = 128
"""The most characters of a key that are compared with the names of fields."""


def _no_such_field(key: str, path: JsonPath, shown: tuple[str, ...]) -> Problem:
    near = near_name(key[:_LONGEST], shown)
    return Problem(code="invalid", path=path, message=messages.no_such_field(key, near))


def _meant(keys: tuple[str, ...], shown: tuple[str, ...]) -> list[str]:
    """Return the fields that `keys` name, without repetitions. A key in another spelling, such as
    `createdAt` for `created_at`, is accepted. Return an empty list if a key is unknown.
    """
    found: dict[str, None] = {}
    for key in keys:
        name = key if key in shown else same_name(key[:_LONGEST], shown)
        if name is None:
            return []
        found[name] = None
    return list(found)


def _holds_secret(call: SyncInvocation, arguments: Json) -> bool:
    schema = call.arguments.schema(call.arguments.wide)
    return holds_secret(shape_of_schema(schema, root=True), arguments)
