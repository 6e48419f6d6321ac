"""Represents one call of a protected tool in an agent framework: the accepted values, the repairs,
and the record for observers.
"""

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
from toolbooth.jsonvalue import Json, is_object
from toolbooth.server.observe import CallRecord, Observer, Outcome

logger = logging.getLogger("toolbooth")

Function = Callable[..., Any]


class ErrorAnswer(Exception):
    """The model gets `text` instead of a result. `data` is the refusal as JSON, for programs.
    `data` is empty if the tool itself has failed.
    """

    def __init__(self, text: str, data: Json) -> None:
        self.text = text
        self.data = data
        super().__init__(text)

    @property
    def result(self) -> Json:
        """Return the answer as the result of an MCP tool."""
        content = [{"type": "text", "text": self.text}]
        return {"content": content, "isError": True, "_meta": self.data}


class Keywords(dict[str, Any]):
    """The accepted values of a call, as a dict. The attribute `call` is the `Call`, also after a
    framework has passed the dict to the tool.
    """

    def __init__(self, call: Call, values: Mapping[str, Any]) -> None:
        super().__init__(values)
        self.call = call


class Call:
    """One accepted call. It runs the tool and informs the observers."""

    __slots__ = ("contract", "observers", "remarks", "start", "values")

    def __init__(self, contract: Contract, observers: tuple[Observer, ...]) -> None:
        self.contract = contract
        self.observers = observers
        self.values: Any = None
        self.remarks: list[Remark] = []
        # Only observers need the time.
        self.start = perf_counter() if observers else 0.0

    @property
    def data(self) -> Json:
        """Return the repairs and notes as JSON, as in the `_meta` of a tool result. Return an empty
        dict if there are none.
        """
        return {render.META_KEY: render.remarks_data(self.remarks)} if self.remarks else {}

    @property
    def keywords(self) -> Keywords:
        """Return the accepted values by the names of the function's parameters."""
        bind = self.contract.bind
        return Keywords(self, self.values if bind is None else bind(self.values))

    def beside(self, theirs: Any) -> Any:
        """Return `theirs`, the extra data that the tool returned, with the repairs added. If
        `theirs` is neither an object nor None, return it unchanged.
        """
        if not self.data or not (theirs is None or is_object(theirs)):
            return theirs
        return {**(theirs or {}), **self.data}

    def run(
        self, function: Function | None = None, injected: Mapping[str, Any] | None = None
    ) -> Any:
        """Run a sync function with the accepted values and the `injected` ones, which come from the
        framework. Without `function`, run the function of the contract.

        Raises:
            ErrorAnswer: the tool has raised an error whose message is for the model.
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
        """Do the same as `run`, in an event loop. A sync function runs in a thread."""
        bound = bound_call(self.contract, function, self.values, None, injected)
        running = run_async(bound, is_async=is_async(function or self.contract.function))
        return await self.awaited(running)

    async def awaited(self, running: Awaitable[Any]) -> Any:
        """Await a tool that is run by the framework, and record the call. Return the result of the
        tool.

        Raises:
            ErrorAnswer: the tool has raised an error whose message is for the model.
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
            ErrorAnswer: the message of the exception is for the model.
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
                # The tool may have run, so an error in an observer must not hide the result.
                logger.exception("an observer failed")
