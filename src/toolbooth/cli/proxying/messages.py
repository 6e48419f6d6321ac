"""The sentences of `toolbooth proxy`: help texts of options, errors, and lines that are printed."""

from __future__ import annotations

POLICY = (
    "What happens to undeclared keys where a schema does not state whether they may be sent: "
    "'default' refuses them, but only notes them for tools that only read; 'strict' refuses them "
    "always; 'lenient' forwards them with a note."
)
PUBLISH = "How schemas are listed: in the form that every client reads, or unchanged."
FLATTEN = "List the fields of a lone object parameter as parameters of their own."
ALLOW = "A tool to show, or a pattern such as 'read_*'; may be given several times. Default: all."
DENY = "A tool to hide, or a pattern; may be given several times."
PREFIX = "Text before the name of each tool."
TIMEOUT = "Seconds without an answer or progress after which a request is cancelled."
LOG = "Write one line per call to standard error."
RECORD = "Add each call to this file, without secrets, for `toolbooth replay` and `proxy report`."
OBSERVE = "A trial run: guard and change nothing, and only count what would be refused or repaired."
PROXIED = "A server behind `toolbooth proxy` instead of TARGET, by its name in the file of --booth."
BOOTH = "The configuration file of the proxy."
CONFIG = "A file with servers and their rules. TARGET is then the name of one of them."
HTTP = "Serve over HTTP on this port instead of stdio."
SESSIONS = "Most servers that run at a time, one for each client, with --http and a command."
IDLE = "Seconds after which an unused session is ended, with --http."

ONLY_COMMANDS_AND_URLS = (
    "a proxy needs the URL of a server, or the command that starts one, such as "
    "`toolbooth proxy -- npx -y @example/server`"
)
OBSERVE_IS_FOR_STDIO = "--observe is for a command, without --http"

NO_RECORDING = "name the recording: `toolbooth proxy report calls.jsonl`"

ONE_TARGET = (
    "a proxy takes one target, and the words of a command come after `--`: "
    "`toolbooth proxy -- npx -y @example/server`"
)


def not_started(command: str, reason: object) -> str:
    """Report a command that cannot be run."""
    return f"{command!r} could not be started: {reason}"


def observing(command: str, policy: str) -> str:
    """Return the first line of a trial run."""
    return (
        f"Observing {command}: nothing is guarded, every message is forwarded as it is. Calls are "
        f"judged by the policy {policy}, and --record FILE keeps the result."
    )


def guarding(command: str, policy: str) -> str:
    """Return the first line of a proxy."""
    return f"Guarding the tool calls for {command} (policy: {policy})."


def not_recorded(file: str, reason: object) -> str:
    """Report a file that the calls cannot be added to."""
    return f"the calls cannot be recorded in {file}: {reason}"


def serving_at(first: str, url: str) -> str:
    """Return the first line of a proxy over HTTP, with the URL for clients."""
    return f"{first} {url}"


def no_such_server(name: str | None, file: str, names: list[str]) -> str:
    """Report an unknown server of the configuration file, or a missing name if there are several
    servers.
    """
    known = ", ".join(names)
    if name is None:
        return f"{file} has several servers; name one of them: {known}"
    return f"{file} has no server {name!r}; there is {known}"


def config_not_read(file: str, reason: object) -> str:
    """Report a configuration file with mistakes."""
    return f"{file} cannot be used: {reason}"


def belongs_in_file(option: str) -> str:
    """An option that a configuration file has a setting for."""
    return f"{option} has no effect with --config; write it into the file"
