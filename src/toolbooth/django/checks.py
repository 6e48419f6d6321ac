"""Mistakes in the configuration, and what it leads to, as Django reports them: `manage.py check`."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning
from django.utils.module_loading import import_string

from toolbooth.django.conf import mistakes
from toolbooth.django.protocol import called


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


def check_tools(**_: Any) -> list[CheckMessage]:
    """W001: a tool goes without a protocol argument. W002: there are no tools. W003: a group that holds nothing."""
    if "rest_framework" not in settings.INSTALLED_APPS:
        return []
    try:
        # REST framework cannot be imported before all models are there, and this module is.
        found = import_string("toolbooth.django.catalogue.catalogue")()
    except Exception as error:
        words = f"The tools cannot be compiled: {type(error).__name__}: {error}"
        return [Warning(words, hint="The log of the first request says where.", id="toolbooth.W002")]
    names = {published: name for name, published in called(found.configuration.arguments).items()}
    return [
        *(_clash(each.what, each.why, names[each.why]) for each in found.clashes),
        *(Warning(f"{each.what}: {each.why}.", id="toolbooth.W003") for each in found.idle),
    ]


def _clash(tool: str, published: str, name: str) -> CheckMessage:
    words = (
        f"The tool {tool} has an argument {published!r} of its own, and goes without the protocol argument {name!r}."
    )
    hint = f"To have both, rename the latter: TOOLBOOTH['ARGUMENTS'] = {{{name!r}: 'mcp_{name}'}}."
    return Warning(words, hint=hint, id="toolbooth.W001")
