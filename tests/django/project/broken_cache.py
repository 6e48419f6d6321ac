"""A cache that nobody answers for."""

from typing import Any

from django.core.cache.backends.base import BaseCache


class Broken(BaseCache):
    def __init__(self, location: str, params: dict[str, Any]) -> None:
        super().__init__(params)

    def set(self, *args: Any, **kwargs: Any) -> None:
        raise ConnectionError("nobody answers")
