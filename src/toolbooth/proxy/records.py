"""Passes one record for each call to observers. The records have the same class as those of a
`ToolRegistry`.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import replace
from time import monotonic
from typing import Any

from toolbooth.boundary.read import Unreadable, read_json
from toolbooth.contract import DEFAULT_LIMITS
from toolbooth.errors import ToolInputError
from toolbooth.proxy.guard import undeclared_paths
from toolbooth.proxy.message import Message
from toolbooth.proxy.pending import Pending
from toolbooth.server.observe import Arguments, CallRecord, Observer
from toolbooth.server.redact import as_text, without_secrets
from toolbooth.server.revisions import client_name
from toolbooth.shape import Shape

logger = logging.getLogger("toolbooth.proxy")

_UNKNOWN = Shape(types=frozenset(("string",)))


class Records:
    """The observers of a proxy."""

    def __init__(self) -> None:
        self.observers: list[tuple[Observer, Arguments]] = []

    def observe(self, observer: Observer, *, arguments: Arguments = "none") -> Observer:
        """Call `observer` with a record of every later call."""
        self.observers.append((observer, arguments))
        return observer

    def refused(self, pending: Pending, error: ToolInputError) -> None:
        """Record a call that the proxy has refused."""
        codes = tuple(each.code for each in error.problems)
        names = tuple(undeclared_paths(error))
        self._give(pending, lambda: _record(pending, "refused", codes, names))

    def forwarded(self, pending: Pending) -> None:
        """Record a call that was forwarded in a trial run. A normal run would have forwarded it
        too.
        """
        outcome = "repaired" if pending.verdict.repairs else "passed"
        names = tuple(pending.verdict.undeclared_names)
        self._give(pending, lambda: _record(pending, outcome, (), names))

    def answered(self, pending: Pending, message: Message) -> None:
        """Record a call that the server has answered."""

        def made() -> CallRecord:
            has_failed = '"isError":true' in message.text.replace(" ", "")
            completed = "repaired" if pending.verdict.repairs else "passed"
            is_failed = has_failed or message.part("result") is None
            names = tuple(pending.verdict.undeclared_names)
            return _record(pending, "failed" if is_failed else completed, (), names)

        self._give(pending, made)

    def failed(self, pending: Pending) -> None:
        """Record a call that got no answer."""
        names = tuple(pending.verdict.undeclared_names)
        self._give(pending, lambda: _record(pending, "failed", (), names))

    def _give(self, pending: Pending, make: Callable[[], CallRecord]) -> None:
        if not self.observers:
            return
        record = make()
        for observer, arguments in self.observers:
            try:
                observer(replace(record, arguments=_kept(pending, arguments)))
            except Exception:
                logger.exception("an observer failed")


def _record(
    pending: Pending, outcome: Any, problems: tuple[str, ...], names: tuple[str, ...]
) -> CallRecord:
    return CallRecord(
        tool=pending.published,
        outcome=outcome,
        problems=problems,
        repairs=pending.verdict.repairs,
        seconds=monotonic() - pending.started,
        client=client_name(pending.meta),
        undeclared=names,
    )


def _kept(pending: Pending, arguments: Arguments) -> str | None:
    """Return the arguments in the form that an observer wants. Return None if the observer wants no
    arguments, or if the arguments cannot be parsed.
    """
    sent = pending.message.at(pending.message.params.get("arguments"))
    if arguments == "none" or sent is None:
        return None
    try:
        value = read_json(sent.encode(), DEFAULT_LIMITS)[0]
    except (Unreadable, json.JSONDecodeError):
        return None
    if arguments == "whole":
        return as_text(value)
    contract = None if pending.tool is None else pending.tool.contract
    return as_text(without_secrets(_UNKNOWN if contract is None else contract.shape, value))
