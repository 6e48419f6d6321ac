"""The `toolbooth` script."""

from __future__ import annotations

from toolbooth.cli.main import main as commands


def main() -> None:
    """Run the command line."""
    commands()
