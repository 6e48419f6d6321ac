"""Prints in colour, wraps lines and shows progress. This depends on whether the output is a
terminal.
"""

from __future__ import annotations

import os
import shutil
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from time import monotonic
from typing import IO, Any

import click

from toolbooth.cli import messages

_STYLES: dict[str, dict[str, Any]] = {
    "title": {"bold": True},
    "tool": {"bold": True},
    "ok": {"fg": "green"},
    "error": {"fg": "red"},
    "refuses": {"fg": "red"},
    "warning": {"fg": "yellow"},
    "misreads": {"fg": "yellow"},
    "note": {"fg": "cyan"},
    "drops": {"fg": "cyan"},
}
_UNWRAPPED = 10_000
_NARROWEST = 40
_PATIENCE = 1.0
"""Seconds before progress is shown."""
# Moves to the start of the line, and erases it with an ANSI sequence.
_ERASE = "\r\x1b[K"


def paint(text: str, style: str) -> str:
    """Return the text in colour if standard output is a terminal that shows colour. Otherwise
    return the text unchanged.
    """
    return click.style(text, **_STYLES.get(style, {})) if _is_coloured(sys.stdout) else text


def _is_coloured(stream: IO[str]) -> bool:
    if not stream.isatty():
        return False
    # https://no-color.org: an empty NO_COLOR does not count.
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def width() -> int:
    """Return the number of columns at which lines are wrapped. In a pipe, lines are not wrapped."""
    if not sys.stdout.isatty():
        return _UNWRAPPED
    return max(shutil.get_terminal_size().columns, _NARROWEST)


class Progress:
    """Shows on standard error that a task is running, if the task takes longer than a second. In a
    pipe, the text is printed once. On a terminal, it also shows the seconds.
    """

    def __init__(self, words: str) -> None:
        self.words = words
        self._start = monotonic()
        self._ended = threading.Event()
        self._shown = False

    def run(self) -> None:
        """Show the progress until `end` is called."""
        pause = _PATIENCE
        # `wait` returns False if the time is over before the work is done.
        while not self._ended.wait(pause):
            if not sys.stderr.isatty():
                click.echo(messages.progress(self.words), err=True)
                return
            seconds = int(monotonic() - self._start)
            click.echo(_ERASE + messages.progress_so_far(self.words, seconds), nl=False, err=True)
            self._shown = True
            pause = 0.5

    def end(self) -> None:
        """Stop showing the progress."""
        self._ended.set()

    def erase(self) -> None:
        """Erase the progress text from the terminal. Call this after `end`."""
        if self._shown:
            click.echo(_ERASE, nl=False, err=True)

    def erase_now(self) -> None:
        """Stop and erase the progress, before the process ends at once."""
        self.end()
        self.erase()


@contextmanager
def progress(words: str, *, in_pipe: bool = True) -> Generator[Progress]:
    """Show `words` on standard error if this context takes longer than a second. The code inside
    may change the words.
    """
    if not (in_pipe or sys.stderr.isatty()):
        yield Progress(words)
        return
    made = Progress(words)
    thread = threading.Thread(target=made.run, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        made.end()
        # The thread may be printing at this moment. If the line were erased first, its text would
        # stay.
        thread.join()
        made.erase()
