"""Makes one record for each call, for logs and statistics. A record has the arguments only if the
observer asks for them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

Outcome = Literal["passed", "repaired", "refused", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """What happened in one call."""

    tool: str
    outcome: Outcome
    problems: tuple[str, ...]
    repairs: tuple[str, ...]
    seconds: float
    client: str | None
    dispatcher: str | None = None
    """The name of the dispatcher, if one passed the call on to `tool`."""
    arguments: str | None = None
    """The arguments of `tool` as JSON text. None if the observer did not ask for them, or if the
    call could not be parsed.
    """
    preview: bool = False
    """True if the call asked for a preview. Then nothing was written, whatever the outcome is."""
    undeclared: tuple[str, ...] = ()
    """The undeclared keys of a call through the proxy, even if they were not forwarded."""


Observer = Callable[[CallRecord], Any]
Arguments = Literal["none", "redacted", "whole"]
"""Which arguments an observer gets: none, those without secrets, or all."""

logger = logging.getLogger("toolbooth.calls")


def log_calls(record: CallRecord) -> None:
    """Log one line for each call. Refusals and failures are logged as warnings."""
    level = logging.INFO if record.outcome in ("passed", "repaired") else logging.WARNING
    codes = ", ".join((*record.problems, *record.repairs))
    reasons = f" ({codes})" if codes else ""
    outcome = f"{record.outcome} as a preview" if record.preview else record.outcome
    client = f" for {record.client}" if record.client else ""
    milliseconds = record.seconds * 1000
    logger.log(level, "%s %s in %.1f ms%s%s", record.tool, outcome, milliseconds, reasons, client)
