"""Ends a command with an exit code. If the command has failed, one sentence is printed to standard
error.
"""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import click

from toolbooth.cli import messages
from toolbooth.extras import MissingExtra

DONE = 0
REFUSED = 1
"""A call failed, or lint or test found a problem."""
MISUSED = 2
"""Wrong usage, or a target that cannot be loaded."""
UNANSWERED = 3
"""The server cannot be reached, or did not answer in time."""
INTERRUPTED = 130

TRACEBACK = "--traceback"
JSON = "--json"


class Mistake(click.ClickException):
    """A mistake that the user can correct. The message is one sentence with the next step."""

    exit_code = MISUSED


class Unanswered(click.ClickException):
    """A server that did not answer."""

    exit_code = UNANSWERED


def ended(run: Callable[[], Any], given: Sequence[str]) -> int:
    """Run a command and return its exit code. `given` has the words that the user has typed before
    `--`.
    """
    try:
        return _code(run())
    except click.Abort:  # Ctrl-C
        return INTERRUPTED
    # This class comes before its base class UsageError. Its message is the whole help text, so the
    # hint at `--help` is not added.
    except click.exceptions.NoArgsIsHelpError as error:  # `toolbooth` alone
        click.echo(error.format_message(), err=True)
        return MISUSED
    except click.UsageError as error:
        return _report(messages.usage(error.format_message(), _path(error)), MISUSED, given)
    except click.ClickException as error:
        return _report(error.format_message(), error.exit_code, given)
    except MissingExtra as error:
        return _report(str(error), MISUSED, given)
    except OSError as error:
        if error.errno == errno.EPIPE:
            return _reader_has_gone()
        return _report(messages.failed(error), MISUSED, given)
    # Commands raise the exceptions above for all expected errors. Any other exception is a bug of
    # Toolbooth.
    except Exception as error:
        return _report(messages.failed(error), MISUSED, given)


def _code(result: Any) -> int:
    return result if isinstance(result, int) else DONE


def _path(error: click.UsageError) -> str:
    return error.ctx.command_path if error.ctx is not None else "toolbooth"


def _report(sentence: str, code: int, given: Sequence[str]) -> int:
    # The words themselves are searched. If the options have a mistake, click has not parsed them.
    if TRACEBACK in given:
        traceback.print_exc()
    if JSON in given:
        import json

        click.echo(json.dumps({"error": sentence, "exit_code": code}, ensure_ascii=False))
    click.echo(messages.error(sentence), err=True)
    return code


def _reader_has_gone() -> int:
    """End the command, because the reader of a pipe has closed it, as in
    `toolbooth tools ... | head`. Python must not flush into the closed pipe.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return REFUSED
