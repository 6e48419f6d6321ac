"""Handles one call of a registered tool. It runs the stages of the boundary, limits the time,
answers crashes with a fixed message, and makes a record of the call.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from collections.abc import Coroutine
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any, Literal, Protocol

from toolbooth.boundary import render
from toolbooth.boundary.accept import accept_reading
from toolbooth.boundary.read import Reading
from toolbooth.boundary.repairs import Remark, Repair
from toolbooth.boundary.run import (
    awaited,
    bound_call,
    must_be_awaited,
    off_the_loop,
    run_sync,
    with_timer,
)
from toolbooth.context import Context
from toolbooth.contract import LARGE
from toolbooth.errors import Problem, ToolError, ToolInputError
from toolbooth.server import messages
from toolbooth.server.controls import asks_for_preview
from toolbooth.server.credentials import HIDDEN
from toolbooth.server.dispatch.route import route
from toolbooth.server.dispatch.routed_call import RoutedCall
from toolbooth.server.idempotency import InFlight
from toolbooth.server.key_argument import refuse_key
from toolbooth.server.observe import Arguments, CallRecord, Observer, Outcome
from toolbooth.server.redact import as_text, without_secrets
from toolbooth.server.run_limited import long_timer, run_in_thread, run_limited
from toolbooth.server.running import Busy
from toolbooth.server.tool import Shows, Tool

logger = logging.getLogger("toolbooth.server")


Result = dict[str, Any]

_FOR_THE_WIRE: dict[str, Any] = {"structured": render.as_fragment}


class Registry(Protocol):
    """The part of a registry that a call uses."""

    @property
    def errors(self) -> Literal["result", "protocol"]: ...
    @property
    def observers(self) -> list[tuple[Observer, Arguments]]: ...


async def call(
    registry: Registry,
    tool: Tool,
    reading: Reading,
    context: Context,
    *,
    plain: bool = False,
    shows: Shows | None = None,
) -> Result:
    """Call a tool and return the MCP tool result.

    With `plain`, the result contains only plain Python values. Otherwise its structured content is
    already encoded as JSON. `shows` decides which tools behind a dispatcher the caller sees. If it
    is None, the caller sees all of them.

    Raises:
        ToolInputError: if the call is refused and `registry.errors` is "protocol".
    """
    watch = _Watch(registry, tool, context, plain, reading)
    try:
        # Unions that contain each other can make a small body expensive too.
        if len(reading[2]) > LARGE or tool.contract.has_recursive_unions:
            values = await off_the_loop(partial(watch.accept, reading, shows))
        else:
            values = watch.accept(reading, shows)
        # This uses `watch.tool` and not `tool`, because the arguments may have chosen the sub-tool
        # of a dispatcher, or a variant such as help.
        value = await run_tool(watch.tool, values, context)
    except asyncio.CancelledError as error:
        return watch.cancelled(error)
    # A tool may raise anything, and the server keeps running. argparse raises SystemExit.
    except BaseException as error:
        if _is_ctrl_c(error, watch.tool):
            raise
        return watch.failed(error)
    return watch.returned(value)


def _is_ctrl_c(error: BaseException, tool: Tool) -> bool:
    """Return True if a KeyboardInterrupt may come from the user, who pressed Ctrl-C. Python raises
    it only in the main thread. Under `asyncio.run` and similar event loops, the loop handles the
    signal itself, so the tool does not get this exception.
    """
    return (
        isinstance(error, KeyboardInterrupt)
        and tool.is_async
        and threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )


def call_sync(
    registry: Registry,
    tool: Tool,
    reading: Reading,
    context: Context,
    *,
    plain: bool = False,
    shows: Shows | None = None,
) -> Result:
    """Do the same as `call`, but without a running event loop. A sync tool runs in this thread. For
    an async tool, a new loop is started.
    """
    if tool.needs_loop:
        return _in_a_loop(tool, call(registry, tool, reading, context, plain=plain, shows=shows))
    watch = _Watch(registry, tool, context, plain, reading)
    try:
        values = watch.accept(reading, shows)
        value = run_sync(
            bound_call(watch.tool.contract, watch.tool.function, values, context, None)
        )
        # A sync function may still return a coroutine, such as a lambda around an async function.
        if must_be_awaited(value):
            value = asyncio.run(awaited(value))
    except KeyboardInterrupt:  # the tool runs in the thread that gets Ctrl-C
        raise
    except BaseException as error:
        return watch.failed(error)
    return watch.returned(value)


def _in_a_loop(tool: Tool, calling: Coroutine[Any, Any, Result]) -> Result:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(calling)
    # Python warns of a coroutine that is neither awaited nor closed.
    calling.close()
    raise RuntimeError(messages.loop_is_running(tool.name))


def refuse(registry: Registry, tool: Tool, context: Context, *problems: Problem) -> Result:
    """Return the refusal of a call whose arguments were not read. Raises ToolInputError if
    `registry.errors` is "protocol".
    """
    return _Watch(registry, tool, context, plain=True, reading=None).failed(
        ToolInputError(problems, tool=tool.name)
    )


async def run_tool(tool: Tool, values: Any, context: Context) -> Any:
    """Run the function of a tool with these values."""
    if not tool.is_async:
        return await run_in_thread(tool, values, context)
    run = bound_call(tool.contract, tool.function, values, context, None)
    if tool.timeout is None:
        return await with_timer(awaited(run()), partial(long_timer, tool))
    return await with_timer(run_limited(tool, run), partial(long_timer, tool))


class _Watch:
    """Handles one running call: accepts the arguments, makes the result, and informs the
    observers.
    """

    __slots__ = (
        "arguments",
        "called",
        "context",
        "is_preview",
        "plain",
        "registry",
        "remarks",
        "routed",
        "start",
        "tool",
    )

    def __init__(
        self, registry: Registry, tool: Tool, context: Context, plain: bool, reading: Reading | None
    ) -> None:
        self.registry = registry
        self.tool = self.called = tool
        self.context = context
        self.plain = plain
        self.routed: RoutedCall | None = None
        self.remarks: list[Remark] = []
        self.start = 0.0
        self.is_preview = False
        self.arguments: dict[Arguments, str] = {}
        # The time is measured and the arguments are written only if there are observers.
        if registry.observers:
            self.start = perf_counter()
            self._keep(reading)

    def accept(self, reading: Reading, shows: Shows | None) -> Any:
        """Return the values for the function. Raises ToolInputError. Also set `tool` to the tool
        that will run. This may be a sub-tool of a dispatcher, or a variant of the tool.
        """
        if self.tool.table is not None:
            self.routed = route(self.tool, self.tool.table, reading, shows)
            self.tool, reading = self.routed.tool, self.routed.reading
            if self.registry.observers:
                self._keep(reading)
        # Done after routing, because a sub-tool has its own variants.
        if self.tool.variant is not None:
            self.tool = self.tool.variant(reading[0]) or self.tool
        if self.registry.observers:
            self.is_preview = asks_for_preview(self.tool.contract, reading[0])
        if self.tool.refuses_key and self.context.meta:
            refuse_key(self.tool.name, self.context.meta.get(render.META_KEY))
        values, remarks = accept_reading(self.tool.contract, reading)
        if self.routed is None:
            self.remarks = remarks
            return values
        # The search was sure of the action, so the arguments were checked too, and one refusal has
        # all problems. The call is still refused.
        if self.routed.slips:
            raise self.routed.refusal()
        self.remarks = self.routed.all_remarks(remarks)
        return values

    def _keep(self, reading: Reading | None) -> None:
        """Write the arguments as text for the observers that want them. This is done before the
        tool runs, because the tool may change the arguments.
        """
        wanted: set[Arguments] = {arguments for _, arguments in self.registry.observers}
        if reading is not None:
            self.arguments = {
                each: _kept(self.tool, reading[0], each) for each in wanted if each != "none"
            }

    def returned(self, value: Any) -> Result:
        """Return the result for the value that a tool returned. If the result cannot be written,
        return an error result which says that the tool has run.
        """
        how_written = {} if self.plain else _FOR_THE_WIRE
        try:
            result = render.value_result(value, self.remarks, **how_written)
            violation = self._violation(result) if self.tool.output_check else None
        except KeyboardInterrupt:
            raise
        # A serializer is the author's code, and may raise anything, like a tool.
        except BaseException as error:
            logger.exception("the result of tool %r cannot be sent", self.tool.name)
            result, violation = render.unsendable_result(error), None
        if violation is not None:
            logger.error(
                "the result of tool %r does not match its output schema: %s",
                self.tool.name,
                violation,
            )
            result = render.unusable_result(messages.RESULT_UNDECLARED)
        if self.registry.observers:
            completed = "repaired" if self._repairs() else "passed"
            self._record("failed" if result["isError"] else completed, ())
        return result

    def _violation(self, result: Result) -> str | None:
        """Return a text that says how a result violates the output schema of the tool. Return None
        if the result is valid. This is checked here because clients check it too, and would only
        show the agent that the call failed.
        """
        check = self.tool.output_check
        if check is None:
            return None
        if "structuredContent" not in result:
            return messages.RESULT_NOT_AN_OBJECT
        return check(result["content"][0]["text"])

    def cancelled(self, error: asyncio.CancelledError) -> Result:
        """Return an error result if something that the tool waited for was cancelled. If the call
        itself was cancelled, raise the error again.
        """
        task = asyncio.current_task()
        # If this task is not cancelled, something that the tool awaited was.
        if task is None or not task.cancelling():
            return self.failed(error)
        self._record("failed", ())
        raise error

    def failed(self, error: BaseException) -> Result:
        """Return the result of a call that was refused or that failed. Raises ToolInputError if
        `registry.errors` is "protocol".
        """
        # A caller without access to the tool must not learn its fields from a refusal.
        if isinstance(error, ToolInputError) and self.tool.access_check is not None:
            error = self.tool.access_check() or error
        if isinstance(error, ToolInputError):
            if self.routed is not None:
                error = self.routed.refusal_of_call(error, self.called.name)
            self._record("refused", tuple(problem.code for problem in error.problems))
            if self.registry.errors == "protocol":
                raise error
            return render.refusal_result(error, self.tool.contract.limits)
        self._record("failed", ())
        # The client may only know the dispatcher, because the sub-tool may not be in its list.
        name = self.tool.name if self.routed is None else self.called.name
        target = () if self.routed is None else self.routed.named
        if isinstance(error, Busy):
            words = messages.busy(name, target, error.seconds)
            return render.later_result("busy", words, error.seconds)
        if isinstance(error, InFlight):
            words = messages.in_flight(name, target, error.seconds)
            return render.later_result("in-flight", words, error.seconds)
        if isinstance(error, ToolError):
            if self.routed is not None:
                error = self.routed.error_of_call(error, name)
            return render.tool_error_result(error)
        # The text of an unexpected exception may contain a path, a query or a password, so it is
        # only logged.
        logger.error("tool %r failed", self.tool.name, exc_info=error)
        return render.text_result(messages.tool_failed(name, target), is_error=True)

    def _repairs(self) -> tuple[str, ...]:
        return tuple(each.code for each in self.remarks if isinstance(each, Repair))

    def _record(self, outcome: Outcome, problems: tuple[str, ...]) -> None:
        """Pass the record of the call to the observers."""
        if not self.registry.observers:
            return
        dispatcher = None if self.routed is None else self.called.name
        record = CallRecord(
            tool=self.tool.name,
            outcome=outcome,
            problems=problems,
            repairs=self._repairs(),
            seconds=perf_counter() - self.start,
            client=self.context.client,
            dispatcher=dispatcher,
            preview=self.is_preview,
        )
        for observer, arguments in self.registry.observers:
            try:
                observer(replace(record, arguments=self.arguments.get(arguments)))
            except KeyboardInterrupt:
                raise
            # The tool may have run, so an exception in an observer must not hide its result.
            except BaseException:
                logger.exception("an observer failed")


def _kept(tool: Tool, value: Any, arguments: Arguments) -> str:
    if arguments == "whole":
        return as_text(value)
    # The action of the dispatcher is not known, so its secrets are not known either.
    if tool.table is not None and tool.has_secret:
        return as_text(HIDDEN)
    return as_text(without_secrets(tool.contract.shape, value))
