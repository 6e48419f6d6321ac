"""Makes Toolbooth's Context for a tool on a host. It has the caller, the `_meta` of the request,
and a method for progress.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from threading import get_ident
from typing import Any, TypeVar

import anyio
from anyio.from_thread import run as run_from_thread
from anyio.lowlevel import current_token

from toolbooth.adapters.sdk.original_request import sdk_context
from toolbooth.compile.hints import Hints
from toolbooth.compile.params import is_context
from toolbooth.context import Context

T = TypeVar("T")


def takes_context(function: Callable[..., Any]) -> bool:
    """Return True if the function has a parameter for Toolbooth's Context."""
    hints = Hints(function)
    return any(
        is_context(hints.of(param)) for param in inspect.signature(function).parameters.values()
    )


async def with_context(call: Callable[[Context | None], Awaitable[T]]) -> T:
    """Call a tool with the Context of the current request, and return its result. When this
    returns, all progress has been sent.
    """
    request = sdk_context()
    if request is None:
        return await call(None)
    meta: dict[str, Any] = request.params.get("_meta") or {}
    client = request.session.client_params
    context = Context(client=client.client_info.name if client is not None else None, meta=meta)
    return await _with_progress(request.session.report_progress, context, call)


async def _with_progress(
    send: Callable[..., Awaitable[None]], context: Context, call: Callable[[Context], Awaitable[T]]
) -> T:
    """Call a tool, and send its progress with `send`. If the client did not ask for progress,
    `send` does nothing.
    """
    here, token = get_ident(), current_token()
    error: Exception | None = None
    made: Any = None
    async with anyio.create_task_group() as sending:

        def report(*said: Any) -> None:
            with suppress(RuntimeError):  # the call has ended
                # A sync tool runs in another thread, and the task group belongs to the thread of
                # the event loop.
                if get_ident() == here:
                    sending.start_soon(_send_quietly, partial(send, *said))
                else:
                    run_from_thread(_send_quietly, partial(send, *said), token=token)

        try:
            made = await call(replace(context, report=report))
        except Exception as raised:  # not out of the group, which would wrap it
            error = raised
    if error is not None:
        raise error
    return made


async def _send_quietly(send: Callable[[], Awaitable[None]]) -> None:
    """Call `send`, and ignore its errors: a tool must not fail if its client has disconnected."""
    with suppress(Exception):
        await send()
