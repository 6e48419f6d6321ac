"""Finds the limits of a paginator's parameters. A paginator clamps or ignores all other values
without an error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from rest_framework.pagination import CursorPagination, LimitOffsetPagination, PageNumberPagination

Role = Literal["page", "offset", "cursor", "size"]

LARGEST = 2**31 - 1
"""The most rows in a page or before it. Databases refuse larger numbers, each in its own way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """The values that a paginator accepts for a parameter. The paginator clamps or ignores all
    other values.
    """

    least: int | None = None
    most: int | None = None
    needs: str | None = None
    """Another parameter. Without it, this one has no effect."""
    role: Role | None = None
    """The meaning of the parameter, if REST framework's own code reads it."""
    rows: int | None = None
    """For a page number: the number of rows in a page if the caller sends no size."""

    @property
    def schema(self) -> dict[str, int]:
        """The limits in JSON Schema."""
        # LARGEST is not the author's limit, and is not worth its tokens in every schema.
        limits = {"minimum": self.least, "maximum": self.most}
        return {key: each for key, each in limits.items() if each not in (None, LARGEST)}


ANYTHING = Bound()


_OFFSETS: Any = LimitOffsetPagination
_NUMBERS: Any = PageNumberPagination
_CURSORS: Any = CursorPagination
_NUMBERED: Any = (PageNumberPagination, CursorPagination)
"""REST framework's own classes, whose types are incomplete."""


def bounds(paginator: Any) -> dict[str, Bound]:
    """Return the bounds of each parameter of a paginator. Only parameters that REST framework's own
    code reads are included.
    """
    found: dict[str | None, Bound] = {}
    if isinstance(paginator, _OFFSETS):
        found = _bounds_of_offsets(paginator)
    elif isinstance(paginator, _NUMBERS):
        found = _bounds_of_numbers(paginator)
    elif isinstance(paginator, _CURSORS):
        found = _bounds_of_cursors(paginator)
    # A parameter that the paginator does not offer is None there.
    return {name: bound for name, bound in found.items() if name}


def _bounds_of_offsets(paginator: Any) -> dict[str | None, Bound]:
    if not is_stock(paginator, "get_offset"):
        return {}
    offset, limit = paginator.offset_query_param, paginator.limit_query_param
    if not is_stock(paginator, "get_limit"):
        return {offset: Bound(role="offset")}
    # Without a default size the list is whole unless a limit is sent, so an offset is ignored.
    needs = None if paginator.default_limit else limit
    return {
        offset: Bound(least=0, most=LARGEST, needs=needs, role="offset"),
        limit: Bound(least=1, most=paginator.max_limit or LARGEST, role="size"),
    }


def _bounds_of_numbers(paginator: Any) -> dict[str | None, Bound]:
    page, size = paginator.page_query_param, paginator.page_size_query_param
    is_numbered = is_stock(paginator, "get_page_number")
    if not is_stock(paginator, "get_page_size"):
        return {page: Bound(role="page")} if is_numbered else {}
    # Without a size, from its class or from the query, this paginator returns the whole list.
    needs = None if paginator.page_size else size
    number = Bound(needs=needs)
    if is_numbered:
        number = Bound(least=1, needs=needs, role="page", rows=paginator.page_size)
    most = paginator.max_page_size or LARGEST
    return {page: number, size: Bound(least=1, most=most, role="size")}


def _bounds_of_cursors(paginator: Any) -> dict[str | None, Bound]:
    cursor, size = paginator.cursor_query_param, paginator.page_size_query_param
    if not is_stock(paginator, "get_page_size"):
        return {cursor: Bound(role="cursor")}
    needs = None if paginator.page_size else size
    most = paginator.max_page_size or LARGEST
    return {
        cursor: Bound(needs=needs, role="cursor"),
        size: Bound(least=1, most=most, role="size"),
    }


def is_off(paginator: Any) -> bool:
    """Return True if one of REST framework's paginators never makes pages. This is so if it has no
    page size, and no parameter for one.
    """
    if isinstance(paginator, _OFFSETS) and is_stock(paginator, "get_limit", "paginate_queryset"):
        return not (paginator.default_limit or paginator.limit_query_param)
    if isinstance(paginator, _NUMBERED) and is_stock(
        paginator, "get_page_size", "paginate_queryset"
    ):
        return not (paginator.page_size or paginator.page_size_query_param)
    return False


def is_stock(paginator: Any, *methods: str) -> bool:
    """Return True if these methods of a paginator are REST framework's own."""
    cls: Any = paginator.__class__
    return all(getattr(cls, name).__module__ == "rest_framework.pagination" for name in methods)
