"""Makes one real `tools/list` call, and finds the tools that anonymous callers may use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.test import RequestFactory
from rest_framework.authentication import SessionAuthentication

from toolbooth.django.call.caller import Caller
from toolbooth.django.conf import configuration
from toolbooth.django.describe.catalogue import catalogue
from toolbooth.django.management.authenticators import authenticators
from toolbooth.django.management.doctor import messages
from toolbooth.django.management.doctor.findings import Cause, Finding
from toolbooth.django.management.users import unlogged
from toolbooth.django.testing import acting_as, endpoint_path
from toolbooth.lint.check import lint

OPEN_WRITES = Cause("open-writes", messages.OPEN_WRITES, messages.CLOSE_OPEN_TOOLS)
OPEN_READS = Cause("open-reads", messages.OPEN_READS, messages.REQUIRE_LOGIN)


def list_call(user: Any) -> Iterator[Finding]:
    """Make one `tools/list` call as `user`. The call passes through the whole project. If `user` is
    None, the call is anonymous.
    """
    # Other examinations report that there are no tools, or no endpoint.
    if not catalogue().registry.tools or not _has_endpoint():
        return
    who = messages.ANONYMOUS if user is None else repr(user.get_username())
    with unlogged():
        try:
            tools = acting_as(user).tools()
        except PermissionError as error:
            if user is None:
                # An API that requires a login should refuse this call.
                yield Finding("ok", messages.anonymous_refused(str(error)))
            else:
                yield Finding("error", messages.list_refused(who, str(error)), messages.LET_IN)
            return
    if tools:
        cost = lint(list(tools.values())).listing.tokens
        yield Finding("ok", messages.listed(who, len(tools), cost))
    elif user is None:
        yield Finding("ok", messages.listed_nothing(who))
    else:
        yield Finding("warning", messages.listed_nothing(who), messages.GIVE_PERMISSIONS)


def _has_endpoint() -> bool:
    try:
        endpoint_path()
    except LookupError:
        return False
    return True


def open_tools() -> Iterator[Finding]:
    """Check how callers are authenticated, and which tools anonymous callers may use."""
    found = authenticators()
    # Agents do not log in through a browser, so they have no session cookie.
    if found and all(isinstance(each, SessionAuthentication) for each in found):
        yield Finding("warning", messages.ONLY_SESSIONS, messages.ADD_TOKEN_AUTHENTICATION)
    # With this setting, the gateway itself refuses anonymous callers. So the permissions of the
    # views do not matter.
    if configuration().login_required:
        yield Finding("ok", messages.LOGIN_IS_REQUIRED)
        return
    # A request without credentials and without a session.
    nobody = Caller(RequestFactory().post("/"))
    actions = catalogue().actions
    for_anybody = [name for name, action in actions.items() if nobody.may_call(action)]
    for name in for_anybody:
        if actions[name].method == "GET":
            what, cause = messages.open_read(name), OPEN_READS
            yield Finding("note", what, cause.cure, cause, name)
        else:
            what, cause = messages.open_write(name), OPEN_WRITES
            yield Finding("warning", what, cause.cure, cause, name)
    if not for_anybody:
        yield Finding("ok", messages.NOTHING_FOR_ANYBODY)
