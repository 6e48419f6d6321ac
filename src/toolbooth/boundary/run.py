"""Stage 4: runs the tool, sync or async. Exceptions of the tool pass through to the host."""

from __future__ import annotations

import contextvars
import inspect
import os
from collections.abc import AsyncIterable, Callable, Mapping
from functools import cache, partial
from importlib import import_module
from typing import Any, TypeVar

from toolbooth.boundary import messages
from toolbooth.context import Context
from toolbooth.contract import Contract

Function = Callable[..., Any]
Made = TypeVar("Made")
Injected = Mapping[str, Any] | None

_NEVER_AWAITED = frozenset((str, dict, list, int, float, bool, type(None)))
"""The types of results that need no check for an awaitable."""

_MOST_THREADS = 64
_MOST_OWN_THREADS = 2


@cache
def _threads() -> Any:
    """Return the thread pool for sync tools in an async server, so that a slow tool does not block
    others.
    """
    # Loaded on first use, because users of sync tools never need a thread.
    return import_module("concurrent.futures").ThreadPoolExecutor(
        _MOST_THREADS, thread_name_prefix="toolbooth"
    )


def end_threads() -> None:
    """Wait until all running sync tools have ended, then end their threads. Later tools get new
    threads.
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
    """Run a sync tool. Raises TypeError for an async one."""
    tool = contract.function
    if function is None and tool is not None and contract.plain_keywords:
        # Most tools come here. A partial would cost as much as a small tool itself.
        made = tool(**(values if contract.bind is None else contract.bind(values)))
    else:
        made = bound_call(contract, function, values, context, injected)()
    if type(made) in _NEVER_AWAITED:
        return made
    if must_be_awaited(made):
        # Closed, so that Python does not warn of a coroutine that was never awaited.
        if inspect.iscoroutine(made):
            made.close()
        raise TypeError(messages.is_an_async_tool(contract.name))
    return _items_or_value(made)


def run_sync(call: Callable[[], Any]) -> Any:
    """Run a sync tool to its end, for a future."""
    try:
        return _items_or_value(call())
    # A future cannot carry these exceptions: the caller would wait for ever, or be cancelled.
    except (StopIteration, GeneratorExit) as error:
        raise RuntimeError(f"the tool raised {type(error).__name__}") from error


def _items_or_value(made: Any) -> Any:
    """Return the items of a generator as a list; any other result as it is."""
    if type(made) in _NEVER_AWAITED or not inspect.isgenerator(made):
        return made
    # The body of a generator runs only during iteration. Without this, the tool would run while its
    # result is written.
    return list[Any](made)


async def run_async(
    call: Callable[[], Any], *, is_async: bool, ended: Callable[[], None] | None = None
) -> Any:
    """Run an async tool here, or a sync tool in a thread. When the sync tool has ended, `ended` is
    called in its thread, even if the caller has gone.
    """
    if is_async:
        return await awaited(call())
    # The thread gets the caller's context variables, such as the current request.
    running = _threads().submit(contextvars.copy_context().run, run_sync, call)
    if ended is not None:
        running.add_done_callback(partial(_without_argument, ended))
    made = await _asyncio().wrap_future(running)
    # A sync function may return an awaitable, which must be awaited on this event loop.
    return await awaited(made) if must_be_awaited(made) else made


def _without_argument(ended: Callable[[], None], _done: Any) -> None:
    ended()


async def off_the_loop(call: Callable[[], Made]) -> Made:
    """Run a CPU-bound function in a thread and return its value. It does not share threads with
    tools, so tools that hang do not delay it.
    """
    in_context = contextvars.copy_context().run
    return await _asyncio().wrap_future(_own_threads().submit(in_context, call))


def must_be_awaited(made: Any) -> bool:
    """Return True if a tool that looked sync returned an awaitable."""
    if type(made) in _NEVER_AWAITED:
        return False
    return inspect.isawaitable(made) or inspect.isasyncgen(made)


async def awaited(made: Any) -> Any:
    """Await the result of an async tool. Return the items of an async generator as a list."""
    if inspect.isasyncgen(made):
        items: AsyncIterable[Any] = made
        return [each async for each in items]
    return await made
