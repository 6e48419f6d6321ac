"""Writes with an idempotency key are made once, even if they are sent several times."""

import base64
import json
import logging
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.core.cache import caches
from django.core.management import call_command
from django.db import connection, connections
from django.test import Client, override_settings
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rest_framework import authentication

from keyed_api import Open, Urls, let_in
from odd.models import Log
from sales.models import Company
from toolbooth.django.call import used_keys
from toolbooth.django.models import UsedKey

ANN = base64.b64encode(b"ann:pw").decode()


@pytest.fixture
def call(settings_of, mcp):
    settings_of(ROOT_URLCONF=Urls)
    return mcp


@pytest.fixture(params=[True, False], ids=["atomic", "not-atomic"])
def atomic(request, monkeypatch):
    monkeypatch.setitem(connection.settings_dict, "ATOMIC_REQUESTS", request.param)


def lines():
    return list(Log.objects.order_by("id").values_list("line", flat=True))


def value(result):
    assert result["isError"] is False, result
    return result["structuredContent"]


def problems(result):
    assert result["isError"] is True, result
    found = result["_meta"]["toolbooth"]["problems"]
    return [(each["code"], each["path"], each["message"]) for each in found]


def with_meta(meta, arguments, tool="lines__create"):
    """Make a call with `_meta`."""
    params = {"name": tool, "arguments": arguments, "_meta": meta}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    client = Client(headers={"Authorization": f"Basic {ANN}"})
    return client.post("/mcp/", json.dumps(message), content_type="application/json").json()[
        "result"
    ]


# --- the same call again ---


def test_a_repeated_call_is_made_once_and_answered_with_the_first_receipt(call, atomic):
    before = datetime.now(UTC)
    first = value(call("lines__create", {"line": "a", "idempotency_key": "k"}))
    row = Log.objects.get()
    until = datetime.fromisoformat(first["retry_until"])
    assert first == {
        "id": row.pk,
        "set": ["line"],
        "defaulted": [],
        "retry_until": first["retry_until"],
    }
    assert timedelta(0) <= until - before - timedelta(hours=24) < timedelta(minutes=1)
    again = value(call("lines__create", {"idempotency_key": "k", "line": "a"}))
    assert again == {**first, "repeated": True}
    assert value(call("lines__create", {"idempotency_key": "k", "line": "a"})) == again
    assert lines() == ["a"]


def test_a_call_without_a_key_is_made_each_time_and_keeps_nothing(call):
    for _ in range(2):
        assert "retry_until" not in value(call("lines__create", {"line": "a"}))
    assert lines() == ["a", "a"]
    assert not UsedKey.objects.exists()


def test_the_table_holds_hashes_and_the_receipt_but_no_argument(call):
    call("lines__create", {"line": "a secret line", "idempotency_key": "my key"})
    row = UsedKey.objects.values().get()
    assert (len(row["claim"]), len(row["arguments"]), row["tool"]) == (64, 64, "lines__create")
    assert "secret" not in str(row)
    assert "my key" not in str(row)


def test_other_arguments_under_the_same_key_are_refused(call):
    call("lines__create", {"line": "a", "idempotency_key": "k"})
    words = "was used for a call of this tool with other arguments; send these with a new key"
    assert problems(call("lines__create", {"line": "b", "idempotency_key": "k"})) == [
        ("key-reused", "$.idempotency_key", words)
    ]
    assert lines() == ["a"]


def test_the_arguments_are_compared_after_repair_and_without_protocol_arguments(mcp):
    arguments = {"name": "Acme", "employees": 5, "idempotency_key": "k"}
    first = value(mcp("companies__create", arguments))
    for same in (
        {"employees": "5"},
        {"employees": 5.0},
        {"verify": True},
        {"website": None},
    ):
        assert value(mcp("companies__create", {**arguments, **same})) == {**first, "repeated": True}
    assert problems(mcp("companies__create", {**arguments, "website": ""}))[0][0] == "key-reused"
    assert Company.objects.count() == 1


