"""`manage.py mcp_doctor`: checks everything between an agent and the views of the project, and
prints remedies.
"""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from functools import partial
from importlib.metadata import version
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import DatabaseError

from toolbooth.django.management import messages
from toolbooth.django.management.credentials import makes_tokens
from toolbooth.django.management.doctor import messages as advice
from toolbooth.django.management.doctor.callers import list_call
from toolbooth.django.management.doctor.deployment import DEPLOYMENT
from toolbooth.django.management.doctor.findings import Examination, Group, Level, examine_all
from toolbooth.django.management.doctor.report import Report
from toolbooth.django.management.examinations import EXAMINATIONS
from toolbooth.django.management.printing import PrintingCommand
from toolbooth.django.management.users import add_user, user_of
from toolbooth.django.quiet import quiet

_PACKAGES = ("toolbooth", "Django", "djangorestframework", "drf-spectacular")

_STRICTER_FOR_DEPLOYMENT = ("Databases", "Results")
"""The examinations for which `--deploy` uses stricter ones."""

_ALL_PLACES = 2
"""The verbosity at which the report contains every place."""


class Command(PrintingCommand):
    """Runs all examinations, even if one of them fails."""

    help = messages.DOCTOR
    # Django must not stop at failed checks: the report contains those of the gateway.
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        add_user(parser, messages.DOCTOR_AS)
        parser.add_argument("--deploy", action="store_true", help=messages.DOCTOR_DEPLOY)
        parser.add_argument("--json", action="store_true", help=messages.DOCTOR_JSON)

    def handle(self, *args: Any, **options: Any) -> None:
        username: str | None = options["username"]
        user = None if username is None else _user(username)
        # Output of the project's code must not appear between the lines of the report.
        with quiet("toolbooth.django"), redirect_stdout(sys.stderr):
            groups = examine_all(_examinations(user, deploy=options["deploy"]))
        is_whole = options["verbosity"] >= _ALL_PLACES
        steps = _steps(groups, username, deploy=options["deploy"])
        # A successful list is part of the opening. A failed list is a finding.
        lists = [each for each in groups if each.code == "list" and each.level == "ok"]
        opening = [_versions(), *(each.what for each in lists)]
        others = [each for each in groups if each not in lists]
        report = Report(opening=opening, groups=others, steps=steps)
        exit_code = 1 if report.counts()["error"] else 0
        if options["json"]:
            document = report.as_json(exit_code)
            self.stdout.write(json.dumps(document, indent=2, ensure_ascii=False))
        else:
            self.stdout.write("\n".join(report.lines(self._paint, whole=is_whole)))
        if exit_code:
            sys.exit(exit_code)

    def _paint(self, level: Level, mark: str) -> str:
        styles = {
            "ok": self.style.SUCCESS,
            "warning": self.style.WARNING,
            "error": self.style.ERROR,
        }
        return styles.get(level, str)(mark)


def _user(name: str) -> Any:
    """Return the user with this name.

    Raises:
        CommandError: no user has this name, or the users cannot be read.
    """
    try:
        return user_of(name)
    except DatabaseError as error:
        raise CommandError(messages.users_not_read(error), returncode=2) from error


def _examinations(user: Any, *, deploy: bool) -> dict[str, Examination]:
    chosen: dict[str, Examination] = {**EXAMINATIONS, "List": partial(list_call, user)}
    if deploy:
        chosen |= DEPLOYMENT
        for title in _STRICTER_FOR_DEPLOYMENT:
            del chosen[title]
    return chosen


def _versions() -> str:
    return ", ".join(f"{name} {version(name)}" for name in _PACKAGES)


def _steps(groups: list[Group], username: str | None, *, deploy: bool) -> list[str]:
    """Return the next steps for the user."""
    levels = {each.level for each in groups}
    # While there are errors, this is the only step: a client that is connected now would fail.
    if "error" in levels:
        steps = [advice.CORRECT_ERRORS]
    else:
        steps = [advice.READ_WARNINGS] if "warning" in levels else []
        if username is None:
            steps.append(advice.TRY_A_USER)
        # Without an app for tokens, `mcp_config --as` would end with an error.
        agent = username or "USERNAME"
        steps.append(advice.connect_a_client(agent if makes_tokens() else None))
    if not deploy and "error" not in levels:
        steps.append(advice.TRY_DEPLOY)
    return steps
