"""The `toolbooth` script: starts the commands, or says in one sentence what is not installed."""

from __future__ import annotations

import importlib
import sys

from toolbooth.extras import MissingExtra, require


def main() -> None:
    """Run the command line.

    If an extra is missing, print one sentence on standard error and exit with 1.
    """
    try:
        require("the toolbooth command", extra="cli", modules={"click": "click"})
        importlib.import_module("toolbooth.cli.main").main()
    except MissingExtra as error:
        sys.exit(str(error))
