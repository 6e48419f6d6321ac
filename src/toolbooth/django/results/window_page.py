"""Makes a page from a window of a list: the rows of the window, and notes about them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from toolbooth.django.describe.arguments import Arguments
from toolbooth.django.results import messages
from toolbooth.django.results.other_pages import pages_of_view
from toolbooth.django.results.page import Page
from toolbooth.django.results.tokens import Position
from toolbooth.django.results.windows import Window
from toolbooth.server.results.pages import Written, differing


def page_of_window(
    arguments: Arguments,
    token: str | None,
    position: Position,
    most: int | None,
    wanted: int,
    window: Window,
    stop: int,
) -> Page:
    """Return the rows of a window up to `stop` as a page of at most `most` bytes. `wanted` is the
    number of requested rows that exist.
    """
    found = window.found
    is_whole = window.before == 0 and window.is_end
    note = ""
    if window.has_changed:
        note = messages.RESULT_HAS_CHANGED
    is_page_of_view = len(window.pages) == 1 and (window.start, stop) == (0, window.rows)
    # Such links refer to the pages of the view, which differ from this one.
    if found.beside("next") in found.members and not is_page_of_view:
        note += messages.LINKS_OF_VIEW
    others = ""
    if window.pages[-1].other.is_open:
        others = pages_of_view(arguments, found) or messages.VIEW_MAY_HAVE_MORE
    # The bytes of some rows would be read as those of the whole list.
    size = found.size if is_whole else None
    return Page(
        found=found,
        unit="rows",
        token=token,
        start=window.start,
        stop=stop,
        most=most,
        note=note,
        others=others,
        following=partial(window.position, position),
        count=window.count,
        size=size,
        before=window.before,
        wanted=wanted,
        beside=differing([page.found for page in window.pages]),
    )


def first_large_row(found: Written, window: Window, room: int | None) -> int:
    """Return the index of the first row that is too large for a page by itself. If no row is too
    large, return the end of the rows.
    """
    if found.unit(room, window.start, window.stop) == "rows":
        return window.stop
    rows = range(window.start, window.stop)
    large = (row for row in rows if found.unit(room, row, row + 1) == "text")
    return next(large, window.stop)


def remedies(arguments: Arguments) -> Iterator[str]:
    """Yield ways in which the agent can get a row that is too large for a page."""
    names = {own: name for name, own in arguments.controls.items()}
    if "filter_keys" in names:
        yield messages.without_large_fields(names["filter_keys"])
    if "mode" in names:
        yield f'{names["mode"]} "full"'
    # Without these, a row that is too large is shown in pieces of text.
    counting = [names[each] for each in ("page", "page_size") if each in names]
    yield f"no {' and no '.join(counting)}"
