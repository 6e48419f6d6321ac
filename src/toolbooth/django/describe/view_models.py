"""Finds the model of a view, even if its queryset needs a real caller."""

from __future__ import annotations

from typing import Any

from rest_framework.generics import GenericAPIView

from toolbooth.django.describe.lenient_schema import class_of_view
from toolbooth.django.describe.two_users import superuser


def provide_queryset(view: Any) -> None:
    """Give a view an empty queryset of its model if the view cannot make its own queryset. Without
    a queryset, drf-spectacular does not know the filters of the view, or the type of its keys.
    """
    if not issubclass(view.__class__, GenericAPIView):
        return
    is_known = getattr(view.queryset, "model", None) is not None
    if is_known or _model_of_rows(view) is not None:
        return
    model = _model_for_superuser(view) or _named_model(view)
    if model is not None:
        # Managers of the project are not used: they may need a request, even for no rows.
        view.queryset = model._base_manager.none()


def _model_of_rows(view: Any) -> Any:
    try:
        return view.get_queryset().model
    except Exception:  # it looks at the caller, or needs a query
        return None


def _model_for_superuser(view: Any) -> Any:
    # A `get_queryset` that filters by the user often fails for an anonymous one.
    user = view.request.user
    view.request.user = superuser()
    try:
        return _model_of_rows(view)
    finally:
        view.request.user = user


def _named_model(view: Any) -> Any:
    """Return the model that a view's filters or its serializer name. Return None if they name
    none.
    """
    for each in (getattr(view, "filterset_class", None), class_of_view(view)):
        model: Any = getattr(getattr(each, "Meta", None), "model", None)
        if model is not None:
            return model
    return None
