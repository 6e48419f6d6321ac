"""`mcp_clean`, the lines of `mcp_doctor` about idempotency keys, and keys of hand-written tools."""

import base64
import io
import json
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from doctor_report import words_of_doctor
from keyed_api import Urls
from odd.models import Log
from toolbooth.content import Image
from toolbooth.django import decorators
from toolbooth.django.call import key_limits, messages
from toolbooth.django.decorators import mcp_tool
from toolbooth.django.describe.catalogue import forget
from toolbooth.django.models import UsedKey


def printed(command, **options):
    out = io.StringIO()
    call_command(command, stdout=out, no_color=True, **options)
    return out.getvalue()


def keys(count, expires):
    rows = [
        UsedKey(claim=f"{expires} {n}", tool="t", arguments="", created=expires, expires=expires)
        for n in range(count)
    ]
    UsedKey.objects.bulk_create(rows)


@pytest.fixture
def no_table(db):
    with connection.schema_editor() as editor:
        editor.delete_model(UsedKey)
    yield
    with connection.schema_editor() as editor:
        editor.create_model(UsedKey)


# --- mcp_clean ---


def test_mcp_clean_removes_the_keys_that_have_expired(db):
    now = datetime.now(UTC)
    keys(5, now - timedelta(seconds=1))
    keys(2, now + timedelta(hours=1))
    assert printed("mcp_clean", batch=2) == "Removed 5 expired idempotency keys.\n"
    assert UsedKey.objects.count() == 2
    assert printed("mcp_clean") == "Removed 0 expired idempotency keys.\n"
    keys(1, now)
    assert printed("mcp_clean") == "Removed 1 expired idempotency key.\n"


def test_mcp_clean_without_its_table_asks_to_migrate(no_table):
    with pytest.raises(CommandError, match=r"run manage\.py migrate"):
        call_command("mcp_clean")


def test_mcp_clean_requires_a_positive_batch_size(db):
    with pytest.raises(CommandError, match="from 1 on"):
        call_command("mcp_clean", batch=0)


def test_there_is_a_migration_for_every_field():
    call_command("makemigrations", "toolbooth", check=True, dry_run=True, verbosity=0)


# --- mcp_doctor ---


def test_the_doctor_lists_the_tools_that_accept_no_key(settings_of, ann):
    settings_of(ROOT_URLCONF=Urls)
    told, _ = words_of_doctor()
    for tools, reason in (
        ("free__create, free__update, free__partial_update, free__destroy", messages.NON_ATOMIC),
        ("durable__create, durableinside__create", messages.DURABLE),
    ):
        assert f"note an idempotency key {reason}: {tools}" in told


@pytest.mark.parametrize(
    ("sql", "reads"),
    [
        ("SELECT 1", True),
        (" (SELECT 1) UNION (SELECT 2)", True),
        ("/* traced */ select 1", True),
        ("WITH a AS (SELECT 1) SELECT * FROM a", True),
        ("WITH a AS (DELETE FROM b RETURNING *) SELECT * FROM a", False),
        ("SAVEPOINT x", True),
        ("INSERT INTO a VALUES (1)", False),
        ("CREATE TABLE a (b int)", False),
        ("CALL change()", False),
    ],
)
def test_reading_and_writing_statements_are_distinguished(sql, reads):
    assert bool(key_limits._READS.match(sql)) is reads


def test_doctor_reports_that_every_write_takes_a_key(settings_of, ann):
    class Plain:
        urlpatterns = [each for each in Urls.urlpatterns if str(each.pattern) == "mcp/"]

    settings_of(ROOT_URLCONF=Plain)
    assert "ok every write takes an idempotency key" in words_of_doctor()[0]


def test_doctor_warns_that_the_key_table_is_missing(settings_of, ann, no_table):
    settings_of(ROOT_URLCONF=Urls)
    told, _ = words_of_doctor()
    assert "warning the table of idempotency keys is missing -> run manage.py migrate" in told


# --- hand-written tools ---


@pytest.fixture
def hand_written(monkeypatch, ann):
    monkeypatch.setattr(decorators, "declared", dict(decorators.declared))

    @mcp_tool(idempotency_key=True)
    def note_line(line: str, fail: bool = False) -> dict:
        made = Log.objects.create(line=line)
        if fail:
            raise ValueError
        return {"row": made.pk}

    @mcp_tool(idempotency_key=True)
    def note_words(line: str) -> str:
        Log.objects.create(line=line)
        return "noted"

    @mcp_tool(idempotency_key=True)
    def draw(line: str) -> Image:
        Log.objects.create(line=line)
        return Image(data=b"png", mime_type="image/png")

    @mcp_tool(idempotent=True)
    def ensure_line(line: str) -> dict:
        return {"row": Log.objects.get_or_create(line=line)[0].pk}

    @mcp_tool(annotations={"readOnlyHint": True})
    def count_lines() -> dict:
        return {"count": Log.objects.count()}

    forget()
    yield
    forget()


def call(tool, arguments, meta=None):
    params = {"name": tool, "arguments": arguments, **({"_meta": meta} if meta else {})}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    client = Client(headers={"Authorization": "Basic " + base64.b64encode(b"ann:pw").decode()})
    reply = client.post("/mcp/", json.dumps(message), content_type="application/json")
    return reply.json()["result"]


def test_a_function_runs_once_for_each_key(hand_written):
    sent = {"line": "a", "idempotency_key": "k"}
    first = call("note_line", sent)["structuredContent"]
    assert first == {"row": Log.objects.get().pk, "retry_until": first["retry_until"]}
    assert call("note_line", sent)["structuredContent"] == {**first, "repeated": True}
    reused = call("note_line", {**sent, "line": "b"})
    assert reused["_meta"]["toolbooth"]["problems"][0]["code"] == "key-reused"
    assert [call("note_words", sent)["content"][0]["text"] for _ in range(2)] == ["noted"] * 2
    assert Log.objects.count() == 2


def test_a_function_that_fails_is_rolled_back_with_its_key(hand_written, monkeypatch):
    monkeypatch.setitem(connection.settings_dict, "ATOMIC_REQUESTS", False)
    assert call("note_line", {"line": "a", "fail": True, "idempotency_key": "k"})["isError"] is True
    assert call("draw", {"line": "a", "idempotency_key": "k"})["isError"] is True
    assert (Log.objects.count(), UsedKey.objects.count()) == (0, 0)
    assert call("draw", {"line": "a"})["content"][0]["type"] == "image"


def test_a_function_that_accepts_no_key_refuses_one_in_meta(hand_written):
    meta = {"toolbooth": {"idempotency_key": "k"}}
    refused = call("ensure_line", {"line": "a"}, meta)
    assert refused["_meta"]["toolbooth"]["problems"] == [
        {
            "code": "invalid",
            "path": "$._meta.toolbooth.idempotency_key",
            "message": "is not accepted by this tool",
        }
    ]
    assert call("count_lines", {}, meta)["structuredContent"] == {"count": 0}
    assert call("note_line", {"line": "a"}, meta)["isError"] is False
    assert User.objects.get().username == "ann"
