"""One record for each call, for logs and statistics. It contains arguments only for observers that
ask for them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

Outcome = Literal["passed", "repaired", "refused", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """The outcome of one call."""

    tool: str
    outcome: Outcome
    problems: tuple[str, ...]
    repairs: tuple[str, ...]
    seconds: float
    client: str | None
    dispatcher: str | None = None
    """The name of the dispatcher, if one passed the call on to `tool`."""
    arguments: str | None = None
    """The arguments of `tool` as JSON text. None if the observer did not ask for them, or if they
    could not be parsed.
    """
    preview: bool = False
    """True if the call asked for a preview. Then it wrote nothing, with any outcome."""
    undeclared: tuple[str, ...] = ()
    """Of a call through the proxy: its undeclared keys, forwarded or not."""


Observer = Callable[[CallRecord], Any]
Arguments = Literal["none", "redacted", "whole"]
"""How much of the arguments an observer gets: nothing, everything except secrets, or everything."""

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
