"""HttpToolProvider: one tool, `http_request`, that makes real requests within limits and stores a
row for each.
"""

import asyncio
import logging
import sqlite3
from typing import Annotated

import httpx2

from recon.exchange import Exchange
from recon.http_models import HttpConfig, HttpReply, HttpRequest
from recon.store import Row, Store, insert
from toolbooth import ToolError, Unpack

logger = logging.getLogger("recon.http")

# These log whole URLs, and headers when debugging, which may contain credentials. Our own logger
# writes only redacted text.
for _name in ("httpx2", "httpcore2"):
    logging.getLogger(_name).setLevel(logging.WARNING)


class HttpToolProvider:
    """The HTTP tool, its limits, and the store for its rows."""

    def __init__(self, store: Store, config: HttpConfig | None = None) -> None:
        self._store = store
        self._config = config or HttpConfig()

    async def http_request(self, request: Annotated[HttpRequest, Unpack()]) -> HttpReply:
        """Make one HTTP request and return the reply: status, headers, cookies, body.

        Redirects are followed within a limit; credentials do not go along to another host. Private addresses are
        refused unless the server allows them. A row of each request is kept, without bodies and credentials.
        """
        mission = await asyncio.to_thread(self._mission, request) or {}
        exchange = Exchange(self._config, request, mission)
        try:
            await self._run(exchange)
        finally:  # a cancelled call is recorded too
            logger.info("%s", exchange)
            await asyncio.to_thread(self._keep, exchange.row())
        return exchange.reply()

    def _mission(self, request: HttpRequest) -> Row | None:
        if request.mission_id is None:
            return self._store.current_mission()
        return self._store.find("http_request", "mission", request.mission_id)

    async def _run(self, exchange: Exchange) -> None:
        limit = self._config.timeout
        try:
            async with asyncio.timeout(limit):
                await exchange.run()
        except TimeoutError:
            raise exchange.failed(
                f"no whole reply within {limit:g} s; the request may have had its effect"
            ) from None
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise exchange.failed(f"{type(error).__name__}: {error}".removesuffix(": ")) from None
        except ToolError as error:
            raise exchange.failed(error.message) from None

    def _keep(self, row: Row) -> None:
        try:
            with self._store.writing() as db:
                insert(db, "requests", row)
        except sqlite3.Error as error:
            logger.exception("a request could not be recorded")
            message = "the request was made, but it could not be recorded; do not repeat it blindly"
            raise ToolError("http_request", message) from error
