"""What the adapters of all agent frameworks share: one tool behind the boundary.

`Guard.accept` takes the arguments as the framework has them and returns a `Call`, or raises
`ErrorAnswer` with the text for the model. The tool runs by `Call.run` or `Call.run_async`.
"""

from __future__ import annotations

import inspect
import typing
import warnings
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from toolbooth.adapters.agent_tools.call import Call, ErrorAnswer
from toolbooth.adapters.agent_tools.options import Options
from toolbooth.adapters.agent_tools.strict_nulls import without_nulls
from toolbooth.adapters.sdk.hand_set import with_hand_set, without_warnings
from toolbooth.boundary.accept import accept_reading, invalid_values
from toolbooth.boundary.examine import examine
from toolbooth.boundary.read import NOTHING, Reading, Unreadable, read_json
from toolbooth.boundary.repairs import Repair
from toolbooth.boundary.run import off_the_loop
from toolbooth.boundary.validate import values_of
from toolbooth.compile.hints import Hints
from toolbooth.compile.host_params import annotation_parts
from toolbooth.compile.json_schema import compile_json_schema
from toolbooth.compile.mistakes import warn_of_missing_examples
from toolbooth.compile.signature import compile_function
from toolbooth.contract import LARGE, Contract, InvalidValues
from toolbooth.errors import ContractWarning, Problem, ToolInputError
from toolbooth.jsonvalue import Json, Schema, is_object, json_bytes
from toolbooth.publish.strict import NoStrictForm, strict_schema

Encoded = tuple[bytes, bool]
"""Arguments as JSON text, and whether the framework had read them."""

_APPROVED = "is sent in another form than declared, and this tool needs an approval before it runs"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Guard:
    """One tool behind the boundary. `strict`: null means that an optional field is not sent."""

    contract: Contract
    published: Json
    options: Options
    strict: bool = False

    def __deepcopy__(self, _memo: object) -> Guard:
        # Nothing in it changes, and what is compiled cannot be copied.
        return self

    def accept(self, arguments: Any) -> Call:
        """Accept the arguments of a call: JSON text, or the values that the framework has read.

        Raises:
            ErrorAnswer: the call is refused.
        """
        return self._call(arguments, _encoded(arguments))

    async def accept_async(self, arguments: Any) -> Call:
        """`accept`, without holding up the event loop for a large call."""
        encoded = _encoded(arguments)
        is_large = encoded is not None and len(encoded[0]) > LARGE
        # Unions that contain each other can make a small body expensive too.
        if is_large or self.contract.has_recursive_unions:
            return await off_the_loop(partial(self._call, arguments, encoded))
        return self._call(arguments, encoded)

    def is_exact(self, arguments: Any) -> bool:
        """Whether a call can run as it was sent, as far as its shape shows: the author's code does
        not run here.
        """
        encoded = _encoded(arguments)
        try:
            value: Any = arguments if encoded is None else self._read(*encoded)[0]
        except Unreadable:
            return False
        if not is_object(value):
            return False
        _, exam = examine(self.contract.shape, value, self.contract.limits, thorough=True)
        return not (exam.problems or exam.repairs)

    def refusal(self, *problems: Problem) -> ErrorAnswer:
        """Return the refusal of a call for a reason that the adapter has found."""
        return Call(self.contract, self.options.observers).refused(ToolInputError(problems))

    def _call(self, arguments: Any, encoded: Encoded | None) -> Call:
        call = Call(self.contract, self.options.observers)
        try:
            if encoded is None:
                call.values = self._values(arguments)
            else:
                call.values, call.remarks = self._accepted(encoded)
        except Unreadable as error:
            raise call.refused(ToolInputError([error.problem])) from None
        except ToolInputError as error:
            raise call.refused(error) from None
        return call

    def _values(self, arguments: Any) -> Any:
        """Python values, from within the process: only the author's validation applies to them."""
        try:
            return values_of(self.contract, arguments)
        except InvalidValues as error:
            raise invalid_values(self.contract, error, arguments) from None

    def _accepted(self, encoded: Encoded) -> Any:
        reading = self._read(*encoded)
        accepted = accept_reading(self.contract, reading)
        repairs = [each for each in accepted[1] if isinstance(each, Repair)]
        if repairs and self.options.approval:
            raise self._not_exact(reading, repairs)
        return accepted

    def _read(self, body: bytes, is_read: bool) -> Reading:
        # MCP lets a client leave `arguments` out, and models write no text for a call without any.
        if not body:
            return NOTHING
        contract = self.contract
        exact = contract.has_decimals
        reading = read_json(body, contract.limits, exact=exact, from_floats=is_read)
        if self.strict and b"null" in body:
            return without_nulls(contract.shape, reading[0]), *reading[1:]
        return reading

    def _not_exact(self, reading: Reading, repairs: list[Repair]) -> ToolInputError:
        """The refusal of a call that would have been repaired."""
        limits = self.contract.limits
        value: Any = reading[0]
        while isinstance(value, str):
            value = read_json(value.encode(), limits)[0]
        corrected, _ = examine(self.contract.shape, value or {}, limits, thorough=True)
        problems = [
            Problem(code="wrong-type", path=each.path, message=_APPROVED) for each in repairs
        ]
        shown = None if self.contract.shape.has_secret else corrected
        return ToolInputError(problems, corrected=shown)


