"""`package.module:name`: how a command is told which registry is meant."""

from __future__ import annotations

import importlib
import os
import sys

import click

from toolbooth.server.registry import ToolRegistry


def load_registry(target: str) -> ToolRegistry:
    """The registry that a target names. Raises click's own error, with what to write instead."""
    module_name, colon, name = target.partition(":")
    if not colon or not module_name or not name:
        raise click.BadParameter(f"{target!r} should be module:registry, e.g. inventory.server:registry")
    sys.path.insert(0, os.getcwd())
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise click.BadParameter(f"there is no module {error.name!r} here or on the path") from None
    found = getattr(module, name, None)
    if isinstance(found, ToolRegistry):
        return found
    registries = [key for key, value in vars(module).items() if isinstance(value, ToolRegistry)]
    hint = f"; {module_name} has {', '.join(registries)}" if registries else ""
    raise click.BadParameter(f"{module_name!r} has no ToolRegistry named {name!r}{hint}")
