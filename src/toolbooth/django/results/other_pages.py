"""Finds the other pages of a list in a view's response.

These ways are tried in this order: a paginator of REST framework to which the response refers; a
link to the next page in the response or its headers; any other paginator of the view. In the last
case, it is only known that there may be more pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.core.paginator import Page, Paginator
from rest_framework.pagination import CursorPagination, LimitOffsetPagination, PageNumberPagination

from toolbooth.django.call.invocation import Moved
from toolbooth.django.describe.arguments import Arguments
from toolbooth.django.describe.paging import is_stock
from toolbooth.django.results import messages
from toolbooth.jsonvalue import Json, is_mapping
from toolbooth.server.results.pages import Written

_NUMBERS: Any = PageNumberPagination
_OFFSETS: Any = LimitOffsetPagination
_CURSORS: Any = CursorPagination
"""REST framework's own paginators, as Any because their types are incomplete."""

_COUNT: Any = vars(Paginator)["count"]
"""The property by which Django counts the rows."""

NUMBER = "page"
"""The name of the parameter for the page number, if the paginator does not have one."""

_NEXT_LINK = re.compile(r"""<([^>]*)>\s*;[^,]*\brel="?next"?""")
"""The link to the next page in a `Link` header."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherPages:
    """The other pages of a list, as far as one of its pages shows them."""

    following: Moved | None = None
    """The changes to the query for the next page. None if this is the last page, or if nothing is
    known.
    """
    is_sure: bool = True
    """Whether the next page is certain to exist."""
    is_open: bool = False
    """Whether there may be more pages that cannot be requested."""
    is_uneven: bool = False
    """Whether the view omits some rows from its pages. Then rows cannot be counted."""
    count: int | None = None
    """The number of all rows of the list."""
    before: int | None = None
    """The number of rows of the list before this page."""
    rows: int | None = None
    """The number of rows in every page but the last."""
    pages: int | None = None
    number: str = ""
    """The parameter that takes the number of a page."""
    offset: str = ""
    """The parameter that takes the number of rows before a page."""

    def holding(self, row: int) -> tuple[Moved, int] | None:
        """Return the page that contains a row, and the index of the row in that page. Rows are
        counted from 0. Return None if the page can only be found by reading all pages in order.
        """
        if self.offset:
            return {self.offset: [str(row)]}, 0
        is_countable = self.count is not None or self.pages is not None
        if not self.number or not self.rows or not is_countable:
            return None
        # The last page may be longer than the others.
        page = min(row // self.rows + 1, self.pages or row + 1)
        return {self.number: [str(page)]}, row - (page - 1) * self.rows


LAST_PAGE = OtherPages()


def other_pages(
    response: Any, value: Mapping[str, Any], query: str, rows: int, *, is_paged: bool
) -> OtherPages:
    """Return the facts about the other pages of a list that one response shows. `value` is the
    content of the response, `rows` is the number of its rows, and `query` is its query. `is_paged`
    is True if the view has a paginator.
    """
    view = _view(response)
    # Read from `__dict__`, because the property `paginator` would create one, even if the view did
    # not use any for this response.
    paginator: Any = _attributes(view).get("_paginator")
    found = _attributes(paginator)
    if isinstance(paginator, _NUMBERS) and isinstance(found.get("page"), Page):
        return _numbered(paginator, query, rows)
    if isinstance(paginator, _OFFSETS) and found.get("limit") and "count" in found:
        return _with_offset(paginator, query, rows)
    if isinstance(paginator, _CURSORS) and "has_next" in found:
        return OtherPages(following=_moved(paginator.get_next_link(), query))
    for link in _links(response, value):
        return _linked(link, query, value, rows)
    if view is None:  # the response comes from a cache
        return OtherPages(is_open=is_paged and rows > 0)
    is_used = paginator is not None and not is_stock(paginator, "paginate_queryset")
    return OtherPages(is_open=is_used and rows > 0)


def _view(response: Any) -> Any:
    """Return the view of a response. Return None if the response has no reference to its view."""
    context: Mapping[str, Any] = getattr(response, "renderer_context", None) or {}
    return context.get("view")


def pages_of_view(arguments: Arguments, found: Written) -> str:
    """Return a sentence with the arguments that select other pages of the view. Return an empty
    text if the view has no other pages.
    """
    slots = {name: slot for name, slot in arguments.slots.items() if slot.bound is not None}
    following = found.member("next")
    if not slots or ("next" in found.members and following is None):
        return ""
    query = parse_qs(following.partition("?")[2]) if isinstance(following, str) else {}
    changes = [
        f"{name}={query[slot.name][0]}" for name, slot in slots.items() if slot.name in query
    ]
    if changes:
        return messages.next_page_of_view(changes)
    return messages.other_pages_of_view(slots)


def arguments_for_next_page(arguments: Arguments, sent: Json, following: Moved | None) -> Json:
    """Return the arguments to add to the call for the next page. Return an empty dict if there is
    no next page, or if the tool has no arguments that select it.
    """
    if following is None:
        return {}
    names = arguments.named("query")
    if following.keys() <= names.keys():
        called = {names[name]: values for name, values in following.items()}
        return {name: _as_argument(arguments.wide[name], each) for name, each in called.items()}
    # The link has parameters that only the view knows. The gateway follows it if a page is
    # requested by its number, counted from the page of this call.
    number = arguments.called("page")
    slots = [arguments.slots[name] for name in sent]
    # An argument such as an offset or a cursor cannot be combined with a page number.
    has_place = any(slot.bound is not None and slot.bound.role != "size" for slot in slots)
    return {} if number is None or has_place else {number: 2}


def _as_argument(schema: Json, values: list[str]) -> Any:
    """Return the value of a query parameter, converted to the type of its argument."""
    if len(values) > 1:
        return values
    (text,) = values
    return int(text) if schema.get("type") == "integer" and text.isdecimal() else text


def _attributes(thing: Any) -> Mapping[str, Any]:
    """Return the instance attributes of a view or a paginator. Return an empty mapping for None."""
    return getattr(thing, "__dict__", {})


# --- REST framework's own paginators ---


def _numbered(paginator: Any, query: str, rows: int) -> OtherPages:
    page = paginator.page
    all_pages: Any = page.paginator
    # A paginator of the project's own may not count rows, or may estimate: then only an empty page
    # shows that the list has ended.
    is_counted = getattr(all_pages.__class__, "count", None) is _COUNT
    has_next = page.has_next() and len(page) > 0
    count = all_pages.count if is_counted else None
    if not is_stock(paginator, "get_page_number"):
        link = paginator.get_next_link() if has_next else None
        return OtherPages(following=_moved(link, query), is_sure=is_counted, count=count)
    number = paginator.page_query_param
    following = {number: [str(page.number + 1)]} if has_next else None
    if rows != len(page):  # the view leaves out rows: nothing can be counted
        return OtherPages(following=following, is_uneven=True)
    return OtherPages(
        following=following,
        is_sure=is_counted or not has_next,
        count=count,
        before=(page.number - 1) * all_pages.per_page,
        rows=all_pages.per_page,
        pages=all_pages.num_pages,
        number=number,
    )


def _with_offset(paginator: Any, query: str, rows: int) -> OtherPages:
    offset: int = paginator.offset
    after = offset + paginator.limit
    is_counted = is_stock(paginator, "get_count")
    # A project's own `get_count` may estimate. Then an empty page is the only sign of the end.
    has_next = after < paginator.count and (is_counted or rows > 0)
    if not is_stock(paginator, "get_offset"):
        link = paginator.get_next_link() if has_next else None
        return OtherPages(following=_moved(link, query), count=paginator.count)
    name = paginator.offset_query_param
    following = {name: [str(after)]} if has_next else None
    if has_next and rows != paginator.limit:  # the view leaves out rows: nothing can be counted
        return OtherPages(following=following, is_uneven=True)
    return OtherPages(
        following=following,
        count=paginator.count,
        before=offset,
        rows=paginator.limit,
        offset=name,
    )


# --- links ---


def _linked(link: str | None, query: str, value: Mapping[str, Any], rows: int) -> OtherPages:
    count: Any = value.get("count")
    known = count if isinstance(count, int) and not isinstance(count, bool) else None
    # A view that links from one empty page to the next would otherwise never end.
    following = _moved(link, query) if rows else None
    number = _number_in(following, query)
    if number is None:
        return OtherPages(following=following, count=known)
    before = (number - 1) * rows
    return OtherPages(following=following, count=known, before=before, rows=rows, number=NUMBER)


def _number_in(following: Moved | None, query: str) -> int | None:
    """Return the number of this page if the link to the next page is for the number after it.
    Otherwise return None.
    """
    if following is None or [*following] != [NUMBER]:
        return None
    asked = parse_qs(query).get(NUMBER, ["1"])[0]
    is_next = asked.isdecimal() and following[NUMBER] == [str(int(asked) + 1)]
    return int(asked) if is_next else None


def _moved(link: str | None, query: str) -> Moved | None:
    """Return the parameters that a link changes in the query. Parameters that the link leaves out,
    such as filters, are kept.
    """
    if link is None:
        return None
    asked = parse_qs(query, keep_blank_values=True)
    linked = parse_qs(urlsplit(link).query, keep_blank_values=True)
    # A link without changes is to the same page.
    return {name: each for name, each in linked.items() if asked.get(name) != each} or None


def _links(response: Any, value: Mapping[str, Any]) -> Iterator[str | None]:
    """Yield the link to the next page if the response has one. Yield None if the response shows
    that there is no next page.
    """
    beside = [value, *(each for each in value.values() if is_mapping(each))]
    for each in beside:
        if "next" in each:
            link: Any = each["next"]
            # JSON:API and HAL write `{"next": {"href": "..."}}`.
            link = link.get("href") if is_mapping(link) else link
            if link is None or (isinstance(link, str) and "?" in link):
                yield link
    if header := str(response.get("Link", "")):
        found = _NEXT_LINK.search(header)
        yield found[1] if found else None
