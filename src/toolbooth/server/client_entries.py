"""Writes the configuration with which an MCP client reaches a server: the URL of the server, or the
command that starts it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from toolbooth.jsonvalue import Json
from toolbooth.server import messages

Entry = Callable[[str, Mapping[str, str]], Json]
"""A function that gets a URL and headers, and returns the entry for the client's configuration
file.
"""


@dataclass(frozen=True, slots=True)
class Client:
    """An MCP client: its configuration file, and how a URL is written in that file."""

    file: str
    key: str
    entry: Entry


def _untyped(url: str, headers: Mapping[str, str]) -> Json:
    return {"url": url, **_some(headers)}


def _typed(url: str, headers: Mapping[str, str]) -> Json:
    return {"type": "http", "url": url, **_some(headers)}


def _by_bridge(url: str, headers: Mapping[str, str]) -> Json:
    """Return an entry that reaches a URL through the program `mcp-remote`. It is for clients that
    can only start programs.

    The argument with the header has no space in it, because some systems would split the argument
    there (geelen/mcp-remote, README).
    """
    arguments = ["-y", "mcp-remote", url]
    if url.startswith("http:"):
        arguments.append("--allow-http")
    if not headers:
        return {"command": "npx", "args": arguments}
    arguments += ["--header", "Authorization:${AUTHORIZATION}"]
    return {"command": "npx", "args": arguments, "env": {"AUTHORIZATION": headers["Authorization"]}}


def _some(headers: Mapping[str, str]) -> Json:
    return {"headers": dict(headers)} if headers else {}


CLIENTS = {
    "claude-code": Client(".mcp.json in your project", "mcpServers", _typed),
    "claude-desktop": Client("claude_desktop_config.json", "mcpServers", _by_bridge),
    "cursor": Client(".cursor/mcp.json", "mcpServers", _untyped),
    "vscode": Client(".vscode/mcp.json", "servers", _typed),
    "windsurf": Client(
        "~/.codeium/windsurf/mcp_config.json",
        "mcpServers",
        lambda url, headers: {"serverUrl": url, **_some(headers)},
    ),
    "gemini-cli": Client(
        "~/.gemini/settings.json",
        "mcpServers",
        lambda url, headers: {"httpUrl": url, **_some(headers)},
    ),
    "zed": Client("settings.json", "context_servers", _untyped),
    "generic": Client(messages.CONFIG_OF_ANY_CLIENT, "mcpServers", _typed),
}


def configuration_for(client: str, name: str, url: str, authorization: str | None = None) -> Json:
    """Return the JSON configuration of a client for a URL. `authorization` is the complete value of
    the Authorization header.
    """
    known = CLIENTS[client]
    headers = {"Authorization": authorization} if authorization else {}
    return {known.key: {name: known.entry(url, headers)}}


def command_configuration_for(client: str, name: str, command: Sequence[str]) -> Json:
    """Return the JSON configuration for a command that serves over stdio. It is the same for all
    clients.
    """
    entry = {"command": command[0], "args": list(command[1:])}
    return {CLIENTS[client].key: {name: entry}}
