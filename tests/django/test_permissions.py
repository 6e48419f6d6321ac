"""Calls that REST refuses are refused over MCP, and tools that a caller may not call are not listed
(`docs/project/evidence/gateways.md`).
"""

import json

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from odd import views
from odd.models import Log, Secret, Site
from toolbooth.django.describe.catalogue import catalogue


@pytest.fixture
def bob(db):
    return User.objects.create_user("bob", password="pw")


def listed(user, **headers):
    client = Client(headers={"Authorization": user, **headers} if user else headers)
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    reply = client.post("/mcp/", json.dumps(message), content_type="application/json")
    assert reply.status_code == 200, reply.content
    return {tool["name"] for tool in reply.json()["result"]["tools"]}


BASIC = {"ann": "Basic YW5uOnB3", "bob": "Basic Ym9iOnB3"}


def status(result):
    return result["structuredContent"]["details"]["status"]


def test_rows_that_initial_restricts_are_restricted(mcp, mcp_as, ann, bob):
    secret = Secret.objects.create(owner=ann, body="mine")
    bobs = mcp_as("bob")
    assert bobs("restricted__list")["structuredContent"]["results"] == []
    assert status(bobs("restricted__retrieve", {"id": secret.pk})) == 404
    assert status(bobs("restricted__partial_update", {"id": secret.pk, "body": "bobs"})) == 404
    assert status(bobs("restricted__destroy", {"id": secret.pk})) == 404
    assert mcp("restricted__retrieve", {"id": secret.pk})["structuredContent"] == {
        "id": secret.pk,
        "body": "mine",
    }


def test_rows_that_get_queryset_restricts_are_restricted(mcp, mcp_as, bob):
    note = mcp("notes__create", {"title": "mine"})["structuredContent"]["id"]
    assert mcp_as("bob")("notes__list")["structuredContent"]["count"] == 0
    assert status(mcp_as("bob")("notes__destroy", {"id": note})) == 404


def test_object_permissions_apply(mcp_as, ann, bob):
    secret = Secret.objects.create(owner=ann, body="mine")
    for name, sent in [("retrieve", {}), ("partial_update", {"body": "bobs"}), ("destroy", {})]:
        result = mcp_as("bob")(f"owners__{name}", {"id": secret.pk, **sent})
        assert (status(result), result["content"][0]["text"]) == (
            403,
            f"Tool 'owners__{name}' failed: it is not yours. Use other credentials, or ask your user.",
        )
    secret.refresh_from_db()
    assert secret.body == "mine"


def test_perform_create_sets_the_owner_and_may_refuse(mcp, ann):
    assert mcp("owners__create", {"body": "hello"})["isError"] is False
    assert list(Secret.objects.values_list("owner", "body")) == [(ann.pk, "hello")]
    assert status(mcp("owners__create", {"body": "forbidden"})) == 403
    assert Secret.objects.count() == 1


def test_model_permissions_apply_to_list_and_call(mcp_as, bob):
    # DjangoModelPermissions lets every known user read, and only those with the permission write.
    writing = {f"permitted__{name}" for name in ("create", "update", "partial_update", "destroy")}
    assert listed(BASIC["bob"]) & writing == set()
    assert "permitted__list" in listed(BASIC["bob"])
    assert status(mcp_as("bob")("permitted__create", {"line": "x"})) == 403
    assert Log.objects.count() == 0
    bob.user_permissions.add(Permission.objects.get(codename="add_log"))
    assert listed(BASIC["bob"]) & writing == {"permitted__create"}
    assert mcp_as("bob")("permitted__create", {"line": "x"})["isError"] is False


def test_denied_caller_learns_no_field_of_the_tool(mcp_as, bob):
    result = mcp_as("bob")("permitted__create", {"data": {"lyne": "x"}})
    assert result["content"][0]["text"] == (
        "Tool 'permitted__create' failed: You do not have permission to perform this action."
        " Use other credentials, or ask your user."
    )


def test_throttles_count_only_calls(mcp):
    for _ in range(5):
        assert "throttled__list" in listed(BASIC["ann"])
    mcp("throttled__list", {"no_such_filter": 1})
    assert [mcp("throttled__list")["isError"] for _ in range(4)] == [False, False, False, True]
    assert "Request was throttled" in mcp("throttled__list")["content"][0]["text"]
    assert status(mcp("throttled__list")) == 429


