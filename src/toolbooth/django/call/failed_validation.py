"""Turns an exception in a serializer's own validation into a response with status 400 that names
the field.

REST framework reports only `ValidationError`, and passes every other exception on. The traceback
shows whether a serializer was validating, and which of its fields.
"""

from __future__ import annotations

import logging
from traceback import walk_tb
from types import CodeType, FrameType
from typing import Any

from rest_framework import fields, serializers
from rest_framework.exceptions import ErrorDetail
from rest_framework.response import Response
from rest_framework.settings import api_settings

from toolbooth.boundary.messages import UNREADABLE_VALUE
from toolbooth.jsonvalue import JsonPath

logger = logging.getLogger("toolbooth")


def _code(owner: Any, method: str) -> CodeType:
    return getattr(owner, method).__code__


_VALIDATING = frozenset(
    _code(each, "run_validation")
    for each in (fields.Field, serializers.Serializer, serializers.ListSerializer)
)
_ROWS = _code(serializers.ListSerializer, "to_internal_value")
_SAVING = _code(serializers.BaseSerializer, "save")
_PARTS = {
    _code(serializers.Serializer, "to_internal_value"): "field",
    _ROWS: "index",
    _code(fields.ListField, "run_child_validation"): "idx",
    _code(fields.DictField, "run_child_validation"): "key",
}
"""REST framework's functions that loop over the parts of a body, each with the name of its loop
variable.
"""


def failed_validation(error: Exception, tool: str) -> Response | None:
    """Return the response for an exception in a serializer's validation. Return None for any other
    exception.
    """
    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    # Frames are compared by code, because the methods of serializers have the same names as many
    # other functions.
    codes = {frame.f_code for frame in frames}
    # While it saves, a serializer may validate values that were not sent.
    if _SAVING in codes or not codes & _VALIDATING:
        return None
    # The agent gets a fixed message. The exception itself is only in the log.
    logger.error("validating the arguments of %r failed", tool, exc_info=error)
    detail: Any = [ErrorDetail(UNREADABLE_VALUE, code="invalid")]
    for step in reversed(_path(frames) or (api_settings.NON_FIELD_ERRORS_KEY,)):
        detail = {step: detail}
    return Response(detail, status=400, exception=True)


def _path(frames: list[FrameType]) -> JsonPath:
    """Return the path of the field that was being validated. The path is empty for a validator of
    the whole body.
    """
    path: list[str | int] = []
    for frame in frames:
        # No variable has an empty name, so all other frames yield None.
        part: Any = frame.f_locals.get(_PARTS.get(frame.f_code, ""))
        if part is None and frame.f_code is _ROWS:
            # Before REST framework 3.18 there is no variable for the index, but `errors` has an
            # entry for each earlier row.
            part = len(frame.f_locals["errors"])
        if part is not None:
            # In the loop over fields, the variable is the field itself. In the other loops, it is a
            # key or an index.
            path.append(getattr(part, "field_name", part))
    return tuple(path)
