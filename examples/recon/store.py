"""Store: the SQLite file that all providers share. Each use opens its own connection, so any thread
and any process may call.
"""

import json
import sqlite3
from collections.abc import Generator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal
from uuid import UUID

from toolbooth import ToolError

Row = dict[str, Any]
Noun = Literal["target", "mission"]

SCHEMA = """
CREATE TABLE IF NOT EXISTS targets (
    id TEXT PRIMARY KEY,
    host TEXT NOT NULL COLLATE NOCASE,
    port INTEGER,
    protocol TEXT NOT NULL,
    title TEXT,
    status TEXT NOT NULL,
    risk_level TEXT NOT NULL,
    notes TEXT,
    discovery_date TEXT NOT NULL,
    last_activity TEXT NOT NULL
) STRICT;
-- No port is a value of its own: without coalesce, SQLite would take the same host twice.
CREATE UNIQUE INDEX IF NOT EXISTS target_address ON targets (host, coalesce(port, 0), protocol);
CREATE TABLE IF NOT EXISTS contexts (
    id TEXT PRIMARY KEY,
    target_id TEXT NOT NULL REFERENCES targets,
    version INTEGER NOT NULL,
    user_context TEXT,
    agent_context TEXT,
    change_summary TEXT,
    is_major_version INTEGER NOT NULL,
    created_by TEXT,
    created_at TEXT NOT NULL,
    UNIQUE (target_id, version)
) STRICT;
CREATE TABLE IF NOT EXISTS missions (
    id TEXT PRIMARY KEY,
    target_id TEXT NOT NULL REFERENCES targets,
    mission_type TEXT NOT NULL,
    name TEXT NOT NULL,
    goal TEXT NOT NULL,
    hypothesis TEXT,
    scope TEXT,
    tags TEXT,
    metadata TEXT,
    cookie_profile TEXT,
    created_at TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS current_mission (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    mission_id TEXT NOT NULL REFERENCES missions
) STRICT;
CREATE TABLE IF NOT EXISTS requests (
    id TEXT PRIMARY KEY,
    mission_id TEXT REFERENCES missions,
    method TEXT NOT NULL,
    url TEXT NOT NULL,
    request_headers TEXT NOT NULL,
    request_bytes INTEGER NOT NULL,
    cookie_profile TEXT,
    redirects TEXT NOT NULL,
    status_code INTEGER,
    response_headers TEXT,
    response_bytes INTEGER,
    error TEXT,
    elapsed_ms INTEGER NOT NULL,
    created_at TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS actions (
    id TEXT PRIMARY KEY,
    mission_id TEXT NOT NULL REFERENCES missions,
    action_type TEXT NOT NULL,
    technique TEXT NOT NULL,
    payload TEXT,
    result TEXT,
    success INTEGER NOT NULL,
    learning TEXT,
    created_at TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS action_requests (
    action_id TEXT NOT NULL REFERENCES actions,
    request_id TEXT NOT NULL REFERENCES requests,
    PRIMARY KEY (action_id, request_id)
) STRICT;
"""


def now() -> str:
    """The current time as it is stored: UTC, in milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def as_text(value: Any) -> str | None:
    """A structured value as it is stored: JSON text, or None."""
    return None if value is None else json.dumps(value, ensure_ascii=False)


class Store:
    """The database file; it is created on first use."""

    def __init__(self, path: Path | str) -> None:
        self.path = path
        with closing(self._connect()) as db:
            db.executescript(SCHEMA)

    def _connect(self) -> sqlite3.Connection:
        # No implicit transactions: `writing` begins one before it reads the rows that it changes.
        db = sqlite3.connect(self.path, timeout=10, isolation_level=None)
        db.row_factory = sqlite3.Row
        db.execute("PRAGMA foreign_keys = ON")
        return db

    @contextmanager
    def writing(self) -> Generator[sqlite3.Connection]:
        """One transaction, rolled back on an error."""
        with closing(self._connect()) as db:
            db.execute("BEGIN IMMEDIATE")
            with db:
                yield db

    def rows(self, sql: str, *values: Any) -> list[Row]:
        """The rows that a query finds."""
        with closing(self._connect()) as db:
            return [dict(row) for row in db.execute(sql, values)]

    def find(self, tool: str, noun: Noun, wanted: UUID) -> Row:
        """The target or mission with this id.

        Raises:
            ToolError: it does not exist.
        """
        found = self.rows(f"SELECT * FROM {noun}s WHERE id = ?", str(wanted))
        if not found:
            raise ToolError(
                tool, f"there is no {noun} {wanted}; create_{noun} makes one and gives its id"
            )
        return found[0]

    def current_mission(self) -> Row | None:
        """The mission that set_mission_context chose last: one for all clients of this file."""
        found = self.rows(
            "SELECT missions.* FROM missions JOIN current_mission ON mission_id = missions.id"
        )
        return found[0] if found else None


def insert(db: sqlite3.Connection, table: str, row: Mapping[str, Any]) -> None:
    """Add one row; its keys are the columns."""
    marks = ", ".join("?" * len(row))
    db.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))
