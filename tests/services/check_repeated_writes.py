"""Writes with an idempotency key, sent again, on each database: receipts and rows."""

from typing import Any
from uuid import uuid4

import pytest

from service_rows import count, query
from service_server import Answer, Served, call

LOCK_WAITS = {"postgresql": "7s", "mysql": "7", "sqlite3": "7000"}
"""As tests/services/conftest.py sets them, in the words of each database."""


def twice(server: Served, tool: str, arguments: dict[str, Any]) -> tuple[Answer, Answer]:
    """Return the answers to one call and to the same call again. The second is the receipt of the
    first, marked as repeated.
    """
    keyed = {**arguments, "idempotency_key": uuid4().hex}
    first, second = (call(server.port, tool, keyed) for _ in range(2))
    assert (first.status, second.status) == (200, 200)
    assert second.content == {**first.content, "repeated": True}
    assert "retry_until" in first.content
    return first, second


def account(server: Served, name: str) -> int:
    return call(server.port, "accounts__create", {"name": name}).content["id"]


def name() -> str:
    """A name that no other test uses: the tests share the rows."""
    return uuid4().hex


def test_a_create_without_a_key_is_made_each_time(server: Served):
    label = name()
    calls = [call(server.port, "entries__create", {"label": label}) for _ in range(2)]
    assert calls[0].content["id"] != calls[1].content["id"]
    assert count(server.config, "ledger_entry", f"label = '{label}'") == 2
    assert server.hooks.read_text().split().count(label) == 2


def test_a_repeated_create_makes_one_row_and_runs_its_hook_once(server: Served):
    label = name()
    first, _ = twice(server, "entries__create", {"label": label, "amount": 3})
    rows = query(server.config, f"SELECT id, amount FROM ledger_entry WHERE label = '{label}'")
    assert rows == [(first.content["id"], 3)]
    assert server.hooks.read_text().split().count(label) == 1


def test_a_repeated_create_of_many_rows_makes_each_once(server: Served):
    labels = [name() for _ in range(3)]
    rows = [{"label": label} for label in labels]
    first, _ = twice(server, "entries__create", {"objects": rows})
    among = ", ".join(f"'{label}'" for label in labels)
    found = query(
        server.config, f"SELECT id, label FROM ledger_entry WHERE label IN ({among}) ORDER BY id"
    )
    assert found == list(zip(first.content["ids"], labels, strict=True))


@pytest.mark.parametrize("action", ["partial_update", "update"])
def test_a_repeated_update_is_made_once(server: Served, action: str):
    own = name()
    key = account(server, own)
    twice(server, f"accounts__{action}", {"id": key, "name": own, "limit": 5})
    assert query(server.config, f"SELECT * FROM ledger_account WHERE id = {key}") == [(key, own, 5)]


def test_a_repeated_update_does_not_undo_a_later_one(server: Served):
    own = name()
    arguments = {"id": account(server, own), "limit": 5, "idempotency_key": name()}
    call(server.port, "accounts__partial_update", arguments)
    call(server.port, "accounts__partial_update", {"id": arguments["id"], "limit": 6})
    again = call(server.port, "accounts__partial_update", arguments)
    assert again.content["repeated"] is True
    assert count(server.config, "ledger_account", f"name = '{own}' AND {LIMIT(server)} = 6") == 1


def LIMIT(server: Served) -> str:
    """The column, whose name is a keyword."""
    return "`limit`" if server.engine == "mysql" else '"limit"'


def test_a_repeated_delete_gets_its_receipt_and_not_404(server: Served):
    key = account(server, name())
    for _ in range(2):
        call(server.port, "entries__create", {"label": "of an account", "account": key})
    first, _ = twice(server, "accounts__destroy", {"id": key})
    assert first.content["deleted"] == {"accounts": 1, "entries": 2}
    assert count(server.config, "ledger_account", f"id = {key}") == 0
    assert count(server.config, "ledger_entry", f"account_id = {key}") == 0


def test_the_same_key_with_other_arguments_is_refused(server: Served):
    label = name()
    first = {"label": label, "amount": 1, "idempotency_key": label}
    call(server.port, "entries__create", first)
    other = call(server.port, "entries__create", {**first, "amount": 2})
    assert (other.status, other.failed, other.codes) == (200, True, ["key-reused"])
    rows = query(server.config, f"SELECT amount FROM ledger_entry WHERE label = '{label}'")
    assert rows == [(1,)]


def test_a_key_belongs_to_one_caller_and_one_tool(server: Served):
    label = name()
    arguments = {"label": label, "idempotency_key": label}
    calls = [
        call(server.port, "entries__create", arguments),
        call(server.port, "entries__create", arguments, user="bob"),
        call(server.port, "accounts__create", {"name": label, "idempotency_key": label}),
    ]
    assert ["repeated" in each.content for each in calls] == [False, False, False]
    assert count(server.config, "ledger_entry", f"label = '{label}'") == 2


def test_a_refused_call_leaves_its_key_free(server: Served):
    taken, own = name(), name()
    account(server, taken)
    refused = call(server.port, "accounts__create", {"name": taken, "idempotency_key": own})
    assert refused.failed
    made = call(server.port, "accounts__create", {"name": own, "idempotency_key": own})
    assert made.content["name"] == own


@pytest.mark.parametrize("key", [None, "", 7, "x" * 129], ids=["null", "empty", "number", "long"])
def test_invalid_idempotency_key_is_refused_and_nothing_is_written(server: Served, key: Any):
    label = name()
    answer = call(server.port, "entries__create", {"label": label, "idempotency_key": key})
    assert answer.failed
    assert count(server.config, "ledger_entry", f"label = '{label}'") == 0


@pytest.mark.parametrize("with_key", [False, True], ids=["no key", "key"])
def test_the_view_runs_with_the_lock_wait_of_the_project(server: Served, with_key: bool):
    label = name()
    key = {"idempotency_key": label} if with_key else {}
    made = call(server.port, "entries__create", {"label": label, **key}).content["id"]
    rows = query(server.config, f"SELECT lock_wait FROM ledger_entry WHERE id = {made}")
    assert rows == [(LOCK_WAITS[server.engine],)]
