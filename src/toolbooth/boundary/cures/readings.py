"""The one reading that a wrong value has, if it has only one."""

from __future__ import annotations

from typing import Any

from toolbooth.boundary.cures.containers import container_readings
from toolbooth.boundary.cures.places import Place
from toolbooth.boundary.cures.scalars import scalar_readings
from toolbooth.boundary.repairs import NOT_SENT
from toolbooth.contract import Limits

NO_READING: Any = object()
"""There is no reading of the value, or more than one."""

_NOTHINGS = frozenset(("", "none", "n/a"))
"""Words for "nothing"."""


def only_reading(place: Place, value: Any, limits: Limits) -> Any:
    """What the value certainly means; NOT_SENT: that the field is left out."""
    if type(value) is bool and place.takes_plain_scalars:  # true means nothing else than true
        return NO_READING
    if place.shape.has_secret or place.shape.json_text or not place.has_one_type:
        return NO_READING
    if isinstance(value, str) and value.strip().lower() in _NOTHINGS:
        return NOT_SENT if place.is_null_without_it else NO_READING
    found = [*scalar_readings(place, value), *container_readings(place, value, limits)]
    return found[0] if len(found) == 1 else NO_READING
