"""Finds the formats in which a field accepts dates and times, and the format in which the field
shows them. A project may choose both.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

from rest_framework import ISO_8601, serializers
from rest_framework.settings import api_settings
from rest_framework.utils import humanize_datetime

MOMENTS: tuple[Any, ...] = (
    serializers.DateField,
    serializers.DateTimeField,
    serializers.TimeField,
)

_Words = Callable[[Any], str]

_KINDS: tuple[tuple[Any, str, tuple[str, ...], _Words], ...] = (
    (serializers.DateTimeField, "DATETIME", (), humanize_datetime.datetime_formats),
    (serializers.DateField, "DATE", ("%Y-%m-%d",), humanize_datetime.date_formats),
    (
        serializers.TimeField,
        "TIME",
        ("%H:%M:%S", "%H:%M:%S.%f"),
        humanize_datetime.time_formats,
    ),
)
"""For each kind of field: the prefix of its settings, the formats that are also ISO 8601, and the
function that describes its formats.
"""


def other_forms(field: Any) -> str:
    """Return a description of the formats that a date or time field accepts. Return an empty text
    if the field accepts ISO 8601, or if it is not a date or time field.
    """
    for cls, setting, iso, words in _KINDS:
        if isinstance(field, cls):
            taken = _taken(field, setting)
            return "" if _is_iso(taken) or set(iso) & set(taken) else words(taken)
    return ""


def showing_as_taken(field: Any) -> Any:
    """Return the field if it shows dates in a format that it accepts. Otherwise return a copy that
    shows dates in such a format.
    """
    for cls, setting, iso, _ in _KINDS:
        if not isinstance(field, cls):
            continue
        taken = _taken(field, setting)
        shown = getattr(field, "format", getattr(api_settings, f"{setting}_FORMAT"))
        # Without a format, the JSON encoder writes the value as ISO 8601.
        form = ISO_8601 if shown is None else shown
        is_taken = form in (*taken, *iso) if not _is_iso([form]) else _is_iso(taken)
        if is_taken or not taken:
            return field
        # A copy, because the view's own response keeps the format of the field.
        changed = copy(field)
        changed.format = ISO_8601 if _is_iso(taken) else taken[0]
        return changed
    return field


def _taken(field: Any, setting: str) -> list[str]:
    default: Any = getattr(api_settings, f"{setting}_INPUT_FORMATS")
    # REST framework sets this attribute only if the author has chosen formats.
    return list(getattr(field, "input_formats", default))


def _is_iso(forms: list[str]) -> bool:
    return any(each.lower() == ISO_8601 for each in forms)
