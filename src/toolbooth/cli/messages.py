"""The sentences of the command line: help texts of options, errors, and lines that are printed.

The help text of a command is the docstring of its function.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Any, Literal

from toolbooth.jsonvalue import Json, is_object, near_name

# --- the whole command line ---------------------------------------------------------------------

TOOLBOOTH = "Check the tool calls that AI agents send to your Python tools."

COMMANDS = {
    "serve": "Serve tools over stdio or HTTP.",
    "proxy": "Guard the tool calls for a server that you did not write.",
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

SAME_USE = {
    "help": "--help",
    "version": "--version",
    "run": "serve",
    "start": "serve",
    "dev": "serve",
    "list": "tools",
    "inspect": "tools",
    "check": "lint",
    "validate": "lint",
    "guard": "proxy",
    "install": "config",
}
"""Commands of other tools, and what does the same here."""

EXIT_CODES = (
    "Exit codes: 0 done; 1 a call failed, or lint or test found a problem; 2 wrong usage, or the "
    "target cannot be loaded; 3 the server cannot be reached or did not answer in time; 130 Ctrl-C."
)
TRACEBACK_HELP = "Show the Python traceback of an error."


def error(sentence: str) -> str:
    """Return the line for a mistake."""
    return f"Error: {sentence}"


def usage(reason: str, command: str) -> str:
    """Return the sentence about wrong usage. It ends with the command that shows the help."""
    end = "" if reason.endswith((".", "?", "?)")) else "."
    return f"{reason}{end} See `{command} --help`."


def choose_from(words: Iterable[str]) -> str:
    """List the values that an argument may have."""
    return f"It is one of {', '.join(words)}."


def not_one_of(value: str, words: Iterable[str]) -> str:
    """Report a wrong value, and propose the nearest one."""
    known = list(words)
    near = near_name(value, known)
    hint = f"did you mean {near!r}?" if near else f"it is one of {', '.join(known)}"
    return f"there is no {value!r}; {hint}"


def failed(error: BaseException) -> str:
    """Report an exception that no command expects."""
    return (
        f"toolbooth failed with {type(error).__name__}: {_first_line(error)}. "
        "--traceback shows where"
    )


def unknown_command(name: str) -> str:
    """Report an unknown command, and suggest the one with a similar name, or with the same use."""
    near = SAME_USE.get(name) or near_name(name, list(COMMANDS))
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


def bad_url(text: str) -> str:
    """Report a URL that does not begin with http:// or https://."""
    return f"{text!r} is not the URL of a server: it has to begin with http:// or https://"


def bad_address(text: str) -> str:
    """Report a URL without a host, or with a wrong port."""
    return f"{text!r} is not the URL of a server: write a host, a port up to 65535 and the path"


def url_without_scheme(text: str, scheme: str) -> str:
    """Report a URL without http:// or https:// at its beginning."""
    return f"{text!r} does not name a server; write a URL with its scheme: {scheme}://{text}"


def not_a_server_file(text: str) -> str:
    """Report a file that is neither Python nor a URL."""
    return (
        f"{text!r} is a file, and not a server; TARGET is module:object, file.py:object, a URL, or "
        "-- and the command that starts a server"
    )


def bad_header(name: str) -> str:
    """Report a header without a colon."""
    return f"a header is written 'Name: value', not {name!r}"


def only_objects(target: str) -> str:
    """Report a URL or a command as TARGET, if the command line needs a server that it can load."""
    return (
        f"this command loads the server itself, so it does not take {target!r}; it takes "
        "module:object or file.py:object"
    )


def contract_mistakes(owner: str, mistakes: Iterable[str]) -> str:
    """Report tools that could not be registered, with the reason for each."""
    return "\n".join([f"{owner} cannot be registered:", *(f"- {each}" for each in mistakes)])


def not_loaded(target: str, error: BaseException) -> str:
    """Report a module that failed when it was imported."""
    # Imported here, because `toolbooth --help` does not need it.
    from toolbooth.server.logged.messages import logged_error
    from toolbooth.server.logged.one_line import place_of

    # `sys.exit("...")` in the module has a message for the user already.
    if isinstance(error, SystemExit) and isinstance(error.code, str):
        return f"{target} could not be loaded: {_first_line(error)}"
    return logged_error(f"{target} could not be loaded", error, place_of(error))


def unanswered(where: str, reason: str, status: int | None) -> str:
    """Report a server that did not answer, with the next step."""
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
CONFIG_TARGET = (
    "give a TARGET; or --proxy with the name of a server in booth.toml; or --booth booth.toml for "
    "all of its servers"
)
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

TOOLS_JSON = "Print the list, or the one tool, as `tools/list` gives it."


# --- call, tools --------------------------------------------------------------------------------

NO_CONTENT = "[no content]"
NO_FIELDS = "takes no arguments"


def arguments_not_json(reason: str, line: int, column: int) -> str:
    """Report ARGUMENTS that are not JSON, with the line and column of the fault."""
    return (
        f"ARGUMENTS is not JSON: {reason} at line {line}, column {column}. "
        "Write a JSON object in single quotes, such as '{\"a\": 1}'"
    )


NO_INPUT = (
    "standard input is empty, and - reads the arguments from there: write `- < arguments.json`, or "
    "the JSON object itself"
)


