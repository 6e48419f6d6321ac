"""Every sentence that the gateway says: to agents, to authors, and to people at a terminal.

Sentences about how views are described are in `describe/messages.py`, those of `mcp_doctor` in
`management/messages.py`.
"""

from __future__ import annotations

from collections.abc import Iterable

from toolbooth.jsonvalue import listed, quoted

# --- the endpoint, calls, results, settings and commands ----------------------------------------

# The endpoint: what an HTTP client reads.

SEND_BY_POST = "send JSON-RPC messages by POST"
ORIGIN_NOT_TAKEN = "requests from this origin are not taken; name it in TOOLBOOTH['ORIGINS']"
LONGER_THAN_DJANGO_TAKES = "the request is longer than DATA_UPLOAD_MAX_MEMORY_SIZE"
SEND_CREDENTIALS = "who calls? send credentials as for the REST API"


def longest_request(most: int) -> str:
    """A request has too many bytes."""
    return f"a request may have {most:,} bytes"


# Arguments that are refused before the view runs.

EMPTY_FILTER = "is empty, and would be ignored: leave it out"
NOT_IN_AN_ADDRESS = "is no value that the address of a row can hold"
NOT_YOURS_TO_SEND = "is no field that you may send"
NAMES_NO_FIELD = "names no field; leave it out to be shown all"


def one_of(choices: Iterable[str], wrong: Iterable[str] = ()) -> str:
    """A value is none of the choices; `wrong` names what was sent, if that is not clear anyway."""
    sent = ", ".join(map(repr, wrong))
    ending = f", not {sent}" if sent else ""
    return f"must be one of {', '.join(choices)}{ending}"


def has_no_effect_without(needed: str) -> str:
    """An argument of the paginator was sent without another."""
    return f"counts for nothing without {needed}: send both"


def sent_beside(filters: str) -> str:
    """A filter was sent by itself, and in `filters`."""
    return f"stands beside {filters} too; send it once"


def no_such_field(key: str, near: str | None) -> str:
    """A key of `filter_keys` names nothing."""
    ending = f"; did you mean {quoted(near)}?" if near else ""
    return f"there is no field {quoted(key)}{ending}"


# What a view answered.

REQUIRED = "is required, but was not sent"
FETCH_CONTENT_OVER_REST = "the content is not sent over MCP; fetch it over REST"


def result_cannot_be_sent(reason: str) -> str:
    """A view ran, and what it answered cannot be written; `reason` may be empty."""
    why = f" ({reason})" if reason else ""
    return (
        f"it ran to its end, but what it returned cannot be sent{why};"
        " look at what it did before calling it again"
    )


def fetch_rest_over_rest(most: int) -> str:
    """A text was cut."""
    return f"only the first {most:,} characters; fetch the rest over REST"


def view_answered(status: int) -> str:
    """A view failed."""
    return f"the view answered {status}"


def api_answered(status: int) -> str:
    """A view refused without a word."""
    return f"the API answered {status}"


def with_choices(message: str, choices: tuple[str, ...]) -> str:
    """REST framework's message on a wrong choice, with the choices that there are."""
    return f"{message.rstrip('.')}; it takes {listed(choices)}"


# Receipts.

ONLY_DEFAULTS = "No field was sent: the row has nothing but defaults."
STORED_SOMETHING_ELSE = "Nothing changed: the view stored something else."
STORED_NOTHING = "Nothing changed: what was sent was not stored."
HELD_ALL_THIS = "Nothing changed: the row held all this already."
NO_FIELD_SENT = "Nothing changed: no field was sent."


# Pages of a result.

RESULT_HAS_CHANGED = (
    "The result has changed since the page before: rows may be missing here, or come twice. "
)
PAGED_ANEW = "It cannot be paged as it was: this is its beginning. "
WHOLE_INSTEAD = "All of it, not as asked: nothing is kept here that a page could be gone on from."
LAST_PAGE = "The last page."
ALL_ROWS = "All rows of this answer."
PIECE_OF_JSON = "A piece of the answer, which is JSON: read it when you have all pieces."
LAST_PIECE_OF_JSON = f"{PIECE_OF_JSON} This is the last."
LAST_PIECE = "The last piece."


def next_page_of_view(arguments: Iterable[str]) -> str:
    """The view says which arguments its next page has."""
    changes = ", ".join(arguments)
    return f"The view has more: its next page is that of the same arguments with {changes}. "


