"""Previews on each database: the receipt of the write, no row changed, no hook run."""

from typing import Any
from uuid import uuid4

import pytest

from service_rows import count, query
from service_server import Served, call

TABLES = ("ledger_account", "ledger_entry", "ledger_ticket", "auth_user", "toolbooth_usedkey")
MARK = {"preview": True, "written": "nothing"}
GENERATED = ("id", "ids", "retry_until", "possible_duplicate_of")
"""The keys that may differ between the receipts of a preview and of the write."""


def every_row(server: Served) -> dict[str, list[tuple[Any, ...]]]:
    return {table: query(server.config, f"SELECT * FROM {table} ORDER BY id") for table in TABLES}


def preview(server: Served, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the receipt of a preview, which leaves all rows and the file of the hooks unchanged."""
    rows, hooks = every_row(server), server.hooks.read_text()
    receipt = dict(call(server.port, tool, {**arguments, "preview": True}).content)
    assert (every_row(server), server.hooks.read_text()) == (rows, hooks)
    return receipt


def without_generated(receipt: Any) -> dict[str, Any]:
    return {name: each for name, each in receipt.items() if name not in GENERATED}


def name() -> str:
    """A name that no other test uses: the tests share the rows."""
    return uuid4().hex


@pytest.fixture
def account(server: Served) -> int:
    """An account with two entries."""
    made = call(server.port, "accounts__create", {"name": name()}).content["id"]
    for amount in (1, 2):
        arguments = {"label": "of an account", "account": made, "amount": amount}
        call(server.port, "entries__create", arguments)
    return made


WRITES = {
    "create": lambda _: ("accounts__create", {"name": name(), "limit": 4}),
    "create of many": lambda _: (
        "accounts__create",
        {"objects": [{"name": name()}, {"name": name()}]},
    ),
    "create with a hook": lambda account: (
        "entries__create",
        {"label": name(), "account": account},
    ),
    "update": lambda account: ("accounts__update", {"id": account, "name": name(), "limit": 5}),
    "partial update": lambda account: ("accounts__partial_update", {"id": account, "limit": 6}),
    "delete with a cascade": lambda account: ("accounts__destroy", {"id": account}),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_preview_returns_the_receipt_of_the_write_and_changes_nothing(
    server: Served, account: int, write: Any
):
    tool, arguments = write(account)
    previewed = preview(server, tool, arguments)
    made = call(server.port, tool, arguments).content
    assert without_generated(previewed) == {**MARK, **without_generated(made)}


def test_preview_reports_a_constraint_that_fails_on_commit(server: Served):
    number = 1000 + count(server.config, "ledger_ticket")
    call(server.port, "tickets__create", {"number": number})
    rows = every_row(server)
    again = call(server.port, "tickets__create", {"number": number, "preview": True})
    assert every_row(server) == rows
    # Only PostgreSQL has this constraint. Django leaves it out elsewhere.
    assert again.failed == (server.engine == "postgresql")
    made = call(server.port, "tickets__create", {"number": number})
    assert made.failed == again.failed


def test_a_preview_claims_no_key(server: Served):
    label = name()
    arguments = {"label": label, "idempotency_key": label}
    preview(server, "entries__create", arguments)
    made = call(server.port, "entries__create", arguments)
    assert "repeated" not in made.content
    again = call(server.port, "entries__create", arguments)
    assert again.content == {**made.content, "repeated": True}


@pytest.mark.parametrize("word", [None, "", "true", 1], ids=["null", "empty", "text", "number"])
def test_preview_that_is_not_a_boolean_is_refused_and_writes_nothing(server: Served, word: Any):
    rows = every_row(server)
    answer = call(server.port, "entries__create", {"label": name(), "preview": word})
    assert (answer.failed, every_row(server)) == (True, rows)


def test_a_preview_that_is_not_offered_is_refused_and_nothing_is_written(server: Served):
    rows = every_row(server)
    answer = call(server.port, "gated__create", {"label": name(), "preview": True})
    assert (answer.failed, every_row(server)) == (True, rows)
