"""The line for an exception that is logged without its traceback."""

from __future__ import annotations


def logged_error(words: str, error: BaseException, place: str | None) -> str:
    """Return the words that were logged, with the exception and its place in the user's code."""
    reason = ": ".join(filter(None, (type(error).__name__, first_line(error))))
    where = f" ({place})" if place else ""
    return f"{words}: {reason}{where}. --traceback shows the rest"


def first_line(error: BaseException) -> str:
    """Return the first line of the message of an exception, without its full stop."""
    return str(error).strip().partition("\n")[0].rstrip(".")
