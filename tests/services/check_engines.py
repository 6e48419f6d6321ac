"""Writes that MariaDB cannot roll back: tables without transactions, and statements that commit."""

from collections.abc import Iterator
from uuid import uuid4

import pytest

from service_rows import count, query
from service_server import Served, call


@pytest.fixture
def mariadb(servers: dict[str, Served]) -> Iterator[Served]:
    server = servers["MariaDB"]
    query(server.config, "DELETE FROM ledger_remark")
    yield server
    query(server.config, "ALTER TABLE ledger_remark ENGINE=InnoDB")


@pytest.mark.parametrize("engine", ["MyISAM", "Aria", "MEMORY"])
def test_a_table_without_transactions_has_no_preview(mariadb: Served, engine: str):
    query(mariadb.config, f"ALTER TABLE ledger_remark ENGINE={engine}")
    refused = call(mariadb.port, "remarks__create", {"text": "a", "preview": True})
    assert count(mariadb.config, "ledger_remark") == 0
    assert (refused.failed, refused.codes) == (True, ["invalid"])


@pytest.mark.parametrize("engine", ["MyISAM", "Aria", "MEMORY"])
def test_a_write_to_a_table_without_transactions_takes_no_key(mariadb: Served, engine: str):
    query(mariadb.config, f"ALTER TABLE ledger_remark ENGINE={engine}")
    keyed = {"text": "a", "idempotency_key": uuid4().hex}
    refused = call(mariadb.port, "remarks__create", keyed)
    assert count(mariadb.config, "ledger_remark") == 0
    assert (refused.failed, refused.codes) == (True, ["invalid"])
    assert not call(mariadb.port, "remarks__create", {"text": "a"}).failed
    assert count(mariadb.config, "ledger_remark") == 1


STATEMENTS = {
    "truncate": "TRUNCATE ledger_ticket",
    "create": "CREATE TABLE IF NOT EXISTS made_by_a_call (a int)",
    "commit": "COMMIT",
    "begin": "BEGIN",
    "rollback": "ROLLBACK",
}


@pytest.mark.parametrize("asked", ["preview", "key"])
@pytest.mark.parametrize("sql", STATEMENTS.values(), ids=STATEMENTS)
def test_a_statement_that_ends_the_transaction_is_not_run(mariadb: Served, sql: str, asked: str):
    more = {"preview": True} if asked == "preview" else {"idempotency_key": uuid4().hex}
    keys = count(mariadb.config, "toolbooth_usedkey")
    refused = call(mariadb.port, "statement__post", {"sql": sql, **more})
    assert count(mariadb.config, "ledger_remark") == 0
    assert count(mariadb.config, "toolbooth_usedkey") == keys
    assert (refused.failed, refused.codes) == (True, ["invalid"])
