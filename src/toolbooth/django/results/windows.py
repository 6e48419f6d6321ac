"""Gathers the requested rows of a list from as many pages of its view as needed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from toolbooth.django.call.invocation import Moved
from toolbooth.django.results.other_pages import NUMBER
from toolbooth.django.results.tokens import Position, digest
from toolbooth.django.results.view_results import Keys, ListPage, ViewResults, is_not_found
from toolbooth.errors import ToolError, ToolInputError
from toolbooth.jsonvalue import Json
from toolbooth.server.results.pages import Written, joined

MOST_PAGES = 50
"""The most pages of a view that are joined in one call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The rows of a list that a call requests, and the pages of the view that contain them."""

    pages: tuple[ListPage, ...]
    start: int
    """The index in the rows of `pages` of the first row that is shown."""
    size: int
    """The number of rows that were requested."""
    before: int
    """The number of rows of the list before `pages`."""
    has_changed: bool = False
    """Whether the list has changed since an earlier page was returned."""

    @property
    def found(self) -> Written:
        """The pages of the view, joined to one page."""
        return joined([page.found for page in self.pages])

    @property
    def rows(self) -> int:
        """The number of all rows in `pages`."""
        return sum(len(page.found.rows) for page in self.pages)

    @property
    def stop(self) -> int:
        """The index after the last row that is shown, counted in the rows of `pages`."""
        return min(self.start + self.size, self.rows)

    @property
    def is_end(self) -> bool:
        """True if `pages` includes the last page of the list."""
        last = self.pages[-1].other
        return last.following is None and not last.is_open

    @property
    def count(self) -> int | None:
        """The number of rows in the whole list. None if the number is unknown."""
        return self.before + self.rows if self.is_end else self.pages[-1].other.count

    @property
    def wanted(self) -> int:
        """The number of requested rows that exist. If the length of the list is unknown, this is
        the number of requested rows.
        """
        if self.count is None:
            return self.size
        return max(0, min(self.size, self.count - self.before - self.start))

    def is_longer(self, most: int | None) -> bool:
        """Return True if the pages have more than `most` bytes, so that no further page was
        read.
        """
        return most is not None and sum(page.found.size for page in self.pages) > most

    def until(self, end: int) -> Window:
        """Return the same window without those pages of the view that begin at row `end` or
        later.
        """
        kept = [self.pages[0]]
        rows = len(self.pages[0].found.rows)
        for page in self.pages[1:]:
            if rows >= end:
                break
            kept.append(page)
            rows += len(page.found.rows)
        return replace(self, pages=tuple(kept))

    def position(self, position: Position, end: int) -> Position | None:
        """Return the position of row `end`, where the next page begins. Return None if the list
        ends there.
        """
        first = 0
        for page in self.pages:
            at = end - first
            if at < len(page.found.rows):
                # At the start of a page, none of its rows were shown yet. So changes in that page
                # do not matter, and no digest is needed.
                seen = digest(page.found.text) if at else ""
                before = self.before + first
                return replace(position, at=at, moved=page.moved, before=before, digest=seen)
            first += len(page.found.rows)
        last = self.pages[-1]
        if last.other.following is None:
            return None
        moved = {**last.moved, **last.other.following}
        return replace(position, at=0, moved=moved, before=self.before + first, digest="")


@dataclass(slots=True, kw_only=True)
class PagesOfView:
    """Requests pages of a list from its view. They are all for one call."""

    source: ViewResults
    sent: Json
    keys: Keys
    asked: int = 0

    def page(self, moved: Moved) -> ListPage:
        """Return the page of the view for the query with the changes `moved`. Raises the refusal of
        the view.
        """
        self.asked += 1
        page = self.source.page_of_list(self.sent, moved, self.keys)
        values = moved.get(NUMBER, [])
        if page.other.is_open and values and values[0].isdecimal():
            # The query has a page number only if `numbered` has found that pages have numbers.
            following = {NUMBER: [str(int(values[0]) + 1)]}
            return with_others(page, following=following, is_sure=False, is_open=False)
        return page

    def maybe(self, moved: Moved) -> ListPage | None:
        """Return the page of the view for the query with the changes `moved`. Return None if the
        view has no such page.
        """
        try:
            return self.page(moved)
        except ToolError as error:
            if is_not_found(error):
                return None
            raise

    def after(self, page: ListPage) -> ListPage | None:
        """Return the next page. Return None if there is no next page, or if it cannot be
        requested.
        """
        if page.other.following is None:
            return None
        following = self.maybe({**page.moved, **page.other.following})
        if following is None or page.other.is_sure:
            return following
        # Some views return their last page again if the number is too high.
        is_new = following.found.rows_text not in ("", page.found.rows_text)
        return following if is_new else None

    def numbered(self, first: ListPage) -> ListPage:
        """Return the first page of a list, with the facts about its page numbers. If the paginator
        is unknown, try whether pages have numbers. They have numbers if page 1 has the same rows as
        the first page, and page 2 has other rows or none.
        """
        if not first.other.is_open:
            return first
        try:
            again = self.maybe({**first.moved, NUMBER: ["1"]})
            second = self.maybe({**first.moved, NUMBER: ["2"]})
        except ToolInputError:
            return first
        rows = first.found.rows_text
        if again is None or again.found.rows_text != rows:
            return first
        if second is None or not second.found.rows:
            return with_others(again, following=None, is_sure=True, number=NUMBER, before=0)
        if second.found.rows_text == rows:  # the view may ignore the number
            return with_others(first, before=0)
        return with_others(again, number=NUMBER, rows=len(again.found.rows), before=0)

    def gathered(
        self, first: ListPage, start: int, size: int, room: int | None
    ) -> tuple[ListPage, ...]:
        """Return the pages that contain `size` rows, counted from row `start` of the page `first`.
        There are fewer rows if the list ends, or if the pages have more than `room` bytes.
        """
        pages = [first]
        rows = len(first.found.rows) - start
        room_left = None if room is None else room - first.found.size
        # If it is not certain that a next page exists, it is requested to find out.
        while rows < size or (rows == size and not pages[-1].other.is_sure):
            is_full = room_left is not None and room_left < 0
            # Two more, because `numbered` may have spent two requests to find out how pages are
            # counted.
            if is_full or self.asked > MOST_PAGES + 2:
                break
            following = self.after(pages[-1])
            if following is None:
                pages[-1] = with_others(pages[-1], following=None, is_sure=True)
                break
            pages.append(following)
            rows += len(following.found.rows)
            room_left = None if room_left is None else room_left - following.found.size
        return tuple(pages)


def with_others(page: ListPage, **changes: Any) -> ListPage:
    """Return the page with `changes` made to its attribute `other`."""
    return replace(page, other=replace(page.other, **changes))