def test_idempotency_keys_are_compared_exactly(call):
    for key in ("k", "K", " k", "k ", "ḱ", "k\u0301", "1", "x" * 128):
        assert "repeated" not in value(call("lines__create", {"line": "a", "idempotency_key": key}))
    assert len(lines()) == 8


def test_a_key_is_valid_for_one_caller_and_one_tool(call, mcp_as):
    User.objects.create_user("bob", password="pw")
    for who in ("ann", "bob"):
        for tool in ("lines__create", "guarded__create"):
            made = value(mcp_as(who)(tool, {"line": f"{who} {tool}", "idempotency_key": "k"}))
            assert "repeated" not in made
    assert len(lines()) == 4


def test_a_key_of_one_host_is_not_known_at_another(call):
    """In a project with one tenant for each host, they may have the same ids of users."""
    first = value(at_host("testserver", "k"))
    other = value(at_host("localhost", "k"))
    assert [first["id"], other["id"]] == list(
        Log.objects.order_by("id").values_list("pk", flat=True)
    )
    assert "repeated" not in other
    assert value(at_host("localhost", "k")) == {**other, "repeated": True}
    assert value(at_host("testserver", "k")) == {**first, "repeated": True}
    assert lines() == ["a", "a"]


def at_host(host, key):
    params = {"name": "lines__create", "arguments": {"line": "a", "idempotency_key": key}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    client = Client(headers={"Authorization": f"Basic {ANN}", "Host": host})
    reply = client.post("/mcp/", json.dumps(message), content_type="application/json")
    return reply.json()["result"]


def test_idempotency_key_is_found_with_other_credentials_of_the_user(call, ann):
    call("lines__create", {"line": "a", "idempotency_key": "k"})
    client = Client(enforce_csrf_checks=False)
    client.force_login(ann)
    params = {"name": "lines__create", "arguments": {"line": "a", "idempotency_key": "k"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    reply = client.post("/mcp/", json.dumps(message), content_type="application/json").json()
    assert reply["result"]["structuredContent"]["repeated"] is True


def test_updates_deletes_and_bulk_creates_accept_keys(call):
    row = Log.objects.create(line="a")
    changed = {"id": row.pk, "line": "b", "idempotency_key": "u"}
    first = value(call("lines__partial_update", changed))
    assert first["changed"] == {"line": {"from": "a", "to": "b"}}
    assert value(call("lines__partial_update", changed)) == {**first, "repeated": True}

    many = {"objects": [{"line": "x"}, {"line": "y"}], "idempotency_key": "m"}
    made = value(call("lines__create", many))
    assert (made["created"], lines()) == (2, ["b", "x", "y"])
    assert value(call("lines__create", many)) == {**made, "repeated": True}
    assert lines() == ["b", "x", "y"]

    gone = {"id": row.pk, "idempotency_key": "d"}
    deleted = value(call("lines__destroy", gone))
    assert deleted["deleted"] == {"logs": 1}
    assert value(call("lines__destroy", gone)) == {**deleted, "repeated": True}
    assert lines() == ["x", "y"]


def test_a_separate_bulk_tool_accepts_keys(settings_of, ann, mcp_as):
    settings_of(ROOT_URLCONF=Urls, TOOLBOOTH={"BULK_TOOLS": True})
    many = {"objects": [{"line": "x"}, {"line": "y"}], "idempotency_key": "m"}
    made = value(mcp_as("ann")("lines__bulk_create", many))
    assert value(mcp_as("ann")("lines__bulk_create", many)) == {**made, "repeated": True}
    assert lines() == ["x", "y"]


def test_a_key_is_the_same_through_a_dispatcher(settings_of, ann, mcp_as):
    settings_of(ROOT_URLCONF=Urls, TOOLBOOTH={"DISPATCH": "resource"})
    call = mcp_as("ann")
    sent = {"action": "create", "line": "a", "idempotency_key": "k"}
    first = value(call("lines", sent))
    inside = {"action": "create", "params": {"line": "a", "idempotency_key": "k"}}
    assert value(call("lines", inside)) == {**first, "repeated": True}
    directly = {"line": "a", "idempotency_key": "k"}
    assert value(call("lines__create", directly)) == {**first, "repeated": True}
    assert lines() == ["a"]


@pytest.mark.parametrize("tool", ["guarded__create", "guardedinitially__create"])
def test_a_repeated_call_is_authorised_again_by_the_view(call, tool):
    sent = {"line": "a", "idempotency_key": "k"}
    value(call(tool, sent))
    let_in["may"] = False
    try:
        refused = call(tool, sent)
    finally:
        let_in["may"] = True
    assert refused["content"][0]["text"] == (
        f"Tool '{tool}' failed: closed. Use other credentials, or ask your user."
    )
    assert value(call(tool, sent))["repeated"] is True


@pytest.mark.parametrize("times", [1, 2, 3])
def test_a_key_also_works_with_arguments_sent_as_json_text(call, times):
    text = {"line": "a", "idempotency_key": "k"}
    for _ in range(times):
        text = json.dumps(text)
    first = value(call("lines__create", text))
    assert value(call("lines__create", text)) == {**first, "repeated": True}
    assert lines() == ["a"]


def test_a_view_may_lock_rows_and_use_savepoints(call, atomic):
    sent = {"line": "a", "idempotency_key": "k"}
    first = value(call("locking__create", sent))
    assert value(call("locking__create", sent)) == {**first, "repeated": True}
    again = value(call("locking__create", {**sent, "idempotency_key": "other"}))
    assert (again["id"], lines()) == (first["id"], ["a"])


# --- calls that fail ---


@pytest.mark.parametrize("line", ["refused", "raises"])
def test_a_call_that_fails_leaves_no_key_and_no_row(call, atomic, line):
    assert call("failing__create", {"line": line, "idempotency_key": "k"})["isError"] is True
    assert (lines(), UsedKey.objects.count()) == ([], 0)
    value(call("failing__create", {"line": "other", "idempotency_key": "k"}))
    assert lines() == ["other"]


def test_an_answer_with_an_error_is_rolled_back(call, atomic):
    refused = call("failing__answers", {"line": "a", "idempotency_key": "k"})
    assert problems(refused) == [("invalid", "$.line", "no")]
    assert "Nothing was done." in refused["content"][0]["text"]
    assert (lines(), UsedKey.objects.count()) == ([], 0)


@pytest.mark.parametrize("backend", ["locmem.LocMemCache", "db.DatabaseCache"])
def test_a_refused_call_with_a_key_counts_for_throttles(settings_of, ann, mcp_as, backend):
    """In a database, the count of the view is rolled back with the call. Otherwise calls that are
    refused, such as guesses of a code, would be free.
    """
    cache = {"BACKEND": f"django.core.cache.backends.{backend}", "LOCATION": "cache_table"}
    settings_of(ROOT_URLCONF=Urls, CACHES={"default": cache})
    call_command("createcachetable")
    call = mcp_as("ann")
    try:
        for number in range(3):
            refused = call("throttled__create", {"line": "refused", "idempotency_key": f"{number}"})
            assert problems(refused) == [("invalid", "$.line", "no")]
        throttled = call("throttled__create", {"line": "a", "idempotency_key": "4"})
        assert "throttled" in throttled["content"][0]["text"]
    finally:
        caches["default"].clear()
        with connection.cursor() as cursor:
            cursor.execute("DROP TABLE IF EXISTS cache_table")
    assert lines() == []


@pytest.mark.parametrize("backend", ["locmem.LocMemCache", "db.DatabaseCache"])
def test_a_write_with_a_key_counts_once_for_throttles(settings_of, ann, mcp_as, backend):
    cache = {"BACKEND": f"django.core.cache.backends.{backend}", "LOCATION": "cache_table"}
    settings_of(ROOT_URLCONF=Urls, CACHES={"default": cache})
    call_command("createcachetable")
    call = mcp_as("ann")
    try:
        for number in range(3):
            value(call("throttled__create", {"line": "a", "idempotency_key": f"{number}"}))
        throttled = call("throttled__create", {"line": "a", "idempotency_key": "4"})
        assert "throttled" in throttled["content"][0]["text"]
    finally:
        caches["default"].clear()
        with connection.cursor() as cursor:
            cursor.execute("DROP TABLE IF EXISTS cache_table")
    assert lines() == ["a"] * 3


def test_a_refused_call_leaves_no_key(call):
    assert problems(call("lines__create", {"idempotency_key": "k"}))[0][0] == "missing"
    assert problems(call("lines__create", {"lines": "a", "idempotency_key": "k"}))
    value(call("lines__create", {"line": "a", "idempotency_key": "k"}))
    assert lines() == ["a"]


def test_a_preview_claims_no_key(call):
    sent = {"line": "a", "idempotency_key": "k"}
    for _ in range(2):
        assert value(call("lines__create", {**sent, "preview": True}))["preview"] is True
    assert not UsedKey.objects.exists()
    value(call("lines__create", sent))
    found = value(call("lines__create", {**sent, "preview": True}))
    assert (found["preview"], "repeated" in found, lines()) == (True, False, ["a"])


# --- the key in _meta ---


def test_the_key_can_be_in_meta(call):
    meta = {"toolbooth": {"idempotency_key": "k"}}
    first = value(with_meta(meta, {"line": "a"}))
    again = {**first, "repeated": True}
    assert value(with_meta(meta, {"line": "a"})) == again
    assert value(with_meta(meta, {"line": "a", "idempotency_key": "k"})) == again
    assert value(call("lines__create", {"line": "a", "idempotency_key": "k"})) == again
    assert lines() == ["a"]


def test_two_different_keys_are_refused(call):
    meta = {"toolbooth": {"idempotency_key": "k"}}
    assert problems(with_meta(meta, {"line": "a", "idempotency_key": "other"})) == [
        (
            "invalid",
            "$.idempotency_key",
            "is not the same as the key in _meta; send one of them",
        )
    ]
    assert lines() == []


@pytest.mark.parametrize("key", [None, "", 5, True, ["k"], {"k": "k"}, "x" * 129])
def test_anything_but_text_of_1_to_128_characters_is_refused_in_meta(call, key):
    words = "must be text of 1 to 128 characters"
    assert problems(with_meta({"toolbooth": {"idempotency_key": key}}, {"line": "a"})) == [
        ("invalid", "$._meta.toolbooth.idempotency_key", words)
    ]
    assert lines() == []


@pytest.mark.parametrize("key", [None, "", 5, True, ["k"], "x" * 129])
def test_anything_but_text_of_1_to_128_characters_is_refused_as_an_argument(call, key):
    refused = problems(call("lines__create", {"line": "a", "idempotency_key": key}))
    assert [path for _, path, _ in refused] == ["$.idempotency_key"]
    assert lines() == []


def test_reads_ignore_the_key_in_meta(call):
    meta = {"toolbooth": {"idempotency_key": "k"}}
    assert value(with_meta(meta, {}, "lines__list"))["results"] == []


def test_the_argument_can_be_renamed_and_switched_off(settings_of, ann, mcp_as):
    settings_of(ROOT_URLCONF=Urls, TOOLBOOTH={"ARGUMENTS": {"idempotency_key": "once"}})
    first = value(mcp_as("ann")("lines__create", {"line": "a", "once": "k"}))
    assert value(mcp_as("ann")("lines__create", {"line": "a", "once": "k"})) == {
        **first,
        "repeated": True,
    }
    settings_of(ROOT_URLCONF=Urls, TOOLBOOTH={"ARGUMENTS": {"idempotency_key": None}})
    refused = mcp_as("ann")("lines__create", {"line": "b", "idempotency_key": "k"})
    assert problems(refused)[0][0] == "unknown-key"
    assert problems(with_meta({"toolbooth": {"idempotency_key": "k"}}, {"line": "b"})) == [
        ("invalid", "$._meta.toolbooth.idempotency_key", "is switched off on this server")
    ]
    assert lines() == ["a"]


# --- where keys cannot be used ---


def test_anonymous_callers_cannot_use_keys(call, mcp_as):
    refused = mcp_as(None)("open__create", {"line": "a", "idempotency_key": "k"})
    words = "cannot be used without credentials: a key belongs to one caller"
    assert problems(refused) == [("invalid", "$.idempotency_key", words)]
    value(mcp_as(None)("open__create", {"line": "a"}))
    value(call("open__create", {"line": "b", "idempotency_key": "k"}))
    assert lines() == ["a", "b"]


class UnnamedCaller(authentication.BaseAuthentication):
    """Recognises callers by a header of its own, and does not name it."""

    def authenticate(self, request):
        return (AnonymousUser(), None) if request.headers.get("X-Api-Key") else None


class NamedCaller(UnnamedCaller):
    def authenticate(self, request):
        key = request.headers.get("X-Api-Key")
        return (AnonymousUser(), key) if key else None


def by_api_key(key):
    params = {"name": "open__create", "arguments": {"line": "a", "idempotency_key": "k"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    client = Client(headers={"X-Api-Key": key})
    reply = client.post("/mcp/", json.dumps(message), content_type="application/json")
    return reply.json()["result"]


def test_keys_of_callers_without_a_user_depend_on_their_credentials(call, monkeypatch):
    monkeypatch.setattr(Open, "authentication_classes", [UnnamedCaller])
    words = "cannot be used here: the server cannot tell this caller from others"
    for key in ("one", "two"):
        assert problems(by_api_key(key)) == [("invalid", "$.idempotency_key", words)]
    assert lines() == []
    monkeypatch.setattr(Open, "authentication_classes", [NamedCaller])
    made = [value(by_api_key(key)) for key in ("one", "two", "one")]
    assert ["repeated" in each for each in made] == [False, False, True]
    assert lines() == ["a", "a"]


@pytest.mark.parametrize(
    ("tool", "reason"),
    [
        ("free", "the view runs outside of transactions (non_atomic_requests)"),
        ("durable", "the view commits by itself (transaction.atomic(durable=True))"),
        ("durableinside", "the view commits by itself (transaction.atomic(durable=True))"),
        ("durablebelow", "the view commits by itself (transaction.atomic(durable=True))"),
    ],
)
def test_a_view_that_cannot_share_a_transaction_with_its_key_accepts_no_key(
    call, monkeypatch, tool, reason
):
    monkeypatch.setitem(connection.settings_dict, "ATOMIC_REQUESTS", False)
    refused = problems(call(f"{tool}__create", {"line": "a", "idempotency_key": "k"}))
    assert refused == [("invalid", "$.idempotency_key", f"cannot be used here: {reason}")]
    assert (lines(), UsedKey.objects.count()) == ([], 0)
    assert value(call(f"{tool}__create", {"line": "a"}))
    assert lines()[-1] == "a"


@pytest.fixture
def other(monkeypatch, tmp_path):
    """A second database, with the table of lines."""
    own = {"ENGINE": "django.db.backends.sqlite3", "NAME": str(tmp_path / "other.sqlite3")}
    monkeypatch.setitem(connections.settings, "other", {**connections.settings["default"], **own})
    with connections["other"].schema_editor() as editor:
        editor.create_model(Log)
    yield
    connections["other"].close()
    del connections["other"]


@pytest.mark.parametrize("tool", ["elsewhere", "elsewherequietly"])
def test_a_view_that_writes_to_another_database_accepts_no_key(call, other, tool):
    words = 'cannot be used here: the view writes to the database "other", and keys are kept in "default"'
    refused = problems(call(f"{tool}__create", {"line": "a", "idempotency_key": "k"}))
    assert refused == [("invalid", "$.idempotency_key", words)]
    assert (lines(), Log.objects.using("other").count()) == ([], 0)
    value(call(f"{tool}__create", {"line": "a"}))
    assert (lines(), Log.objects.using("other").count()) == (["a"], 1)


class LinesElsewhere:
    """A router."""

    def db_for_write(self, model, **hints):
        return "other" if model is Log else None


def test_a_view_whose_model_is_in_another_database_accepts_no_key(call, other):
    with override_settings(DATABASE_ROUTERS=[LinesElsewhere()]):
        refused = problems(call("lines__create", {"line": "a", "idempotency_key": "k"}))
        assert 'writes to the database "other"' in refused[0][2]
        assert Log.objects.using("other").count() == 0


def test_without_the_table_only_calls_with_a_key_fail(call):
    with connection.schema_editor() as editor:
        editor.delete_model(UsedKey)
    try:
        failed = call("lines__create", {"line": "a", "idempotency_key": "k"})
        value(call("lines__create", {"line": "b"}))
    finally:
        with connection.schema_editor() as editor:
            editor.create_model(UsedKey)
    assert failed["content"][0]["text"] == (
        "Tool 'lines__create' failed: this server cannot keep idempotency keys yet: its table is missing "
        "(manage.py migrate). Nothing was done. Send the call without the key, or try again later"
    )
    assert lines() == ["b"]


# --- the lifetime of a key ---


def test_a_key_that_has_expired_is_free_again(call):
    sent = {"line": "a", "idempotency_key": "k"}
    value(call("lines__create", sent))
    UsedKey.objects.update(expires=datetime.now(UTC))
    assert "repeated" not in value(call("lines__create", sent))
    assert value(call("lines__create", sent))["repeated"] is True
    assert (lines(), UsedKey.objects.count()) == (["a", "a"], 1)


def test_key_age_setting_limits_the_retry_period(settings_of, ann, mcp_as):
    settings_of(ROOT_URLCONF=Urls, TOOLBOOTH={"KEY_AGE": 60})
    first = value(mcp_as("ann")("lines__create", {"line": "a", "idempotency_key": "k"}))
    left = datetime.fromisoformat(first["retry_until"]) - datetime.now(UTC)
    assert timedelta(seconds=50) < left <= timedelta(seconds=60)


def test_keys_remain_valid_after_a_change_of_the_secret_key(call):
    sent = {"line": "a", "idempotency_key": "k"}
    value(call("lines__create", sent))
    with override_settings(SECRET_KEY="new", SECRET_KEY_FALLBACKS=["only for tests"]):
        assert value(call("lines__create", sent))["repeated"] is True
    # Without the old one, arguments cannot be compared: better refused than made twice.
    with override_settings(SECRET_KEY="new"):
        assert problems(call("lines__create", sent))[0][0] == "key-reused"
    assert lines() == ["a"]


# --- any sequence of calls ---

KEYS = st.sampled_from(["a", "A", "b", "ab", " a"])
LINES = st.sampled_from(["x", "y", "refused", "raises"])
CALLS = st.lists(st.tuples(st.sampled_from(["ann", "bob"]), KEYS, LINES), max_size=12)


@given(calls=CALLS)
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_sequence_of_calls_makes_one_row_for_each_key(call, calls, mcp_as):
    User.objects.filter(username="bob").delete()
    User.objects.create_user("bob", password="pw")
    Log.objects.all().delete()
    UsedKey.objects.all().delete()
    made: dict[tuple[str, str], tuple[str, dict]] = {}
    logging.disable(logging.CRITICAL)
    try:
        for who, key, line in calls:
            result = mcp_as(who)("failing__create", {"line": line, "idempotency_key": key})
            if (who, key) not in made:
                assert result["isError"] is (line in ("refused", "raises"))
                if not result["isError"]:
                    made[who, key] = (line, result["structuredContent"])
            elif made[who, key][0] == line:
                assert value(result) == {**made[who, key][1], "repeated": True}
            else:
                assert problems(result)[0][0] == "key-reused"
    finally:
        logging.disable(logging.NOTSET)
    assert lines() == [line for line, _ in made.values()]
    assert UsedKey.objects.count() == len(made)


# --- for the tests of killed workers ---


def test_the_points_of_a_call_are_reached_in_order(call, monkeypatch):
    seen = []
    monkeypatch.setattr(used_keys, "_at_point", seen.append)
    sent = {"line": "a", "idempotency_key": "k"}
    value(call("lines__create", sent))
    assert seen == [
        "before-claim",
        "between-claim-and-write",
        "between-write-and-commit",
        "between-commit-and-answer",
    ]
    seen.clear()
    value(call("lines__create", sent))
    value(call("lines__create", {"line": "b"}))
    assert seen == ["before-claim"]
