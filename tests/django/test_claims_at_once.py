"""Calls with the same key at the same time, on a database in a file: the second one waits for the
first.
"""

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from time import monotonic

import pytest
from django.db import DatabaseError, OperationalError, connections, transaction
from django.test import override_settings

from odd.models import Log
from toolbooth.django.call.used_keys import DatabaseStore
from toolbooth.django.models import UsedKey
from toolbooth.server.idempotency import InFlight, KeyUse, run_once

USE = KeyUse(caller="ann", tool="lines__create", key="k", arguments=b"{}")
STORE = DatabaseStore(kept_seconds=60, wait_seconds=5)


class ToFile:
    """A router."""

    def db_for_write(self, model, **hints):
        return "file"

    db_for_read = db_for_write


@pytest.fixture(params=["delete", "wal"])
def file(request, _database, monkeypatch, tmp_path):
    """A database in a file, by the mode of its journal."""
    path = tmp_path / "file.sqlite3"
    with closing(sqlite3.connect(path)) as made:
        made.execute(f"PRAGMA journal_mode={request.param}")  # the file keeps it
    own = {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(path),
        "OPTIONS": {"timeout": 3},
    }
    monkeypatch.setitem(connections.settings, "file", {**connections.settings["default"], **own})
    with connections["file"].schema_editor() as editor:
        editor.create_model(Log)
        editor.create_model(UsedKey)
    with override_settings(DATABASE_ROUTERS=[ToFile()]):
        yield
    connections["file"].close()
    del connections["file"]


def in_thread(work):
    """The future of some work, whose connection is closed."""
    pool = ThreadPoolExecutor(1)

    def run():
        try:
            return work()
        finally:
            connections["file"].close()

    try:
        return pool.submit(run)
    finally:
        pool.shutdown(wait=False)


def write(line):
    Log.objects.create(line=line)
    return b'{"line":"%s"}' % line.encode()


class _Stopped(Exception):
    """The write is rolled back."""


def test_the_second_call_waits_for_the_first_and_gets_its_receipt(file):
    inside, go_on = threading.Event(), threading.Event()

    def slowly():
        receipt = write("first")
        inside.set()
        assert go_on.wait(10)
        return receipt

    first = in_thread(lambda: run_once(STORE, USE, slowly))
    assert inside.wait(10)
    second = in_thread(lambda: run_once(STORE, USE, lambda: write("second")))
    go_on.set()
    assert b'"repeated":true' in second.result(10)
    assert b'"repeated"' not in first.result(10)
    assert list(Log.objects.values_list("line", flat=True)) == ["first"]


def test_if_the_first_call_is_rolled_back_the_second_becomes_the_first(file):
    inside, go_on = threading.Event(), threading.Event()

    def fails():
        write("first")
        inside.set()
        assert go_on.wait(10)
        raise _Stopped

    first = in_thread(lambda: run_once(STORE, USE, fails))
    assert inside.wait(10)
    second = in_thread(lambda: run_once(STORE, USE, lambda: write("second")))
    go_on.set()
    assert b'"repeated"' not in second.result(10)
    with pytest.raises(_Stopped):
        first.result(10)
    assert list(Log.objects.values_list("line", flat=True)) == ["second"]
    assert UsedKey.objects.count() == 1


def test_the_wait_is_limited_and_the_call_is_not_made_then(file):
    short = DatabaseStore(kept_seconds=60, wait_seconds=0.2)
    ran = []
    with transaction.atomic(using="file"):
        Log.objects.create(line="another write")  # holds the lock of the whole database
        start = monotonic()
        second = in_thread(lambda: run_once(short, USE, lambda: ran.append(1) or b"{}"))
        with pytest.raises(InFlight) as found:
            second.result(10)
        assert monotonic() - start > 0.15
    assert (found.value.seconds, ran) == (1, [])


