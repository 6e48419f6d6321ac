"""Fetches the whole list of tools for the proxy itself, page by page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolbooth.jsonvalue import Json
from toolbooth.proxy.catalogue import Catalogue
from toolbooth.proxy.message import Message, json_text, value_of
from toolbooth.server.revisions import CAPABILITIES_KEY, CLIENT_KEY, VERSION_KEY

Ask = Callable[[str, str, Callable[[Message | None], None]], None]
"""Sends a request of the proxy's own: method, params, and what takes the answer."""

_MOST_PAGES = 1_000
_REPEATED = (VERSION_KEY, CAPABILITIES_KEY, CLIENT_KEY)
"""What the proxy repeats of a request's `_meta` in a request of its own."""


class Fetching:
    """At most one fetch at a time; calls that need the list wait for it."""

    def __init__(self, catalogue: Catalogue, ask: Ask) -> None:
        self.catalogue = catalogue
        self.ask = ask
        self.waiting: list[Callable[[bool], None]] = []

    def start(self, meta: Json, then: Callable[[bool], None]) -> None:
        """Fetch the list, and call `then` with whether that was possible. `meta`: of the request
        that needs it.
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