def test_staff_tool_is_listed_and_callable_only_for_staff(mcp, ann):
    assert "staff__get" not in listed(BASIC["ann"])
    assert status(mcp("staff__get")) == 403
    User.objects.filter(pk=ann.pk).update(is_staff=True)
    assert "staff__get" in listed(BASIC["ann"])
    assert mcp("staff__get")["structuredContent"] == {"ok": True}


def test_a_permission_that_reads_the_url_is_decided_in_the_call(mcp, ann):
    mine = Site.objects.create(slug="mine", name="m", owner=ann)
    other = Site.objects.create(slug="other", name="o")
    assert "sitelogs__list" in listed(BASIC["ann"])
    assert "sitelogs__list" not in listed(None)
    assert mcp("sitelogs__list", {"site_pk": mine.pk})["isError"] is False
    assert status(mcp("sitelogs__list", {"site_pk": other.pk})) == 403


def test_anonymous_caller_sees_and_calls_the_open_tools(mcp_as):
    assert listed(None) == {"open__list", "open__create"}
    assert mcp_as(None)("open__create", {"line": "hello"})["isError"] is False


def test_each_view_uses_its_own_authenticators(ann):
    assert listed(None, **{"X-Key": "right"}) == {"open__list", "open__create", "key__list"}
    assert "key__list" not in listed(BASIC["ann"])


@pytest.fixture
def checked(settings_of, monkeypatch):
    """Return how often a password has been checked so far."""
    settings_of(AUTHENTICATION_BACKENDS=["odd.views.CountingBackend"])
    monkeypatch.setattr(views.CountingBackend, "checked", 0)
    return lambda: views.CountingBackend.checked


@pytest.mark.parametrize(
    ("login", "sent", "times"),
    [
        (None, {"label": "x"}, 1),
        (None, {"labl": "x"}, 1),
        # The rows that a relation may name depend on the caller: they are found before the view
        # runs.
        (None, {"label": "x", "site": {"slug": "s"}}, 1),
        # The caller must be known before the view runs.
        (True, {"label": "x"}, 1),
        (True, {"labl": "x"}, 1),
        (True, {"label": "x", "site": {"slug": "s"}}, 1),
    ],
)
def test_a_password_is_checked_once_per_call(mcp, settings_of, checked, login, sent, times):
    Site.objects.create(slug="s", name="S")
    settings_of(TOOLBOOTH={"LOGIN_REQUIRED": login, "INCLUDE": ["counted__*"]})
    assert mcp("counted__create", sent)["isError"] is ("labl" in sent)
    assert checked() == times


def test_a_password_is_checked_once_in_a_list(ann, settings_of, checked):
    settings_of(TOOLBOOTH={"INCLUDE": ["counted__*"]})
    assert len(listed(BASIC["ann"])) == 6
    assert checked() == 1


def test_a_view_sees_the_same_caller_as_over_rest(mcp, settings_of):
    settings_of(TOOLBOOTH={"LOGIN_REQUIRED": True})
    assert mcp("who__get")["structuredContent"] == {
        "user": "ann",
        "authenticator": "BasicAuthentication",
        "address": "http://testserver/odd/who/",
        "language": None,
        "accept": "application/json, */*",
        "mcp": [],
        "marked": None,
    }


def test_a_misspelt_name_suggests_no_hidden_tool(mcp, mcp_as):
    def error(call, name):
        return call(name)["error"]["message"]

    assert (
        error(mcp, "contacts__creat")
        == "there is no tool 'contacts__creat'; did you mean 'contacts__create'?"
    )
    assert error(mcp_as(None), "contacts__creat") == "there is no tool 'contacts__creat'"
    assert (
        error(mcp_as(None), "open__creat")
        == "there is no tool 'open__creat'; did you mean 'open__create'?"
    )


def test_open_project_lists_all_tools_to_every_caller(settings_of):
    assert catalogue().open is False
    everything = [name for name in catalogue().registry.tools if name.startswith("open__")]
    settings_of(TOOLBOOTH={"INCLUDE": everything})
    assert (catalogue().open, list(catalogue().registry.tools)) == (True, everything)
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    for client in (Client(), Client(headers={"Cookie": "sessionid=none"})):
        reply = client.post("/mcp/", data=body, content_type="application/json").json()
        assert [tool["name"] for tool in reply["result"]["tools"]] == everything
