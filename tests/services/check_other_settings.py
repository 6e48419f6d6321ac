"""The same keys in projects with other settings of their database: a transaction for each request,
connections that are kept, and the strictest isolation.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any
from uuid import uuid4

import pytest
from psycopg import IsolationLevel

from keyed_calls import check_one_row, create
from service_rows import query
from service_server import Served, all_at_once, gunicorn_sync, in_background, served

KEPT = {"ATOMIC_REQUESTS": True, "CONN_MAX_AGE": 60}
OPTIONS: dict[str, dict[str, Any]] = {
    "PostgreSQL": {"isolation_level": IsolationLevel.SERIALIZABLE.value},
    "MariaDB": {"isolation_level": "repeatable read"},
    "SQLite": {"transaction_mode": "IMMEDIATE"},
}
LOCK_WAITS = {"PostgreSQL": "7s", "MariaDB": "7", "SQLite": "7000"}


@pytest.fixture(params=OPTIONS)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def config(name: str, databases: dict[str, dict]) -> dict[str, Any]:
    config = databases[name]
    return {**config, **KEPT, "OPTIONS": {**config["OPTIONS"], **OPTIONS[name]}}


@pytest.fixture
def strict_server(config: dict[str, Any], tmp_path) -> Iterator[Served]:
    with served(config, tmp_path) as server:
        yield server


def test_many_creates_with_one_key_at_once_make_one_row(strict_server: Served):
    label = uuid4().hex
    answers = all_at_once(50, partial(create, strict_server, "entries__create", label))
    check_one_row(strict_server, label, answers)


def test_a_connection_that_is_kept_has_its_lock_wait_after_a_call_that_waited(
    name: str, config: dict[str, Any], tmp_path
):
    # One call at a time in each process, so that the next calls use the same connections.
    with served(config, tmp_path, gunicorn_sync) as server:
        label = uuid4().hex
        one = partial(create, server, "gated__create", label)
        with in_background(one) as answer, server.gate.holding() as let:
            assert one().codes == ["in-flight"]
            let("pass")
            assert not answer().failed
        labels = [uuid4().hex for _ in range(6)]
        for each in labels:
            create(server, "entries__create", each)
        among = ", ".join(f"'{each}'" for each in labels)
        rows = query(server.config, f"SELECT lock_wait FROM ledger_entry WHERE label IN ({among})")
        assert rows == [(LOCK_WAITS[name],)] * len(labels)
