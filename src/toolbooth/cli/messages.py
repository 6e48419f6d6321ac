"""The sentences of the command line: help texts of options, errors, and lines that are printed.

The help text of a command is the docstring of its function.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from traceback import extract_tb
from typing import Literal

from toolbooth.jsonvalue import near_name

# --- the whole command line ---------------------------------------------------------------------

TOOLBOOTH = "Check the tool calls that AI agents send to your Python tools."

COMMANDS = {
    "serve": "Serve tools over stdio or HTTP.",
    "call": "Call one tool, as an agent would.",
    "tools": "List the tools, or show the fields of one.",
    "lint": "Find tools that real clients refuse or misread.",
    "test": "Call the tools in every shape that agents are known to send.",
    "explain": "Explain how a call is judged, without calling anything.",
    "replay": "Compare recorded calls with how they are judged today.",
    "config": "Print the JSON to paste into a client's configuration.",
    "doctor": "Check versions, extras, the target and its schemas.",
    "completion": "Print the script that completes commands in a shell.",
}
"""The commands with a line about each. `toolbooth --help` loads none of them."""

EXIT_CODES = (
    "Exit codes: 0 done; 1 a call failed, or lint or test found a problem; 2 wrong usage, or the "
    "target cannot be loaded; 3 the server cannot be reached or did not answer in time; 130 Ctrl-C."
)
TRACEBACK_HELP = "Show the Python traceback of an error."


def error(sentence: str) -> str:
    """A mistake, as it is printed."""
    return f"Error: {sentence}"


def usage(reason: str, command: str) -> str:
    """A mistake in the words of the command itself."""
    end = "" if reason.endswith((".", "?")) else "."
    return f"{reason}{end} See `{command} --help`."


def failed(error: BaseException) -> str:
    """An exception that no command expects."""
    return (
        f"toolbooth failed with {type(error).__name__}: {_first_line(error)}. "
        "--traceback shows where"
    )


def unknown_command(name: str) -> str:
    """A command that does not exist, with the one whose name is similar."""
    near = near_name(name, list(COMMANDS))
    hint = f"did you mean {near!r}?" if near else f"the commands are {', '.join(COMMANDS)}."
    return f"There is no command {name!r}; {hint}"


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0].rstrip(".")


# --- TARGET -------------------------------------------------------------------------------------

HEADER = "A header for the requests to a URL; may be given several times."
TOKEN = (
    "A token for the requests to a URL, sent as `Authorization: Bearer`. "
    "A value with its own scheme ('Basic ...') is sent unchanged."
)
TIMEOUT = "Seconds that a running server has for each answer."
ASKING_A_SERVER = "asking a running server"
THE_CLIENT = "the official client"
NOTHING_AFTER_DASHES = (
    "there is nothing after --; write the command that starts the server, "
    "such as `-- npx -y @example/server`"
)
HEADERS_WITHOUT_URL = "--header and --token are for a URL; leave them out for this target"


def bad_header(name: str) -> str:
    """A header without a colon."""
    return f"a header is written 'Name: value', not {name!r}"


def only_objects(target: str) -> str:
    """A running server, for a command that loads one."""
    return f"{target!r} is not in this process; this command takes module:object or file.py:object"


def contract_mistakes(owner: str, mistakes: Iterable[str]) -> str:
    """Tools that could not be registered, with each reason."""
    return "\n".join([f"{owner} cannot be registered:", *(f"- {each}" for each in mistakes)])


def not_loaded(target: str, error: BaseException) -> str:
    """A module that failed when it was imported."""
    # `sys.exit("...")` in the module has a message for the user already.
    if isinstance(error, SystemExit) and isinstance(error.code, str):
        return f"{target} could not be loaded: {_first_line(error)}"
    words = ": ".join(filter(None, (type(error).__name__, _first_line(error))))
    return f"{target} could not be loaded: {words}{_place(error)}. --traceback shows the rest"


def _place(error: BaseException) -> str:
    """The line of the user's own code that failed last."""
    steps = [step for step in extract_tb(error.__traceback__) if _is_users(step.filename)]
    return f" ({shown_path(steps[-1].filename)}, line {steps[-1].lineno})" if steps else ""


