"""Counts a call again if its throttle's cache is in a database. When the writes of a call are
rolled back, the throttle's count is rolled back too.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from django.core.cache import caches
from django.core.cache.backends.db import BaseDatabaseCache

from toolbooth.django.call.caller import REFUSALS


def count_again(view_of_call: Callable[[], Any]) -> None:
    """Count a call whose writes were rolled back. `view_of_call` returns the view of the call
    before it runs.
    """
    if not any(isinstance(each, BaseDatabaseCache) for each in caches.all()):
        return
    with suppress(*REFUSALS):
        view = view_of_call()
        for throttle in view.get_throttles():
            # The cache may be a proxy, which has the attributes of the cache but not its class.
            if hasattr(getattr(throttle, "cache", None), "_table"):
                throttle.allow_request(view.request, view)
