"""The `toolbooth` script."""

from __future__ import annotations

import os
import sys

from toolbooth.cli.main import main as commands


def main() -> None:
    """Run the command line."""
    _open_missing_streams()
    commands()


def _open_missing_streams() -> None:
    """Open the standard streams that were closed before the process started, for example by `<&-`.
    Python sets such a stream to None. If it stayed closed, the next file that is opened would get
    its descriptor.
    """
    if sys.stdin is None:
        sys.stdin = open(os.devnull)  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
