"""Every sentence about pages of a result and continuation tokens."""

from __future__ import annotations

from collections.abc import Iterable

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


LINKS_OF_VIEW = "The links are about the view's own pages. "
VIEW_MAY_HAVE_MORE = "The view may have more, but does not say how to ask for it."


def only_a_summary(token: str) -> str:
    """The whole can be asked for."""
    return f"Only a summary. To see it, make the same call with {token} instead of its fields."


def fewer_rows(wanted: int, most: int, shown: int) -> str:
    """So many rows as were asked for do not fit."""
    return f"{wanted} rows are longer than {most:,} bytes: these are the first {shown}. "


def more_rows(count: int, name: str) -> str:
    """There are more rows in the list of this name."""
    return f"{count:,} more in {name}."


def some_more_rows(name: str) -> str:
    """There are more rows in the list of this name, and it is not known how many."""
    return f"There is more in {name}."


def more_characters(count: int) -> str:
    """There is more text."""
    return f"{count:,} characters more."


def to_go_on(words: str, token: str) -> str:
    """What there is more of, and how to get it."""
    return f"{words} To go on, make the same call with {token} instead of its fields."


# Pages that do not exist.

NOT_WITH_SUMMARY = "has no effect if only a summary is asked for"
ANSWER_HAS_NO_ROWS = "the answer has no rows"
TOKEN_IS_FOR_TEXT = "the token goes on with pieces of text; send it alone"


def no_such_page(count: int, pages: int, size: int) -> str:
    """A page past the last."""
    rows = "1 row" if count == 1 else f"{count:,} rows"
    return f"the last page is {pages}: the list has {rows}, at most {size} to a page"


def list_ends_before(number: int, size: int) -> str:
    """A page past the last, of a list whose rows the view does not count."""
    return f"the list ends before page {number} of {size} rows; begin with page 1"


def too_far(most: int, token: str | None) -> str:
    """A page by number in a list that can only be read forward."""
    instead = f" send {token} of an earlier page" if token else " send a larger page size"
    return f"must be {most} or less: this list can only be read forward. To continue,{instead}"


def size_of_view(most: int, rows: int, pages: int) -> str:
    """A page of more rows than the pages of a view that are joined in one call have."""
    return (
        f"must be 1 to {most:,} here: the view makes pages of {rows}, and one call reads {pages}"
        " of them"
    )


AT_LEAST_ONE = "must be 1 or more"
NOT_WITH_PAGE_SIZE = (
    "counts the view's own pages, and cannot be combined with page_size; send one of them"
)


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
    return f"none of these are fields of the answer; it has {has}"


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
    """What to send instead of a token that cannot be used. A write must not be repeated."""
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
    return f"is for a result that is no longer kept; {instead}"


def token_once_allowed(message: str, token: str, tool: str) -> str:
    """The caller may no longer call the tool that a token is from."""
    return f"{message.rstrip('.')}; {token} can be used once you may call {tool} again"
