"""The messages of the gateway: for agents, for authors, and for people at a terminal.

Messages about the description of views are in `describe/messages.py`. Messages about pages and
tokens are in `results/messages.py`, and those of `mcp_doctor` are in `management/messages.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from toolbooth.jsonvalue import listed, quoted

# --- the endpoint, calls, results, settings and commands ----------------------------------------

# The endpoint: messages for an HTTP client.

SEND_BY_POST = "send JSON-RPC messages by POST"
ORIGIN_NOT_TAKEN = "requests from this origin are not accepted; add it to TOOLBOOTH['ORIGINS']"
LONGER_THAN_DJANGO_TAKES = "the request is longer than DATA_UPLOAD_MAX_MEMORY_SIZE"
LENGTH_NEEDED = "send Content-Length; this server cannot read a chunked request"
UNREADABLE = "the request could not be read"
SEND_CREDENTIALS = "authentication required: send the same credentials as for the REST API"


def of_another_kind(kind: str) -> str:
    """The refusal of a field that only rows of another kind have."""
    return f"{kind!r} has no such field"


def kind_needed(names: Iterable[str]) -> str:
    """The refusal if only some kinds of rows have the sent fields, and the call does not contain
    the kind of the row.
    """
    return f"must be sent too: only some kinds have {listed(tuple(names))}"


def longest_request(most: int) -> str:
    """The refusal of a request with too many bytes."""
    return f"a request may have at most {most:,} bytes"


# Previews.

COMMIT_WOULD_FAIL = (
    "The database would refuse this write: a constraint does not hold at the end of it. "
    "Nothing was written."
)

COMMITS_ITSELF = (
    "this call cannot be previewed: the view commits by itself (transaction.atomic(durable=True))"
)


def no_transaction_in(alias: str) -> str:
    """The refusal of a preview if a database may not support a rollback."""
    return f"this call cannot be previewed: the database {alias!r} has no transaction"


# Arguments that are refused before the view runs.

EMPTY_FILTER = "is empty, and the API would ignore it: leave it out"
PLACEHOLDER = "is a placeholder from an example; send the key of a row"
FIELD_OF_THE_RESULT = "field of the result"
NOT_IN_AN_ADDRESS = "is not valid in the URL of a row"
NOT_YOURS_TO_SEND = "is not a field that you may send"
FIELDS_NOT_KNOWN = "cannot be used here: the fields of a row are not known before the call"
NAMES_NO_FIELD = "names no field; leave it out to get all fields"


def empty_filter(without_value: str | None) -> str:
    """The refusal of a filter with an empty value. `without_value` is advice on finding rows
    without a value. It is None if there is no way to find them.
    """
    return EMPTY_FILTER if without_value is None else f"{EMPTY_FILTER}; {without_value}"


def send_lookup(lookup: str) -> str:
    """The advice to find rows without a value by a lookup of the view."""
    return f"to find rows without a value send {quoted(lookup)}: true"


def list_columns(argument: str, columns: Iterable[str]) -> str:
    """The advice on finding rows without a value if the view has no lookup for this: list all rows,
    with only a few columns. `argument` is the argument that selects columns.
    """
    chosen = ", ".join(map(quoted, columns))
    return f"to find rows without a value list them with {quoted(argument)}: [{chosen}] and compare"


def middleware_answered(status: int) -> str:
    """The message if middleware answered a call before it reached the view."""
    return f"the project's middleware answered instead of the view, with the status {status}"


def no_middleware(path: str) -> str:
    """The message for a factory in MIDDLEWARE that returns None."""
    return f"the middleware factory {path} returned None"


def one_of(choices: Iterable[str], wrong: Iterable[str] = ()) -> str:
    """The refusal of a value that is not a valid choice. If `wrong` is given, the message names
    these values.
    """
    sent = ", ".join(map(repr, wrong))
    ending = f", not {sent}" if sent else ""
    return f"must be one of {', '.join(choices)}{ending}"


def has_no_effect_without(needed: str) -> str:
    """The refusal of a paginator's argument that has no effect without the argument `needed`."""
    return f"has no effect without {needed}: send both"


