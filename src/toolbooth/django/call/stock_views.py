"""Decides which views show all rows of their queryset to every caller that they let in. A view with
code of its own may hide some rows.
"""

from __future__ import annotations

from inspect import unwrap
from typing import Any

from rest_framework.mixins import ListModelMixin, RetrieveModelMixin
from rest_framework.permissions import BasePermission
from rest_framework.views import APIView

from toolbooth.django.describe.known_code import first_own, lets_all_in

_OF_ONE_ROW = ("get_object", "check_object_permissions")


def lets_in(callback: Any) -> bool:
    """Return True if only REST framework's own checks decide who is let in. A `dispatch` or a
    decorator of the project could refuse a caller too, and the gateway does not run them to find
    out.
    """
    return not first_own(callback.cls, ("dispatch",)) and lets_all_in(callback)


def is_stock_list(cls: Any) -> bool:
    """Return True if views of this class list their queryset by REST framework's own `list`."""
    return _is_stock(cls, "list", ListModelMixin)


def is_stock_retrieve(cls: Any) -> bool:
    """Return True if views of this class show one row by REST framework's own `retrieve`."""
    return _is_stock(cls, "retrieve", RetrieveModelMixin)


def shows_each_row(view: Any) -> bool:
    """Return True if a view shows every row of its queryset by its key. No permission depends on
    the row.
    """
    cls: Any = view.__class__
    if not is_stock_retrieve(cls) or first_own(cls, _OF_ONE_ROW):
        return False
    stock: Any = BasePermission.has_object_permission
    permissions: list[Any] = view.get_permissions()
    return all(each.__class__.has_object_permission is stock for each in permissions)


def begin(view: Any) -> None:
    """Run the project's own `initial`, which may restrict the queryset of this caller. Throttles do
    not count this run. Raises the exceptions of `initial`.
    """
    cls: Any = view.__class__
    stock: Any = APIView.initial
    if cls.initial is not stock:
        view.check_throttles = _nothing
        view.initial(view.request, *view.args, **view.kwargs)


def _nothing(_: Any) -> None:
    pass


def _is_stock(cls: Any, name: str, mixin: Any) -> bool:
    method: Any = getattr(cls, name, None)
    # A decorated method, such as one whose responses are cached, still runs the stock code.
    return method is not None and unwrap(method) is getattr(mixin, name) and lets_all_in(method)
