"""Rows of the databases under test, read without Django."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from typing import Any

import psycopg
import pymysql
from service_databases import Config

LOCK_WAITS = {
    "postgresql": (
        "SELECT count(*) FROM pg_stat_activity "
        "WHERE datname = current_database() AND wait_event_type = 'Lock'"
    ),
    "mysql": (
        "SELECT count(*) FROM information_schema.innodb_trx t "
        "JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id "
        "WHERE t.trx_state = 'LOCK WAIT' AND p.db = DATABASE()"
    ),
}

POLL_SECONDS = 0.15
"""InnoDB renews `innodb_trx` only if it has not been read for 0.1 seconds."""


def query(config: Config, statement: str) -> list[tuple[Any, ...]]:
    """Return the rows that a statement returns; [] if it returns none."""
    with contextlib.closing(connect(config)) as connection:
        cursor = connection.cursor()
        cursor.execute(statement)
        rows = cursor.fetchall() if cursor.description else []
        connection.commit()
        return [tuple(row) for row in rows]


def count(config: Config, table: str, where: str = "1 = 1") -> int:
    return query(config, f"SELECT count(*) FROM {table} WHERE {where}")[0][0]


def wait_for_lock(config: Config, seconds: float = 30) -> None:
    """Wait until a connection waits for a lock. SQLite has no way to ask, so there this returns at
    once.
    """
    statement = LOCK_WAITS.get(_engine(config))
    deadline = time.monotonic() + seconds
    pause = threading.Event()
    while statement is not None and query(config, statement) == [(0,)]:
        assert time.monotonic() < deadline, "no call waits for a lock"
        pause.wait(POLL_SECONDS)


def _engine(config: Config) -> str:
    return config["ENGINE"].rpartition(".")[2]


def connect(config: Config) -> Any:
    """A connection of the driver, in a transaction."""
    engine = _engine(config)
    if engine == "sqlite3":
        return sqlite3.connect(config["NAME"], timeout=30)
    where = {"host": config["HOST"], "port": config["PORT"], "user": config["USER"]}
    if engine == "mysql":
        return pymysql.connect(database=config["NAME"], **where)
    return psycopg.connect(dbname=config["NAME"], **where)
