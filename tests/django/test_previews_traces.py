"""The effects of a preview beyond the rows: those of the write are undone, those of a call are
kept. It counts towards throttles, needs permissions, and is marked in logs.
"""

import base64
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.contrib.auth.signals import user_login_failed
from django.contrib.sessions.models import Session
from django.core.cache import caches
from django.core.management import call_command
from django.db import connection, connections
from django.test import Client

from odd.models import Log
from preview_api import HOOKS, Others
from sales.models import Company, Deal
from toolbooth.django.call.audit import audit_log
from toolbooth.django.describe.catalogue import catalogue
from toolbooth.django.testing import acting_as
from toolbooth.server.observe import CallRecord, log_calls

COMPANY = {"name": "New"}


def credentials(name: str, password: str = "pw") -> str:
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()


@pytest.fixture
def call(settings_of: Any, ann: User, built_once: None) -> Any:
    settings_of(ROOT_URLCONF=Others)
    HOOKS.clear()
    return acting_as(ann).call


def posted(client: Client, tool: str, **arguments: Any) -> Any:
    params = {"name": tool, "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return client.post("/mcp/", json.dumps(message), content_type="application/json")


def text_of(reply: Any) -> str:
    return reply.json()["result"]["content"][0]["text"]


# --- sessions and messages ---


@pytest.mark.parametrize("engine", ["db", "cache", "cached_db", "signed_cookies"])
def test_session_changes_of_a_preview_are_discarded(
    settings_of: Any, ann: User, engine: str
) -> None:
    settings_of(
        ROOT_URLCONF=Others,
        SESSION_ENGINE=f"django.contrib.sessions.backends.{engine}",
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
            "django.contrib.messages.middleware.MessageMiddleware",
        ],
    )
    client = Client()
    client.force_login(ann)
    session = client.session
    session["seen"] = ["before"]
    session.save()
    if engine == "signed_cookies":
        client.cookies["sessionid"] = session.session_key
    before = dict(client.session.items())
    rows = list(Session.objects.values_list())

    reply = posted(client, "touching__post", line="line", preview=True)
    assert json.loads(text_of(reply)) == {
        "preview": True,
        "written": "nothing",
        "receipt": {"preview": "own", "seen": ["before", "line"]},
    }
    assert "messages" not in reply.cookies
    assert dict(client.session.items()) == before
    assert list(Session.objects.values_list()) == rows
    assert Log.objects.count() == 0

    reply = posted(client, "touching__post", line="line")
    assert json.loads(text_of(reply)) == {"preview": "own", "seen": ["before", "line"]}
    assert "messages" in reply.cookies
    assert client.session["seen"] == ["before", "line"]
    assert Log.objects.count() == 1


# --- constraints that a commit checks ---


def test_constraint_that_fails_on_commit_is_reported_by_a_preview(call: Any) -> None:
    result = call("dangling__post", line="x", preview=True)
    assert result.text == (
        "Tool 'dangling__post' failed: The database would refuse this write: a constraint does not hold at the end of it. "
        "Nothing was written."
    )
    assert Deal.objects.count() == 0
    assert call("dangling__post", line="x").is_error
    assert Deal.objects.count() == 0


def test_links_that_were_broken_before_do_not_matter(call: Any) -> None:
    with connection.constraint_checks_disabled():
        Deal.objects.create(title="old", company_id=404)
    try:
        assert call("companies__create", **COMPANY, preview=True).value["preview"] is True
        assert call("dangling__post", line="x", preview=True).is_error
    finally:
        Deal.objects.all().delete()
    assert Company.objects.count() == 0


# --- several databases ---


@pytest.fixture
def second(tmp_path: Path, _database: None) -> Iterator[dict[str, Any]]:
    """The settings of a second database."""
    name = str(tmp_path / "second.sqlite3")
    own = {"ENGINE": "django.db.backends.sqlite3", "NAME": name, "ATOMIC_REQUESTS": False}
    connections.settings["second"] = {**connections.settings["default"], **own}
    yield connections.settings["second"]
    connections["second"].close()
    del connections["second"]
    del connections.settings["second"]


def test_a_preview_is_rolled_back_in_every_database(second: dict[str, Any], call: Any) -> None:
    with connections["second"].schema_editor() as editor:
        editor.create_model(Log)
    value = call("elsewhere__post", line="x", preview=True).value
    assert value == {"preview": True, "written": "nothing", "rows": 1}
    assert [Log.objects.using(alias).count() for alias in ("default", "second")] == [0, 0]
    assert HOOKS == []
    assert call("elsewhere__post", line="x").value == {"rows": 1}
    assert [Log.objects.using(alias).count() for alias in ("default", "second")] == [1, 1]
    assert HOOKS == ["hook", "hook"]


def test_a_database_that_cannot_be_reached_has_no_preview(
    second: dict[str, Any], call: Any, tmp_path: Path
) -> None:
    second["NAME"] = str(tmp_path / "nowhere" / "second.sqlite3")
    [problem] = call("companies__create", **COMPANY, preview=True).problems
    assert problem.message == (
        "this call cannot be previewed: the database 'second' has no transaction"
    )
    assert Company.objects.count() == 0


# --- throttles, permissions and logins ---


