"""Caches that fail."""

from typing import Any

from django.core.cache.backends.locmem import LocMemCache


class Broken(LocMemCache):
    """Takes nothing."""

    def set(self, *args: Any, **kwargs: Any) -> None:
        raise ConnectionError("nobody answers")


class Forgetful(LocMemCache):
    """Fails by and by."""

    asked = 0

    def get(self, *args: Any, **kwargs: Any) -> Any:
        Forgetful.asked += 1
        if Forgetful.asked > 1:
            raise ConnectionError("nobody answers")
        return super().get(*args, **kwargs)