@pytest.mark.parametrize("outcome", ["claimed", "in flight", "used"])
def test_lock_wait_of_the_connection_is_restored_before_the_view_runs(file, outcome):
    def wait():
        with connections["file"].cursor() as cursor:
            return cursor.execute("PRAGMA busy_timeout").fetchone()[0]

    short = DatabaseStore(kept_seconds=60, wait_seconds=0.1)
    seen = [wait()]

    def view():
        seen.append(wait())
        return b"{}"

    def call():
        try:
            run_once(short, USE, view)
        except InFlight:
            seen.append("in flight")
        seen.append(wait())

    if outcome == "in flight":
        with transaction.atomic(using="file"):
            Log.objects.create(line="another write")
            in_thread(call).result(10)
        assert seen == [3000, "in flight", 3000]
        return
    call()
    if outcome == "claimed":
        assert seen == [3000, 3000, 3000]
    else:
        call()
        assert seen == [3000, 3000, 3000, 3000]


def test_a_read_before_the_claim_does_not_make_it_fail_at_once(file):
    """SQLite fails at once where a transaction that has read wants to write. The claim is the first
    statement of its transaction, so that it waits.
    """
    inside, go_on = threading.Event(), threading.Event()

    def slowly():
        inside.set()
        assert go_on.wait(10)
        return write("first")

    first = in_thread(lambda: run_once(STORE, USE, slowly))
    assert inside.wait(10)
    assert list(Log.objects.all()) == []
    other = KeyUse(caller="bob", tool="lines__create", key="k", arguments=b"{}")
    second = in_thread(lambda: run_once(STORE, other, lambda: write("second")))
    go_on.set()
    first.result(10)
    second.result(10)
    assert list(Log.objects.values_list("line", flat=True)) == ["first", "second"]


def test_a_commit_that_another_connection_prevents_is_in_flight(file, request):
    """In a journal that is deleted, a reader keeps a writer from its commit."""
    reading, done = threading.Event(), threading.Event()
    Log.objects.create(line="a")

    def read():
        with connections["file"].cursor() as cursor:
            cursor.execute("BEGIN")
            cursor.execute("SELECT * FROM odd_log").fetchall()
            reading.set()
            assert done.wait(20)
            cursor.execute("COMMIT")

    reader = in_thread(read)
    assert reading.wait(10)
    connections["file"].close()
    connections.settings["file"]["OPTIONS"]["timeout"] = 0.1
    try:
        receipt = run_once(STORE, USE, lambda: write("b"))
    except InFlight:
        receipt = None
    finally:
        done.set()
        reader.result(10)
    is_wal = request.node.callspec.params["file"] == "wal"
    assert (receipt is not None) is is_wal
    assert Log.objects.count() == UsedKey.objects.count() + 1 == (2 if is_wal else 1)


def test_many_calls_at_once_make_one_row(file):
    def call():
        try:
            return run_once(STORE, USE, lambda: write("a"))
        except InFlight:
            return None

    answers = [each.result(30) for each in [in_thread(call) for _ in range(20)]]
    receipts = {answer.partition(b',"repeated"')[0].rstrip(b"}") for answer in answers if answer}
    assert len(receipts) == 1
    assert Log.objects.count() == 1


def test_an_error_of_the_view_is_not_reported_as_a_concurrent_call(file):
    def broken():
        with connections["file"].cursor() as cursor:
            cursor.execute("SELECT * FROM no_such_table")

    with pytest.raises(DatabaseError, match="no such table"):
        run_once(STORE, USE, broken)
    assert UsedKey.objects.count() == 0


def test_a_hook_that_waits_for_the_database_is_not_reported_as_a_concurrent_call(file):
    """The write is committed by then, so the reply must not claim that it was not made."""
    busy = sqlite3.OperationalError("database is locked")
    busy.sqlite_errorcode = sqlite3.SQLITE_BUSY

    def hook():
        raise OperationalError from busy

    def write_with_hook():
        transaction.on_commit(hook, using="file")
        return write("a")

    with pytest.raises(OperationalError):
        run_once(STORE, USE, write_with_hook)
    assert b'"repeated":true' in run_once(STORE, USE, lambda: write("again"))
    assert list(Log.objects.values_list("line", flat=True)) == ["a"]
