"""Statements that a rollback would not undo are not run in a preview, nor with an idempotency key.

tests/services/check_engines.py has the same on a real MariaDB, with its tables without transactions.
"""

from typing import Any

import pytest
from django.db import connection

from keyed_api import Urls
from odd.models import Log
from toolbooth.django.call.undoable_statements import statement_that_ends, written_table
from toolbooth.django.models import UsedKey


@pytest.fixture
def call(settings_of: Any, mcp: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setitem(connection.settings_dict, "ATOMIC_REQUESTS", False)
    settings_of(ROOT_URLCONF=Urls)
    return mcp


REASON = "the view runs COMMIT, which ends the transaction"


@pytest.mark.parametrize("tool", ["committing__create", "committingquietly__create"])
def test_a_view_that_commits_is_not_previewed(call: Any, tool: str) -> None:
    refused = call(tool, {"line": "a", "preview": True})
    assert refused["_meta"]["toolbooth"]["problems"] == [
        {
            "code": "invalid",
            "path": "$.preview",
            "message": f"this call cannot be previewed: {REASON}",
        }
    ]
    assert "Nothing was done." in refused["content"][0]["text"]
    assert Log.objects.count() == 0


@pytest.mark.parametrize("tool", ["committing__create", "committingquietly__create"])
def test_a_view_that_commits_takes_no_key(call: Any, tool: str) -> None:
    refused = call(tool, {"line": "a", "idempotency_key": "k"})
    assert refused["_meta"]["toolbooth"]["problems"] == [
        {
            "code": "invalid",
            "path": "$.idempotency_key",
            "message": f"cannot be used here: {REASON}",
        }
    ]
    assert (Log.objects.count(), UsedKey.objects.count()) == (0, 0)
    assert connection.get_autocommit()


@pytest.mark.parametrize(
    ("sql", "everywhere", "on_mysql"),
    [
        ("COMMIT", "COMMIT", "COMMIT"),
        ("  /* a */ -- b\n rollback", "ROLLBACK", "ROLLBACK"),
        ("start  transaction", "START TRANSACTION", "START TRANSACTION"),
        ("SAVEPOINT a", None, None),
        ("RELEASE SAVEPOINT a", None, None),
        ("ROLLBACK TO SAVEPOINT a", None, None),
        ("ROLLBACK WORK TO a", None, None),
        ("INSERT INTO a VALUES ('COMMIT')", None, None),
        ("SELECT 1", None, None),
        ("TRUNCATE a", None, "TRUNCATE"),
        ("CREATE TABLE a (b int)", None, "CREATE"),
        ("CREATE TEMPORARY TABLE a (b int)", None, None),
        ("CREATE OR REPLACE TEMPORARY TABLE a (b int)", None, None),
        ("DROP TABLE a", None, "DROP"),
        ("DROP TEMPORARY TABLE a", None, None),
        ("LOCK TABLES a WRITE", None, "LOCK TABLES"),
        ("SET autocommit = 1", None, "SET AUTOCOMMIT"),
        ("SET @@session.autocommit = 1", None, "SET @@SESSION.AUTOCOMMIT"),
        ("SET innodb_lock_wait_timeout=5", None, None),
    ],
)
def test_statements_that_end_a_transaction_are_known(
    sql: str, everywhere: str | None, on_mysql: str | None
) -> None:
    assert statement_that_ends("postgresql", sql) == everywhere
    assert statement_that_ends("mysql", sql) == on_mysql


@pytest.mark.parametrize(
    ("sql", "table"),
    [
        ("INSERT INTO `a` (`b`) VALUES (%s)", (None, "a")),
        ("INSERT IGNORE INTO `a` VALUES (1)", (None, "a")),
        ("/* traced */ replace into a values (1)", (None, "a")),
        ("UPDATE `a` SET `b` = 1", (None, "a")),
        ("UPDATE `a` INNER JOIN `b` ON 1 = 1 SET `b` = 1", (None, "a")),
        ("DELETE FROM `other`.`a` WHERE `b` = 1", ("other", "a")),
        ("DELETE `a` FROM `a` INNER JOIN `b`", (None, "a")),
        ("INSERT INTO `a``b` VALUES (1)", (None, "a`b")),
        ("SELECT * FROM a", None),
        ("CALL change()", None),
    ],
)
def test_the_table_that_a_statement_writes_to_is_known(sql: str, table: Any) -> None:
    assert written_table(sql) == table
