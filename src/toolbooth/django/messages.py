"""Every sentence that the gateway says: to agents, to authors, and to people at a terminal.

Sentences about how views are described are in `describe/messages.py`, those about pages and tokens
in `results/messages.py`, those of `mcp_doctor` in `management/messages.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from toolbooth.jsonvalue import listed, quoted

# --- the endpoint, calls, results, settings and commands ----------------------------------------

# The endpoint: what an HTTP client reads.

SEND_BY_POST = "send JSON-RPC messages by POST"
ORIGIN_NOT_TAKEN = "requests from this origin are not taken; name it in TOOLBOOTH['ORIGINS']"
LONGER_THAN_DJANGO_TAKES = "the request is longer than DATA_UPLOAD_MAX_MEMORY_SIZE"
LENGTH_NEEDED = "send Content-Length; this server cannot read a chunked request"
UNREADABLE = "the request could not be read"
SEND_CREDENTIALS = "who calls? send credentials as for the REST API"


def of_another_kind(kind: str) -> str:
    """A field that rows of another kind have."""
    return f"{kind!r} has no such field"


def kind_needed(names: Iterable[str]) -> str:
    """A field was sent that only rows of some kinds have, and the kind of the row is not known."""
    return f"must be sent too: only some kinds have {listed(tuple(names))}"


def longest_request(most: int) -> str:
    """A request has too many bytes."""
    return f"a request may have {most:,} bytes"


# Previews.

COMMIT_WOULD_FAIL = (
    "The database would refuse this write: a constraint does not hold at the end of it. "
    "Nothing was written."
)


def no_transaction_in(alias: str) -> str:
    """A database of which it is not certain that a write can be rolled back."""
    return f"this call cannot be previewed: the database {alias!r} has no transaction"


# Arguments that are refused before the view runs.

EMPTY_FILTER = "is empty, and the API would ignore it: leave it out"
PLACEHOLDER = "is a placeholder from an example; send the key of a row"
FIELD_OF_THE_RESULT = "field of the result"
NOT_IN_AN_ADDRESS = "is no value that the address of a row can hold"
NOT_YOURS_TO_SEND = "is no field that you may send"
FIELDS_NOT_KNOWN = "cannot be used here: the fields of a row are not known before the call"
NAMES_NO_FIELD = "names no field; leave it out to be shown all"


def empty_filter(without_value: str | None) -> str:
    """A filter with an empty value; `without_value` says how to find such rows, if it is known."""
    return EMPTY_FILTER if without_value is None else f"{EMPTY_FILTER}; {without_value}"


def send_lookup(lookup: str) -> str:
    """How to find rows without a value by a lookup of the view."""
    return f"to find rows without a value send {quoted(lookup)}: true"


def list_columns(argument: str, columns: Iterable[str]) -> str:
    """How to find rows without a value if the view has no lookup for them; `argument` chooses the
    columns of a list.
    """
    chosen = ", ".join(map(quoted, columns))
    return f"to find rows without a value list them with {quoted(argument)}: [{chosen}] and compare"


def middleware_answered(status: int) -> str:
    """A call that did not reach its view."""
    return f"the project's middleware answered instead of the view, with the status {status}"


def no_middleware(path: str) -> str:
    """A factory in MIDDLEWARE that makes nothing."""
    return f"the middleware factory {path} returned None"


def one_of(choices: Iterable[str], wrong: Iterable[str] = ()) -> str:
    """A value is none of the choices; `wrong` names what was sent, if that is not clear anyway."""
    sent = ", ".join(map(repr, wrong))
    ending = f", not {sent}" if sent else ""
    return f"must be one of {', '.join(choices)}{ending}"


def has_no_effect_without(needed: str) -> str:
    """An argument of the paginator was sent without another."""
    return f"counts for nothing without {needed}: send both"


def said_by_another(name: str) -> str:
    """A control argument and a parameter of the paginator say the same."""
    return f"says the same as {name}; send one of them"


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


# What to do after a refusal of the API.

NEEDS_OTHER_CREDENTIALS = "Use other credentials, or ask your user."
LOOK_AT_IT_FIRST = "Read the row as it is now before you try again."


def no_such_row(kind: str, keys: Iterable[str]) -> str:
    """Keys without a row."""
    return f"no {kind} {', '.join(keys)}"


def existing_rows(rows: Iterable[str], more: str) -> str:
    """The rows that there are; `more`: the tool that lists them, if these are not all."""
    named = ", ".join(rows)
    if not named:
        return "none exist that you can list"
    return f"existing: {named}, …; all with {more}" if more else f"existing: {named}"


def create_with(tool: str) -> str:
    """The tool that creates such a row."""
    return f"create one with {tool}"


def list_with(tool: str) -> str:
    """The tool that lists what there is."""
    return f"It does not exist, or you may not see it; {tool} lists what you can see."


def wait(seconds: str | None) -> str:
    """Too many calls."""
    if not seconds:
        return "Wait before you try again."
    return f"Try again in {seconds} s."


# Receipts.

ONLY_DEFAULTS = "No field was sent: the row has nothing but defaults."
STORED_SOMETHING_ELSE = "Nothing changed: the view stored something else."
STORED_NOTHING = "Nothing changed: what was sent was not stored."
HELD_ALL_THIS = "Nothing changed: the row held all this already."
NO_FIELD_SENT = "Nothing changed: no field was sent."


NO_CONTENT = "Done. The API answered without content."
NO_ROW_DELETED = "The API accepted the call, but no row was deleted or changed."
ROW_KEPT = "The API keeps the row: it was changed, not deleted."
OTHERS_TOO = "Other records, which you cannot list, were deleted or changed too."


def blocked_by(visible: Iterable[tuple[str, Iterable[str]]], *, has_others: bool) -> str:
    """A row cannot be deleted because of others: the rows that the caller can list, by kind."""
    kinds = [f"{plural} {', '.join(rows)}" for plural, rows in visible]
    if has_others:
        kinds.append("other records, which you cannot list")
    ending = "; delete or change them first" if len(kinds) > has_others else ""
    return f"It cannot be deleted: {'; '.join(kinds)} refer to it{ending}. Nothing was done."


# The audit log.


def audit_line(
    *,
    user: object,
    credential: str | None,
    tool: str,
    outcome: str,
    preview: bool,
    codes: Sequence[str],
    row: object,
    count: int | None,
    rows: Sequence[object] | None,
    fields: Sequence[str],
    request_id: object,
    x_request_id: str | None,
) -> str:
    """One line about a call that writes. Keys and ids are written as Python writes them, so that
    none can begin a line of its own.
    """
    reasons = f" ({', '.join(codes)})" if codes else ""
    who = "anonymous" if user is None else f"user {user!r}"
    kind = f" by {credential}" if credential else ""
    parts = [f"{tool} {outcome}{reasons}", f"{who}{kind}"]
    if preview and outcome != "previewed":
        parts.append("as a preview")
    if count is not None:
        parts.append(f"{count} rows {', '.join(map(repr, rows or ()))}".rstrip())
    if row is not None:
        parts.append(f"row {row!r}")
    if fields:
        parts.append(f"fields {', '.join(fields)}")
    ids = [each for each in (request_id, x_request_id) if each is not None]
    parts += [f"request {each!r}" for each in ids]
    return "; ".join(parts)


# Settings and checks: what `manage.py check` and `manage.py check --deploy` say.

DISPATCH_VALUES = (
    '"off", "resource", "app" or groups of resources by name, as {"sales": ["contacts", "deal*"]}'
)
MIDDLEWARE_VALUES = '"auto", "none" or a list of import paths'
DESCRIBED_WITHOUT = "The tools are published as if the function had returned nothing for them."
DURATION_VALUES = "a positive number of seconds"
FUNCTION_VALUES = "the import path of a function"
BODIES_VALUES = "a dict of bodies by the names of tools"
NOT_A_DICT = "TOOLBOOTH must be a dict."
SERVES_REST_FRAMEWORK = "Toolbooth serves REST framework views."
LOG_SAYS_WHERE = "manage.py mcp_doctor says where."


def no_such_setting(near: str | None, known: Iterable[str]) -> str:
    """A key of TOOLBOOTH that means nothing."""
    meant = f"{near!r} may be meant" if near else f"there are {', '.join(known)}"
    return f"there is no such setting; {meant}"


def wrong_setting(expected: str, value: object) -> str:
    """A setting has a value that it cannot have."""
    return f"must be {expected}, not {value!r}"


NOT_INSTALLED = (
    "The URLs of toolbooth.django are included, but the app is not in INSTALLED_APPS: its commands "
    "and checks are missing."
)
INSTALL_APP = 'Add "toolbooth.django" to INSTALLED_APPS.'
CORRECT_THE_LINE = "Correct that line. Until then, all other tools are published without these."


def own_tools_left_out(what: str, why: str, place: str) -> str:
    """A module of tools that cannot be imported, or a tool in it that cannot be published."""
    return f"{what} is left out: {why} ({place})"


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
