"""The stdio transport: one JSON-RPC message per line, in both directions. Every request gets an
answer, even while the server stops.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import stat
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import IO, Any

import orjson

from toolbooth.boundary.run import end_threads
from toolbooth.jsonvalue import is_object
from toolbooth.server import kept_loop, messages
from toolbooth.server.answers import Answers, error_reply
from toolbooth.server.deadline import Deadline
from toolbooth.server.envelope import id_in, only_id
from toolbooth.server.message_id import ids_at_ends
from toolbooth.server.pipes import Lines, as_blocking_as_before, read_lines
from toolbooth.server.registry import ToolRegistry
from toolbooth.server.respond import respond
from toolbooth.server.revisions import INTERNAL_ERROR, PARSE_ERROR

logger = logging.getLogger("toolbooth.server")

STOP_SECONDS = 5.0
DRAIN_SECONDS = 60.0

_PROGRESS = b'{"jsonrpc":"2.0","method":'
"""The beginning of a message that is not a response. It is used to recognise such messages quickly.
"""


def serve(
    registry: ToolRegistry,
    *,
    stop_seconds: float = STOP_SECONDS,
    drain_seconds: float = DRAIN_SECONDS,
) -> None:
    """Serve until standard input ends, or until SIGTERM.

    The output of tools, and of programs that they start, does not reach the client. At the end of
    the input, running calls get `drain_seconds` to end. After SIGTERM, they get `stop_seconds`.
    Calls that take longer are answered with an error. The process then exits, because there is no
    other way to stop a thread.
    """
    # The protocol gets its own file descriptors. After that, 0 is empty and 1 is the log. So
    # neither `print` in a tool nor a program that it starts can write to the client.
    with os.fdopen(os.dup(0), "rb", buffering=0) as source, os.fdopen(os.dup(1), "wb") as sink:
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        if _is_same_socket(1, 2):  # as with inetd: a log would break the protocol
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.dup2(2, 1)
        os.close(nothing)
        sys.stdout = sys.stderr
        serving = _Serving(registry, sink)
        deadline = Deadline(lambda: serving.answers.close(messages.SERVER_STOPPED))
        with (
            as_blocking_as_before(sink.fileno()),
            _on_sigterm(serving, lambda: deadline.set(stop_seconds)),
        ):
            try:
                kept_loop.run(serving.run(source, lambda: deadline.set_first(drain_seconds)))
            except KeyboardInterrupt:
                deadline.set(stop_seconds, exit_code=128 + signal.SIGINT)
                raise
            finally:
                end_threads()
                deadline.clear()


async def serve_streams(registry: ToolRegistry, source: IO[bytes], sink: IO[bytes]) -> None:
    """Read lines from `source` and write answers to `sink`. Return when `source` has ended and all
    calls have an answer.
    """
    await _Serving(registry, sink).run(source)


class _Serving:
    """Handles the running calls, from the line of each call to its answer."""

    def __init__(self, registry: ToolRegistry, sink: IO[bytes]) -> None:
        self.registry = registry
        self.answers = Answers(sink, lost=self.stop)
        self.calls: dict[asyncio.Task[None], bytes] = {}
        self.loop: asyncio.AbstractEventLoop | None = None
        self.ended = asyncio.Event()
        self.is_stopping = False

    async def run(self, source: IO[bytes], at_end: Callable[[], None] = lambda: None) -> None:
        """Read lines until the source ends or `stop` is called. Then call `at_end`, and wait until
        the running calls have their answers.
        """
        self.loop = asyncio.get_running_loop()
        lines = Lines(self.take, self.too_long, self.ended.set)
        await read_lines(source, lines)
        try:
            await self.ended.wait()
        finally:
            at_end()
        # An exception in one call must not end the wait for the others.
        await asyncio.gather(*self.calls, return_exceptions=True)

    def stop(self) -> None:
        """Accept no more requests."""
        self.is_stopping = True
        self.ended.set()

    def take(self, line: bytes) -> None:
        """Answer a line in the background. So a slow tool does not block the next line, and the
        client can still cancel the call.
        """
        # This comes first: a cancellation has no id and gets no answer, and is still accepted while
        # the server stops.
        cancelled = _cancelled(line)
        if cancelled is not None:
            self._cancel(cancelled)
        elif self.is_stopping:
            self._refuse(line)
        else:
            task = asyncio.ensure_future(self._answer(line))
            self.calls[task] = self.answers.open[task] = line
            task.add_done_callback(self.calls.pop)

    def too_long(self, head: bytes, tail: bytes) -> None:
        """Refuse a line that is too long. Only its beginning and its end are known."""
        request_id = only_id(ids_at_ends(head, tail))
        self.answers.write(error_reply(request_id, PARSE_ERROR, messages.LINE_TOO_LONG))

    def _cancel(self, cancelled: Any) -> None:
        for task, asked in self.calls.items():
            request_id = _id(asked)
            # `1` and `true` are equal in Python, so the wrong call could be cancelled.
            if type(request_id) is type(cancelled) and request_id == cancelled:
                task.cancel()

    def _refuse(self, line: bytes) -> None:
        request_id = id_in(line)
        if request_id is not None:  # otherwise a notification
            words = messages.SERVER_STOPPING
            self.answers.write(error_reply(request_id, INTERNAL_ERROR, words))

    async def _answer(self, line: bytes) -> None:
        call = asyncio.current_task()
        try:
            reply = await respond(self.registry, line, None)
            if reply.events is None:
                self.answers.end(call, reply.body)
                return
            async for event in reply.events:
                if event.startswith(_PROGRESS):
                    self.answers.write(event)
                else:
                    self.answers.end(call, event)
        except asyncio.CancelledError:
            raise
        # Exceptions of tools do not reach this line. Others must not end the server. With
        # `asyncio.Runner`, the user's Ctrl-C is not raised in a call.
        except BaseException:
            logger.exception("the server failed")
            reply = error_reply(id_in(line), INTERNAL_ERROR, messages.SERVER_FAILED)
            self.answers.end(call, reply)
        finally:
            # A cancelled call gets no answer, but must not stay open, because `close` would answer
            # it at the end.
            self.answers.end(call)


def _cancelled(line: bytes) -> Any:
    """Return the id of the request that a line cancels. Return None if the line does not cancel a
    request.
    """
    # Nearly every line is a call. With this check of the bytes, it is not parsed twice.
    if b"notifications/cancelled" not in line:
        return None
    try:
        message = orjson.loads(line)
        if message.get("method") == "notifications/cancelled":
            return message["params"]["requestId"]
        return None
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _id(line: bytes) -> Any:
    try:
        found = orjson.loads(line)
    except ValueError:
        return None
    return found.get("id") if is_object(found) else None


# --- the end of the process ---------------------------------------------------------------------


@contextmanager
def _on_sigterm(serving: _Serving, set_deadline: Callable[[], None]) -> Generator[None]:
    """Stop the server on SIGTERM, unless the author's program has its own handler."""

    def stop(number: int, frame: Any) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a second one ends the process at once
        set_deadline()
        if serving.loop is not None:
            with suppress(RuntimeError):  # the loop has ended
                serving.loop.call_soon_threadsafe(serving.stop)

    in_main_thread = threading.current_thread() is threading.main_thread()
    # Python allows signal handlers only in the main thread. An author's own handler is not
    # replaced.
    if not in_main_thread or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _is_same_socket(one: int, other: int) -> bool:
    found = os.fstat(one)
    return stat.S_ISSOCK(found.st_mode) and os.path.samestat(found, os.fstat(other))
