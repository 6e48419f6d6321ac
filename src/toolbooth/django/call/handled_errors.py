"""Turns an exception that leaves a view into a response, as Django does for a REST request.

REST framework catches such an exception only inside its own `dispatch`. A view with a `dispatch` of
its own may raise one before or after.
"""

from __future__ import annotations

from django.core.exceptions import BadRequest, PermissionDenied, SuspiciousOperation
from django.http import Http404, HttpResponse, JsonResponse
from django.http.multipartparser import MultiPartParserError
from rest_framework import exceptions

_STATUSES: tuple[tuple[type[Exception], int, str], ...] = (
    (Http404, 404, exceptions.NotFound.default_detail),
    (PermissionDenied, 403, exceptions.PermissionDenied.default_detail),
    (BadRequest, 400, "Bad request."),
    (SuspiciousOperation, 400, "Bad request."),
    (MultiPartParserError, 400, "Bad request."),
)
"""Exceptions that Django turns into responses, with the status and a text. Django does not publish
the text of the exception itself.
"""

HANDLED = tuple(kind for kind, _, _ in _STATUSES)


def handled_response(error: Exception) -> HttpResponse | None:
    """Return the response to an exception. Return None if Django would answer with status 500."""
    for kind, status, detail in _STATUSES:
        if isinstance(error, kind):
            return JsonResponse({"detail": str(detail)}, status=status)
    return None
