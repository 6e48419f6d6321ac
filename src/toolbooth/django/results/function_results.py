"""Makes the tools of hand-written functions. Their results are paged like the responses of
views.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from toolbooth.boundary.render import json_of, pieces_of
from toolbooth.boundary.run import run
from toolbooth.contract import Contract, InvalidValues, Objection
from toolbooth.django import messages as gateway_messages
from toolbooth.django.call.invocation import NOT_MOVED, Moved
from toolbooth.django.call.keyed_write import KeyedWrite, with_key_of_function
from toolbooth.django.conf import Configuration
from toolbooth.django.decorators import HandWritten
from toolbooth.django.describe.arguments import Arguments
from toolbooth.django.results import messages
from toolbooth.django.results.continuation import Continuation
from toolbooth.django.results.paged_results import TOKEN, Output, PagedResults
from toolbooth.django.results.tokens import RefusedToken
from toolbooth.django.results.view_results import Keys
from toolbooth.jsonvalue import Json
from toolbooth.server.controls import (
    CONTROL_ARGUMENTS,
    accepting,
    control_names,
    is_free,
    publishing,
    split_controls,
)
from toolbooth.server.key_argument import KEY
from toolbooth.server.tool import Tool

_SENT = "toolbooth_sent"
"""The keyword with which a function's wrapper gets the arguments as they were sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionResults:
    """Gets the results of a tool by calling a function."""

    contract: Contract
    function: Callable[..., Any]

    def check(self, sent: Json, filter_keys: Keys, called: Json) -> None:
        """Do nothing, because only the tools of views take `filter_keys`."""

    def value(self, sent: Json, moved: Moved = NOT_MOVED) -> Any:
        try:
            values = self.contract.validate(sent)
        # The first call was valid. Since then the function has changed, or its validator depends on
        # other data.
        except InvalidValues:
            raise RefusedToken(messages.REFUSED_BY_NOW) from None
        return run(self.contract, self.function, values, None, None)

    def output(self, value: Any, filter_keys: Keys) -> Output | None:
        if isinstance(value, str):
            return value
        # An image and other content has no rows, and no text that could be cut.
        if pieces_of(value) is not None or inspect.isasyncgen(value):
            return None
        try:
            return json_of(value)
        except Exception:  # sending it reports the error
            return None


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionTool:
    """A hand-written tool, with control arguments added to its own arguments."""

    contract: Contract
    function: Callable[..., Any]
    variant: Callable[[Any], Tool | None]
    clashes: list[str]
    """The control arguments that are not added, because the tool has its own arguments with the
    same names.
    """


def function_tool(
    tool: HandWritten,
    chosen: Configuration,
    compile: Callable[[Arguments], Contract],
    access_check: Callable[[], Exception | None],
    output_check: Callable[[str], str | None],
) -> FunctionTool:
    """Return the tool of a hand-written function. Its results are paged."""
    names = {
        name: own
        for own, name in control_names(chosen.arguments).items()
        if own in _controls_of_function(tool)
    }
    # The function's own argument keeps its name, because its author has published it.
    clashes = [name for name in names if not is_free(tool.contract, name)]
    controls = {name: own for name, own in names.items() if name not in clashes}
    own: Json = {name: {} for form in tool.contract.shape.objects for name in form.fields}
    properties = {
        **own,
        **{name: CONTROL_ARGUMENTS[each].schema for name, each in controls.items()},
    }
    arguments = Arguments(properties=properties, wide=properties, controls=controls)
    source = FunctionResults(contract=tool.contract, function=tool.function)
    results = PagedResults(
        tool=tool.contract.name,
        action=tool.action,
        arguments=arguments,
        source=source,
        chosen=chosen,
        token=arguments.called(TOKEN),
        # A page of a query is made by running it again, which only a function may that promises to
        # change nothing.
        is_query=bool((tool.annotations or {}).get("readOnlyHint")),
        output_check=output_check,
    )
    continuation = Continuation(results=results, access_check=access_check, compile=compile)
    variant = continuation.variant
    # The names are the function's own arguments, or its output schema does not allow pages.
    if not controls:
        return FunctionTool(
            contract=tool.contract, function=tool.function, variant=variant, clashes=clashes
        )
    contract = _with_control_arguments(tool.contract, arguments)
    keyed = None
    if arguments.called(KEY) is not None:
        keyed = with_key_of_function(tool.contract.name, tool.action, controls, chosen)
    function = _with_pages(source, results, keyed)
    return FunctionTool(contract=contract, function=function, variant=variant, clashes=clashes)


def _controls_of_function(tool: HandWritten) -> tuple[str, ...]:
    """Return the control arguments of a tool. Arguments for pages are left out if pages would
    violate the tool's output schema, because clients check results against that schema.
    """
    key = (KEY,) if tool.takes_key else ()
    return (*_of_result(tool), *key)


def _of_result(tool: HandWritten) -> tuple[str, ...]:
    schema = Tool(contract=tool.contract, function=tool.function).output_schema
    if schema is None or schema.keys() <= {"type", "additionalProperties"}:
        has_typed_values = isinstance((schema or {}).get("additionalProperties"), dict)
        # Pages have keys with values of other types, which such a schema forbids.
        return () if has_typed_values else ("mode", TOKEN)
    # A summary would lack fields that such a schema requires. A page has them, with one more key
    # beside them.
    return (TOKEN,) if schema.get("additionalProperties", True) is True else ()


def _with_pages(
    source: FunctionResults, results: PagedResults, keyed: KeyedWrite | None
) -> Callable[..., Any]:
    """Return the function, wrapped so that its results are paged. If `keyed` is given, the function
    also takes idempotency keys.
    """

    @functools.wraps(source.function)
    def call(*args: Any, **values: Any) -> Any:
        def run(arguments: Json) -> Any:
            sent, asked = split_controls(arguments, results.arguments.controls)
            value = source.function(*args, **values)
            # The length of a result must be known before it is sent.
            if inspect.isgenerator(value):
                value = [*value]
            output = source.output(value, None)
            return value if output is None else results.first(output, sent, asked)

        # `bind` below adds them: a token needs the arguments as they were sent, and the function
        # gets their validated values.
        arguments: Json = values.pop(_SENT)
        return run(arguments) if keyed is None else replace(keyed, write=run)(arguments)

    return call


def _with_control_arguments(contract: Contract, arguments: Arguments) -> Contract:
    """Return a function's contract with control arguments added."""
    offers = {name: arguments.properties[name] for name in arguments.controls}
    accepted = accepting(contract, offers, arguments.controls)

    def validate(sent: Json) -> tuple[Json, Any]:
        for name, schema in offers.items():
            # An argument that was not sent passes, because the first choice takes its place in this
            # test.
            if "enum" in schema and sent.get(name, schema["enum"][0]) not in schema["enum"]:
                message = gateway_messages.one_of(schema["enum"])
                raise InvalidValues(partial(_objections, name, message))
        return sent, accepted.validate(sent)

    def bind(both: tuple[Json, Any]) -> Json:
        sent, values = both
        keywords = values if contract.bind is None else contract.bind(values)
        return {**keywords, _SENT: sent}

    return replace(publishing(accepted, offers), validate=validate, bind=bind)


def _objections(name: str, message: str) -> list[Objection]:
    return [Objection(model_path=(name,), kind="invalid", message=message)]
