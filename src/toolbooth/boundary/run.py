"""Stage 4: runs the tool, sync or async. Exceptions of the tool are not caught; the host gets
them.
"""

from __future__ import annotations

import contextvars
import inspect
import os
import types
from collections.abc import AsyncIterable, Callable, Coroutine, Generator, Mapping
from contextlib import suppress
from functools import cache, partial
from importlib import import_module
from typing import Any, Protocol, TypeVar

from toolbooth.boundary import messages
from toolbooth.context import Context
from toolbooth.contract import Contract

Function = Callable[..., Any]
Made = TypeVar("Made")
Injected = Mapping[str, Any] | None
Ended = Callable[[], None] | None


class Timer(Protocol):
    """A timer that can be cancelled, such as `asyncio.TimerHandle`."""

    def cancel(self) -> None: ...


_NEVER_AWAITED = frozenset((str, dict, list, int, float, bool, type(None)))
"""Results of these types are never awaitable, so they are not checked."""

_MOST_THREADS = 64
_MOST_OWN_THREADS = 2


@cache
def _threads() -> Any:
    """Return the thread pool for sync tools in an async server. A slow tool in a thread does not
    block other calls.
    """
    # Loaded on first use, because users of sync tools never need a thread.
    return import_module("concurrent.futures").ThreadPoolExecutor(
        _MOST_THREADS, thread_name_prefix="toolbooth"
    )


def end_threads() -> None:
    """Wait until all running sync tools have ended, then end their threads. Tools that are called
    later get new threads.
    """
    for pool in (_threads, _own_threads):
        # This check avoids making a pool only to end it.
        if pool.cache_info().currsize:
            threads = pool()
            pool.cache_clear()
            threads.shutdown(cancel_futures=True)


@cache
def _own_threads() -> Any:
    """Return the thread pool that reads large bodies."""
    return import_module("concurrent.futures").ThreadPoolExecutor(
        _MOST_OWN_THREADS, thread_name_prefix="toolbooth-reading"
    )


@cache
def _asyncio() -> Any:
    """Return asyncio. It is loaded on first use, because sync users do not need it."""
    return import_module("asyncio")


# A forked child inherits the pool without its threads, so nothing would ever run in it. Windows has
# no fork.
if hasattr(os, "register_at_fork"):  # pragma: no branch
    os.register_at_fork(after_in_child=_threads.cache_clear)
    os.register_at_fork(after_in_child=_own_threads.cache_clear)


def is_async(function: Any) -> bool:
    """Return True if calling a function returns an awaitable."""
    if inspect.iscoroutinefunction(function):
        return True
    # A class with `async def __call__` makes instances that are async, but not coroutine functions.
    return inspect.iscoroutinefunction(type(function).__call__)


def bound_call(
    contract: Contract,
    function: Function | None,
    values: Any,
    context: Context | None,
    injected: Injected,
) -> Callable[[], Any]:
    """Return the function with its arguments bound, ready to be called."""
    chosen = function or contract.function
    if chosen is None:
        raise TypeError(messages.has_no_function(contract.name))
    keywords: dict[str, Any] = values if contract.bind is None else contract.bind(values)
    if contract.plain_keywords:
        return partial(chosen, **keywords)
    positional: list[Any] = []
    for param in contract.params:
        if param.injected:
            given = injected or {}
            # The framework's own value wins. Without one, a tool that asks for a Context still gets
            # one.
            found = given[param.name] if param.name in given else context or Context()
            keywords[param.name] = found
        # Agents send only names, but a positional-only parameter cannot be passed by name.
        if param.positional and param.name in keywords:
            positional.append(keywords.pop(param.name))
    return partial(chosen, *positional, **keywords)


def run(
    contract: Contract,
    function: Function | None,
    values: Any,
    context: Context | None,
    injected: Injected,
) -> Any:
    """Run a sync tool. Raises TypeError if the tool is async."""
    tool = contract.function
    if function is None and tool is not None and contract.plain_keywords:
        # Most tools take this path. A partial would take as long as a small tool itself.
        made = tool(**(values if contract.bind is None else contract.bind(values)))
    else:
        made = bound_call(contract, function, values, context, injected)()
    if type(made) in _NEVER_AWAITED:
        return made
    if must_be_awaited(made):
        # Close the coroutine, so that Python does not warn that it was never awaited.
        if inspect.iscoroutine(made):
            made.close()
        raise TypeError(messages.is_an_async_tool(contract.name))
    return _items_or_value(made)


def run_sync(call: Callable[[], Any]) -> Any:
    """Run a sync tool and return its result. A StopIteration or GeneratorExit of the tool becomes a
    RuntimeError.
    """
    try:
        return _items_or_value(call())
    # A future cannot carry these exceptions: the caller would wait for ever, or be cancelled.
    except (StopIteration, GeneratorExit) as error:
        raise RuntimeError(f"the tool raised {type(error).__name__}") from error