def said_by_another(name: str) -> str:
    """The refusal of a control argument if the call also has a paginator argument with the same
    meaning.
    """
    return f"has the same meaning as {name}; send one of them"


def sent_beside(filters: str) -> str:
    """The refusal of a filter that was sent twice: by itself and in `filters`."""
    return f"is also sent outside {filters}; send it once"


def no_such_field(key: str, near: str | None) -> str:
    """The refusal of a name in `filter_keys` that is not a field."""
    ending = f"; did you mean {quoted(near)}?" if near else ""
    return f"there is no field {quoted(key)}{ending}"


# Responses of views.

REQUIRED = "is required, but was not sent"
FETCH_CONTENT_OVER_REST = "the content is not sent over MCP; fetch it over REST"


def result_cannot_be_sent(reason: str) -> str:
    """The message if a view ran, but its result cannot be serialised. `reason` may be empty."""
    why = f" ({reason})" if reason else ""
    return f"it ran, but its result cannot be sent{why}; check what it did before you call it again"


def fetch_rest_over_rest(most: int) -> str:
    """The note after a text that was cut because it was too long."""
    return f"only the first {most:,} characters; fetch the rest over REST"


def view_answered(status: int) -> str:
    """The message if a view failed with this status."""
    return f"the view answered {status}"


def api_answered(status: int) -> str:
    """The message if a view refused a call without giving a reason."""
    return f"the API answered {status}"


def with_choices(message: str, choices: tuple[str, ...]) -> str:
    """REST framework's message about a wrong choice, followed by the valid choices."""
    return f"{message.rstrip('.')}; it takes {listed(choices)}"


# Advice after a refusal of the API.

NEEDS_OTHER_CREDENTIALS = "Use other credentials, or ask your user."
LOOK_AT_IT_FIRST = "Read the row as it is now before you try again."


def no_such_row(kind: str, keys: Iterable[str]) -> str:
    """The message if no rows have these keys."""
    return f"no {kind} {', '.join(keys)}"


def existing_rows(rows: Iterable[str], more: str) -> str:
    """A sentence with some existing rows. `more` is the tool that lists all rows, or empty if the
    sentence names all of them.
    """
    named = ", ".join(rows)
    if not named:
        return "none exist that you can list"
    return f"existing: {named}, …; all with {more}" if more else f"existing: {named}"


def create_with(tool: str) -> str:
    """The advice to create the missing row with this tool."""
    return f"create one with {tool}"


def list_with(tool: str) -> str:
    """The message if a row does not exist or is not visible, with the tool that lists rows."""
    return f"It does not exist, or you may not see it; {tool} lists what you can see."


def wait(pause: str | None) -> str:
    """The advice to wait. `pause` is a number of seconds or a date. It is None if the time is
    unknown.
    """
    if not pause:
        return "Wait before you try again."
    return f"Try again in {pause} s." if pause.isdecimal() else f"Try again after {pause}."


# Receipts.

ONLY_DEFAULTS = "No field was sent: the row has only default values."
STORED_SOMETHING_ELSE = "Nothing changed: the view stored something else."
STORED_NOTHING = "Nothing changed: what was sent was not stored."
HELD_ALL_THIS = "Nothing changed: the row already had these values."
NO_FIELD_SENT = "Nothing changed: no field was sent."


NO_CONTENT = "Done. The API answered without content."
NO_ROW_DELETED = "The API accepted the call, but no row was deleted or changed."
ROW_KEPT = "The API keeps the row: it was changed, not deleted."
OTHERS_TOO = "Other records were deleted or changed too."


def rows_of_kind(plural: str, names: Sequence[str], count: int) -> str:
    """The names of some rows of one kind, and the number of the rows that are not named."""
    if not names:
        return f"{plural} ({count})"
    more = f" and {count - len(names)} more" if count > len(names) else ""
    return f"{plural} {', '.join(names)}{more}"