def other_pages_of_view(names: Iterable[str]) -> str:
    """The view may have other pages."""
    return f"The view may have more: send {', '.join(names)} for its other pages. "


def only_a_summary(token: str) -> str:
    """The whole can be asked for."""
    return f"Only a summary. To see it, make the same call with {token} instead of its fields."


def fewer_rows(wanted: int, most: int, shown: int) -> str:
    """So many rows as were asked for do not fit."""
    return f"{wanted} rows are longer than {most:,} bytes: these are the first {shown}. "


def more_rows(count: int, name: str) -> str:
    """There are more rows in the list of this name."""
    return f"{count:,} more in {name}."


def more_characters(count: int) -> str:
    """There is more text."""
    return f"{count:,} characters more."


def to_go_on(words: str, token: str) -> str:
    """What there is more of, and how to get it."""
    return f"{words} To go on, make the same call with {token} instead of its fields."


# A page that there is not.

NOT_WITH_SUMMARY = "counts for nothing where only a summary is asked for"
ANSWER_HAS_NO_ROWS = "the answer has no rows"
TOKEN_IS_FOR_TEXT = "the token goes on with pieces of text; send it alone"


def no_such_page(count: int, pages: int, size: int) -> str:
    """A page past the last."""
    return f"there are {count:,} rows: pages 1 to {pages} of {size}"


def row_too_large(row: int, remedies: Iterable[str]) -> str:
    """A row that alone is too large for a page."""
    instead = ", or ".join(remedies)
    return f"row {row:,} is too large for a page; send {instead}, or ask for other rows"


def without_large_fields(filter_keys: str) -> str:
    """One remedy for a row that is too large."""
    return f"{filter_keys} without its large fields"


def no_field_in_answer(fields: Iterable[str]) -> str:
    """`filter_keys` names fields that the view declares, but does not answer with."""
    has = ", ".join(fields)
    return f"the answer has none of these where its fields stand; it has {has}"


def call_without(why: str, name: str) -> str:
    """An argument does not apply to this answer."""
    return f"{why}; call without {name}"


# Continuation tokens.

NOT_REACHED_NOW = (
    "stands for a result that cannot be reached at the moment; send it again in a while"
)
OTHER_FORM_BY_NOW = "stands for a result that has another form by now; make the first call again"
REFUSED_BY_NOW = "goes on with a call that would be refused by now; make it again"


def instead_of_token(tool: str, *, is_query: bool) -> str:
    """What to do where a token leads nowhere: what is no query must never be made twice."""
    if is_query:
        return f"call {tool} again with the arguments of the first call"
    return "the call that it came from was made: look at what it did, do not repeat it"


def not_beside_token(token: str) -> str:
    """A field was sent together with a token."""
    return f"cannot stand beside {token}, which goes on with the call that it came from"


def token_expired(age: int, instead: str) -> str:
    """A token is too old."""
    return f"has expired: a token is good for {_duration(age)}; {instead}"


def _duration(seconds: int) -> str:
    if seconds >= 120:
        return f"{seconds // 60} minutes"
    return f"{seconds} seconds" if seconds > 1 else f"{seconds} second"


def not_a_token(instead: str, *, is_query: bool) -> str:
    """A token that this server did not sign."""
    joint = ", or" if is_query else ";"
    return f"is no token of this server, or was changed; send it as it came{joint} {instead}"


def token_of_another_caller(instead: str) -> str:
    """A token is used by someone else."""
    return f"was given to another caller; {instead}"


def token_of_another_tool(tool: str) -> str:
    """A token is sent to the wrong tool."""
    return f"was given by {tool}; send it there"


def arguments_no_longer_kept(instead: str) -> str:
    """The cache has lost the arguments of a query."""
    return f"goes on with arguments that are no longer kept; {instead}"


def result_no_longer_kept(instead: str) -> str:
    """The cache has lost a result."""
    return f"stands for a result that is no longer kept; {instead}"


def token_once_allowed(message: str, token: str, tool: str) -> str:
    """The caller may no longer call the tool that a token is from."""
    return f"{message.rstrip('.')}; {token} can be used once you may call {tool} again"


# Settings and checks: what `manage.py check` says.

DISPATCH_VALUES = (
    '"off", "resource", "app" or groups of resources by name, as {"sales": ["contacts", "deal*"]}'
)
BODIES_VALUES = "a dict of bodies by the names of tools"
NOT_A_DICT = "TOOLBOOTH must be a dict."
SERVES_REST_FRAMEWORK = "Toolbooth serves REST framework views."
LOG_SAYS_WHERE = "The log of the first request says where."


