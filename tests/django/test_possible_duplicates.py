"""Creates without a key that may have been sent twice: they are made, and the receipt mentions the
earlier one. And which tools are listed as safe to repeat.
"""

import base64
import json
import logging
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from keyed_api import Urls
from odd.models import Log
from toolbooth.django.call.receipts import RECENT_SECONDS
from toolbooth.django.describe.catalogue import catalogue


@pytest.fixture
def call(settings_of, mcp):
    settings_of(ROOT_URLCONF=Urls)
    return mcp


def created(result):
    assert result["isError"] is False, result
    return result["structuredContent"]


def test_an_equal_create_is_made_and_its_receipt_names_the_earlier_row(call):
    first = created(call("lines__create", {"line": "a"}))
    again = created(call("lines__create", {"line": "a"}))
    duplicate = again.pop("possible_duplicate_of")
    assert again == {**first, "id": first["id"] + 1}
    age = datetime.now(UTC) - datetime.fromisoformat(duplicate.pop("time"))
    assert (duplicate, age < timedelta(minutes=1)) == ({"id": first["id"]}, True)
    third = created(call("lines__create", {"line": "a"}))
    assert third["possible_duplicate_of"]["id"] == again["id"]
    assert Log.objects.count() == 3
    assert RECENT_SECONDS == 600


def test_other_arguments_callers_and_tools_are_not_duplicates(call, mcp_as):
    User.objects.create_user("bob", password="pw")
    for made in (
        call("lines__create", {"line": "a"}),
        call("lines__create", {"line": "A"}),
        call("guarded__create", {"line": "a"}),
        mcp_as("bob")("lines__create", {"line": "a"}),
        mcp_as(None)("open__create", {"line": "a"}),
        mcp_as(None)("open__create", {"line": "a"}),
    ):
        assert "possible_duplicate_of" not in created(made)


def test_a_create_at_another_host_is_no_duplicate(call):
    """In a project with one tenant for each host, they may have the same ids of users."""
    credentials = "Basic " + base64.b64encode(b"ann:pw").decode()
    params = {"name": "lines__create", "arguments": {"line": "a"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    for host in ("testserver", "localhost"):
        client = Client(headers={"Authorization": credentials, "Host": host})
        reply = client.post("/mcp/", json.dumps(message), content_type="application/json")
        assert "possible_duplicate_of" not in created(reply.json()["result"])
    assert Log.objects.count() == 2


def test_a_deleted_row_is_not_named(call):
    first = created(call("lines__create", {"line": "a"}))
    Log.objects.get(pk=first["id"]).delete()
    assert "possible_duplicate_of" not in created(call("lines__create", {"line": "a"}))


def test_create_with_a_key_is_not_marked_as_a_duplicate_but_a_later_one_is(call):
    created(call("lines__create", {"line": "a"}))
    keyed = created(call("lines__create", {"line": "a", "idempotency_key": "k"}))
    assert "possible_duplicate_of" not in keyed
    later = created(call("lines__create", {"line": "a"}))
    assert later["possible_duplicate_of"]["id"] == keyed["id"]


def test_a_create_that_is_answered_with_the_row_is_remembered_too(call):
    first = created(call("lines__create", {"line": "a", "verify": True}))
    assert "possible_duplicate_of" not in first
    again = created(call("lines__create", {"line": "a"}))
    assert again["possible_duplicate_of"]["id"] == first["id"]


def test_a_create_that_fails_or_is_previewed_is_not_remembered(call):
    call("failing__create", {"line": "refused"})
    call("lines__create", {"line": "a", "preview": True})
    assert "possible_duplicate_of" not in created(call("lines__create", {"line": "a"}))


def test_remembering_a_create_needs_no_extra_query(call):
    with CaptureQueriesContext(connection) as queries:
        created(call("lines__create", {"line": "a"}))
    count = len(queries)
    with CaptureQueriesContext(connection) as queries:
        created(call("lines__create", {"line": "b"}))
    assert len(queries) == count
    assert not [
        each for each in queries if "odd_log" in each["sql"] and "INSERT" not in each["sql"]
    ]


@pytest.mark.parametrize("backend", ["broken_cache.Broken", "broken_cache.Forgetful"])
def test_a_failing_cache_prevents_no_write_and_is_skipped_for_a_while(
    settings_of, mcp, caplog, backend
):
    caches = {
        "default": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"},
        "bad": {"BACKEND": backend},
    }
    settings_of(ROOT_URLCONF=Urls, CACHES=caches, TOOLBOOTH={"CACHE": "bad"})
    with caplog.at_level(logging.WARNING, "toolbooth.django"):
        for _ in range(4):
            assert "possible_duplicate_of" not in created(mcp("lines__create", {"line": "a"}))
    assert Log.objects.count() == 4
    assert [each.getMessage() for each in caplog.records] == [
        "the cache 'bad' failed for recent creates"
    ]


# --- idempotentHint ---


@pytest.mark.parametrize(
    ("tool", "hints"),
    [
        ("lines__list", {"readOnlyHint": True}),
        ("lines__create", {"destructiveHint": False}),
        ("lines__update", {"idempotentHint": True}),
        ("lines__partial_update", {"idempotentHint": True}),
        ("lines__destroy", {"idempotentHint": True}),
        ("updated__partial_update", None),
        ("updated__destroy", {"idempotentHint": True}),
        ("failing__answers", {"destructiveHint": False}),
        ("marked__ensure", {"destructiveHint": False, "idempotentHint": True}),
    ],
)
def test_idempotent_hints_are_set_by_kind_of_tool(call, tool, hints):
    assert catalogue().registry.find(tool).listing().get("annotations") == hints
