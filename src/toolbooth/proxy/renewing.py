"""Gets a new login when a server over HTTP rejects the old one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from toolbooth.proxy.link import Credentials


class Renewing:
    """The login of one connection. There may be none."""

    def __init__(self, credentials: Credentials | None) -> None:
        self.credentials = credentials
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def is_possible(self) -> bool:
        return self.credentials is not None

    @property
    def has_expired(self) -> bool:
        return self.credentials is not None and self.credentials.has_expired

    @property
    def headers(self) -> dict[str, str]:
        """Return the `Authorization` header. Return no header if there is no login."""
        found = None if self.credentials is None else self.credentials.authorization
        return {} if found is None else {"authorization": found}

    def renew(self, then: Callable[[bool], None]) -> None:
        """Get a new login. Then call `then` with True, or with False if this is not possible."""
        task = asyncio.ensure_future(self._renew(then))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _renew(self, then: Callable[[bool], None]) -> None:
        credentials = self.credentials
        then(credentials is not None and await credentials.renew(credentials.authorization))

    def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
