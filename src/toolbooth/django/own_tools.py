"""Finds the tools that a project writes itself, in the `mcp_tools.py` of each app.

If a module cannot be imported, only the tools of this module are missing. If the name of a tool
cannot be used, only this tool is missing. `mcp_doctor` and `manage.py check --deploy` show each
mistake with its file and line.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from traceback import walk_tb
from typing import Any

from django.apps import apps
from django.utils.module_loading import module_has_submodule

from toolbooth.django import decorators, messages
from toolbooth.server.messages import name_is_taken, not_a_tool_name
from toolbooth.server.registry import TOOL_NAME

MODULE = "mcp_tools"

logger = logging.getLogger("toolbooth.django")


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A module or a tool that is not published because of a mistake in its code."""

    what: str
    """The module or the tool."""
    why: str
    file: str
    line: int

    @property
    def place(self) -> str:
        """The file and the line of the mistake, written so that editors and terminals recognise
        them.
        """
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class OwnTools:
    """The tools that can be published, and the modules and tools that cannot."""

    tools: tuple[decorators.HandWritten, ...]
    broken: tuple[Broken, ...]


def own_tools() -> OwnTools:
    """Import the `mcp_tools` module of each app. A module that failed before is tried again."""
    broken = list(_import_modules())
    tools: list[decorators.HandWritten] = []
    owners: dict[str, Any] = {}
    # Decorated functions count in any imported module, not only in `mcp_tools` modules.
    for tool in decorators.declared.values():
        mistake = _mistake_in_name(tool, owners)
        if mistake is None:
            owners |= _names_of(tool)
            tools.append(tool)
        else:
            broken.append(_broken_tool(tool, mistake))
    for each in broken:
        logger.error(messages.own_tools_left_out(each.what, each.why, each.place))
    return OwnTools(tuple(tools), tuple(broken))


def _import_modules() -> Iterator[Broken]:
    for app in apps.get_app_configs():
        if not module_has_submodule(app.module, MODULE):
            continue
        module = f"{app.name}.{MODULE}"
        try:
            import_module(module)
        except Exception as error:
            # Python removes a module that failed from `sys.modules`, so the next attempt imports it
            # again.
            _forget(module)
            file, line = _place_of(error, module)
            yield Broken(what=module, why=_words(error), file=file, line=line)


def _forget(module: str) -> None:
    """Remove the tools that a module declared before it failed. So either all tools of a module are
    published, or none.
    """
    for path in [path for path in decorators.declared if path.startswith(f"{module}.")]:
        del decorators.declared[path]


def _place_of(error: Exception, module: str) -> tuple[str, int]:
    """Return the file and the line where the error was raised. Only frames in the module `module`,
    and in modules below it, are considered.
    """
    # After a SyntaxError no frame of the traceback is in the module, because it has not run.
    if isinstance(error, SyntaxError) and error.filename:
        return error.filename, error.lineno or 1
    file, line = module, 1
    for frame, number in walk_tb(error.__traceback__):
        name = str(frame.f_globals.get("__name__"))
        if name == module or name.startswith(f"{module}."):
            file, line = frame.f_code.co_filename, number
    return file, line


def _words(error: Exception) -> str:
    if isinstance(error, SyntaxError):  # its `str()` would repeat the file and the line
        return f"{type(error).__name__}: {error.msg}"
    return f"{type(error).__name__}: {error}"


def _names_of(tool: decorators.HandWritten) -> dict[str, Any]:
    """Return the names that a tool uses, each with its owner. A tool owns its own name. The name of
    a dispatcher is owned by the dispatcher, because all its actions share the name.
    """
    names: dict[str, Any] = {tool.contract.name: tool}
    if tool.dispatcher is not None:
        names[tool.dispatcher.name] = tool.dispatcher
    return names


def _mistake_in_name(tool: decorators.HandWritten, owners: dict[str, Any]) -> str | None:
    """Return the reason why a tool cannot be published under its name. Return None if it can."""
    for name, owner in _names_of(tool).items():
        if not TOOL_NAME.fullmatch(name):
            return not_a_tool_name(name)
        if owners.get(name, owner) != owner:
            return name_is_taken(name)
    return None


def _broken_tool(tool: decorators.HandWritten, mistake: str) -> Broken:
    # Unwrapped, because the code of the wrapper is in `decorators.py`, and authors need their own.
    function: Any = inspect.unwrap(tool.function)
    code = getattr(function, "__code__", None)
    file = function.__module__ if code is None else code.co_filename
    line = 1 if code is None else code.co_firstlineno
    return Broken(what=tool.contract.name, why=mistake, file=file, line=line)
