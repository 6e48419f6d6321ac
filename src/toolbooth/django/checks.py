"""Reports mistakes in the configuration to `manage.py check`, and mistakes in the tools to
`manage.py check --deploy` and `mcp_doctor`.

`check`, `migrate` and `runserver` run often in a developer's day. So their checks look only at the
settings: they describe no view and make no query.
"""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning
from django.utils.module_loading import import_string

from toolbooth.django import messages
from toolbooth.django.conf import mistakes
from toolbooth.django.quiet import quiet
from toolbooth.server.controls import control_names


# Django passes `app_configs` and `databases` to each check. These checks are always about the whole
# project.
def check_configuration(**_: Any) -> list[CheckMessage]:
    """Report E001 if TOOLBOOTH is not a dict, E002 for a wrong key or value, and E003 if REST
    framework is not installed.
    """
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


def check_installed() -> list[CheckMessage]:
    """Report E005 if the URLs of Toolbooth are included, but its app is not installed. The URL
    pattern calls this function, because Django calls only the checks of installed apps.
    """
    if apps.is_installed("toolbooth.django"):
        return []
    return [Error(messages.NOT_INSTALLED, hint=messages.INSTALL_APP, id="toolbooth.E005")]


def check_entries(**_: Any) -> list[CheckMessage]:
    """Report E004 for an entry of BODIES or VERBATIM that matches nothing or cannot be used. Report
    E006 for a mistake in the code of the project's own tools.
    """
    found = _catalogue()
    # `check_tools` reports the exception.
    if found is None or isinstance(found, Exception):
        return []
    wrong: list[CheckMessage] = [
        Error(f"{each.what}: {each.why}.", id="toolbooth.E004") for each in found.wrong_entries
    ]
    for each in found.broken:
        words = f"{each.place}: {each.why}"
        wrong.append(Error(words, hint=messages.CORRECT_THE_LINE, id="toolbooth.E006"))
    return wrong


def check_tools(**_: Any) -> list[CheckMessage]:
    """Report W001 if a tool lacks a control argument such as `help`, W002 if there are no tools,
    W003 for a group without tools, and W004 if the function in DESCRIBE fails.
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
    """Return the catalogue of tools. If building it fails, return the exception. If REST framework
    is not installed, return None.
    """
    if "rest_framework" not in settings.INSTALLED_APPS:
        return None
    try:
        # Imported late: REST framework needs the models, and this module is imported before the
        # models are loaded.
        catalogue = import_string("toolbooth.django.describe.catalogue.catalogue")
        with quiet("toolbooth.django"):
            return catalogue()
    except Exception as error:
        return error


def _clash(name: str, published: str, tools: list[str]) -> CheckMessage:
    more = f" and {len(tools) - _MOST_NAMED} more" if len(tools) > _MOST_NAMED else ""
    where = ", ".join(tools[:_MOST_NAMED]) + more
    words = messages.argument_not_offered(name, published, where)
    return Warning(words, hint=messages.rename_argument(name), id="toolbooth.W001")


_MOST_NAMED = 8
