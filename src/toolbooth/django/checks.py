"""Mistakes in the configuration, as Django reports them: `manage.py check`."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error

from toolbooth.django.conf import mistakes


def check_configuration(**_: Any) -> list[CheckMessage]:
    """E001: not a dict. E002: a key or value that is wrong. E003: REST framework is not installed."""
    found: list[CheckMessage] = []
    given: Any = getattr(settings, "TOOLBOOTH", {})
    if not isinstance(given, dict):
        found.append(Error("TOOLBOOTH must be a dict.", id="toolbooth.E001"))
    found += [Error(f"TOOLBOOTH[{key!r}]: {what}.", id="toolbooth.E002") for key, what in mistakes()]
    if "rest_framework" not in settings.INSTALLED_APPS:
        hint = 'Add "rest_framework" to INSTALLED_APPS.'
        found.append(Error("Toolbooth serves REST framework views.", hint=hint, id="toolbooth.E003"))
    return found
