"""Every REST endpoint of a large project has a tool or a reason; every tool can be called."""

import json
import re
import time
from collections import Counter
from importlib.metadata import version

import host
import twins
from compare import Figures, address, kwargs, progress, project, required, tools
from django.conf import settings
from django.test import override_settings
from django.urls import get_urlconf
from rest_framework.schemas.generators import EndpointEnumerator

from toolbooth.django.conf import configuration
from toolbooth.django.describe.catalogue import Catalogue, build
from toolbooth.django.describe.discovery import METHODS, discover
from toolbooth.django.describe.names import named
from toolbooth.django.messages import NOT_IN_AN_ADDRESS
from toolbooth.lint.check import lint

PACKAGES = ("django", "djangorestframework", "django-filter", "drf-spectacular")


def actions() -> Figures:
    """Every REST endpoint has a tool or a reason; every tool can be called; names and lint."""

    started = time.process_time()
    found = project()
    seconds = time.process_time() - started
    endpoints, reasons = _endpoints(), _reasons()
    called = _called(found)
    untold = sorted(" ".join(each) for each in endpoints - called - set(reasons))
    unreachable: list[str] = []
    owner = host.USERS["owner"]
    for at, tool in enumerate(found.actions):
        progress(at, len(found.actions), "tools reached")
        if len(required(tool)) < len(kwargs(tool)):
            unreachable.append(f"{tool}: {required(tool)} for {found.actions[tool].path}")
        elif tool not in host.LEFT_OUT:
            answer = twins.over_mcp(owner, tool, address(tool), with_rows=False).answer
            if NOT_IN_AN_ADDRESS in str(answer):
                unreachable.append(f"{tool}: {answer}")
    names = [name for name in found.actions if not re.fullmatch(r"[a-z0-9_]{1,48}", name)]
    of_the_host = {"many-tools", "empty-object", "string-format", *getattr(host, "OF_THE_HOST", ())}
    found_by_lint = lint(list(tools().values())).at_least("error")
    findings = [str(each) for each in found_by_lint if each.rule not in of_the_host]
    rules = Counter(each.rule for each in found_by_lint if each.rule in of_the_host)
    return {
        "endpoints": len(endpoints),
        "tools": len(found.actions),
        "endpoints with a tool": len(endpoints & called),
        "of these by the two lines alone": len(endpoints & _called_without_bodies()),
        "left out with a reason": len(endpoints & set(reasons)),
        "untold": len(untold),
        "uncallable": len(unreachable),
        "bad names": len(names),
        "errors of lint": len(findings),
        "errors of lint in what the host decides": dict(rules),
        "actions without a declared body": len(found.undeclared_bodies),
        "bodies named in the settings": len(found.configuration.bodies),
        "bytes of tools/list": len(json.dumps(list(tools().values()))),
        "catalogue, CPU seconds": round(seconds, 2),
        "reasons": dict(Counter(reasons[each] for each in endpoints & set(reasons))),
        "versions": {name: version(name) for name in (*host.PACKAGES, *PACKAGES)},
        "details": [*untold, *unreachable, *names, *findings],
    }


def _called(found: Catalogue) -> set[tuple[str, str]]:
    return {(each.method, each.path) for each in found.actions.values()}


def _called_without_bodies() -> set[tuple[str, str]]:
    """The endpoints that have a tool if the settings name no bodies."""
    if not project().configuration.bodies:
        return _called(project())
    chosen = {name: each for name, each in settings.TOOLBOOTH.items() if name != "BODIES"}
    with override_settings(TOOLBOOTH=chosen):
        return _called(build(configuration()))


def _endpoints() -> set[tuple[str, str]]:
    """REST framework's own list of endpoints."""

    project()
    found = EndpointEnumerator(urlconf=get_urlconf()).get_api_endpoints()
    return {
        (method, path)
        for path, method, _ in found
        if method != "HEAD" and not path.rstrip("/").endswith("{format}")
    }


def _reasons() -> dict[tuple[str, str], str]:
    """Return the doctor's lines about endpoints that are left out whole."""

    names = {name.tool: (each.method, each.path) for name, each in named(discover().actions)}
    found: dict[tuple[str, str], str] = {}
    for each in project().left_out:
        if each.what in names and each.what not in project().actions:
            found[names[each.what]] = each.why
        elif " /" in each.what:
            method, path = each.what.split(" ", 1)
            found[method, path] = each.why
        elif each.what.startswith("/"):
            found |= {(method, each.what): each.why for method in METHODS}
    return found
