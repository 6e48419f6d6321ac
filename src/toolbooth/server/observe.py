"""One record per call, for logs and figures. It holds arguments only for the observers that ask for
them.
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
    """The dispatcher that was called, if it passed the call to `tool`."""
    arguments: str | None = None
    """The arguments for `tool` as JSON text. None if the observer did not ask for them, or if they
    could not be read.
    """
    preview: bool = False
    """The call asked for a preview: whatever its outcome, it wrote nothing."""
    undeclared: tuple[str, ...] = ()
    """Of a call through the proxy: its undeclared keys, whether they were forwarded or not."""


Observer = Callable[[CallRecord], Any]
Arguments = Literal["none", "redacted", "whole"]
"""How much of the arguments an observer is shown: nothing, all but secrets, or all."""

logger = logging.getLogger("toolbooth.calls")


def log_calls(record: CallRecord) -> None:
    """An observer that writes one line per call; refusals and failures as warnings."""
    level = logging.INFO if record.outcome in ("passed", "repaired") else logging.WARNING
    codes = ", ".join((*record.problems, *record.repairs))
    reasons = f" ({codes})" if codes else ""
    outcome = f"{record.outcome} as a preview" if record.preview else record.outcome
    client = f" for {record.client}" if record.client else ""
    milliseconds = record.seconds * 1000
    logger.log(level, "%s %s in %.1f ms%s%s", record.tool, outcome, milliseconds, reasons, client)
