"""The examples on the pages about credentials and the audit log have the results that are shown."""

import io
import json
import logging
import logging.config
import re
import shlex
import types
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.urls import include, path
from django.utils import timezone
from django.utils.module_loading import import_string
from rest_framework.authentication import TokenAuthentication
from rest_framework.authtoken.models import Token
from rest_framework.permissions import DjangoModelPermissions
from rest_framework.routers import SimpleRouter

from knox.models import AuthToken
from sales.models import Company
from sales.views import CompanyViewSet, ContactViewSet
from toolbooth.django.testing import acting_as

DOCS = Path(__file__).resolve().parents[2] / "docs"
CREDENTIALS = (DOCS / "guides" / "credentials.md").read_text(encoding="utf-8")
AUDIT = (DOCS / "guides" / "django.md").read_text(encoding="utf-8").split("\n## Audit log\n")[1]
AUDIT = AUDIT.split("\n## ")[0]


def blocks(kind, text):
    return re.findall(rf"^```{kind}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def section(title):
    return CREDENTIALS.split(f"\n## {title}\n")[1].split("\n## ")[0]


@pytest.fixture
def guarded(settings_of):
    """Companies and contacts for users with permissions, by token."""
    attributes = {
        "authentication_classes": [TokenAuthentication],
        "permission_classes": [DjangoModelPermissions],
    }
    router = SimpleRouter()
    for name, view in {"companies": CompanyViewSet, "contacts": ContactViewSet}.items():
        router.register(name, type("Guarded", (view,), attributes), name)
    patterns = [path("mcp", include("toolbooth.django.urls")), *router.urls]
    settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": patterns}))


def agent_of_the_page():
    found = {}
    exec(blocks("python skip", section("A user of its own"))[0], found)
    return found["agent"]


def test_the_user_of_the_page_can_call_its_tools_and_not_log_in(db, guarded):
    agent = agent_of_the_page()
    assert User.objects.get() == agent
    assert not agent.has_usable_password()
    writes = {tool for tool in acting_as(agent).tools() if not tool.endswith(("list", "retrieve"))}
    assert writes == {"contacts__create", "contacts__update", "contacts__partial_update"}


def test_command_in_the_docs_prints_the_shown_output(db, guarded):
    agent = agent_of_the_page()
    ((command, shown),) = re.findall(
        r"^\$ manage.py (.+)\n((?:.*\n)*)", blocks("console", section("Into the client"))[0]
    )
    both = io.StringIO()
    call_command(*shlex.split(command), stdout=both, stderr=both, no_color=True)
    key = Token.objects.get(user=agent).key
    assert both.getvalue().replace(key, "9944b09199c62bcf9418ad846dd0e4bbdfc6ee4b") == shown
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    reply = Client(headers={"Authorization": f"Token {key}"}).post(
        "/mcp", json.dumps(message), content_type="application/json"
    )
    assert "contacts__create" in {tool["name"] for tool in reply.json()["result"]["tools"]}


def test_drf_token_settings_in_the_docs_can_be_imported():
    found = {"INSTALLED_APPS": []}
    exec(blocks("python skip", section("DRF tokens"))[0], found)
    assert found["INSTALLED_APPS"] == ["rest_framework.authtoken"]
    names = found["REST_FRAMEWORK"]["DEFAULT_AUTHENTICATION_CLASSES"]
    assert TokenAuthentication in map(import_string, names)


def test_the_knox_token_of_the_page_lives_longer(ann):
    found = {"agent": ann}
    exec(blocks("python skip", section("knox"))[0], found)
    row = AuthToken.objects.get()
    assert (row, row.user) == (found["row"], ann)
    assert row.expiry > timezone.now() + timedelta(days=89)


def test_the_logging_of_the_page_writes_its_lines(ann, guarded, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = types.SimpleNamespace()
    exec(blocks("python skip", AUDIT)[0], vars(page))
    logger = logging.getLogger("toolbooth.audit")
    logging.config.dictConfig(page.LOGGING)
    try:
        User.objects.filter(pk=ann.pk).update(is_superuser=True)
        client = Client(headers={"Authorization": f"Token {Token.objects.create(user=ann).key}"})

        def call(tool, **arguments):
            params = {"name": tool, "arguments": arguments}
            message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
            client.post("/mcp", json.dumps(message), content_type="application/json")

        call("companies__create", name="Acme", employees=3)
        key = Company.objects.get().pk
        call("companies__create", objects=[{"name": "Bolt"}, {"name": "Coil"}])
        call("companies__partial_update", id=key, nam="x")
        call("companies__destroy", id=key)
    finally:
        for handler in [*logger.handlers]:
            logger.removeHandler(handler)
            handler.close()
        logger.setLevel(logging.NOTSET)
    written = (tmp_path / "audit.log").read_text(encoding="utf-8").splitlines()
    lines = [re.sub(r"^[\d-]+ [\d:,]+ ", "", line) for line in written]
    shown = blocks("text", AUDIT)[0].splitlines()
    assert [with_keys(line, ann.pk, key) for line in lines] == shown


def with_keys(line, user, row):
    """Return a line with the keys of the page: in tests, keys continue from one test to the next."""
    line = line.replace(f"user {user} ", "user 7 ").replace(f"; row {row};", "; row 4;")
    return line.replace(f" rows {row + 1}, {row + 2};", " rows 5, 6;")
