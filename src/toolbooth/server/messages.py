"""The messages of the server, for three readers: clients that send a wrong message, agents that ask
for help or call a dispatcher, and authors who register a tool.

The messages for refused arguments are in `boundary/messages.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from toolbooth.boundary.messages import echo
from toolbooth.errors import called
from toolbooth.jsonvalue import JsonPath, listed, path_text, quoted

# --- HTTP ---------------------------------------------------------------------------------------

SEND_BY_POST = "send JSON-RPC messages by POST"
SENT_ALREADY = "is already sent at the top level; leave it out here"
WRONG_HOST = "this host is not served here; name it in hosts= or with --allow-host"
WRONG_ORIGIN = "requests from this origin are not accepted; add it to origins="
NO_TOKEN = "send this server's token as Authorization: Bearer TOKEN"
WRONG_TOKEN = "a token is one word of printable ASCII characters"
LINE_TOO_LONG = "Parse error: the line is too long"


def not_a_host(name: str) -> str:
    """Report a value in `hosts` that is not a host."""
    examples = "'tools.example.com', '192.0.2.1' or '[2001:db8::1]'"
    return f"{name!r} is not a host; valid hosts are, for example, {examples}"


def header_sent_twice(name: str) -> str:
    """Report a header of MCP that is sent more than once."""
    return f"header {name} is sent twice"


def wrong_path(path: str) -> str:
    """Report a request for another path."""
    return f"MCP is served at {path}"


def body_too_slow(seconds: float) -> str:
    """Report a body that does not arrive in time."""
    return f"the rest of the request did not arrive within {seconds:g} s"


TOO_MANY_INCOMPLETE = "too many connections have not sent a complete request; send this one again"
HEADERS_TOO_LONG = "the headers of the request are too long"


def body_too_long(most: int) -> str:
    """Report a body with more bytes than the limit."""
    return f"a request may have at most {most:,} bytes"


# --- JSON-RPC messages --------------------------------------------------------------------------

NOT_A_REQUEST = 'a request must have "jsonrpc": "2.0" and a method'
WRONG_ID = "an id must be a string or a 64-bit integer"
WRONG_PROGRESS_TOKEN = "a progressToken must be a string or a 64-bit integer"
PARAMS_NOT_AN_OBJECT = "params must be an object"
META_NOT_AN_OBJECT = "params._meta must be an object"
NO_TOOL_NAME = "params.name must be the name of a tool"
UNKNOWN_CURSOR = "unknown cursor; list again without a cursor"
SERVER_STOPPED = "the server is stopping; the tool may have run"
SERVER_STOPPING = "the server is stopping; nothing was done"
SERVER_FAILED = "the server failed; see its log"
OTHER_VERSION_IN_HEADER = "the MCP-Protocol-Version header and the body name different versions"
OTHER_METHOD_IN_HEADER = "the Mcp-Method header and the body name different methods"
OTHER_TOOL_IN_HEADER = "the Mcp-Name header and the body name different tools"


def not_one_object(message: Any) -> str:
    """Report a message that is not one JSON object."""
    what = "a batch" if isinstance(message, list) else "not an object"
    return f"the message is {what}; send one JSON-RPC object"


def unknown_method(method: str) -> str:
    return f"there is no method {method[:80]!r} here"


def beside_arguments(key: str) -> str:
    """Report a key outside `arguments`. No tool would get it."""
    sent = json.dumps(key[:80])
    return f'the call has {sent} outside "arguments"; put the fields of the tool inside "arguments"'


def meta_must_hold(keys: Sequence[str]) -> str:
    """Report a stateless request without a `_meta` object that has these keys."""
    return f"params._meta must be an object with {' and '.join(map(repr, keys))}"


def must_be_a_string(key: str) -> str:
    """Report a key of `_meta` that is not a string."""
    return f"{key} must be a string"


def other_argument_in_header(token: str, name: str) -> str:
    """Report an `Mcp-Param-*` header whose value differs from its argument."""
    return f"the Mcp-Param-{token} header and the argument {name!r} differ"


# --- one call -----------------------------------------------------------------------------------

RESULT_UNDECLARED = "does not match its output schema"
RESULT_NOT_AN_OBJECT = "it is not an object"


def loop_is_running(tool: str) -> str:
    """Report an async tool that was called without `await` while an event loop is running."""
    return f"tool {tool!r} cannot run here, because an event loop is running: await call_async"


def timed_out(seconds: float, *, stopped: bool) -> str:
    """Report a tool that takes longer than its time limit."""
    outcome = "it was stopped" if stopped else "it may still complete"
    return f"it did not answer within {seconds:g} s; {outcome}"


RUNS_LONG = "a call of tool %r has been running for more than a minute"


def busy(tool: str, target: Iterable[str], seconds: int) -> str:
    """Report a tool that has too many running calls."""
    return (
        f"Busy: {called(tool, target)} is called too often at the moment. "
        f"Nothing was done; try again in {seconds} s."
    )


def in_flight(tool: str, target: Iterable[str], seconds: int) -> str:
    """Report a call whose key is in use by a running call."""
    return (
        f"In flight: a call of {called(tool, target)} with this key has not ended yet. "
        f"Nothing was done; send the same call with the same key again in {seconds} s."
    )


def tool_failed(tool: str, target: Iterable[str]) -> str:
    """Report a tool that raised an exception of its own."""
    return f"Tool {called(tool, target)} failed unexpectedly."


# --- registration -------------------------------------------------------------------------------

NO_FUNCTION = "there is no function to call; pass one"
ACTIONS_NOT_A_MAP = (
    "actions= must map each action to the name of a tool, or each resource to such a map"
)
NO_ACTIONS = "there are no actions"
NO_MARKED_METHOD = "no method is marked with @mcp_action"
MIXED_LEVELS = "some names map to tools and others to actions; all must do the same"
NAMELESS_ACTION = "an action or a resource has no name"


def errors_must_be(given: Any, choices: Iterable[str]) -> str:
    """Report a wrong value of the parameter `errors`."""
    return f"errors={given!r}: must be one of {', '.join(map(repr, choices))}"


def arguments_must_be(given: Any, choices: Iterable[str]) -> str:
    """Report a wrong value of the parameter `arguments` of an observer."""
    return f"arguments={given!r}: must be one of {', '.join(map(repr, choices))}"


def not_a_tool_name(name: str) -> str:
    """Report a name that MCP does not allow."""
    return f"{name!r} is not a valid tool name (letters, digits, _ - .; at most 128); pass name="


def name_is_taken(name: str) -> str:
    """Report a name that another tool already has."""
    return f"a tool named {name!r} is registered already; pass another name="


def unknown_tool(name: str, near: str | None) -> str:
    """Report an unknown tool. `near` is the call of a similar tool, if there is one."""
    hint = f"; did you mean {near}?" if near else ""
    return f"there is no tool {name[:128]!r}{hint}"


def no_actions_of(resource: str) -> str:
    """Report a resource without actions."""
    return f"{resource!r} has no actions"


def not_a_word_for_help(word: str) -> str:
    """Report a name for the argument `help` that cannot be used."""
    return f"help={word!r} cannot be the name of the help argument; choose another"


def nested_dispatcher(tool: str) -> str:
    """Report a dispatcher that was registered as an action of another dispatcher."""
    return f"{tool!r} is another dispatcher; list its actions instead"


def dispatcher_usage(params: str, word: str) -> str:
    """Return the sentences that say how to call a dispatcher. They are added to its description."""
    return f"Fields go beside action, or in {params}; {word}=true lists them."


def actions_of(resource: str, signatures: Sequence[str]) -> str:
    """Return the actions of a resource in one line."""
    named = ", ".join(signatures)
    return f"{resource}: {named}" if resource else named


def only_of(action: str, resources: Sequence[str]) -> str:
    """Return the words for an action that only some resources have."""
    return f"{action}: only {', '.join(resources)}"


def as_sentence(parts: Sequence[str]) -> str:
    """Join the parts of a description to one text."""
    return f"{'; '.join(parts)}."


def more_names(names: Sequence[str], count: int) -> str:
    """Return the first names of a list that is too long, and how many names the list has."""
    return f"{', '.join(names)} … {count} in all: see help"


# --- control arguments --------------------------------------------------------------------------

HELP_MEANS = "true returns what the tool takes, and does nothing else."
FILTERS_MEANS = "All filters in one object, instead of each by itself."
FILTER_KEYS_MEANS = "The columns to return, as a list of field names. It does not filter rows."
PAGE_MEANS = "Page number, from 1."
PAGE_SIZE_MEANS = "Rows per page."
MODE_MEANS = (
    "summary: the number of rows and their columns; page: one page of rows; "
    "full: the whole result, whatever its size."
)
CONTINUATION_TOKEN_MEANS = (
    "Continues a previous result. Call the same tool again with this token and no other fields."
)
VERIFY_MEANS = "true returns the whole row after a write, instead of a receipt."
PREVIEW_MEANS = (
    "true returns the receipt that the write would give, and writes nothing. New keys in it are "
    "not final."
)
IDEMPOTENCY_KEY_MEANS = (
    "Text of your own for one write. If its answer is lost, send the same call with the same key: "
    "it is not made twice."
)
OBJECTS_MEANS = "Many rows in one call of a create: all are made, or none."
MANY_TOOLS_TAKE = "Arguments that many tools take:"


NOT_A_PLAIN_WRITE = "bug: a preview, or a call with an idempotency key, reached the plain write"
KEY_REUSED = "was used for a call of this tool with other arguments; send these with a new key"
CONTENT_NOT_KEPT = "The content that the first call returned is not kept."
KEY_NOT_TAKEN = "is not accepted by this tool"
TWO_KEYS = "is not the same as the key in _meta; send one of them"


def key_is_taken(name: str) -> str:
    """Report a tool that accepts keys but already has an argument with that name."""
    return f"{quoted(name)} is one of the tool's own arguments; rename it, or take no keys"


def not_a_key(least: int, most: int) -> str:
    """Report an invalid idempotency key in `_meta`."""
    return f"must be text of {least} to {most} characters"


def text_of_length(least: int, most: int, length: int) -> str:
    """Report a control argument whose text is too short or too long."""
    return f"must be text of {least} to {most} characters, not {length}"


def controls_not_a_map(given: Any) -> str:
    """Report a setting for the names of control arguments that is not a dict."""
    what = "must be a dict that renames protocol arguments, or switches them off with None"
    return f"{what}, not {given!r}"


def unknown_control(name: Any, known: Iterable[str]) -> str:
    """Report a control argument that does not exist."""
    return f"there is no protocol argument {name!r}; there are {', '.join(known)}"


def control_needs_a_name(name: Any, new: Any) -> str:
    """Report a new name that is not an identifier."""
    return f"{name!r} must be given a name of letters, digits and _, or None, not {new!r}"


def control_name_is_reserved(name: Any, new: str) -> str:
    """Report a new name that already has another meaning."""
    return f"{name!r} cannot be called {new!r}, which means something else"


def control_name_twice(name: str) -> str:
    """Report two control arguments that were given the same name."""
    return f"two protocol arguments would be called {name!r}"


# --- calls of dispatchers -----------------------------------------------------------------------

NONE_FOR_YOU = "; none is available to you"


def holds_the_whole_call(key: str, inside: Iterable[str]) -> str:
    """Report a wrapper around the whole call of a dispatcher, such as `{"data": {"action": …}}`."""
    names = listed(tuple(inside), 12)
    return (
        f"{quoted(key)} wraps the whole call; "
        f"send {names} at the top level, not inside {quoted(key)}"
    )


def no_such_argument(key: str, near: str) -> str:
    """Report a misspelt `action` or `resource`."""
    return f"there is no argument {quoted(key)}; did you mean {quoted(near)}?"


def only_one_resource(given: Any, only: str) -> str:
    """Report a resource that does not exist. The dispatcher has only one resource."""
    return f"there is no resource {echo(given)} here; send {quoted(only)} or leave it out"


def goes_into_params(key: str, params: str) -> str:
    """Report a field that must be sent in `params`, because its name means something else."""
    return (
        f"{quoted(key)} has another meaning at this level; "
        f"send the field {quoted(key)} inside {quoted(params)}"
    )


def ask_by_help(action: str, word: str) -> str:
    """Report an action such as `help create`, which should be sent as a request for help."""
    return f"there is no action {echo(action)}; for help, send {quoted(word)}: true with an action"


def did_you_mean_action(action: str, meant: str) -> str:
    """Report an action that was sent under another name."""
    return f"there is no action {action}; did you mean {quoted(meant)}?"


def choose_one(
    key: str, given: Any, of: str, near: str | None, names: Sequence[str], word: str
) -> str:
    """Report a missing or unknown `action` or `resource`, and list the names that exist."""
    where = f" of {quoted(of)}" if of else ""
    said = "is required" if given is None else f"there is no {key} {echo(given)}{where}"
    if near:
        return f"{said}; did you mean {quoted(near)}?"
    known = f"; there are {listed(tuple(names))}" if names else NONE_FOR_YOU
    return f'{said}{known}. {{"{word}": true}} shows more'


def sent_inside_too(path: JsonPath) -> str:
    """Report a field that was sent twice: flat and in `params`."""
    return f"is also sent in {path_text(path)}; send it once"


# --- help ---------------------------------------------------------------------------------------

NOTHING_CALLED = "nothing: help was requested"


def more_arguments(count: int) -> str:
    """Return the end of a signature that was cut: the number of arguments that are left out."""
    return f"… {count} more"


def wrappers_ignored(keys: tuple[str, ...]) -> str:
    """Report the wrappers that were ignored in a request for help."""
    were = "was" if len(keys) == 1 else "were"
    return f"{NOTHING_CALLED}, so {listed(keys)} {were} ignored"


def send_inside_params(names: Sequence[str], params: str) -> str:
    """List the fields of a sub-tool that must be sent in `params`."""
    fields = "fields" if len(names) > 1 else "field"
    return f"Send the {fields} {listed(tuple(names))} inside {quoted(params)}."


def ask_for_actions(call: str) -> str:
    """Return the sentence that shows how to request the actions of one resource."""
    return f"{call} lists the actions and fields of one resource."


def ask_for_fields(call: str) -> str:
    """Return the sentence that shows how to request the fields of one action."""
    return f"{call} returns the types of one action's fields, with an example."


def number_of_pages(pages: int) -> str:
    """Report a request for a page that does not exist. The message has the number of pages."""
    return "there is one page" if pages == 1 else f"there are {pages} pages"


# --- the configuration of clients ---------------------------------------------------------------

CONFIG_OF_ANY_CLIENT = "the configuration of the client"
