"""Hand-written tools: what they return fits as the answers of views do, and can be gone on with."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

from toolbooth.boundary.render import json_of, pieces_of
from toolbooth.boundary.run import run
from toolbooth.contract import Contract, InvalidValues, Objection
from toolbooth.django.conf import Configuration
from toolbooth.django.decorators import HandWritten
from toolbooth.django.describe.arguments import Arguments
from toolbooth.django.results.paged_results import TOKEN, Fitted, Keys, Output
from toolbooth.django.results.tokens import Refused
from toolbooth.jsonvalue import Json
from toolbooth.server.controls import (
    CONTROL_ARGUMENTS,
    accepting,
    control_names,
    is_free,
    publishing,
    split_controls,
)
from toolbooth.server.tool import Tool

_SENT = "toolbooth_sent"
"""The keyword with which a function's wrapper gets the arguments as they were sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """What a function returns."""

    contract: Contract
    function: Callable[..., Any]

    def check(self, sent: Json, filter_keys: Keys, called: Json) -> None:
        """There is nothing to trim: `filter_keys` is a view's."""

    def value(self, sent: Json) -> Any:
        try:
            values = self.contract.validate(sent)
        except InvalidValues:
            raise Refused(
                "goes on with a call that would be refused by now; make it again"
            ) from None
        return run(self.contract, self.function, values, None, None)

    def output(self, value: Any, filter_keys: Keys) -> Output | None:
        if isinstance(value, str):
            return value
        if pieces_of(value) is not None or inspect.isasyncgen(value):
            return None
        try:
            return json_of(value)
        except Exception:  # whoever sends it says so
            return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """A hand-written tool with what is offered beside its own arguments."""

    contract: Contract
    function: Callable[..., Any]
    variant: Callable[[Any], Tool | None]
    clashes: list[str]
    """Names that are offered elsewhere, and are the tool's own here."""


def offered(
    tool: HandWritten,
    chosen: Configuration,
    compile: Callable[[Arguments], Contract],
    access_check: Callable[[], Exception | None],
    output_check: Callable[[str], str | None],
) -> Offered:
    """A hand-written tool whose results fit."""
    names = {
        name: own
        for own, name in control_names(chosen.arguments).items()
        if own in _controls_of_function(tool)
    }
    clashes = [name for name in names if not is_free(tool.contract, name)]
    controls = {name: own for name, own in names.items() if name not in clashes}
    own: Json = {name: {} for form in tool.contract.shape.objects for name in form.fields}
    properties = {
        **own,
        **{name: CONTROL_ARGUMENTS[each].schema for name, each in controls.items()},
    }
    arguments = Arguments(properties=properties, wide=properties, controls=controls)
    source = Returned(contract=tool.contract, function=tool.function)
    results = Fitted(
        tool=tool.contract.name,
        action=tool.action,
        arguments=arguments,
        source=source,
        chosen=chosen,
        token=arguments.called(TOKEN),
        is_query=bool((tool.annotations or {}).get("readOnlyHint")),
        access_check=access_check,
        compile=compile,
        output_check=output_check,
    )
    if not controls:
        return Offered(
            contract=tool.contract, function=tool.function, variant=results.variant, clashes=clashes
        )
    contract = _asking(tool.contract, arguments)
    return Offered(
        contract=contract,
        function=_fitting(source, results),
        variant=results.variant,
        clashes=clashes,
    )


def _controls_of_function(tool: HandWritten) -> tuple[str, ...]:
    """What can be asked of a tool: a client holds its results to what it says that it returns,
    pages as well.
    """
    schema = Tool(contract=tool.contract, function=tool.function).output_schema
    if schema is None or schema.keys() <= {"type", "additionalProperties"}:
        return (
            () if isinstance((schema or {}).get("additionalProperties"), dict) else ("mode", TOKEN)
        )
    return (TOKEN,) if schema.get("additionalProperties", True) is True else ()


def _fitting(source: Returned, results: Fitted) -> Callable[..., Any]:
    """The function, whose results fit."""

    @functools.wraps(source.function)
    def fitting(*args: Any, **values: Any) -> Any:
        sent, asked = split_controls(values.pop(_SENT), results.arguments.controls)
        value = source.function(*args, **values)
        if inspect.isgenerator(value):
            value = list(cast("Iterable[Any]", value))
        output = source.output(value, None)
        return value if output is None else results.first(output, sent, asked)

    return fitting


def _asking(contract: Contract, arguments: Arguments) -> Contract:
    """A function's contract with control arguments beside its own."""
    offers = {name: arguments.properties[name] for name in arguments.controls}
    accepted = accepting(contract, offers)

    def validate(sent: Json) -> tuple[Json, Any]:
        for name, schema in offers.items():
            if "enum" in schema and sent.get(name, schema["enum"][0]) not in schema["enum"]:
                message = f"must be one of {', '.join(schema['enum'])}"
                raise InvalidValues(partial(_objections, name, message))
        return sent, accepted.validate(sent)

    def bind(both: tuple[Json, Any]) -> Json:
        sent, values = both
        return {**(values if contract.bind is None else contract.bind(values)), _SENT: sent}

    return replace(publishing(accepted, offers), validate=validate, bind=bind)


def _objections(name: str, message: str) -> list[Objection]:
    return [Objection(place=(name,), kind="invalid", message=message)]
