"""One call of a protected tool in an agent framework: its values, its repairs, and its record."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from time import perf_counter
from typing import Any

from toolbooth.boundary import render
from toolbooth.boundary.repairs import Remark, Repair
from toolbooth.boundary.run import bound_call, is_async, run_async, run_sync
from toolbooth.contract import Contract
from toolbooth.errors import ToolError, ToolInputError
from toolbooth.jsonvalue import Json
from toolbooth.server.observe import CallRecord, Observer, Outcome

logger = logging.getLogger("toolbooth")

Function = Callable[..., Any]


class ErrorAnswer(Exception):
    """The model gets `text` instead of a result. `data` is the refusal for programs, empty if the
    tool itself failed.
    """

    def __init__(self, text: str, data: Json) -> None:
        self.text = text
        self.data = data
        super().__init__(text)


class Call:
    """One accepted call. It runs the tool and informs the observers."""

    __slots__ = ("contract", "observers", "remarks", "start", "values")

    def __init__(self, contract: Contract, observers: tuple[Observer, ...]) -> None:
        self.contract = contract
        self.observers = observers
        self.values: Any = None
        self.remarks: list[Remark] = []
        # The time is taken only for observers.
        self.start = perf_counter() if observers else 0.0

    @property
    def data(self) -> Json:
        """The repairs and notes for programs, as in the `_meta` of a tool result; empty if there
        are none.
        """
        return {render.META_KEY: render.remarks_data(self.remarks)} if self.remarks else {}

    def run(
        self, function: Function | None = None, injected: Mapping[str, Any] | None = None
    ) -> Any:
        """Run a sync function with the accepted values, and those that the framework fills; by
        default the function that the contract is of.

        Raises:
            ErrorAnswer: the tool has raised an error for the model.
        """
        try:
            made = run_sync(bound_call(self.contract, function, self.values, None, injected))
        except BaseException as error:
            self.failed(error)
            raise
        self.ended()
        return made

    async def run_async(
        self, function: Function | None = None, injected: Mapping[str, Any] | None = None
    ) -> Any:
        """`run` in an event loop: a sync function runs in a thread."""
        bound = bound_call(self.contract, function, self.values, None, injected)
        running = run_async(bound, is_async=is_async(function or self.contract.function))
        return await self.awaited(running)

    async def awaited(self, running: Awaitable[Any]) -> Any:
        """The result of a tool that a framework runs.

        Raises:
            ErrorAnswer: the tool has raised an error for the model.
        """
        try:
            made = await running
        except BaseException as error:
            self.failed(error)
            raise
        self.ended()
        return made

    def ended(self) -> None:
        """Record that the tool returned a value."""
        repaired = any(isinstance(each, Repair) for each in self.remarks)
        self._record("repaired" if repaired else "passed")

    def failed(self, error: BaseException) -> None:
        """Record that the tool raised an exception.

        Raises:
            ErrorAnswer: the exception has words for the model.
        """
        if isinstance(error, ToolInputError):
            raise self.refused(error) from error
        self._record("failed")
        if isinstance(error, ToolError):
            raise ErrorAnswer(str(error), {}) from error

    def refused(self, error: ToolInputError) -> ErrorAnswer:
        """Record that the arguments were refused, and return the answer for the model."""
        if not error.tool:
            error = error.replaced(tool=self.contract.name)
        self._record("refused", tuple(each.code for each in error.problems))
        result = render.refusal_result(error, self.contract.limits)
        return ErrorAnswer(result["content"][0]["text"], result["_meta"])

    def _record(self, outcome: Outcome, problems: tuple[str, ...] = ()) -> None:
        if not self.observers:
            return
        record = CallRecord(
            tool=self.contract.name,
            outcome=outcome,
            problems=problems,
            repairs=tuple(each.code for each in self.remarks if isinstance(each, Repair)),
            seconds=perf_counter() - self.start,
            client=None,
        )
        for observer in self.observers:
            try:
                observer(record)
            except Exception:
                # The tool may have run: nothing that an observer does may hide its result.
                logger.exception("an observer failed")