def _items_or_value(made: Any) -> Any:
    """Return the items of a generator as a list. Return any other result unchanged."""
    if type(made) in _NEVER_AWAITED or not inspect.isgenerator(made):
        return made
    # The body of a generator runs only during iteration. Without this, the tool would run while its
    # result is written.
    return list[Any](made)


async def run_async(call: Callable[[], Any], *, is_async: bool, ended: Ended = None) -> Any:
    """Run an async tool here, or a sync tool in a thread. `ended` is called in this event loop when
    the sync tool has ended, even if the caller does not wait any more.
    """
    if is_async:
        return await awaited(call())
    made = await _in_thread(call, ended)
    # A sync function may return an awaitable, which must be awaited on this event loop.
    return await awaited(made) if must_be_awaited(made) else made


def _in_thread(call: Callable[[], Any], ended: Ended) -> Any:
    """Run a sync tool in a thread and return a future of this event loop."""
    loop = _asyncio().get_running_loop()
    waiting = loop.create_future()
    # The thread gets the caller's context variables, such as the current request.
    context = contextvars.copy_context()
    _threads().submit(_work, [(loop, waiting, context, call, ended)])
    return waiting


def _work(work: list[tuple[Any, Any, contextvars.Context, Callable[[], Any], Ended]]) -> None:
    """Run a tool, and wake the event loop only once. This costs less than chained futures. If the
    caller has already stopped waiting, the tool is not run.
    """
    # The list is emptied, because the thread pool still has it when the tool has ended.
    loop, waiting, context, call, ended = work.pop()
    settle, outcome = waiting.set_result, None
    try:
        if not waiting.cancelled():
            outcome = context.run(run_sync, call)
    except BaseException as error:
        settle, outcome = waiting.set_exception, error
    with suppress(RuntimeError):  # the loop is closed, so nobody waits
        loop.call_soon_threadsafe(_settle, waiting, settle, outcome, ended)
    # The traceback of an error refers to this frame. If the frame referred to the error too, or to
    # the future that has it, neither would be freed.
    del outcome, settle, waiting


def _settle(waiting: Any, settle: Callable[[Any], None], outcome: Any, ended: Ended) -> None:
    """Give the outcome of the tool to the caller, if the caller still waits."""
    if ended is not None:
        ended()
    if not waiting.done():
        settle(outcome)


async def off_the_loop(call: Callable[[], Made]) -> Made:
    """Run a CPU-bound function in a thread and return its value. Tools run in other threads, so a
    tool that hangs does not delay this function.
    """
    in_context = contextvars.copy_context().run
    return await _asyncio().wrap_future(_own_threads().submit(in_context, call))


def must_be_awaited(made: Any) -> bool:
    """Return True if the tool looked sync but has returned an awaitable."""
    if type(made) in _NEVER_AWAITED:
        return False
    return inspect.isawaitable(made) or inspect.isasyncgen(made)


@types.coroutine
def with_timer(
    running: Coroutine[Any, Any, Made], start: Callable[[], Timer]
) -> Generator[Any, Any, Made]:
    """Await a coroutine. If the coroutine has to wait, start a timer, and cancel it when the
    coroutine ends. Most tools never wait, so they need no timer.
    """
    steps = running.__await__()
    try:
        waits_for = next(steps)
    except StopIteration as done:
        return done.value
    timer = start()
    try:
        return (yield from rest_of(steps, waits_for))
    finally:
        timer.cancel()
        del waits_for  # the same reason as in `rest_of`


def rest_of(steps: Generator[Any, Any, Made], waits_for: Any) -> Generator[Any, Any, Made]:
    """Continue a coroutine that was started with `next`, until it ends. `waits_for` is the first
    object for which the coroutine waits.
    """
    resume: Callable[[], Any] | None = None
    try:
        while True:
            try:
                sent = yield waits_for
            except BaseException as error:
                # An exception during the wait, such as a cancellation, is thrown into the
                # coroutine, as `await` does it.
                resume = partial(steps.throw, error)
            else:
                resume = partial(steps.send, sent)
            try:
                waits_for = resume()
            except StopIteration as done:
                return done.value
    finally:
        # The traceback of an exception refers to this frame. If the frame referred to the exception
        # too, or to the future that has it, neither would be freed.
        del resume, waits_for


async def awaited(made: Any) -> Any:
    """Await the result of an async tool. Return the items of an async generator as a list."""
    if inspect.isasyncgen(made):
        items: AsyncIterable[Any] = made
        return [each async for each in items]
    return await made