def test_a_preview_counts_towards_throttles(call: Any) -> None:
    for _ in range(3):
        assert not call("throttled__create", **COMPANY, preview=True).is_error
    refused = call("throttled__create", **COMPANY, preview=True)
    assert refused.is_error
    assert "throttled" in refused.text
    assert call("throttled__create", **COMPANY).text == refused.text
    assert Company.objects.count() == 0


def test_a_preview_counts_towards_throttles_in_a_database(settings_of: Any, ann: User) -> None:
    """What the view has counted is rolled back there, so it is counted again."""
    backend = "django.core.cache.backends.db.DatabaseCache"
    settings_of(
        ROOT_URLCONF=Others, CACHES={"default": {"BACKEND": backend, "LOCATION": "cache_table"}}
    )
    call_command("createcachetable")
    call = acting_as(ann).call
    try:
        for _ in range(3):
            assert not call("throttled__create", **COMPANY, preview=True).is_error
        assert "throttled" in call("throttled__create", **COMPANY, preview=True).text
    finally:
        caches["default"].clear()
        with connection.cursor() as cursor:
            cursor.execute("DROP TABLE cache_table")
    assert Company.objects.count() == 0


def test_a_preview_needs_the_permission_of_the_write(call: Any, ann: User) -> None:
    refused = call("permitted__create", **COMPANY)
    assert refused.is_error
    assert call("permitted__create", **COMPANY, preview=True).text == refused.text
    ann.user_permissions.add(Permission.objects.get(codename="add_company"))
    again = acting_as(User.objects.get(pk=ann.pk)).call
    assert again("permitted__create", **COMPANY, preview=True).value["preview"] is True
    assert Company.objects.count() == 0


def test_another_serializer_for_one_caller_is_noticed(call: Any) -> None:
    assert not call("bycaller__create", **COMPANY, preview=True).is_error
    eve = acting_as(User.objects.create_user("eve", password="pw")).call
    [problem] = eve("bycaller__create", **COMPANY, preview=True).problems
    assert problem.message == (
        "this tool cannot be previewed, because its serializer has its own save()"
    )
    assert Company.objects.count() == 0


def noted(**_: Any) -> None:
    Log.objects.create(line="failed login")


def test_a_failed_login_in_a_preview_is_recorded(call: Any) -> None:
    """A preview must not be a way to guess passwords without being counted."""
    client = Client(headers={"Authorization": credentials("ann", "wrong")})
    user_login_failed.connect(noted, dispatch_uid="test")
    try:
        reply = posted(client, "companies__create", **COMPANY, preview=True)
    finally:
        user_login_failed.disconnect(dispatch_uid="test")
    assert reply.status_code == 401
    assert Log.objects.count() >= 1
    assert Company.objects.count() == 0


# --- logs ---


class Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.records: list[Any] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@pytest.fixture
def lines() -> Iterator[Lines]:
    handler = Lines()
    level = audit_log.level
    audit_log.addHandler(handler)
    audit_log.setLevel(logging.INFO)
    yield handler
    audit_log.removeHandler(handler)
    audit_log.setLevel(level)


def test_the_audit_log_marks_previews(call: Any, lines: Lines) -> None:
    acme = Company.objects.create(name="Acme")
    client = Client(headers={"Authorization": credentials("ann")})
    posted(client, "companies__create", **COMPANY, preview=True)
    posted(client, "companies__create", objects=[COMPANY], preview=True)
    posted(client, "companies__destroy", id=acme.pk, preview=True)
    posted(client, "companies__create", name="Acme", preview=True)
    posted(client, "companies__create", **COMPANY)
    facts = [
        (each.outcome, each.preview, each.row, each.count, each.rows, each.fields)
        for each in lines.records
    ]
    assert facts == [
        ("previewed", True, None, None, None, ["name"]),
        ("previewed", True, None, 1, [], ["name"]),
        ("previewed", True, acme.pk, None, None, []),
        ("refused", True, None, None, None, ["name"]),
        ("created", False, Company.objects.get(name="New").pk, None, None, ["name"]),
    ]
    texts = [each.getMessage() for each in lines.records]
    assert texts[0].startswith("companies__create previewed; user")
    assert "as a preview" in texts[3]
    assert "preview" not in texts[4]


def test_observers_receive_previews_with_a_mark(
    settings_of: Any, ann: User, caplog: pytest.LogCaptureFixture
) -> None:
    settings_of(ROOT_URLCONF=Others, TOOLBOOTH={"DISPATCH": "resource"})
    records: list[CallRecord] = []
    catalogue().registry.observe(records.append)
    catalogue().registry.observe(log_calls)
    call = acting_as(ann).call
    with caplog.at_level(logging.INFO, logger="toolbooth.calls"):
        call("companies", action="create", **COMPANY, preview=True)
        call("companies", action="create", params={**COMPANY, "preview": True})
        call("companies", action="create", objects=[COMPANY], preview=True)
        call("companies", action="create", **COMPANY, preview=False)
        call("companies", action="create", **COMPANY, preview="true")
    found = [(each.outcome, each.preview) for each in records]
    assert found == [
        ("passed", True),
        ("passed", True),
        ("passed", True),
        ("passed", False),
        ("refused", False),
    ]
    assert "companies__create passed as a preview in" in caplog.messages[0]