def _is_users(file: str) -> bool:
    libraries = (Path(__file__).parent.parent, Path(os.__file__).parent)
    return not file.startswith("<") and not any(map(Path(file).is_relative_to, libraries))


def shown_path(file: str) -> str:
    """A file as it is named from here."""
    here = Path.cwd()
    return str(Path(file).relative_to(here)) if Path(file).is_relative_to(here) else file


def unanswered(where: str, reason: str, status: int | None) -> str:
    """A server that could not be asked, with what to do."""
    if status in (401, 403):
        return (
            f"{where} requires credentials (HTTP {status}): send them with --token TOKEN "
            "or --header 'NAME: VALUE'"
        )
    if status == 404:
        return f"there is no MCP server at {where} (HTTP 404); check the path, often it is /mcp"
    return f"{where}: {reason}"


# --- help texts of options ----------------------------------------------------------------------

CALL_JSON = 'Print the tool result as one JSON document, or {"error": ...}.'
CALL_META = "Also print `_meta`: repairs, problems, the corrected call."

CONFIG_CLIENT = "The client whose configuration is written."
CONFIG_NAME = "The name of the server in that configuration."

LINT_CLIENT = "Report only problems of these clients (see --clients)."
LINT_SELECT = "Check only these rules (see --rules)."
LINT_IGNORE = "Skip these rules."
LINT_FORMAT = "How the findings are printed; `json` is one document with all of them."
LINT_JSON = "Print one JSON document per line: each finding, then a summary."
LINT_NOTES = "Show notes too. They are always counted."
LINT_FAIL_ON = "Exit with 1 if a finding has at least this severity."
LINT_STRICT = "The same as --notes --fail-on note."
LINT_FIX = "Write the corrected tools/list to this file."
LINT_SERVER = "The server's name, which some clients put before a tool's."
LINT_RULES = "List the rules."
LINT_CLIENTS = "List the clients."
LINT_EXPLAIN = "Explain a rule: what it is about, and what each client does."

REPLAY_UPDATE = "Write today's results into the file, values included."
REPLAY_JSON = "Print one JSON document per line: each change, then a summary."

SERVE_HTTP = "Serve over HTTP on this port instead of stdio."
SERVE_HOST = "The address to listen on, with --http. Other machines need the token."
SERVE_ALLOW_HOST = (
    "Another host that requests may be sent to, with --http; may be given several times. "
    "'*' allows all: only behind a proxy that checks them."
)
SERVE_TOKEN_FILE = (
    "A file with the token that requests must send as `Authorization: Bearer`, with --http. "
    "Without it, the token is read from TOOLBOOTH_TOKEN."
)
SERVE_NO_AUTH = "Accept requests from other machines without a token, with --http."
SERVE_REQUEST = "Seconds within which a whole request must arrive, with --http."
SERVE_INCOMPLETE = (
    "Most open connections without a whole request, with --http. Beyond that, the oldest is closed."
)
SERVE_STOP = "Seconds that running calls may take after SIGTERM."
SERVE_DRAIN = "Seconds that running calls may take after the end of input, over stdio."
SERVE_PATH = "Where MCP is served, with --http."
SERVE_RELOAD = "Start the server again when a file changes, with --http."
SERVE_LOG = "Write one line per call to standard error."

TOOLS_JSON = "Print the list, or the one tool, as `tools/list` gives it."


# --- call, tools --------------------------------------------------------------------------------

NO_CONTENT = "[no content]"
NO_FIELDS = "takes no arguments"


def arguments_not_json(reason: str, line: int, column: int) -> str:
    """ARGUMENTS that are not JSON, with the place."""
    return (
        f"ARGUMENTS is not JSON: {reason} at line {line}, column {column}. "
        "Write a JSON object in single quotes, such as '{\"a\": 1}'"
    )


def arguments_not_sent(reason: str) -> str:
    """ARGUMENTS that no client could send."""
    return f"ARGUMENTS cannot be sent: {reason}"


def calling(tool: str, target: str) -> str:
    """A call that takes long."""
    return f"calling {tool} at {target}"


def asking(target: str) -> str:
    """A list of tools that takes long."""
    return f"asking {target} for its tools"


