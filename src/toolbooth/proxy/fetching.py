"""Fetches the whole list of tools, page by page, when the proxy itself needs it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolbooth.jsonvalue import Json
from toolbooth.proxy.catalogue import Catalogue
from toolbooth.proxy.message import Message, json_text, value_of
from toolbooth.server.revisions import CAPABILITIES_KEY, CLIENT_KEY, VERSION_KEY

Ask = Callable[[str, str, Callable[[Message | None], None]], None]
"""Sends a request of the proxy itself. Takes the method, the params, and a function for the
answer.
"""

_MOST_PAGES = 1_000
_REPEATED = (VERSION_KEY, CAPABILITIES_KEY, CLIENT_KEY)
"""The keys of a request's `_meta` that the proxy copies to its own requests."""


class Fetching:
    """Fetches the list of tools. Calls that need the list at the same time share one fetch."""

    def __init__(self, catalogue: Catalogue, ask: Ask) -> None:
        self.catalogue = catalogue
        self.ask = ask
        self.waiting: list[Callable[[bool], None]] = []

    def start(self, meta: Json, then: Callable[[bool], None]) -> None:
        """Fetch the list. Then call `then` with True if the list was fetched, and with False
        otherwise. `meta` is the `_meta` of the request that needs the list.
        """
        self.waiting.append(then)
        if len(self.waiting) == 1:
            kept = {key: meta[key] for key in _REPEATED if key in meta}
            self._page({"_meta": kept} if kept else {}, None, _MOST_PAGES)

    def _page(self, params: Json, cursor: Any, left: int) -> None:
        def learn(answer: Message | None) -> None:
            learned = None
            if answer is not None:
                learned = self.catalogue.learn(answer, is_first=cursor is None)
            following = None if learned is None else value_of(learned).get("nextCursor")
            if isinstance(following, str) and left > 1:
                self._page(params, following, left - 1)
            else:
                self._end(has_list=learned is not None)

        sent = params if cursor is None else {**params, "cursor": cursor}
        self.ask("tools/list", json_text(sent), learn)

    def _end(self, *, has_list: bool) -> None:
        waiting, self.waiting = self.waiting, []
        for then in waiting:
            then(has_list)
