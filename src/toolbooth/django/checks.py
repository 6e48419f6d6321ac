"""Mistakes in the configuration, and what it leads to, as Django reports them: `manage.py check`."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning
from django.utils.module_loading import import_string

from toolbooth.django.conf import mistakes
from toolbooth.server.results.arguments import called


def check_configuration(**_: Any) -> list[CheckMessage]:
    """E001: not a dict. E002: a key or value that is wrong. E003: REST framework is not installed."""
    found: list[CheckMessage] = []
    given: Any = getattr(settings, "TOOLBOOTH", {})
    if not isinstance(given, dict):
        found.append(Error("TOOLBOOTH must be a dict.", id="toolbooth.E001"))
    found += [
        Error(f"TOOLBOOTH[{key!r}]: {what}.", id="toolbooth.E002") for key, what in mistakes()
    ]
    if "rest_framework" not in settings.INSTALLED_APPS:
        hint = 'Add "rest_framework" to INSTALLED_APPS.'
        found.append(
            Error("Toolbooth serves REST framework views.", hint=hint, id="toolbooth.E003")
        )
    return found


def check_tools(**_: Any) -> list[CheckMessage]:
    """W001: a tool goes without a protocol argument. W002: there are no tools. W003: a group that
    holds nothing.
    """
    if "rest_framework" not in settings.INSTALLED_APPS:
        return []
    try:
        # REST framework cannot be imported before all models are there, and this module is.
        found = import_string("toolbooth.django.describe.catalogue.catalogue")()
    except Exception as error:
        words = f"The tools cannot be compiled: {type(error).__name__}: {error}"
        return [
            Warning(words, hint="The log of the first request says where.", id="toolbooth.W002")
        ]
    names = {published: name for name, published in called(found.configuration.arguments).items()}
    tools: dict[str, list[str]] = {}
    for each in found.clashes:
        tools.setdefault(each.why, []).append(each.what)
    return [
        *(_clash(names[published], published, where) for published, where in tools.items()),
        *(
            Warning(f"{each.what}: {each.why}.", id="toolbooth.W003")
            for each in found.unused_patterns
        ),
    ]


def _clash(name: str, published: str, tools: list[str]) -> CheckMessage:
    more = f" and {len(tools) - _MOST_NAMED} more" if len(tools) > _MOST_NAMED else ""
    where = ", ".join(tools[:_MOST_NAMED]) + more
    words = f"The protocol argument {name!r} is not offered where the host has an argument {published!r}: on {where}."
    hint = f"To have both, rename the former: TOOLBOOTH['ARGUMENTS'] = {{{name!r}: 'mcp_{name}'}}."
    return Warning(words, hint=hint, id="toolbooth.W001")


_MOST_NAMED = 8
