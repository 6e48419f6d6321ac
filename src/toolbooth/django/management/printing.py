"""Contains `PrintingCommand`, the base class of all commands here. If its output is closed early,
as in `manage.py mcp_tools | head`, the database has no tables, or the user presses Ctrl-C, it exits
without a traceback.
"""

from __future__ import annotations

import os
import sys
from typing import Any, NoReturn

from django.core.management.base import BaseCommand, CommandError, OutputWrapper
from django.db import OperationalError, ProgrammingError

from toolbooth.django.management import messages

_INTERRUPTED = 130
"""The exit code after Ctrl-C, as in a shell."""


class _OutputClosed(Exception):
    """Raised if the output was closed, for example by `head`."""


class _Output(OutputWrapper):
    """Standard output that raises `_OutputClosed` if it is closed. The BrokenPipeError that Python
    raises could also come from another pipe.
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
    """A command that exits with 1 if its output is closed, and with 130 after Ctrl-C, as the
    commands of `toolbooth` do.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.stdout = _Output(options.get("stdout") or sys.stdout)

    def run_from_argv(self, argv: list[str]) -> None:
        """Run the command from the command line. Wrong usage is reported in one sentence; argparse
        would print the whole usage before it.
        """
        parser = self.create_parser(argv[0], argv[1])
        try:
            _, unknown = parser.parse_known_args(argv[2:])
        except CommandError as error:  # Django writes "Error: " before the sentence of argparse
            self._misused(str(error).removeprefix("Error: "), parser.prog)
        if unknown:
            # argparse has no public list of the options.
            known = list(parser._option_string_actions)
            self._misused(messages.unknown_words(unknown, known), parser.prog)
        super().run_from_argv(argv)

    def _misused(self, reason: str, command: str) -> NoReturn:
        self.stderr.write(f"CommandError: {messages.wrong_usage(reason, command)}")
        sys.exit(2)

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
        except KeyboardInterrupt:
            sys.exit(_INTERRUPTED)
        except _OutputClosed:
            # Otherwise Python would try to write the rest at exit, and complain.
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            sys.exit(1)