def arguments_are_file(file: str) -> str:
    """Report the name of a file in place of ARGUMENTS."""
    return f"ARGUMENTS is a JSON object, and not a file; to read a file, write: - < {file}"


def too_many_words(words: Iterable[str]) -> str:
    """Report ARGUMENTS that the shell has split, or that are not JSON at all."""
    return (
        f"there are several words after TOOL: {' '.join(words)}. "
        "Write one JSON object in single quotes, such as '{\"a\": 1}'"
    )


def arguments_not_sent(reason: str) -> str:
    """Report ARGUMENTS that no client could send."""
    return f"ARGUMENTS cannot be sent: {reason}"


def calling(tool: str, target: str) -> str:
    """Return the progress text of a tool call."""
    return f"calling {tool} at {target}"


def asking(target: str) -> str:
    """Return the progress text of a request for the list of tools."""
    return f"asking {target} for its tools"


def no_tool(name: str, known: list[str]) -> str:
    """Report an unknown tool, and suggest the one with a similar name."""
    if not known:
        return f"there is no tool {name!r}; the server has no tools at all"
    near = near_name(name, known)
    hint = f"did you mean {near!r}?" if near else "`toolbooth tools TARGET` lists them all"
    return f"there is no tool {name!r}; {hint}"


def tokens_of_tool(tokens: int) -> str:
    """Return the number of tokens that one tool uses in each request of an agent."""
    return f"about {tokens:,} tokens"


def marks_of_tool(tool: Json) -> str:
    """Return what the proxy says about a tool. Return empty text if it says nothing."""
    meta: Any = tool.get("_meta")
    own: Any = meta.get("toolbooth") if is_object(meta) else None
    if not is_object(own):
        return ""
    unguarded = "[unguarded] " if own.get("guarded") is False else ""
    changed = "[changed since the last start] " if own.get("changed") is True else ""
    return unguarded + changed


def tokens_of_tools(tokens: int, tools: int) -> str:
    """Return the number of tokens that all tools use together."""
    counted = "1 tool" if tools == 1 else f"{tools:,} tools"
    return f"{tokens:>7,}  tokens for {counted} (bytes / 4)"


def progress(words: str) -> str:
    """Return the line for a task that takes longer than a second."""
    return f"{words[:1].upper()}{words[1:]} ..."


def progress_so_far(words: str, seconds: int) -> str:
    """Return the progress line with the number of seconds so far. It is shown on a terminal."""
    return f"{progress(words)} {seconds} s"


# --- config -------------------------------------------------------------------------------------

CONFIG_HEADERS = (
    "a configuration can have no header except Authorization; use --token, or add it by hand"
)


def config_for(file: str) -> str:
    """Return the line that names the file for the printed JSON."""
    return f"# for {file}"


# --- lint ---------------------------------------------------------------------------------------

TOO_DEEP = "a schema is nested too deep for lint, and for every client"
_TARGETS = (
    "TARGET should be module:server or file.py:server, a URL, a file with a saved tools/list, "
    "- for standard input, or -- and the command that starts a server"
)
NO_TARGET = f"TARGET is missing. {_TARGETS}"


def unknown_target(target: str) -> str:
    """Report a target that is neither a server nor a URL nor a file."""
    return f"there is no file or module {target!r}. {_TARGETS}"


def unknown_choice(kind: str, name: str, known: list[str]) -> str:
    """Report an unknown client or rule, and suggest the one with a similar name."""
    near = near_name(name, known)
    hint = f"did you mean {near!r}?" if near else f"--{kind}s lists them"
    return f"there is no {kind} {name!r}; {hint}"


def client_row(client: str, title: str, claims: int, newest: date) -> str:
    """Return one line of the list of clients that lint knows."""
    return f"{client:15}{title:37}{claims:3} claims, the newest of {newest}"


def fixed_findings(file: str, gone: int, findings: int) -> str:
    """Return the line about a fixed file. It is printed before the remaining findings."""
    return f"{file}: {gone} of {findings} findings fixed. What is left:\n"


def unusable_file(file: str, done: Literal["read", "written"], reason: str | None) -> str:
    """Report a file that could not be read or written."""
    return f"{file} could not be {done}: {reason}"


def not_json(file: str, reason: object) -> str:
    """Report a file, or standard input, that is not JSON."""
    return f"{'standard input' if file == '-' else file} is not JSON: {reason}"


NO_LIST = (
    "standard input is empty, and - reads a tools/list from there: write `- < tools.json`, or "
    "the name of the file"
)


# --- replay -------------------------------------------------------------------------------------


def no_recording(file: object) -> str:
    """Report that the file with the calls does not exist."""
    return f"there is no file '{file}'; `toolbooth.testing.record_calls` writes such files"


def recording_first(file: object, target: str) -> str:
    """Report that the file with the calls and TARGET are in the wrong order."""
    return f"the file with the calls comes first: toolbooth replay {target} {file}"


def replaying(file: object) -> str:
    """Return the progress text of a replay."""
    return f"replaying {file}"


def recording_updated(file: object) -> str:
    """Report a recording that has been rewritten."""
    return f"{file} now contains today's results."


def how_to_update(file: object, target: str) -> str:
    """Return the line with the command that accepts the changes of a replay."""
    return f"To accept the changes: toolbooth replay {file} {target} --update"
