"""Calls with an idempotency key, and what must be true of many with the same one."""

from __future__ import annotations

from collections import Counter

from service_rows import query
from service_server import Answer, Served, call


def create(server: Served, tool: str, label: str) -> Answer:
    return call(server.port, tool, {"label": label, "idempotency_key": label})


def check_one_row(server: Served, label: str, answers: list[Answer]) -> None:
    """One row, and each answer is its receipt or `in-flight`."""
    assert Counter(each.status for each in answers) == {200: len(answers)}
    refused = [each for each in answers if each.failed]
    assert [each.codes for each in refused] == [["in-flight"]] * len(refused)
    receipts = [dict(each.content) for each in answers if not each.failed]
    repeated = [each.pop("repeated", False) for each in receipts]
    assert repeated.count(False) == 1
    assert receipts == [receipts[0]] * len(receipts)
    rows = query(server.config, f"SELECT id FROM ledger_entry WHERE label = '{label}'")
    assert rows == [(receipts[0]["id"],)]
    assert server.hooks.read_text().split().count(label) == 1
