"""The guard of one tool: what all adapters of agent frameworks share.

A framework hands the model's arguments to one function. An adapter puts `Guard.call` around the
author's function there:

    with guard.call(arguments) as call:
        return function(**call.values)

The body runs only if the arguments are accepted. A refusal is raised as `Refused`, whose text is
for the model; the adapter passes it on in the way that its framework has for this.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from types import TracebackType
from typing import Any

from toolbooth.boundary import render
from toolbooth.boundary.accept import Accepted, accept_bytes, invalid_values
from toolbooth.boundary.repairs import Remark, Repair
from toolbooth.boundary.run import bound_call
from toolbooth.boundary.unrepaired import accept_unrepaired
from toolbooth.boundary.validate import values_of
from toolbooth.compile.json_schema import compile_json_schema
from toolbooth.compile.signature import compile_function
from toolbooth.contract import Contract, InvalidValues
from toolbooth.errors import ToolInputError
from toolbooth.jsonvalue import Json, Schema, json_bytes
from toolbooth.publish import ProfileChoice, choose_profile
from toolbooth.server.observe import CallRecord, Observer, Outcome, logger


class Refused(Exception):
    """A call whose arguments were refused: the author's function has not run. Its text is for the
    model; `data` is the same for programs.
    """

    def __init__(self, text: str, data: Json) -> None:
        super().__init__(text)
        self.text = text
        self.data = data

    def __reduce__(self) -> tuple[Any, ...]:
        return Refused, (self.text, self.data)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What the author chose in `protect`."""

    profile: ProfileChoice = "portable"
    observer: Observer | None = None
    approval: bool = False
    """Somebody approves calls as they were sent, so none may be repaired. An adapter also sets it
    for a tool of which it knows that.
    """


DEFAULT = Choices()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Guard:
    """One tool behind the boundary. Shared by all copies of the tool."""

    contract: Contract
    schema: Json
    """What the model sees."""
    choices: Choices
    null_is_absent: bool = False
    """The schema makes the model send null for every optional field, so that is no repair."""
    made_by: Callable[[], Guard]

    def __deepcopy__(self, memo: Any) -> Guard:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # A contract cannot be pickled, since it holds compiled validation. It is compiled again.
        return self.made_by, ()

    def call(self, arguments: Any, *, approval: bool = False) -> Call:
        """One call with arguments that the framework has read. `approval`: somebody has seen them
        or will see them, so they are not repaired.
        """
        return Call(self, partial(self._accept_values, arguments, approval))

    def call_with_text(self, text: str, *, approval: bool = False) -> Call:
        """`call` with the JSON text that the model wrote."""
        return Call(self, partial(self._accept, text.encode(), approval, from_floats=False))

    def _accept_values(self, arguments: Any, approval: bool) -> Accepted:
        try:
            body = json_bytes(arguments)
        except TypeError:  # a call within the process: its arguments have never been JSON
            return self._accept_python(arguments)
        return self._accept(body, approval, from_floats=True)

    def _accept(self, body: bytes, approval: bool, *, from_floats: bool) -> Accepted:
        if approval or self.choices.approval:
            passing = {"null-optional"} if self.null_is_absent else frozenset[str]()
            return accept_unrepaired(self.contract, body, from_floats=from_floats, passing=passing)
        return accept_bytes(self.contract, body, from_floats)

    def _accept_python(self, arguments: Any) -> Accepted:
        try:
            return values_of(self.contract, arguments), []
        except InvalidValues as error:
            raise invalid_values(self.contract, error, arguments) from None

    def refused(self, error: ToolInputError) -> Refused:
        """The refusal of a call, for the framework."""
        if not error.tool:
            error = error.replaced(tool=self.contract.name)
        result = render.refusal_result(error, self.contract.limits)
        return Refused(result["content"][0]["text"], result["_meta"][render.META_KEY])


class Call:
    """One call, in a `with` statement: accepted on entry, recorded on exit."""

    __slots__ = ("_accept", "_guard", "_remarks", "_start", "values")

    def __init__(self, guard: Guard, accept: Callable[[], Accepted]) -> None:
        self._guard = guard
        self._accept = accept
        self._remarks: list[Remark] = []
        self._start = 0.0
        self.values: Any = None
        """The arguments, validated. `bound` gives them to a function."""

    def __enter__(self) -> Call:
        """Accept the arguments. Raises Refused."""
        self._start = perf_counter()
        try:
            self.values, self._remarks = self._accept()
        except ToolInputError as error:
            self._record("refused", tuple(each.code for each in error.problems))
            raise self._guard.refused(error) from None
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # A tool may refuse its arguments itself, by a rule that no type can express.
        if isinstance(error, ToolInputError):
            self._record("refused", tuple(each.code for each in error.problems))
            raise self._guard.refused(error) from None
        if error is not None:
            self._record("failed", ())
        else:
            self._record("repaired" if self._repairs() else "passed", ())

    def bound(self, injected: Mapping[str, Any] | None = None) -> Callable[[], Any]:
        """The author's function with its arguments. `injected`: values of the framework, by the
        names of their parameters.
        """
        contract = self._guard.contract
        return bound_call(contract, contract.function, self.values, None, injected)

    @property
    def meta(self) -> Json:
        """The repairs and notes of this call, for programs; empty if there are none."""
        return render.remarks_data(self._shown())

    def _shown(self) -> list[Remark]:
        if not self._guard.null_is_absent:
            return self._remarks
        return [each for each in self._remarks if each.code != "null-optional"]

    def _repairs(self) -> tuple[str, ...]:
        return tuple(each.code for each in self._shown() if isinstance(each, Repair))

    def _record(self, outcome: Outcome, problems: tuple[str, ...]) -> None:
        observer = self._guard.choices.observer
        if observer is None:
            return
        record = CallRecord(
            tool=self._guard.contract.name,
            outcome=outcome,
            problems=problems,
            repairs=self._repairs(),
            seconds=perf_counter() - self._start,
            client=None,
        )
        try:
            observer(record)
        # The tool may have run: nothing that an observer does may hide its result.
        except Exception:
            logger.exception("an observer failed")


def guard_function(
    function: Callable[..., Any],
    choices: Choices = DEFAULT,
    *,
    name: str | None = None,
    description: str | None = None,
    injected: Collection[str] = (),
    null_is_absent: bool = False,
) -> Guard:
    """Guard a tool that is made of a function. `injected` are the parameters that the framework
    fills.

    Raises:
        ContractError: with every mistake in the function, each with its remedy.
        ValueError: for an unknown profile.
    """
    profile = choose_profile(choices.profile)
    contract = compile_function(
        function,
        name=name,
        description=description,
        injected=lambda param, _: param.name in injected,
    )
    again = partial(
        guard_function,
        function,
        choices,
        name=name,
        description=description,
        injected=injected,
        null_is_absent=null_is_absent,
    )
    return Guard(
        contract=contract,
        schema=profile.input_schema(contract),
        choices=choices,
        null_is_absent=null_is_absent,
        made_by=again,
    )


def guard_schema(schema: Schema, choices: Choices = DEFAULT, *, name: str) -> Guard:
    """Guard a tool that has only a JSON Schema, such as one of a foreign MCP server. The schema is
    published as it is.

    Raises:
        ContractError: the schema is not one, or does not describe an object.
    """
    contract = compile_json_schema(schema, name=name)
    return Guard(
        contract=contract,
        schema=dict(schema),
        choices=choices,
        made_by=partial(guard_schema, schema, choices, name=name),
    )
