"""Handles errors of FastMCP's own validation. FastMCP validates transformed tools and tools with
their own `run`.
"""

from __future__ import annotations

import inspect
from types import CodeType
from typing import Any

from fastmcp.exceptions import FastMCPError, McpError
from fastmcp.tools import FunctionTool, Tool

# FastMCP has no public names for the place where it validates, nor for the wrapper of a body.
from fastmcp.tools.function_tool import (
    _wrap_body_errors,  # pyright: ignore[reportPrivateUsage]
)
from fastmcp.tools.tool_transform import TransformedTool
from pydantic import ValidationError

from toolbooth.adapters.sdk.host_validation import failed_path, locals_where_failed, unreadable
from toolbooth.errors import ToolError, ToolInputError

_KNOWN = (ValidationError, FastMCPError, McpError, ToolError, ToolInputError)
"""The exceptions that FastMCP or the adapter converts to a response."""

_VALIDATING = FunctionTool._run_body.__code__  # pyright: ignore[reportPrivateUsage]
_wrap: Any = inspect.unwrap(_wrap_body_errors)
_BODIES = [each for each in _wrap.__code__.co_consts if isinstance(each, CodeType)]


def refused_by_host(error: Exception, tool: Tool) -> ToolInputError | None:
    """Return a refusal if the exception was raised in FastMCP's validation. Return None for any
    other exception.
    """
    found = None if isinstance(error, _KNOWN) else locals_where_failed(error, _VALIDATING, _BODIES)
    if found is None:
        return None
    path = failed_path(error, found["type_adapter"].core_schema, found["arguments"])
    # Only the first step is the name of a parameter, which a transformation may have changed.
    return unreadable((*(_name_in(tool, each) for each in path[:1]), *path[1:]))


def _name_in(tool: Tool, name: Any) -> Any:
    """Return the name of a parameter in a tool. Transformations may have changed the name several
    times.
    """
    if not isinstance(tool, TransformedTool):
        return name
    # The parent may be transformed too, and its names are changed first.
    name = _name_in(tool.parent_tool, name)
    changed = tool.transform_args.get(name)
    return changed.name if changed is not None and isinstance(changed.name, str) else name
