"""Ends a command after Ctrl-C, even if a thread or a tool does not stop."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from toolbooth.cli.mistakes import INTERRUPTED

if TYPE_CHECKING:
    import asyncio


@contextmanager
def ending_at_interrupt(
    seconds: float, last_words: Callable[[], None] = lambda: None
) -> Generator[None]:
    """A context in which Ctrl-C raises KeyboardInterrupt. If the process then still runs after
    `seconds`, `last_words` is called and the process is ended.

    This is needed because some threads cannot be stopped: the thread of a slow tool, or the thread
    in which a host reads standard input from a terminal.
    """
    from toolbooth.server.deadline import Deadline

    deadline = Deadline(last_words)

    def interrupt(number: int, frame: FrameType | None) -> None:
        # A second Ctrl-C would interrupt the shutdown, which takes only a moment.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        deadline.set(seconds, exit_code=INTERRUPTED)
        loop = _running_loop()
        if loop is None:
            # If an event loop is interrupted while it is made, Python would print a traceback when
            # it deletes the loop.
            sys.unraisablehook = _print_nothing
            raise KeyboardInterrupt
        # If an exception is raised at an arbitrary line of a host, the host prints tracebacks.
        loop.call_soon_threadsafe(_cancel_tasks)

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        # The host may have caught the interrupt or raised another exception. The deadline stays,
        # because a thread of the host may block the exit of the interpreter.
        if deadline.is_set:
            raise KeyboardInterrupt
        signal.signal(signal.SIGINT, before)
        deadline.clear()


def _print_nothing(_: object) -> None:
    pass


def _running_loop() -> asyncio.AbstractEventLoop | None:
    import asyncio

    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _cancel_tasks() -> None:
    import asyncio

    for task in asyncio.all_tasks():
        task.cancel()
