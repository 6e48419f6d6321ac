"""`protect` and `is_protected` for the servers of every host.

The host is found by the names of the server's classes, and its adapter is imported only then: until
a server is protected, no host is loaded.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, TypeVar

from toolbooth.adapters.kinds import host_of, untested
from toolbooth.boundary.handle import Errors
from toolbooth.extras import MissingExtra
from toolbooth.publish import ProfileChoice

Server = TypeVar("Server")


def protect(
    server: Server, *, profile: ProfileChoice = "portable", errors: Errors = "result"
) -> Server:
    """Put every tool of a server behind the boundary, also those that are added later.

    Takes a FastMCP server, an MCPServer or a low-level Server of the official SDK, and returns it.
    `profile` chooses how the input schemas of functions are written: by name, or a `Profile` of
    your own. `errors` chooses how a refusal is answered: as a tool result, or as JSON-RPC -32602.
    Protecting twice is harmless; the first choices stay.

    Raises:
        TypeError: for any other object.
        ValueError: for an unknown profile, or another value of `errors`.
        ContractError: with every mistake in every tool; nothing has been changed then.
        RuntimeError: if the installed version of the host cannot be protected.
    """
    return _adapter(server).protect(server, profile=profile, errors=errors)


def is_protected(server: object) -> bool:
    """Whether the tools of a server are behind the boundary.

    Raises:
        TypeError: for an object that `protect` does not take.
    """
    return _adapter(server).is_protected(server)


def _adapter(server: object) -> Any:
    kind = host_of(server)
    try:
        return import_module(f"toolbooth.adapters.{kind}")
    # MissingExtra is an ImportError too, and its message has the command that installs the host.
    # Any other ImportError means that the installed version of the host lacks a name that the
    # adapter imports.
    except MissingExtra:
        raise
    except ImportError as error:
        raise RuntimeError(untested(kind)) from error
