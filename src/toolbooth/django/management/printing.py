"""Contains `PrintingCommand`, the base class of all commands here. If its output is closed early,
as in `manage.py mcp_tools | head`, or the database has no tables, it exits without a traceback.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, OutputWrapper
from django.db import OperationalError, ProgrammingError

from toolbooth.django.management import messages


class _OutputClosed(Exception):
    """Raised if the reader of the output has closed it."""


class _Output(OutputWrapper):
    """Standard output that raises `_OutputClosed` if it is closed. A BrokenPipeError could also
    come from another pipe.
    """

    def write(self, *args: Any, **options: Any) -> None:
        """Write one message."""
        try:
            super().write(*args, **options)
        except BrokenPipeError:
            raise _OutputClosed from None

    def flush(self) -> None:
        """Write the text that is buffered."""
        try:
            super().flush()
        except BrokenPipeError:
            raise _OutputClosed from None


class PrintingCommand(BaseCommand):
    """A command that exits with 1 if its output is closed, as the commands of `toolbooth` do."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.stdout = _Output(options.get("stdout") or sys.stdout)

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run the command, and write all of its output."""
        try:
            try:
                return super().execute(*args, **options)
            finally:
                # Flushed here, where the exception can still be caught. At exit, Python would print
                # it and exit with 120.
                self.stdout.flush()
        # A project before its first `migrate`, or a database that does not run.
        except (OperationalError, ProgrammingError) as error:
            raise CommandError(messages.database_failed(error), returncode=2) from error
        except _OutputClosed:
            # Otherwise Python would try to write the rest at exit, and complain.
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            sys.exit(1)