def no_tool(name: str, known: list[str]) -> str:
    """A tool that is not listed, with the one whose name is similar."""
    near = near_name(name, known)
    hint = f"did you mean {near!r}?" if near else "`toolbooth tools TARGET` lists them all"
    return f"there is no tool {name!r}; {hint}"


def tokens_of_tool(tokens: int) -> str:
    """What one tool costs in each request of an agent."""
    return f"about {tokens:,} tokens"


def tokens_of_tools(tokens: int, tools: int) -> str:
    """What all tools cost together."""
    counted = "1 tool" if tools == 1 else f"{tools:,} tools"
    return f"{tokens:>7,}  tokens for {counted} (bytes / 4)"


def progress(words: str) -> str:
    """Something that takes longer than a second."""
    return f"{words[:1].upper()}{words[1:]} ..."


def progress_so_far(words: str, seconds: int) -> str:
    """The same on a terminal, with the seconds so far."""
    return f"{progress(words)} {seconds} s"


# --- config -------------------------------------------------------------------------------------

CONFIG_HEADERS = (
    "a configuration can have no header except Authorization; use --token, or add it by hand"
)


def config_for(file: str) -> str:
    """Where the printed JSON belongs."""
    return f"# for {file}"


# --- lint ---------------------------------------------------------------------------------------

TOO_DEEP = "a schema is nested too deep for lint, and for every client"
_TARGETS = (
    "TARGET should be module:server or file.py:server, a URL, a file with a saved tools/list, "
    "- for standard input, or -- and the command that starts a server"
)
NO_TARGET = f"TARGET is missing. {_TARGETS}"


def unknown_target(target: str) -> str:
    """A target that is no server, URL or file."""
    return f"there is no file or module {target!r}. {_TARGETS}"


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


def unusable_file(file: str, done: Literal["read", "written"], reason: str | None) -> str:
    """A file that could not be read or written."""
    return f"{file} could not be {done}: {reason}"


def not_json(file: str, reason: object) -> str:
    """A file that is not JSON."""
    return f"{file} is not JSON: {reason}"


# --- replay -------------------------------------------------------------------------------------


def no_recording(file: object) -> str:
    """A file with calls that does not exist."""
    return f"there is no file '{file}'; `toolbooth.testing.record_calls` writes such files"


def replaying(file: object) -> str:
    """A replay that takes long."""
    return f"replaying {file}"


def recording_updated(file: object) -> str:
    """A recording that has been rewritten."""
    return f"{file} now contains today's results."


def how_to_update(file: object, target: str) -> str:
    """The command that accepts the changes."""
    return f"To accept the changes: toolbooth replay {file} {target} --update"


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


def port_taken(host: str, port: int) -> str:
    """A port that another program listens on."""
    return f"port {port} of {host} is taken; use another one, or --http 0 for any free port"


def cannot_listen(host: str, port: int, reason: object) -> str:
    """An address that is taken or not this machine's."""
    return f"cannot listen at {host}:{port}: {reason}"


def server_started(name: str, tools: int, url: str) -> str:
    """The line that is printed once the server runs."""
    return f"{name}: {tools} {'tool' if tools == 1 else 'tools'} at {url}"


def host_started(name: str, url: str) -> str:
    """The same for a server of FastMCP or the SDK, which lists its tools only when it is asked."""
    return f"{name} at {url}"


def reloading(folders: Iterable[str]) -> str:
    """The line before the first start of a server that reloads."""
    return f"Starting again when a file changes in {', '.join(folders)}"


LOG_IS_FOR_REGISTRIES = "--log is for a ToolRegistry; FastMCP and the SDK have their own logging"


def served_in_terminal(name: str, target: str) -> str:
    """What somebody reads who starts a stdio server by hand."""
    return (
        f"{name} is served over stdio. It waits for an MCP client: clients start this command\n"
        "themselves and talk to it through a pipe, so there is nothing to type here.\n"
        f"To try a tool:   toolbooth call {target} TOOL\n"
        f"To use a URL:    toolbooth serve {target} --http 8000\n"
        f"For a client:    toolbooth config {target} --client claude-code\n"
        "Ctrl-C ends it."
    )
