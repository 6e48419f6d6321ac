"""The messages about pages of a result and continuation tokens."""

from __future__ import annotations

from collections.abc import Iterable

# Pages of a result.

RESULT_HAS_CHANGED = (
    "The result has changed since the previous page: rows may be missing or repeated. "
)
PAGED_ANEW = "Paging starts again: this is the beginning. "
WHOLE_INSTEAD = "The whole result: this server cannot keep it, so it cannot return it in pages."
LAST_PAGE = "The last page."
ALL_ROWS = "All rows of this answer."
PIECE_OF_JSON = "A piece of JSON: parse it when you have all pieces."
LAST_PIECE_OF_JSON = f"{PIECE_OF_JSON} This is the last."
LAST_PIECE = "The last piece."


def next_page_of_view(arguments: Iterable[str]) -> str:
    """The note if the response shows which arguments select the next page of the view."""
    changes = ", ".join(arguments)
    return f"There is more: for the next page, send the same arguments with {changes}. "


def other_pages_of_view(names: Iterable[str]) -> str:
    """The note if the view may have other pages. `names` are the arguments that select a page."""
    return f"There may be more: send {', '.join(names)} for other pages. "


LINKS_OF_VIEW = "Links in it use the API's own pages. "
VIEW_MAY_HAVE_MORE = "There may be more, but the API does not say how to get it."


def only_a_summary(token: str) -> str:
    """The note after a summary. It explains how to get the whole result."""
    return f"Only a summary. For the result, call the same tool with only {token}."


def fewer_rows(wanted: int, most: int, shown: int) -> str:
    """The note if only some of the requested rows fit."""
    return f"{wanted} rows are longer than {most:,} bytes: these are the first {shown}. "


def more_rows(count: int, name: str) -> str:
    """The note if the list `name` has this many more rows."""
    return f"{count:,} more in {name}."


def some_more_rows(name: str) -> str:
    """The note if the list `name` has more rows, but their number is not known."""
    return f"There is more in {name}."


def more_characters(count: int) -> str:
    """The note if this many characters follow."""
    return f"{count:,} characters more."


def to_go_on(words: str, token: str) -> str:
    """`words` about the remaining rows or characters, followed by the way to get them."""
    return f"{words} To continue, call the same tool with only {token}."


# Pages that do not exist.

NOT_WITH_SUMMARY = "has no effect if only a summary is asked for"
ANSWER_HAS_NO_ROWS = "the answer has no rows"
TOKEN_IS_FOR_TEXT = "the token continues a text; send it alone"


def no_such_page(count: int, pages: int, size: int) -> str:
    """The refusal of a page number after the last page."""
    rows = "1 row" if count == 1 else f"{count:,} rows"
    return f"the last page is {pages}: the list has {rows}, at most {size} to a page"


def list_ends_before(number: int, size: int) -> str:
    """The refusal of a page number after the last page, if the number of rows is not known."""
    return f"the list ends before page {number} of {size} rows; begin with page 1"


def too_far(most: int, token: str | None) -> str:
    """The refusal of a page number that is too high. The list can only be read forward."""
    instead = f" send {token} of an earlier page" if token else " send a larger page size"
    return f"must be {most} or less: this list can only be read forward. To continue,{instead}"


def size_of_view(most: int, rows: int, pages: int) -> str:
    """The refusal of a page size that would need too many pages of the view."""
    return (
        f"must be 1 to {most:,} here: the view makes pages of {rows}, and one call reads {pages}"
        " of them"
    )


AT_LEAST_ONE = "must be 1 or more"
NOT_WITH_PAGE_SIZE = (
    "counts the view's own pages, and cannot be combined with page_size; send one of them"
)


def row_too_large(row: int, remedies: Iterable[str]) -> str:
    """The refusal if a single row is too large for a page."""
    instead = ", or ".join(remedies)
    return f"row {row:,} is too large for a page; send {instead}, or ask for other rows"


def without_large_fields(filter_keys: str) -> str:
    """One remedy for a row that is too large: leave out its large fields."""
    return f"{filter_keys} without its large fields"


def no_field_in_answer(fields: Iterable[str]) -> str:
    """The refusal of `filter_keys` if the view declares these fields but does not return them."""
    has = ", ".join(fields)
    return f"none of these are fields of the answer; it has {has}"


def call_without(why: str, name: str) -> str:
    """The refusal of an argument that has no meaning for this response."""
    return f"{why}; call without {name}"


# Continuation tokens.

NOT_REACHED_NOW = "is for a result that cannot be reached at the moment; send it again later"
OTHER_FORM_BY_NOW = "is for a result whose form has changed; make the first call again"
REFUSED_BY_NOW = "continues a call that would now be refused; make that call again"


def instead_of_token(tool: str, *, is_query: bool) -> str:
    """The advice if a token cannot be used. A query can be repeated, a write must not be."""
    if is_query:
        return f"call {tool} again with the arguments of the first call"
    return "the original call has run: check what it did, do not repeat it"


def not_beside_token(token: str) -> str:
    """The refusal of a field that was sent with a token."""
    return f"cannot be sent with {token}, which continues an earlier call"


def token_expired(age: int, instead: str) -> str:
    """The refusal of a token that has expired."""
    return f"has expired: a token is valid for {_duration(age)}; {instead}"


def _duration(seconds: int) -> str:
    if seconds >= 120:
        return f"{seconds // 60} minutes"
    return f"{seconds} seconds" if seconds > 1 else f"{seconds} second"


def not_a_token(instead: str, *, is_query: bool) -> str:
    """The refusal of a token whose signature is wrong."""
    joint = ", or" if is_query else ";"
    return f"is not a token of this server, or was changed; send it unchanged{joint} {instead}"


def token_of_another_caller(instead: str) -> str:
    """The refusal of a token of another caller."""
    return f"was given to another caller; {instead}"


def token_of_another_tool(tool: str) -> str:
    """The refusal of a token of another tool."""
    return f"belongs to {tool}; send it there"


def arguments_no_longer_kept(instead: str) -> str:
    """The refusal if the cache has lost the arguments of a query."""
    return f"continues a call whose arguments are no longer kept; {instead}"


def result_no_longer_kept(instead: str) -> str:
    """The refusal if the cache has lost a result."""
    return f"is for a result that is no longer kept; {instead}"


def token_once_allowed(message: str, token: str, tool: str) -> str:
    """The refusal if the caller is no longer allowed to call the tool of a token."""
    return f"{message.rstrip('.')}; {token} can be used once you may call {tool} again"
