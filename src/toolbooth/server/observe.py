"""One record per call, for logs and figures. It holds no arguments."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

Outcome = Literal["passed", "repaired", "refused", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """What became of one call."""

    tool: str
    outcome: Outcome
    problems: tuple[str, ...]
    repairs: tuple[str, ...]
    seconds: float
    client: str | None


Observer = Callable[[CallRecord], Any]

logger = logging.getLogger("toolbooth.calls")


def log_calls(record: CallRecord) -> None:
    """An observer that writes one line per call; refusals and failures as warnings."""
    level = logging.INFO if record.outcome in ("passed", "repaired") else logging.WARNING
    codes = ", ".join((*record.problems, *record.repairs))
    logger.log(
        level,
        "%s %s in %.1f ms%s%s",
        record.tool,
        record.outcome,
        record.seconds * 1000,
        f" ({codes})" if codes else "",
        f" for {record.client}" if record.client else "",
    )
