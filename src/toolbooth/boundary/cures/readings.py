"""Finds what a wrong value means, if only one meaning is possible."""

from __future__ import annotations

from typing import Any

from toolbooth.boundary.cures.containers import container_readings
from toolbooth.boundary.cures.places import Place
from toolbooth.boundary.cures.scalars import choices_of, scalar_readings
from toolbooth.boundary.repairs import NOT_SENT
from toolbooth.contract import Limits

NO_READING: Any = object()
"""Returned if the value has no possible meaning, or several."""

_NOTHINGS = frozenset(("", "none", "n/a", "null", "nil", "undefined"))
"""Words for "nothing"."""


def only_reading(place: Place, value: Any, limits: Limits) -> Any:
    """Return the only possible meaning of the value, or NO_READING. NOT_SENT means that the field
    is to be left out.
    """
    if type(value) is bool and place.takes_plain_scalars:  # true can mean only true
        return NO_READING
    # A corrected call would repeat a secret. And if two types are declared, a value has two
    # possible meanings.
    if place.shape.has_secret or place.shape.json_text or not place.has_one_type:
        return NO_READING
    if isinstance(value, str) and value.strip().lower() in _NOTHINGS:
        is_certain = place.is_null_without_it and not choices_of(place, value)
        return NOT_SENT if is_certain else NO_READING
    found = [*scalar_readings(place, value, limits), *container_readings(place, value, limits)]
    return found[0] if len(found) == 1 else NO_READING
