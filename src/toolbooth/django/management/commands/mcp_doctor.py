"""`manage.py mcp_doctor`: walks through what stands between an agent and the project's views, and
says what to do.
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

from toolbooth.django.management import messages
from toolbooth.django.management.examinations import EXAMINATIONS, Finding, findings
from toolbooth.django.management.printing import PrintingCommand


class Command(PrintingCommand):
    """Looks at everything, and goes on after a fault."""

    help = messages.DOCTOR
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        counts: Counter[str] = Counter()
        for title, examine in EXAMINATIONS.items():
            self.stdout.write(self.style.MIGRATE_HEADING(title))
            for finding in findings(examine):
                counts[finding.level] += 1
                self._show(finding)
        self.stdout.write(
            f"{_counted(counts['error'], 'error')}, {_counted(counts['warning'], 'warning')}"
        )
        if counts["error"]:
            sys.exit(1)

    def _show(self, finding: Finding) -> None:
        styles = {
            "ok": self.style.SUCCESS,
            "warning": self.style.WARNING,
            "error": self.style.ERROR,
        }
        mark = f"{finding.level:>9}"
        self.stdout.write(f"{styles.get(finding.level, str)(mark)}  {finding.what}")
        if finding.remedy:
            self.stdout.write(f"{'':9}  -> {finding.remedy}")


def _counted(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"
