"""Puts one tool behind the boundary. The adapters of all agent frameworks use this.

`Guard.accept` takes the arguments as the framework has them. It returns a `Call`, or raises
`ErrorAnswer` with the text for the model. `Call.run` or `Call.run_async` runs the tool.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from pydantic_core import to_jsonable_python

from toolbooth.adapters.agent_tools.call import Call
from toolbooth.adapters.agent_tools.options import Options
from toolbooth.adapters.agent_tools.strict_nulls import without_nulls
from toolbooth.adapters.sdk.hand_set import with_hand_set, without_warnings
from toolbooth.boundary.accept import accept_reading, invalid_values
from toolbooth.boundary.examine import examine
from toolbooth.boundary.read import NOTHING, Reading, Unreadable, read_json
from toolbooth.boundary.repairs import Repair
from toolbooth.boundary.run import off_the_loop
from toolbooth.boundary.validate import values_of
from toolbooth.compile.json_schema import compile_json_schema
from toolbooth.compile.mistakes import warn_of_missing_examples
from toolbooth.compile.signature import compile_function
from toolbooth.contract import LARGE, Contract, InvalidValues, Param
from toolbooth.errors import ContractWarning, Problem, ToolInputError
from toolbooth.jsonvalue import Json, Schema, is_object, json_bytes
from toolbooth.publish.strict import NoStrictForm, strict_schema

Encoded = tuple[bytes, bool]
"""Arguments as JSON text, and True if the framework had parsed the text of the model before."""

_APPROVED = "is sent in another form than declared, and this tool needs an approval before it runs"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Guard:
    """One tool behind the boundary. If `strict` is true, a null for an optional field is treated as
    if the field was not sent.
    """

    contract: Contract
    published: Json
    options: Options
    strict: bool = False

    def __deepcopy__(self, _memo: object) -> Guard:
        # A guard never changes, and its compiled contract cannot be copied.
        return self

    def accept(self, arguments: Any) -> Call:
        """Accept the arguments of a call. They are JSON text, or the values that the framework has
        parsed.

        Raises:
            ErrorAnswer: the call is refused.
        """
        return self._call(arguments, _encoded(arguments))

    async def accept_async(self, arguments: Any) -> Call:
        """Do the same as `accept`. A large call is checked in a thread, so that it does not block
        the event loop.
        """
        encoded = _encoded(arguments)
        is_large = encoded is not None and len(encoded[0]) > LARGE
        # Unions that contain each other can make a small body expensive too.
        if is_large or self.contract.has_recursive_unions:
            return await off_the_loop(partial(self._call, arguments, encoded))
        return self._call(arguments, encoded)

    def is_exact(self, arguments: Any) -> bool:
        """Return True if a call matches its schema without repairs. The author's own validators are
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

    def repaired(self, arguments: Any) -> Json | None:
        """Return the arguments with their repairs. Return None if they do not match the schema even
        then. The author's own validators are not run here.
        """
        encoded = _encoded(arguments)
        if encoded is None:
            return arguments
        try:
            value = self._decoded(self._read(*encoded)[0])
        except Unreadable:
            return None
        if value is None:
            return {}
        if not is_object(value):
            return None
        made, exam = examine(self.contract.shape, value, self.contract.limits, thorough=True)
        # A Decimal with many digits becomes text, because a framework may write these values as
        # JSON.
        return None if exam.problems else to_jsonable_python(made)

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
        """Return the values for arguments that are Python objects, not JSON. They come from code in
        this process, so only the author's validators check them.
        """
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
        # MCP allows a client to leave out `arguments`. Models write no text for a call without
        # arguments.
        if not body:
            return NOTHING
        contract = self.contract
        exact = contract.has_decimals
        reading = read_json(body, contract.limits, exact=exact, from_floats=is_read)
        if self.strict and b"null" in body:
            return without_nulls(contract.shape, reading[0]), *reading[1:]
        return reading

    def _decoded(self, value: Any) -> Any:
        """Return the arguments of a call. If they are a string that contains JSON, parse the
        string, as often as needed.
        """
        while isinstance(value, str):
            value = read_json(value.encode(), self.contract.limits)[0]
        return value

    def _not_exact(self, reading: Reading, repairs: list[Repair]) -> ToolInputError:
        """Return the refusal of a call that has repairs, because its tool needs an approval."""
        value: Any = self._decoded(reading[0]) or {}
        corrected, _ = examine(self.contract.shape, value, self.contract.limits, thorough=True)
        problems = [
            Problem(code="wrong-type", path=each.path, message=_APPROVED) for each in repairs
        ]
        shown = None if self.contract.shape.has_secret else corrected
        return ToolInputError(problems, corrected=shown)


def _encoded(arguments: Any) -> Encoded | None:
    """Return the arguments as JSON text. Return None if they are Python values that JSON does not
    have.
    """
    if isinstance(arguments, str):
        return arguments.encode(errors="surrogatepass"), False
    try:
        return json_bytes(arguments), True
    except (TypeError, ValueError):
        return None


def guard_function(
    function: Callable[..., Any],
    options: Options,
    *,
    name: str,
    description: str = "",
    injected: Collection[str] = (),
    listed: Schema | None = None,
    made: Schema | None = None,
    strict: bool = False,
) -> Guard:
    """Put a function behind the boundary.

    `injected` are the parameters that the framework fills. `listed` is the schema that the
    framework publishes; its descriptions are kept. `made` is the same schema before the author
    could change it.

    Raises:
        ContractError: the signature has mistakes. The message lists all of them, each with its
            remedy.
    """
    with without_warnings():
        contract = compile_function(
            function,
            name=name,
            description=description,
            injected=lambda param, _: param.name in injected,
        )
    if listed is not None:
        # The framework has read some descriptions from the docstring.
        contract = with_hand_set(contract, made or listed, listed)
    warn_of_missing_examples(name, contract.schema)
    return guard_contract(contract, options, strict=strict)


def guard_contract(contract: Contract, options: Options, *, strict: bool = False) -> Guard:
    """Put a contract behind the boundary. The published schema has the profile that the author has
    chosen.
    """
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
    schema: Schema,
    options: Options,
    *,
    name: str,
    description: str = "",
    keywords: bool = False,
    injected: Collection[str] = (),
) -> Guard:
    """Put a tool with a JSON Schema behind the boundary. The schema is published unchanged. The
    function of the tool gets the arguments as one dict. With `keywords`, it gets them as keyword
    arguments, together with the `injected` ones.

    Raises:
        ContractError: the schema is invalid, or its root does not describe an object.
    """
    contract = compile_json_schema(schema, name=name, description=description)
    if keywords:
        params = tuple(Param(name=each, injected=True) for each in sorted(injected))
        contract = replace(contract, params=params, bind=None)
    return Guard(contract=contract, published=dict(schema), options=options)