def no_such_setting(near: str | None, known: Iterable[str]) -> str:
    """A key of TOOLBOOTH that means nothing."""
    meant = f"{near!r} may be meant" if near else f"there are {', '.join(known)}"
    return f"there is no such setting; {meant}"


def wrong_setting(expected: str, value: object) -> str:
    """A setting has a value that it cannot have."""
    return f"must be {expected}, not {value!r}"


def tools_cannot_be_compiled(error: Exception) -> str:
    """Building the catalogue failed."""
    return f"The tools cannot be compiled: {type(error).__name__}: {error}"


def argument_not_offered(name: str, published: str, tools: str) -> str:
    """Some tools have an argument of their own by the name of a protocol argument."""
    return (
        f"The protocol argument {name!r} is not offered where the host has an argument"
        f" {published!r}: on {tools}."
    )


def rename_argument(name: str) -> str:
    """How to have both."""
    renamed = f"{{{name!r}: 'mcp_{name}'}}"
    return f"To have both, rename the former: TOOLBOOTH['ARGUMENTS'] = {renamed}."


# The test client.

WHOLE_OR_BY_FIELD = "pass the arguments whole, or field by field"


def not_a_views_tool(name: str, near: str | None) -> str:
    """`unread_fields` was asked about a tool that no view runs."""
    ending = f"; {near!r} may be meant" if near else ""
    return f"there is no view's tool {name!r}{ending}"


def action_failed(tool: str, text: str) -> str:
    """`unread_fields` cannot judge an action that does not run to its end."""
    return f"{tool!r} was refused or failed, so its fields may not all have been read: {text}"


def tools_not_listed(status: int, words: str) -> str:
    """`tools/list` was refused."""
    return f"the tools were not listed: HTTP {status}, {words}"


def no_endpoint(line: str) -> str:
    """The project does not include our URLs."""
    return f"the project has no MCP endpoint; add {line} to its urlpatterns"


# Commands.

CALL_HELP = (
    "Call TOOL with ARGUMENTS (JSON; - reads standard input) through the whole project, and print"
    " what the agent would read. Exit code 1: the call was refused or failed; 2: there is no such"
    " tool or user."
)
CALL_META_HELP = "Also print `_meta`: repairs, problems, the correction."
CALL_WITHOUT_USER = "the call comes from nobody in particular"
CALL_WAS_ANONYMOUS = "This came from nobody in particular; --as USERNAME acts as a user."

TOOLS_HELP = "List the tools with their cost in tokens (bytes / 4), or show one of them whole."
TOOLS_NAME_HELP = "Show this one as `tools/list` gives it."
TOOLS_JSON_HELP = "Print all of them so."

CONFIG_HELP = (
    "Print the JSON to paste into an MCP client's configuration; on the error stream: which file"
    " that is."
)
CONFIG_URL_HELP = "Where the project is served, e.g. %(default)s"
CONFIG_TOKEN_HELP = "Credentials: a bare token, or a whole header such as 'Basic YW5uOnB3'."
CONFIG_NAME_HELP = "What the client calls the server; otherwise TOOLBOOTH['NAME']."
CONFIG_OF_ANY_CLIENT = "the configuration of the client"


def act_as_user(otherwise: str) -> str:
    """The help of `--as`."""
    return f"Act as this user; without it, {otherwise}."


def no_such_user(name: str) -> str:
    """`--as` names nobody."""
    return f"there is no user {name!r}"


def tools_are_listed(answer: str) -> str:
    """A call named no tool; `answer` says so."""
    return f"{answer}; `manage.py mcp_tools` lists them all"


def no_such_tool(name: str) -> str:
    """`mcp_tools` was asked for a tool that there is not."""
    return f"there is no tool {name!r}; without a name all are listed"


def total_cost(tokens: int, tools: int, behind: int) -> str:
    """The last line of `mcp_tools`; `behind`: so many tools stand behind dispatchers."""
    ending = "" if tools == 1 else "s"
    more = f", with {behind:,} more behind" if behind else ""
    return f"{tokens:>8,}  tokens for {tools:,} tool{ending}{more} (bytes / 4)"


def url_needs_scheme(given: str) -> str:
    """`--url` is no URL."""
    return f"--url should begin with http:// or https://, not {given!r}"
