"""The sentences of the proxy: refusals, notes, and what is logged about a server."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal

# --- definitions of tools -----------------------------------------------------------------------

NO_NAME = "it has no name"
NO_OBJECT_SCHEMA = "its inputSchema is not an object schema (type: object)"
INVALID_SCHEMA = "its inputSchema is not valid JSON Schema"
STRICT_LEAVES_OUT = "its inputSchema cannot be compiled, and the policy is strict"
SAME_NAME = "another tool has this name"
NOT_JSON = "it is not a JSON object"

LEFT_OUT = "tool %s is left out of the list: %s"
NOBODY_LISTENS = (
    "a client does not listen, so %d messages of its server wait for it; further ones are dropped"
)
IS_UNGUARDED = "tool %r is forwarded unguarded: its inputSchema cannot be compiled"
HAS_CHANGED = "the definition of tool %r has changed since the last start"
NOT_REMEMBERED = "the tools cannot be remembered in %s, so changes will not be reported: %s"

UNDECLARED_ITEM = (
    "this item is not declared: the tool declares the items before it, and does not state whether "
    "more may follow; leave it out"
)


def rule_without_tool(setting: str, name: str, near: str | None) -> str:
    """Report a name in the configuration file that no tool of the server has."""
    meant = f"; did you mean {near!r}?" if near else ""
    return f"{setting} has {name!r}, but the server has no such tool{meant}"


# --- calls --------------------------------------------------------------------------------------

_MOST_NAMED = 20


def note(names: Sequence[str]) -> str:
    """Return the note about undeclared keys that were forwarded."""
    shown = ", ".join(json.dumps(each, ensure_ascii=False) for each in names[:_MOST_NAMED])
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    if len(names) == 1:
        return (
            f"Note: {shown} is not a declared field of this tool; the server may have ignored it."
        )
    return (
        f"Note: {shown}{more} are not declared fields of this tool; the server may have ignored "
        "them."
    )


def not_called(tool: str, why: str) -> str:
    """Report a call that was not written to the server."""
    return f"Tool {tool!r} was not called: {why}. It is safe to repeat the call."


Repeatable = Literal["reads", "idempotent", "unknown"]

_WHETHER = {
    "reads": "The tool only reads, so you can repeat the call.",
    "idempotent": "A second call has no further effect, so you can repeat it.",
    "unknown": "Check whether it had an effect before you repeat it.",
}


def unanswered(tool: str, why: str, repeatable: Repeatable) -> str:
    """Report a call that was written to the server but has no answer."""
    return f"Tool {tool!r} did not answer: {why}. It may have run. {_WHETHER[repeatable]}"


def not_sent(why: str) -> str:
    """Report a request that the server did not get or did not accept. It is not a tool call."""
    return f"the request was not handled: {why}"


def no_answer(why: str) -> str:
    """Report a request that was written to the server but has no answer. It is not a tool call."""
    return f"the server did not answer: {why}"


NO_LISTING = "the server could not list its tools, so the arguments cannot be checked"
ENDED = "the server ended"
GIVEN_UP = "the server ended too often and is not started again"
STOPPING = "the proxy is stopping"
NOT_READING = "the server does not read its input"
TOO_LONG = "its answer is longer than the proxy forwards"
CANCELLED_BY_TIMEOUT = "no answer in time"
CLIENT_LEFT = "the client left"
ID_IN_USE = "a request with this id is still open"
BATCHES = "a message is one JSON object; batches are not supported"


LOGIN_NEEDED = (
    "the server answered with HTTP status 401: it asks for a login, so the user of the proxy has "
    "to run `toolbooth proxy login`, or configure a header"
)
SESSION_EXPIRED = "its session with the server has expired"
STREAM_ENDED = "the server closed the stream of its answer"
NOT_TAKEN = "the server answered a message with HTTP status %s"


NO_SUCH_SESSION = "there is no such session: it has ended, or never began"
NO_SESSION_YET = "send initialize first, or requests of a stateless revision"
ONE_STREAM = "this session has a stream already"
TOO_MANY_SESSIONS = "as many servers run as may; one of them ends when its client is idle"


_NEEDS_CREDENTIALS = "; it needs credentials: add --header to the proxy, or headers to booth.toml"
_NEXT_STEP = {
    401: _NEEDS_CREDENTIALS,
    403: _NEEDS_CREDENTIALS,
    404: "; check the path of its URL, often it is /mcp",
}


def http_status(status: int) -> str:
    """Report an HTTP answer with this status that contains no message."""
    return f"the server answered with HTTP status {status}{_NEXT_STEP.get(status, '')}"


def timed_out(seconds: float) -> str:
    """Report a call that took too long."""
    return f"there was no answer within {seconds:g} seconds, so the call was cancelled"


def ended(exit_code: int | None) -> str:
    """Report a server whose process has ended."""
    if exit_code is None:
        return "the server closed its output"
    if exit_code < 0:
        return f"the server was ended by signal {-exit_code}"
    return f"the server ended with exit code {exit_code}"


def starting_again(seconds: float) -> str:
    """Report a server that ended and is about to be started again."""
    return f"the server ended and starts again in {seconds:g} seconds"


# --- what is logged -----------------------------------------------------------------------------

NOT_A_MESSAGE = "the server wrote a line that is not a message: %s"
NO_SUCH_REQUEST = "the server answered a request that is not open: id %s"
CALL_WITHOUT_ID = "the client sent a tool call without an id, which was not forwarded"
NO_SUCH_QUESTION = "the client answered a request that is not open: id %s"

# --- several servers ----------------------------------------------------------------------------

TWO_SERVERS_HAVE = "another server has the same name in its %s: %r; the first server is used"
HAS_NO_ANSWER = "%s has no answer to %s: %s"
NO_LIST = "its result has no list of tools"
NO_OBJECT_RESULT = "its result is not an object"
NOT_LISTED = "%s has not listed its tools at the start: %s"
UNKNOWN_CURSOR = "this cursor was not made by the proxy; read the list from its beginning"


def not_available(name: str) -> str:
    """Report a server that could not be reached in the handshake."""
    return f"The server {name} is not available at the moment, so its tools are missing."


def two_tools(tool: str, first: str, second: str) -> str:
    """Report two servers that have a tool with the same name."""
    return (
        f"the servers {first} and {second} both have a tool {tool!r}; "
        f"write a prefix for one of them, such as prefix = {json.dumps(second + '_')}"
    )


# --- one child for all clients ------------------------------------------------------------------


def not_shared(method: str) -> str:
    """Report a method that is not available when all clients share one server."""
    return f"{method} is not available, because all clients of the proxy share one server"


OTHER_ERA = {
    "handshake": (
        "all clients of the proxy share one server, which is used with a handshake: "
        "send initialize first"
    ),
    "stateless": (
        "all clients of the proxy share one server, which is used without a handshake: "
        "send requests of revision 2026-07-28"
    ),
}

# --- the report ---------------------------------------------------------------------------------

NO_CALLS = "no calls"
WITH_LENIENT = (
    "To forward undeclared keys of these tools with a note, add to the server in booth.toml:"
)


def of_tool(tool: str, calls: int, refused: int, repaired: int, noted: int) -> str:
    """Return the number of calls of a tool, and how many were refused, repaired or forwarded with a
    note.
    """
    what = {"refused": refused, "repaired": repaired, "forwarded with a note": noted}
    parts = [f"{count} {words}" for words, count in what.items() if count]
    return f"{tool}: {calls} calls, {', '.join(parts) or 'all passed'}"


def counted(pairs: Sequence[tuple[str, int]]) -> str:
    """Return each word with its count, such as `limit (3), page (1)`."""
    return ", ".join(f"{word} ({count})" for word, count in pairs)


def policy_line(tools: Sequence[str]) -> str:
    """Return the setting for `booth.toml` that gives these tools the policy `lenient`."""
    entries = ", ".join(f'{json.dumps(tool)} = "lenient"' for tool in tools)
    return f"policies = {{ {entries} }}"


# --- booth.toml ---------------------------------------------------------------------------------

NO_SERVERS = "there are no servers; write one as [servers.NAME]"
A_TABLE, A_TEXT, A_FLAG = "a table", "a text", "true or false"
SECONDS, A_LIST = "a number of seconds above 0", "a list of texts"


def not_toml(error: Exception) -> str:
    """Report a file that cannot be parsed."""
    return f"it is not TOML: {error}"


def unknown_key(path: str, near: str | None) -> str:
    """Report an unknown key. `near` is the known key that is most similar."""
    hint = f'; did you mean "{near}"?' if near else ""
    return f"{path}: there is no such setting{hint}"


def command_or_url(where: str) -> str:
    """Report a server that has both a command and a URL, or neither."""
    return f"{where}: give either command or url"


def without_effect(where: str, other: str) -> str:
    """Report a setting that has an effect only on servers of the other kind."""
    return f"{where}: this has an effect only on a server with a {other}"


def command_as_text(where: str, words: Sequence[str]) -> str:
    """Report a command that is written as one text. Show the list to write instead."""
    written = json.dumps(words, ensure_ascii=False)
    return f"{where}: this has to be a list of texts; write command = {written}"


def not_in_environment(where: str, name: str) -> str:
    """Report a variable that is not set."""
    return f"{where}: the environment has no {name}"


def one_of(choices: Sequence[str]) -> str:
    """Report a wrong value with the values that are allowed."""
    return f"one of {', '.join(choices)}"


def wrong_value(where: str, wanted: str) -> str:
    """Report a value of a wrong type."""
    return f"{where}: this has to be {wanted}"
