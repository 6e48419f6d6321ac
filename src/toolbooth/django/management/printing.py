"""PrintingCommand: the base class of all commands here. It ends without a traceback when its reader
has seen enough, as in `manage.py mcp_tools | head`.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from django.core.management.base import BaseCommand, OutputWrapper


class _OutputClosed(Exception):
    """Nothing reads the output any more."""


class _Output(OutputWrapper):
    """Standard output. Its own exception tells it from other pipes, such as a database's."""

    def write(self, *args: Any, **options: Any) -> None:
        """Write one message."""
        try:
            super().write(*args, **options)
        except BrokenPipeError:
            raise _OutputClosed from None

    def flush(self) -> None:
        """Write out what is waiting."""
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
        """Run the command, and write out all that it has printed."""
        try:
            try:
                return super().execute(*args, **options)
            finally:
                self.stdout.flush()
        except _OutputClosed:
            # Otherwise Python would try to write the rest at exit, and complain.
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            sys.exit(1)
