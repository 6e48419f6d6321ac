"""How MCP clients write a server into their configuration: by its URL, or by the command that
starts it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from toolbooth.jsonvalue import Json
from toolbooth.server import messages

Entry = Callable[[str, Mapping[str, str]], Json]
"""A URL and headers -> one server, as a client writes it."""


@dataclass(frozen=True, slots=True)
class Client:
    """Where a client keeps its servers, and how it writes one at a URL."""

    file: str
    key: str
    entry: Entry


def _untyped(url: str, headers: Mapping[str, str]) -> Json:
    return {"url": url, **_some(headers)}


def _typed(url: str, headers: Mapping[str, str]) -> Json:
    return {"type": "http", "url": url, **_some(headers)}


def _by_bridge(url: str, headers: Mapping[str, str]) -> Json:
    """A client that only starts programs reaches a URL through `mcp-remote`.

    Its header has no space in it, since some systems split arguments there (geelen/mcp-remote,
    README).
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
    """The JSON that a client wants for a URL; `authorization` is the whole header."""
    known = CLIENTS[client]
    headers = {"Authorization": authorization} if authorization else {}
    return {known.key: {name: known.entry(url, headers)}}


def command_configuration_for(client: str, name: str, command: Sequence[str]) -> Json:
    """The JSON that a client wants for a command that serves over stdio. All write it alike."""
    entry = {"command": command[0], "args": list(command[1:])}
    return {CLIENTS[client].key: {name: entry}}
