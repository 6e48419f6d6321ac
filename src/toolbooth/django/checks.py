"""Mistakes in the configuration and in the tools, as `manage.py check` reports them."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning
from django.utils.module_loading import import_string

from toolbooth.django import messages
from toolbooth.django.conf import mistakes
from toolbooth.server.controls import control_names


def check_configuration(**_: Any) -> list[CheckMessage]:
    """E001: not a dict. E002: a wrong key or value. E003: REST framework is not installed."""
    found: list[CheckMessage] = []
    given: Any = getattr(settings, "TOOLBOOTH", {})
    if not isinstance(given, dict):
        found.append(Error(messages.NOT_A_DICT, id="toolbooth.E001"))
    found += [
        Error(f"TOOLBOOTH[{key!r}]: {what}.", id="toolbooth.E002") for key, what in mistakes()
    ]
    if "rest_framework" not in settings.INSTALLED_APPS:
        hint = 'Add "rest_framework" to INSTALLED_APPS.'
        found.append(Error(messages.SERVES_REST_FRAMEWORK, hint=hint, id="toolbooth.E003"))
    return found


def check_entries(**_: Any) -> list[CheckMessage]:
    """E004: an entry of BODIES or VERBATIM that names nothing, or cannot be used."""
    found = _catalogue()
    if found is None or isinstance(found, Exception):
        return []
    return [Error(f"{each.what}: {each.why}.", id="toolbooth.E004") for each in found.wrong_entries]


def check_tools(**_: Any) -> list[CheckMessage]:
    """W001: a tool goes without a control argument. W002: there are no tools. W003: a group that
    holds nothing. W004: the function in DESCRIBE fails.
    """
    found = _catalogue()
    if found is None:
        return []
    if isinstance(found, Exception):
        words = messages.tools_cannot_be_compiled(found)
        return [Warning(words, hint=messages.LOG_SAYS_WHERE, id="toolbooth.W002")]
    names = {
        published: name for name, published in control_names(found.configuration.arguments).items()
    }
    tools: dict[str, list[str]] = {}
    for each in found.clashes:
        tools.setdefault(each.why, []).append(each.what)
    clashes = [_clash(names[published], published, where) for published, where in tools.items()]
    unused = [
        Warning(f"{each.what}: {each.why}.", id="toolbooth.W003") for each in found.unused_patterns
    ]
    failed = [
        Warning(f"{each.what}: {each.why}.", hint=messages.DESCRIBED_WITHOUT, id="toolbooth.W004")
        for each in found.describe_mistakes
    ]
    return [*clashes, *unused, *failed]


def _catalogue() -> Any:
    """The catalogue, or why it cannot be built; None without REST framework."""
    if "rest_framework" not in settings.INSTALLED_APPS:
        return None
    try:
        # REST framework cannot be imported before all models are there, and this module is.
        return import_string("toolbooth.django.describe.catalogue.catalogue")()
    except Exception as error:
        return error


def _clash(name: str, published: str, tools: list[str]) -> CheckMessage:
    more = f" and {len(tools) - _MOST_NAMED} more" if len(tools) > _MOST_NAMED else ""
    where = ", ".join(tools[:_MOST_NAMED]) + more
    words = messages.argument_not_offered(name, published, where)
    return Warning(words, hint=messages.rename_argument(name), id="toolbooth.W001")


_MOST_NAMED = 8
