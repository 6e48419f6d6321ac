"""Converts a refusal to exceptions whose text the host frameworks show to the agent."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from typing import Any

from toolbooth.boundary.render import refusal_text
from toolbooth.compile.pydantic.failures import Passing
from toolbooth.contract import Contract
from toolbooth.errors import ToolInputError

_HOST_ERRORS = {
    "fastmcp.exceptions": "ToolError",
    "mcp.server.mcpserver.exceptions": "ToolError",
    "pydantic_ai.exceptions": "ModelRetry",
}
"""Maps a module to its exception whose text the host shows to the agent."""

_PROTOCOL_ERRORS = {"mcp.shared.exceptions": "MCPError"}
"""Maps a module to its exception that the host sends as a JSON-RPC error."""


def passing_errors() -> Passing:
    """Return the exceptions that pass through the validation unchanged. The author's code raises
    them for its host.
    """
    return _loaded(_HOST_ERRORS | _PROTOCOL_ERRORS)


def _loaded(names: Mapping[str, str]) -> Passing:
    """Return those exceptions whose modules are already imported."""
    # Hosts are not imported here. If one is not loaded, its exceptions are not in use either.
    found = (getattr(sys.modules.get(home), name, None) for home, name in names.items())
    return tuple(each for each in found if isinstance(each, type))


def visible(error: ToolInputError, contract: Contract) -> ToolInputError:
    """Return the refusal as an exception that all imported hosts know. Each host then shows its
    text to the agent.
    """
    text = refusal_text(error, contract.limits.max_text)
    bases = _loaded(_HOST_ERRORS)

    def write(_: object) -> str:
        return text

    own: dict[str, Any] = {"log_level": logging.WARNING, "__str__": write}
    # Each host catches its own class, and several may be loaded, so the exception is of all their
    # classes at once.
    kind: Any = type("ToolInputError", (ToolInputError, *bases), own)
    made = kind(
        error.problems,
        tool=error.tool,
        declared=error.declared,
        corrected=error.corrected,
        edits=error.edits,
        more=error.more,
    )
    # pydantic-ai shows this attribute.
    made.message = text
    return made
