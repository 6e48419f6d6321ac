"""The sentences of the command line: help texts of options, errors, and lines that are printed.

The help text of a command is the docstring of its function.
"""

from __future__ import annotations

from datetime import date

from toolbooth.jsonvalue import near_name

# --- help texts of options ----------------------------------------------------------------------

CALL_META = "Also print `_meta`: repairs, problems, the corrected call."

LINT_EXIT_CODES = (
    "Exit codes: 0 nothing at or above --fail-on, 1 findings, 2 the tools could not be read."
)
LINT_CLIENT = "Only what hurts these clients (see --clients)."
LINT_SELECT = "Only these rules (see --rules)."
LINT_IGNORE = "Not these rules."
LINT_NOTES = "Show notes too; counted they are always."
LINT_FAIL_ON = "Exit with 1 from this severity on."
LINT_STRICT = "The same as --notes --fail-on note."
LINT_FIX = "Write the tools/list there, fixed."
LINT_SERVER = "The server's name, which some clients put before a tool's."
LINT_HEADER = "Sent with every request to an http(s) address."
LINT_TIMEOUT = "Seconds that a running server has."
LINT_RULES = "List the rules."
LINT_CLIENTS = "List the clients."
LINT_EXPLAIN = "What a rule is about."

REPLAY_UPDATE = "Write what is made of the calls today into the file, values and all."

SERVE_HTTP = "Serve over HTTP on this port instead of stdio."
SERVE_HOST = "The address to listen on, with --http. Other machines need the token."
SERVE_ALLOW_HOST = (
    "Another host that requests may be sent to, with --http; may be given several times. "
    "'*' allows all: only behind a proxy that checks them."
)
SERVE_TOKEN_FILE = (
    "A file with the token that requests must send as `Authorization: Bearer`, with --http. "
    "Without it, the variable TOOLBOOTH_TOKEN."
)
SERVE_NO_AUTH = "Take requests from other machines without a token, with --http."
SERVE_REQUEST = "Seconds in which a request must arrive whole, with --http."
SERVE_INCOMPLETE = (
    "Open connections that have not sent a whole request, with --http. "
    "Beyond that, the oldest of them is closed."
)
SERVE_STOP = "Seconds that calls have after SIGTERM."
SERVE_DRAIN = "Seconds that calls have after the end of input, over stdio."
SERVE_PATH = "Where MCP is served, with --http."
SERVE_LOG = "Write one line per call to standard error."

TOOLS_JSON = "Print the whole list as `tools/list` gives it."


# --- call, tools --------------------------------------------------------------------------------


def unknown_tool(reason: object) -> str:
    """A call of a tool that the registry does not have."""
    return f"{reason}; `toolbooth tools` lists them all"


def no_tool(name: str) -> str:
    """The fields of a tool that is not listed."""
    return f"there is no tool {name!r}; without a name all are listed"


# --- lint ---------------------------------------------------------------------------------------

TOO_DEEP = "a schema is nested too deep to be judged, and for any client"
_TARGETS = (
    "TARGET should be module:server or file.py:server, an http(s) address, "
    "a file with a saved tools/list, - for standard input, "
    "or -- and the command that starts a server"
)
NO_TARGET = f"there is no TARGET. {_TARGETS}"
CLIENT_MISSING = "asking a running server needs the official client: pip install 'toolbooth[mcp]'"


def unknown_target(target: str) -> str:
    """A target that is no server, file or command."""
    return f"there is no {target!r} here. {_TARGETS}"


def unknown_choice(kind: str, name: str, known: list[str]) -> str:
    """A client or a rule that does not exist, with the one whose name is similar."""
    near = near_name(name, known)
    hint = f"did you mean {near!r}?" if near else f"--{kind}s lists them"
    return f"there is no {kind} {name!r}; {hint}"


def client_row(client: str, title: str, claims: int, newest: date) -> str:
    """One line of the list of clients."""
    return f"{client:15}{title:37}{claims:3} claims, the newest of {newest}"


def fixed_findings(file: str, gone: int, findings: int) -> str:
    """The file with the fixed tools, before the findings that remain."""
    return f"{file}: {gone} of {findings} findings fixed. What is left:\n"


def not_written(file: str, reason: str | None) -> str:
    """A file that the fixed tools could not be written to."""
    return f"{file} could not be written: {reason}"


def not_read(file: str, reason: str | None) -> str:
    """A file that could not be read."""
    return f"{file} could not be read: {reason}"


def not_json(file: str, reason: object) -> str:
    """A file that is not JSON."""
    return f"{file} is no JSON: {reason}"


def not_loaded(target: str) -> str:
    """A module that failed when it was imported, below its traceback."""
    return f"{target} could not be loaded; the reason stands above"


def bad_header(name: str) -> str:
    """A header without a colon."""
    return f"a header is written 'Name: value', not {name!r}"


# --- replay -------------------------------------------------------------------------------------


def recording_updated(file: object) -> str:
    """A recording that has been rewritten."""
    return f"{file} now holds what is made of them today."


def how_to_update(file: object, target: str) -> str:
    """The command that accepts the changes."""
    return f"If that is meant: toolbooth replay {file} {target} --update"


# --- serve --------------------------------------------------------------------------------------

NO_AUTH_OR_TOKEN = "--no-auth and --token-file contradict each other"


def only_with_http(option: str) -> str:
    """An option for HTTP, where stdio is served."""
    return f"{option} is for HTTP; add --http PORT"


def only_over_stdio(option: str) -> str:
    """An option for stdio, where HTTP is served."""
    return f"{option} is for stdio; leave out --http"


def token_needed(host: str) -> str:
    """An address that other machines can reach, and nothing that keeps them out."""
    return (
        f"other machines can reach {host}, so requests need a token: "
        "set TOOLBOOTH_TOKEN, name a --token-file, or take requests from anyone with --no-auth"
    )


def token_not_read(file: str, reason: object) -> str:
    """A file that the token could not be read from."""
    return f"the token file {file} could not be read: {reason}"


def token_empty(where: str) -> str:
    """A place for the token, with nothing in it."""
    return f"{where} is empty; it should hold the token"


def token_wrong(where: str, reason: object) -> str:
    """A token that no client could send."""
    return f"{where} does not hold a token: {reason}"


def cannot_listen(host: str, port: int, reason: object) -> str:
    """An address that is taken or not this machine's."""
    return f"cannot listen at {host}:{port}: {reason}"


def server_started(name: str, tools: int, url: str) -> str:
    """The line that is printed once the server runs."""
    return f"{name}: {tools} tools at {url}"