def blocked_by(kinds: Iterable[str], *, has_others: bool, is_direct: bool, is_undone: bool) -> str:
    """The refusal of a delete, because other rows refer to the row. `kinds` has the rows that the
    caller can list, one text for each kind.
    """
    rows = [*kinds]
    ending = "; delete or change them first" if rows else ""
    if has_others:
        rows.append("other records")
    what = "it" if is_direct else "it or to rows that would be deleted with it"
    undone = " Nothing was done." if is_undone else ""
    return f"It cannot be deleted: {'; '.join(rows)} refer to {what}{ending}.{undone}"


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
    """One log line about a call that writes. Keys and ids are written as Python literals, so that a
    line feed in a value cannot begin a new line.
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


# Settings and checks: messages of `manage.py check` and `manage.py check --deploy`.

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
LOG_SAYS_WHERE = "manage.py mcp_doctor shows where."


def no_such_setting(near: str | None, known: Iterable[str]) -> str:
    """The message for a key of TOOLBOOTH that does not exist."""
    meant = f"{near!r} may be meant" if near else f"there are {', '.join(known)}"
    return f"there is no such setting; {meant}"


def wrong_setting(expected: str, value: object) -> str:
    """The message for a setting with a wrong value."""
    return f"must be {expected}, not {value!r}"


NOT_INSTALLED = (
    "The URLs of toolbooth.django are included, but the app is not in INSTALLED_APPS: its commands "
    "and checks are missing."
)
INSTALL_APP = 'Add "toolbooth.django" to INSTALLED_APPS.'
CORRECT_THE_LINE = "Correct that line. Until then, all other tools are published without these."


def own_tools_left_out(what: str, why: str, place: str) -> str:
    """The message if one of the project's own tools, or a whole module of them, is left out."""
    return f"{what} is left out: {why} ({place})"


def tools_cannot_be_compiled(error: Exception) -> str:
    """The message if the catalogue cannot be built."""
    return f"The tools cannot be compiled: {type(error).__name__}: {error}"


def argument_not_offered(name: str, published: str, tools: str) -> str:
    """The message if some tools lack a control argument, because they have an argument with the
    same name.
    """
    return (
        f"The protocol argument {name!r} is not offered where the host has an argument"
        f" {published!r}: on {tools}."
    )


def rename_argument(name: str) -> str:
    """The hint with the setting that renames a control argument."""
    renamed = f"{{{name!r}: 'mcp_{name}'}}"
    return f"To have both, rename the former: TOOLBOOTH['ARGUMENTS'] = {renamed}."


# The test client.

WHOLE_OR_BY_FIELD = "pass either one dict of arguments or keyword arguments"


def not_a_views_tool(name: str, near: str | None) -> str:
    """The message of `unread_fields` if no view has a tool of this name."""
    ending = f"; {near!r} may be meant" if near else ""
    return f"no view has a tool {name!r}{ending}"


def action_failed(tool: str, text: str) -> str:
    """The message of `unread_fields` if the call was refused or failed."""
    return f"{tool!r} was refused or failed, so its fields may not all have been read: {text}"


def tools_not_listed(status: int, words: str) -> str:
    """The message if `tools/list` was refused."""
    return f"the tools were not listed: HTTP {status}, {words}"


def no_endpoint(line: str) -> str:
    """The message if the project does not include the URLs of Toolbooth."""
    return f"the project has no MCP endpoint; add {line} to its urlpatterns"


# The file in TOOLBOOTH["WARM_FILE"].

NO_WARM_FILE = "there is no such file"
BROKEN_WARM_FILE = "it is broken"
WRONGLY_SIGNED = "it was changed, or written with another SECRET_KEY"
_MOST_CHANGES = 3


def warm_file_not_read(error: OSError) -> str:
    """The reason if the file in WARM_FILE exists but cannot be read."""
    return f"it cannot be read: {error.strerror or error}"


def written_for_other(part: str, changed: Sequence[str]) -> str:
    """The reason if the project has changed since the file in WARM_FILE was written."""
    more = len(changed) - _MOST_CHANGES
    names = ", ".join(changed[:_MOST_CHANGES]) + (f" and {more} more" if more > 0 else "")
    return f"it was written with different {part}: {names}"


def listed_otherwise(tool: str) -> str:
    """The reason if the file in WARM_FILE describes a tool differently than the project does
    now.
    """
    return f"its entry for {tool} is out of date"


def warm_file_ignored(path: object, reason: str) -> str:
    """The message if the file in WARM_FILE is not used."""
    return f"{path} is not used: {reason}; run manage.py mcp_warm"
