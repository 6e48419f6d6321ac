"""`package.module:name` or `folder/file.py:name`: how a command is told which registry is meant."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

import click

from toolbooth.server.registry import ToolRegistry


def load_registry(target: str) -> ToolRegistry:
    """The registry that a target names. Raises click's own error, with what to write instead."""
    # From the right: a Windows path has a colon of its own.
    place, _, name = target.rpartition(":")
    if not place or not name or name.endswith(".py"):
        raise click.BadParameter(f"{target!r} should be module:registry or file.py:registry, e.g. server.py:registry")
    sys.path.insert(0, os.getcwd())
    module_name = _on_path(Path(place)) if place.endswith(".py") else place
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise click.BadParameter(f"there is no module {error.name!r} here or on the path") from None
    found = getattr(module, name, None)
    if isinstance(found, ToolRegistry):
        return found
    registries = [key for key, value in vars(module).items() if isinstance(value, ToolRegistry)]
    hint = f"; there is {', '.join(registries)}" if registries else ""
    told = "is missing" if found is None else f"is of type {type(found).__name__}, not ToolRegistry"
    raise click.BadParameter(f"{name!r} in {place!r} {told}{hint}")


def _on_path(file: Path) -> str:
    """The module of a file, made importable: one in a package by its full name, any other beside its neighbours."""
    if not file.is_file():
        raise click.BadParameter(f"there is no file {str(file)!r}")
    folder = file.resolve().parent
    parts = [file.stem]
    while (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    sys.path.insert(0, str(folder))
    return ".".join(parts)
