"""The one reading that a wrong value has, if it has only one."""

from __future__ import annotations

from typing import Any

from toolbooth.boundary.cures.containers import container_readings
from toolbooth.boundary.cures.places import Place
from toolbooth.boundary.cures.scalars import choices_of, scalar_readings
from toolbooth.boundary.repairs import NOT_SENT
from toolbooth.contract import Limits

NO_READING: Any = object()
"""There is no reading of the value, or more than one."""

_NOTHINGS = frozenset(("", "none", "n/a", "null", "nil", "undefined"))
"""Words for "nothing"."""


def only_reading(place: Place, value: Any, limits: Limits) -> Any:
    """Return the only meaning of the value. NOT_SENT: the field is to be left out."""
    if type(value) is bool and place.takes_plain_scalars:  # true means nothing else than true
        return NO_READING
    # A corrected call would repeat the secret, and with two declared types a value has two
    # readings.
    if place.shape.has_secret or place.shape.json_text or not place.has_one_type:
        return NO_READING
    if isinstance(value, str) and value.strip().lower() in _NOTHINGS:
        is_certain = place.is_null_without_it and not choices_of(place, value)
        return NOT_SENT if is_certain else NO_READING
    found = [*scalar_readings(place, value, limits), *container_readings(place, value, limits)]
    return found[0] if len(found) == 1 else NO_READING
