"""The sentences of `toolbooth proxy`: help texts of options, errors, and lines that are printed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolbooth.proxy.booth import ServerSettings

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
BOOTH = (
    "The configuration file of the proxy, booth.toml by default. Without --proxy, the entry is for "
    "all of its servers together."
)
CONFIG = (
    "A file with servers and their rules. TARGET is then the name of one of them; without it, all "
    "of them are served together."
)
HTTP = "Serve over HTTP on this port instead of stdio."
SESSIONS = "Most servers that run at a time, one for each client, with --http and a command."
SHARED = "Use one process of each command for all clients, with --http."
IDLE = "Seconds after which an unused session is ended, with --http."

ONLY_COMMANDS_AND_URLS = (
    "a proxy needs the URL of a server, or the command that starts one, such as "
    "`toolbooth proxy -- npx -y @example/server`"
)
SHARED_IS_FOR_COMMANDS = "--shared is for servers that a command starts"
OBSERVE_IS_FOR_ONE = "--observe is for one server: write its name after the file"
SHARED_CHANGES_IDS = "--observe changes nothing, but --shared has to change ids; leave one out"

NO_ARGUMENT = {
    "report": "name the recording: `toolbooth proxy report calls.jsonl`",
    "login": (
        "name the server: `toolbooth proxy login NAME` with its name in booth.toml, or its URL"
    ),
}
A_SAVED_LOGIN = "a server with a saved login"

ONE_TARGET = (
    "a proxy takes one target, and the words of a command come after `--`: "
    "`toolbooth proxy -- npx -y @example/server`"
)


def name_as_target(name: str, file: str) -> str:
    """Report that the target is not a URL or a command. If it is the name of a server in the
    configuration file, `--config` is missing.
    """
    return (
        f"{name!r} is neither a URL nor a command after `--`; if it is a server of {file}, write: "
        f"`toolbooth proxy --config {file} {name}`"
    )


def file_as_target(file: str) -> str:
    """Report that the target is a configuration file, and that `--config` is missing."""
    return f"a configuration file comes after --config: `toolbooth proxy --config {file}`"


def python_as_target(target: str) -> str:
    """Report that the target is a Python file or object. The proxy does not load it, but can run a
    command that starts it.
    """
    file = target.partition(":")[0]
    return (
        f"a proxy does not load {target!r} itself; write the command that starts it: "
        f"`toolbooth proxy -- python {file}`. You can also change its code: it needs no proxy if "
        "you wrap it in `toolbooth.protect`"
    )


def not_a_recording(file: str, reason: object) -> str:
    """Report a recording that cannot be read."""
    return f"{file} cannot be read: {reason}; `toolbooth proxy --record FILE` writes such files"


def not_started(command: str, reason: object) -> str:
    """Report a command that cannot be run."""
    return f"{command!r} could not be started: {reason}"


def observing(servers: Sequence[ServerSettings]) -> str:
    """Return the first line that a trial run prints."""
    [server] = servers
    return (
        f"Observing {server.name}: nothing is guarded, every message is forwarded as it is. Calls "
        f"are judged by the policy {server.rules.policy}, and --record FILE keeps the result."
    )


def guarding(servers: Sequence[ServerSettings]) -> str:
    """Return the first line that a proxy prints."""
    named = ", ".join(f"{each.name} (policy: {each.rules.policy})" for each in servers)
    return f"Guarding the tool calls for {named}."


def not_recorded(file: str, reason: object) -> str:
    """Report a file to which the proxy cannot write the recorded calls."""
    return f"the calls cannot be recorded in {file}: {reason}"


def serving_at(first: str, url: str) -> str:
    """Return the first line that a proxy over HTTP prints. The line has the URL for clients."""
    return f"{first} {url}"


def no_such_server(name: str, file: str, names: list[str]) -> str:
    """Report a name that no server in the configuration file has."""
    return f"{file} has no server {name!r}; there is {', '.join(names)}"


def config_not_read(file: str, reason: object) -> str:
    """Report a configuration file with mistakes."""
    return f"{file} cannot be used: {reason}"


def belongs_in_file(option: str) -> str:
    """Report an option that must be set in the configuration file."""
    return f"{option} has no effect with --config; write it into the file"


# --- login --------------------------------------------------------------------------------------


def login_needs_url(name: str) -> str:
    """Report a login to a server that has no URL, because a command starts it."""
    return f"{name} is started by a command; only servers with a URL ask for a login"


def open_in_browser(url: str) -> str:
    """Ask the user to log in."""
    return f"Open this page in a browser and log in: {url}"


def logged_in(url: str, file: str) -> str:
    """Report a successful login. `file` is where the tokens are stored."""
    return f"Logged in to {url}. The tokens are in {file}"


def not_logged_in(url: str, reason: object) -> str:
    """Report a login that has failed."""
    return f"no login to {url}: {reason}"


def bad_header(server: str, name: str) -> str:
    """Report a header that HTTP does not allow. The value may be a secret, so it is not shown."""
    return (
        f"the header {name!r} of server {server!r} cannot be sent: the name of a header has no "
        "spaces, and its value has no line breaks and only characters of Latin-1"
    )