def _encoded(arguments: Any) -> Encoded | None:
    """None for Python values that are not JSON."""
    if isinstance(arguments, str):
        return arguments.encode(errors="surrogatepass"), False
    try:
        return json_bytes(arguments), True
    except (TypeError, ValueError):
        return None


def filled_params(function: Callable[..., Any], is_filled: Callable[[Any], bool]) -> dict[str, Any]:
    """Return the parameters that the framework fills, with their defaults. `is_filled` is asked for
    each class and each marker in an annotation.
    """
    hints = Hints(function)
    found: dict[str, Any] = {}
    for param in inspect.signature(function).parameters.values():
        parts = [typing.get_origin(each) or each for each in annotation_parts(hints.of(param))]
        if any(map(is_filled, parts)):
            found[param.name] = param.default
    return found


def is_kind(*classes: type) -> Callable[[Any], bool]:
    """Return whether a part of an annotation is one of these classes, or an instance of one."""
    return lambda part: (
        isinstance(part, classes) or (isinstance(part, type) and issubclass(part, classes))
    )


def guard_function(
    function: Callable[..., Any],
    options: Options,
    *,
    name: str,
    description: str = "",
    injected: Collection[str] = (),
    listed: Schema | None = None,
    strict: bool = False,
) -> Guard:
    """Put a function behind the boundary. `injected` are the parameters that the framework fills;
    `listed` is the schema that the framework made, for its descriptions.

    Raises:
        ContractError: with every mistake in the signature, each with its remedy.
    """
    with without_warnings():
        contract = compile_function(
            function,
            name=name,
            description=description,
            injected=lambda param, _: param.name in injected,
        )
    if listed is not None:
        # The framework reads some of the descriptions in the docstring.
        contract = with_hand_set(contract, listed, listed)
    warn_of_missing_examples(name, contract.schema)
    return guard_contract(contract, options, strict=strict)


def guard_contract(contract: Contract, options: Options, *, strict: bool = False) -> Guard:
    """Put a contract behind the boundary, with the schema that its author's profile writes."""
    guard = Guard(
        contract=contract, published=options.profile.input_schema(contract), options=options
    )
    if not strict:
        return guard
    try:
        return replace(guard, published=strict_schema(contract), strict=True)
    except NoStrictForm as error:
        message = f"{contract.name}: {error}, so the tool is not strict"
        warnings.warn(message, ContractWarning, stacklevel=2)
        return guard


def guard_schema(
    schema: Schema, options: Options, *, name: str, description: str = "", keywords: bool = False
) -> Guard:
    """Put a tool behind the boundary that has a JSON Schema, which is published as it is. Its
    function gets the arguments as one dict, or as `keywords`.

    Raises:
        ContractError: the schema is not one, or its root does not describe an object.
    """
    contract = compile_json_schema(schema, name=name, description=description)
    if keywords:
        contract = replace(contract, params=(), bind=None)
    return Guard(contract=contract, published=dict(schema), options=options)
