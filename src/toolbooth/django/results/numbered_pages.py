"""Makes pages of a list by number and size. The view may have pages of any other size.

If the view's pages have 100 rows, the page with the requested rows is fetched, and cut. If they
have 5 rows, as many pages as needed are fetched, and joined. The view makes each of its pages as it
does over REST: for the caller, with the filters of the call, in its own order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NoReturn

from toolbooth.django.call.invocation import NOT_MOVED, Moved
from toolbooth.django.conf import Configuration
from toolbooth.django.describe.arguments import Arguments, Slot
from toolbooth.django.describe.paging import Role
from toolbooth.django.results import messages
from toolbooth.django.results.other_pages import LAST_PAGE, NUMBER
from toolbooth.django.results.tokens import Position, digest
from toolbooth.django.results.view_results import ListPage, ViewResults
from toolbooth.django.results.windows import MOST_PAGES, PagesOfView, Window
from toolbooth.errors import Problem, ToolInputError
from toolbooth.jsonvalue import Json
from toolbooth.server.controls import Controls

_FEW = 100
"""The rows of a page if neither the call nor the view has a size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """The page that a call requests by number."""

    name: str
    """The argument that has the number."""
    number: int
    size: int

    @property
    def row(self) -> int:
        """The first row of the page, counted from 0."""
        return (self.number - 1) * self.size


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberedPages:
    """Makes pages of the list of one tool, by number and size."""

    source: ViewResults
    arguments: Arguments
    chosen: Configuration

    def first(self, sent: Json, asked: Controls, room: int | None) -> Window:
        """Return the rows of the page that a call requests. Raises ToolInputError."""
        pages = PagesOfView(source=self.source, sent=sent, keys=asked.filter_keys)
        name, number = self._number(pages, sent, asked)
        base = self._base(sent, asked.page_size, name, number)
        page = None
        if number > 1 and asked.page_size is not None:
            wanted = _Asked(name=name, number=number, size=asked.page_size)
            # A correct guess saves the request for the first page.
            page = self._guessed(pages, base, wanted)
        if page is None or page.other.holding(number) is None:
            page = pages.numbered(pages.page(base))
        self._must_have_rows(page, asked)
        size = asked.page_size or self._usual_size(page)
        wanted = _Asked(name=name, number=number, size=size)
        page, start, before = self._page_with_row(pages, page, wanted, base)
        if page.other.before is not None:
            before = page.other.before
        return self._window(pages, page, start, size, before, room)

    def _must_have_rows(self, page: ListPage, asked: Controls) -> None:
        if not page.found.name:
            self._refuse(self.called(asked), messages.ANSWER_HAS_NO_ROWS)

    def called(self, asked: Controls) -> str:
        """Return the name of the control argument with which a call requests a page."""
        return str(self.arguments.called("page_size" if asked.page is None else "page"))

    def further(self, position: Position, asked: Controls, room: int | None) -> Window:
        """Return the rows of the page after a position. Raises ToolInputError."""
        sent = position.arguments or {}
        size = asked.page_size or position.size
        keys = position.filter_keys if asked.filter_keys is None else asked.filter_keys
        if asked.page is not None:
            return self.first(sent, replace(asked, page_size=size, filter_keys=keys), room)
        pages = PagesOfView(source=self.source, sent=sent, keys=position.filter_keys)
        # The page may be gone, because rows were deleted since the token was made.
        page = pages.maybe(position.moved or NOT_MOVED)
        if page is None:
            return self._ended(pages, position)
        self._must_have_rows(page, asked)
        has_changed = bool(position.digest) and digest(page.found.text) != position.digest
        if position.count is not None and page.other.count is not None:
            has_changed = has_changed or position.count != page.other.count
        # Checked only now, because the digest was made with the fields of the earlier page.
        if keys != pages.keys:
            pages.keys = keys
            page = replace(page, found=self.source.written(page.value, keys))
        # For the same reason, the page may have fewer rows than the position.
        start = min(position.at, len(page.found.rows))
        before = position.before if page.other.before is None else page.other.before
        size = size or self._usual_size(page)
        window = self._window(pages, page, start, size, before, room)
        return replace(window, has_changed=has_changed)

    def _ended(self, pages: PagesOfView, position: Position) -> Window:
        """Return a window without rows. The list has become shorter, so that it has no rows at the
        position.
        """
        page = pages.page({**(position.moved or {}), **self._without("page")})
        rows = len(page.found.rows)
        count = rows if page.other.count is None else page.other.count
        page = replace(page, other=LAST_PAGE)
        return Window(pages=(page,), start=rows, size=1, before=count - rows, has_changed=True)

    # --- what is asked for ---

    def _number(self, pages: PagesOfView, sent: Json, asked: Controls) -> tuple[str, int]:
        """Return the name of the argument with the page number, and the number. The argument is the
        control argument, or the paginator's own. Raises ToolInputError.
        """
        if asked.page is not None:
            return str(self.arguments.called("page")), asked.page
        for name, slot in self.arguments.slots.items():
            number: Any = sent.get(name)
            # Not `isinstance`, because a bool is an int in Python.
            if type(number) is not int or slot.part != "query":
                continue
            if slot.bound is not None and slot.bound.role == "page":
                return name, number
            if slot.name == NUMBER and self._is_number(pages, slot, name, number):
                if number < 1:
                    self._refuse(name, messages.AT_LEAST_ONE)
                return name, number
        # Only a size was sent: the call asks for the first page.
        return str(self.arguments.called("page_size")), 1

    def _is_number(self, pages: PagesOfView, slot: Slot, name: str, number: int) -> bool:
        """Return True if an argument named `page` is a page number, counted from 1. Return False if
        it is a filter.

        Raises:
            ToolInputError: the argument selects a page, but is not counted from 1.
        """
        # Without the argument, the view returns its first page, which shows how it counts.
        other = pages.numbered(pages.page({slot.name: []})).other
        if other.number == slot.name or slot.bound is None:
            return other.number == slot.name
        is_only_page = other.following is None and not other.is_open
        is_first_page = number == 1 and other.before == 0
        if not is_only_page and not is_first_page:
            self._refuse(name, messages.NOT_WITH_PAGE_SIZE)
        return True

    def _base(self, sent: Json, size: int | None, name: str, number: int) -> Moved:
        """Return the changes to the query that all pages need: the size is set if the paginator
        takes one, and the page number is removed.
        """
        moved: dict[str, list[str]] = dict(self._without("page", sent))
        if name in self.arguments.slots:
            # An empty list removes a parameter from the query of the call.
            moved[self.arguments.slots[name].name] = []
        for slot in self._slots("size"):
            if size is not None and slot.bound is not None:
                # A list that can only be read forward is read in large steps.
                step = size * number if self._slots("cursor") else size
                step = max(size, min(step, self.chosen.max_page_size))
                moved[slot.name] = [str(min(step, slot.bound.most or step))]
        return moved

    def _without(self, role: Role, sent: Json | None = None) -> Moved:
        names = self.arguments.named("query")
        slots = self._slots(role)
        return {slot.name: [] for slot in slots if sent is None or names[slot.name] in sent}

    def _slots(self, role: Role) -> list[Slot]:
        slots = self.arguments.slots.values()
        return [slot for slot in slots if slot.bound is not None and slot.bound.role == role]

    def _usual_size(self, page: ListPage) -> int:
        """Return the number of rows of a page if the call sends no size. It is the size of the
        view's own pages.
        """
        if page.other.rows:
            return page.other.rows
        if page.other.following is not None and page.found.rows:
            return len(page.found.rows)
        return min(_FEW, self.chosen.max_page_size)

    # --- where it is ---

    def _guessed(self, pages: PagesOfView, base: Moved, wanted: _Asked) -> ListPage | None:
        """Return the page of the view that probably has the first requested row. Return None if no
        guess is possible, or if the view has no such page.
        """
        moved: Moved = {}
        for slot in self._slots("offset"):
            moved = {slot.name: [str(wanted.row)]}
        for slot in self._slots("page"):
            own = next((int(base[each.name][0]) for each in self._slots("size")), None)
            rows = own or (slot.bound and slot.bound.rows)
            if rows:
                moved = {slot.name: [str(wanted.row // rows + 1)]}
        return pages.maybe({**base, **moved}) if moved else None

    def _page_with_row(
        self, pages: PagesOfView, page: ListPage, wanted: _Asked, base: Moved
    ) -> tuple[ListPage, int, int]:
        """Return the page of the view with the first requested row, the index of the row in this
        page, and the number of rows before this page. Raises ToolInputError.
        """
        row = wanted.row
        count = page.other.count
        if count is not None and row and row >= count:
            self._refuse_number(wanted, count)
        place = page.other.holding(row) if row else None
        if place is None:
            return self._walked(pages, page, wanted)
        moved = {**page.moved, **place[0]}
        found = page if moved == page.moved else pages.maybe(moved)
        # The position of a row cannot be computed, so pages are read from the first one on.
        if found is not None and found.other.is_uneven:
            return self._walked(pages, pages.page(base), wanted)
        if found is None or place[1] >= len(found.found.rows):
            self._refuse_number(wanted, count)
        return found, place[1], row - place[1]

    def _walked(
        self, pages: PagesOfView, page: ListPage, wanted: _Asked
    ) -> tuple[ListPage, int, int]:
        """Return the same as `_page_with_row`. Find the row by reading one page after the other."""
        before = 0
        while wanted.row and wanted.row >= before + len(page.found.rows):
            before += len(page.found.rows)
            # Each page is a run of the view. One call must not run it without bound.
            if pages.asked >= MOST_PAGES:
                most = max(1, before // wanted.size)
                self._refuse(
                    wanted.name, messages.too_far(most, self.arguments.called("continuation_token"))
                )
            following = pages.after(page)
            if following is None:
                self._refuse_number(wanted, None if page.other.is_open else before)
            page = following
        return page, wanted.row - before, before

    def _window(
        self,
        pages: PagesOfView,
        page: ListPage,
        start: int,
        size: int,
        before: int,
        room: int | None,
    ) -> Window:
        """Return the rows of a page from row `start` on. Raises ToolInputError."""
        rows = page.other.rows or len(page.found.rows)
        window = Window(pages=(page,), start=start, size=size, before=before)
        if not window.is_end and rows and window.wanted > rows * MOST_PAGES:
            name = str(self.arguments.called("page_size"))
            self._refuse(name, messages.size_of_view(rows * MOST_PAGES, rows, MOST_PAGES))
        return replace(window, pages=pages.gathered(page, start, size, room))

    # --- refusals ---

    def _refuse_number(self, wanted: _Asked, count: int | None) -> NoReturn:
        if count is None:
            self._refuse(wanted.name, messages.list_ends_before(wanted.number, wanted.size))
        # The division rounds up. An empty list has one page, which is empty.
        last = max(1, -(-count // wanted.size))
        self._refuse(wanted.name, messages.no_such_page(count, last, wanted.size))

    def _refuse(self, name: str, why: str) -> NoReturn:
        problem = Problem(code="invalid", path=(name,), message=why)
        raise ToolInputError([problem], tool=self.source.call.tool)
