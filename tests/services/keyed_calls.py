"""Calls with an idempotency key, and the conditions that many with the same key must meet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from service_rows import query
from service_server import Answer, Served, call


def create(server: Served, tool: str, label: str) -> Answer:
    return call(server.port, tool, {"label": label, "idempotency_key": label})


def check_one_receipt(answers: list[Answer]) -> Mapping[str, Any]:
    """Check that each answer is the same receipt or `in-flight`, and one of them is not repeated.
    Returns that receipt.
    """
    assert Counter(each.status for each in answers) == {200: len(answers)}
    refused = [each for each in answers if each.failed]
    assert [each.codes for each in refused] == [["in-flight"]] * len(refused)
    receipts = [dict(each.content) for each in answers if not each.failed]
    repeated = [each.pop("repeated", False) for each in receipts]
    assert repeated.count(False) == 1
    assert receipts == [receipts[0]] * len(receipts)
    return receipts[0]


def check_one_row(server: Served, label: str, answers: list[Answer]) -> None:
    """Check that there is one receipt, one row and one run of the hook."""
    receipt = check_one_receipt(answers)
    rows = query(server.config, f"SELECT id FROM ledger_entry WHERE label = '{label}'")
    assert rows == [(receipt["id"],)]
    assert server.hooks.read_text().split().count(label) == 1
