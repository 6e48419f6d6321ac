"""One call of one registered tool: the stages of the boundary, with a time limit, a mask for crashes, and a record."""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import Any, Literal, Protocol, cast

from toolbooth.boundary import render
from toolbooth.boundary.accept import accept_reading
from toolbooth.boundary.call import bound_call
from toolbooth.boundary.decode import Repair
from toolbooth.boundary.read import Reading
from toolbooth.context import Context
from toolbooth.errors import Problem, ToolError, ToolInputError
from toolbooth.server.observe import CallRecord, Observer, Outcome
from toolbooth.server.tools import Tool

logger = logging.getLogger("toolbooth.server")

_threads = ThreadPoolExecutor(thread_name_prefix="toolbooth")
"""Where sync tools run, so that one that waits does not hold up the others."""

Result = dict[str, Any]

_FOR_THE_WIRE: dict[str, Any] = {"structured": render.as_fragment}


class Registry(Protocol):
    """What a call needs to know of the registry it belongs to."""

    @property
    def errors(self) -> Literal["result", "protocol"]: ...
    @property
    def observers(self) -> list[Observer]: ...


async def call(registry: Registry, tool: Tool, reading: Reading, context: Context, *, plain: bool = False) -> Result:
    """Call a tool with the arguments as read. Raises ToolInputError, only where refusals are protocol errors.

    `plain`: the result holds nothing but plain Python; else its structured part is ready for the wire.
    """
    watch = _Watch(registry, tool, context, plain)
    try:
        if tool.actions is not None:
            tool, reading = watch.route(tool.actions, reading)
        values, repairs = accept_reading(tool.contract, reading)
        watch.repairs += repairs
        run = bound_call(tool.contract, tool.function, values, context, None)
        value = await _run(tool, run)
    except Exception as error:
        return watch.failed(error)
    return watch.returned(value)


def call_sync(registry: Registry, tool: Tool, reading: Reading, context: Context, *, plain: bool = False) -> Result:
    """`call` where there is no event loop: a sync tool runs here and now, an async one in a loop of its own."""
    watch = _Watch(registry, tool, context, plain)
    try:
        if tool.actions is not None:
            tool, reading = watch.route(tool.actions, reading)
        if tool.is_async or tool.timeout is not None:
            return asyncio.run(call(registry, tool, reading, context, plain=plain))
        values, repairs = accept_reading(tool.contract, reading)
        watch.repairs += repairs
        value = bound_call(tool.contract, tool.function, values, context, None)()
    except Exception as error:
        return watch.failed(error)
    return watch.returned(value)


async def _run(tool: Tool, run: Callable[[], Any]) -> Any:
    if tool.is_async:
        awaitable: Awaitable[Any] = run()
    else:
        loop = asyncio.get_running_loop()
        awaitable = loop.run_in_executor(_threads, contextvars.copy_context().run, run)
    if tool.timeout is None:
        return await awaitable
    try:
        async with asyncio.timeout(tool.timeout):
            return await awaitable
    except TimeoutError:
        fate = "it was stopped" if tool.is_async else "it may still complete"
        raise ToolError(tool.name, f"it did not answer within {tool.timeout:g} s; {fate}") from None


class _Watch:
    """Turns what a call came to into its result, and tells the observers."""

    __slots__ = ("action", "context", "plain", "registry", "repairs", "start", "tool")

    def __init__(self, registry: Registry, tool: Tool, context: Context, plain: bool) -> None:
        self.registry = registry
        self.tool = tool
        self.context = context
        self.plain = plain
        self.action: str | None = None
        self.repairs: list[Repair] = []
        self.start = perf_counter() if registry.observers else 0.0

    def route(self, actions: Mapping[str, Tool], reading: Reading) -> tuple[Tool, Reading]:
        """The sub-tool that a dispatcher's call is for, with every argument but the action itself."""
        arguments, self.repairs = accept_reading(self.tool.contract, reading)
        sent = cast("dict[str, Any]", reading[0] if isinstance(reading[0], dict) else arguments)
        params = arguments.get("params", {})
        beside = {key: value for key, value in sent.items() if key not in ("action", "params")}
        twice = [key for key in params if key in beside]
        if twice:
            message = "stands in $.params too; send it once"
            raise ToolInputError(
                [Problem(code="conflicting-keys", path=f"$.{key}", message=message) for key in twice],
                tool=self.tool.name,
            )
        self.action = arguments["action"]
        self.tool = actions[arguments["action"]]
        return self.tool, ({**beside, **params}, *reading[1:])

    def returned(self, value: Any) -> Result:
        try:
            result = render.value_result(value, self.repairs, **({} if self.plain else _FOR_THE_WIRE))
        except Exception as error:
            logger.exception("tool %r returned what cannot be sent", self.tool.name)
            self._tell("failed", ())
            return render.text_result(
                f"The tool ran to its end, but what it returned cannot be sent ({type(error).__name__}). "
                "Do not call it again without looking at what it did.",
                is_error=True,
            )
        self._tell("repaired" if self.repairs else "passed", ())
        return result

    def failed(self, error: Exception) -> Result:
        if isinstance(error, ToolInputError):
            self._tell("refused", tuple(problem.code for problem in error.problems))
            if self.action is not None and error.corrected is not None:
                error.corrected = {"action": self.action, **error.corrected}
            if self.registry.errors == "protocol":
                raise error
            return render.refusal_result(error, self.tool.contract.limits)
        self._tell("failed", ())
        if isinstance(error, ToolError):
            return render.tool_error_result(error)
        logger.error("tool %r failed", self.tool.name, exc_info=error)
        return render.text_result(f"Tool {self.tool.name!r} failed unexpectedly.", is_error=True)

    def _tell(self, outcome: Outcome, problems: tuple[str, ...]) -> None:
        if not self.registry.observers:
            return
        record = CallRecord(
            tool=self.tool.name,
            outcome=outcome,
            problems=problems,
            repairs=tuple(repair.code for repair in self.repairs),
            seconds=perf_counter() - self.start,
            client=self.context.client,
        )
        for observer in self.registry.observers:
            try:
                observer(record)
            except Exception:
                logger.exception("an observer failed")
