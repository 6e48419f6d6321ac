"""How a command is told which server is meant: `adapters/connect.py` finds it, click says what went
wrong.
"""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import Any

import click

from toolbooth.server.registry import ToolRegistry


def load_server(target: str, **kinds: Any) -> Any:
    """The server of any known kind that a target names. Raises click's own error, with what to
    write instead.
    """
    from toolbooth.adapters.connect import TargetError, load

    try:
        # Standard output is for what the command prints, or for the wire itself.
        with redirect_stdout(sys.stderr):
            return load(target, **kinds)
    except TargetError as error:
        raise click.BadParameter(str(error)) from None


def load_registry(target: str) -> ToolRegistry:
    """`load_server`, where only our own server will do."""
    return load_server(target, kinds=("toolbooth",))
