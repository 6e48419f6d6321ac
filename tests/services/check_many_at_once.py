"""Calls with one key that run at the same time, in two processes."""

import itertools
import time
from collections import Counter
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from keyed_calls import check_one_receipt, check_one_row, create
from service_rows import count, query, wait_for_lock
from service_server import (
    PROCESSES,
    Answer,
    Served,
    all_at_once,
    call,
    in_background,
    served,
    uvicorn,
)

AT_ONCE = {"postgresql": 200, "mysql": 200, "sqlite3": 50}


def test_many_creates_with_one_key_at_once_make_one_row(server: Served):
    label = uuid4().hex
    answers = all_at_once(AT_ONCE[server.engine], partial(create, server, "entries__create", label))
    check_one_row(server, label, answers)
    assert len({each.worker for each in answers}) == PROCESSES


def test_many_creates_with_keys_of_their_own_are_all_made(server: Served):
    label = uuid4().hex
    number = 40 if server.engine == "sqlite3" else 100
    keys = iter(range(number))

    def one() -> Answer:
        key = f"{label} {next(keys)}"
        return call(server.port, "entries__create", {"label": label, "idempotency_key": key})

    answers = all_at_once(number, one)
    made = {each.content["id"] for each in answers if not each.failed}
    refused = [each.codes for each in answers if each.failed]
    assert refused == [["in-flight"]] * len(refused)
    # Only SQLite has one lock for all writes.
    assert refused == [] or server.engine == "sqlite3"
    rows = query(server.config, f"SELECT id FROM ledger_entry WHERE label = '{label}'")
    assert {row for (row,) in rows} == made


@pytest.mark.parametrize("name", ["PostgreSQL", "MariaDB", "SQLite"])
def test_many_creates_with_one_key_at_once_make_one_row_under_asgi(
    databases: dict, name: str, tmp_path: Path
):
    label = uuid4().hex
    with served(databases[name], tmp_path, uvicorn) as server:
        answers = all_at_once(50, partial(create, server, "entries__create", label))
        check_one_row(server, label, answers)


KINDS = {
    "update": lambda row, name: ("accounts__update", {"id": row, "name": name, "limit": 3}),
    "partial update": lambda row, _: ("accounts__partial_update", {"id": row, "limit": 3}),
    "delete": lambda row, _: ("accounts__destroy", {"id": row}),
    "create of many": lambda _, name: (
        "entries__create",
        {"objects": [{"label": name}, {"label": name}]},
    ),
}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_writes_of_every_kind_with_one_key_at_once_are_made_once(server: Served, kind: Any):
    name = uuid4().hex
    row = call(server.port, "accounts__create", {"name": name}).content["id"]
    tool, arguments = kind(row, name)
    keyed = {**arguments, "idempotency_key": name}
    answers = all_at_once(30, partial(call, server.port, tool, keyed))
    check_one_receipt(answers)
    if tool == "entries__create":
        assert count(server.config, "ledger_entry", f"label = '{name}'") == 2


def test_two_different_calls_with_one_key_at_once_are_not_both_made(server: Served):
    label = uuid4().hex
    amounts = itertools.cycle((1, 2))

    def one() -> Answer:
        arguments = {"label": label, "amount": next(amounts), "idempotency_key": label}
        return call(server.port, "entries__create", arguments)

    answers = all_at_once(40, one)
    codes = Counter(each.codes[0] for each in answers if each.failed)
    assert codes.keys() <= {"key-reused", "in-flight"}
    assert codes["key-reused"] <= 20
    check_one_receipt([each for each in answers if not each.failed])
    assert count(server.config, "ledger_entry", f"label = '{label}'") == 1


def test_call_that_waits_too_long_gets_a_retry_time(server: Served):
    label = uuid4().hex
    one = partial(create, server, "gated__create", label)
    with in_background(one) as answer, server.gate.holding() as let:
        started = time.monotonic()
        second = one()
        waited = time.monotonic() - started
        let("pass")
        first = answer()
    assert (second.status, second.failed, second.codes) == (200, True, ["in-flight"])
    assert second.told == {"code": "in-flight", "retry_after": 5}
    assert 4.5 < waited < 15
    again = one()
    assert again.content == {**first.content, "repeated": True}
    assert count(server.config, "ledger_entry", f"label = '{label}'") == 1


@pytest.mark.parametrize("word", ["refuse", "crash"])
def test_the_waiting_call_becomes_the_first_if_the_first_is_rolled_back(server: Served, word: str):
    label = uuid4().hex
    one = partial(create, server, "gated__create", label)
    with (
        in_background(one) as first_answer,
        server.gate.holding() as let,
        in_background(one) as second_answer,
    ):
        wait_for_lock(server.config)
        let(word)
        with server.gate.holding() as let_second:
            let_second("pass")
        first, second = first_answer(), second_answer()
    assert (first.failed, second.failed) == (True, False)
    assert "repeated" not in second.content
    rows = query(server.config, f"SELECT id FROM ledger_entry WHERE label = '{label}'")
    assert rows == [(second.content["id"],)]


def test_waiting_call_takes_over_when_the_first_is_refused(server: Served):
    label = uuid4().hex
    one = partial(create, server, "gated__create", label)
    with ExitStack() as stack:
        first_answer = stack.enter_context(in_background(one))
        let = stack.enter_context(server.gate.holding())
        waiting = [stack.enter_context(in_background(one)) for _ in range(10)]
        wait_for_lock(server.config)
        let("refuse")
        let_next = stack.enter_context(server.gate.holding())
        let_next("pass")
        assert first_answer().failed
        answers = [answer() for answer in waiting]
    check_one_receipt(answers)
    assert count(server.config, "ledger_entry", f"label = '{label}'") == 1


def test_a_call_with_another_key_does_not_wait(servers: dict[str, Served]):
    for server in (servers["PostgreSQL"], servers["MariaDB"]):
        label = uuid4().hex
        with (
            in_background(partial(create, server, "gated__create", label)) as answer,
            server.gate.holding() as let,
        ):
            other = create(server, "entries__create", uuid4().hex)
            let("pass")
            assert (answer().failed, other.failed) == (False, False)
