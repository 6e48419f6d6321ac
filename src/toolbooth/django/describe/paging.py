"""A view's paginator: which values of its parameters it would clamp or ignore in silence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rest_framework.pagination import CursorPagination, LimitOffsetPagination, PageNumberPagination


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """What a paginator takes for one of its parameters. Anything else it reads as if nothing had
    been sent.
    """

    least: int | None = None
    most: int | None = None
    needs: str | None = None
    """Another parameter, without which this one has no effect."""

    @property
    def schema(self) -> dict[str, int]:
        """The same in JSON Schema."""
        limits = {"minimum": self.least, "maximum": self.most}
        return {key: each for key, each in limits.items() if each is not None}


ANYTHING = Bound()


_OFFSETS: Any = LimitOffsetPagination
_NUMBERED: Any = (PageNumberPagination, CursorPagination)
"""REST framework's own, whose types say little."""


def bounds(paginator: Any) -> dict[str, Bound]:
    """The bounds of REST framework's own paginators, by parameter; what a project's own code reads
    is its affair.
    """
    found: dict[str | None, Bound] = {}
    if isinstance(paginator, _OFFSETS) and _is_stock(paginator, "get_limit", "get_offset"):
        limit = paginator.limit_query_param
        found[paginator.offset_query_param] = Bound(
            least=0, needs=None if paginator.default_limit else limit
        )
        found[limit] = Bound(least=1, most=paginator.max_limit or None)
    elif isinstance(paginator, _NUMBERED) and _is_stock(paginator, "get_page_size"):
        size = paginator.page_size_query_param
        page = getattr(paginator, "page_query_param", None) or getattr(
            paginator, "cursor_query_param", None
        )
        found[page] = Bound(needs=None if paginator.page_size else size)
        found[size] = Bound(least=1, most=paginator.max_page_size or None)
    return {name: bound for name, bound in found.items() if name}


def is_off(paginator: Any) -> bool:
    """Whether one of REST framework's paginators never makes pages: no size is set, and none can be
    sent.
    """
    if isinstance(paginator, _OFFSETS) and _is_stock(paginator, "get_limit", "paginate_queryset"):
        return not (paginator.default_limit or paginator.limit_query_param)
    if isinstance(paginator, _NUMBERED) and _is_stock(
        paginator, "get_page_size", "paginate_queryset"
    ):
        return not (paginator.page_size or paginator.page_size_query_param)
    return False


def _is_stock(paginator: Any, *methods: str) -> bool:
    cls: Any = paginator.__class__
    return all(getattr(cls, name).__module__ == "rest_framework.pagination" for name in methods)
