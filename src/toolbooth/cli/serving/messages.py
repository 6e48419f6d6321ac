"""The sentences of `toolbooth serve`: help texts of options, errors, and lines that are printed."""

from __future__ import annotations

from collections.abc import Iterable

HTTP = "Serve over HTTP on this port instead of stdio."
HOST = "The address to listen on, with --http. Other machines need the token."
ALLOW_HOST = (
    "Another host that requests may be sent to, with --http; may be given several times. "
    "'*' allows all: only behind a proxy that checks them."
)
TOKEN_FILE = (
    "A file with the token that requests must send as `Authorization: Bearer`, with --http. "
    "Without it, the token is read from TOOLBOOTH_TOKEN."
)
NO_AUTH = "Accept requests from other machines without a token, with --http."
REQUEST = "Seconds within which a whole request must arrive, with --http."
INCOMPLETE = (
    "Most open connections without a whole request, with --http. Beyond that, the oldest is closed."
)
STOP = "Seconds that running calls may take after SIGTERM."
DRAIN = "Seconds that running calls may take after the end of input, over stdio."
PATH = "Where MCP is served, with --http."
RELOAD = "Start the server again when a file changes, with --http."
LOG = "Write one line per call to standard error."

NO_AUTH_OR_TOKEN = "--no-auth and --token-file contradict each other; give one of them"
NO_SUCH_NAME = "no machine of this name can be found"


def only_with_http(option: str) -> str:
    """Report an option that needs `--http`."""
    return f"{option} is for HTTP; add --http PORT"


def only_over_stdio(option: str) -> str:
    """Report an option that does not work with `--http`."""
    return f"{option} is for stdio; leave out --http"


def token_needed(host: str) -> str:
    """Report an address that other machines can reach, without a token."""
    return (
        f"other machines can reach {host}, so requests need a token: "
        "set TOOLBOOTH_TOKEN, name a --token-file, or take requests from anyone with --no-auth"
    )


def token_not_read(file: str, reason: object) -> str:
    """Report a token file that could not be read."""
    return f"the token file {file} could not be read: {reason}"


def token_empty(where: str) -> str:
    """Report an empty token."""
    return f"{where} is empty; it should hold the token"


def token_wrong(where: str, reason: object) -> str:
    """Report a token that no client could send."""
    return f"{where} does not hold a token: {reason}"


def port_taken(host: str, port: int) -> str:
    """Report a port that another program listens on."""
    return f"port {port} of {host} is taken; use another one, or --http 0 for any free port"


def cannot_listen(host: str, port: int, reason: object) -> str:
    """Report an address that is in use, or does not belong to this machine."""
    return f"cannot listen at {host}:{port}: {reason}"


def server_started(name: str, tools: int, url: str) -> str:
    """Return the line that is printed when the server runs."""
    return f"{name}: {tools} {'tool' if tools == 1 else 'tools'} at {url}"


def host_started(name: str, url: str) -> str:
    """Return the line that is printed when a server of FastMCP or the SDK runs. The line has no
    number of tools.
    """
    return f"{name} at {url}"


def reloading(folders: Iterable[str]) -> str:
    """Return the line that is printed before a server with `--reload` starts for the first time."""
    return f"Starting again when a file changes in {', '.join(folders)}"


LOG_IS_FOR_REGISTRIES = "--log is for a ToolRegistry; FastMCP and the SDK have their own logging"


def served_in_terminal(name: str, target: str) -> str:
    """Return the text for a person who starts a stdio server in a terminal."""
    return (
        f"{name} is served over stdio. It waits for an MCP client: clients start this command\n"
        "themselves and talk to it through a pipe, so there is nothing to type here.\n"
        f"To try a tool:   toolbooth call {target} TOOL\n"
        f"To use a URL:    toolbooth serve {target} --http 8000\n"
        f"For a client:    toolbooth config {target} --client claude-code\n"
        "Ctrl-C ends it."
    )
