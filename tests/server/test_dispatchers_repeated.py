"""Corrected calls of a dispatcher whose names were sent once more, or need not be sent."""

import json
from typing import Any

import pytest

from dispatched_crm import crm
from registry_calls import text
from toolbooth import ToolRegistry


def test_a_corrected_call_keeps_the_only_resource_that_was_sent():
    registry = ToolRegistry("shop")

    @registry.tool(name="orders__add")
    def add(title: str, count: int = 1) -> str:
        return f"{count} {title}"

    registry.dispatcher("shop", {"orders": {"add": "orders__add"}})
    sent = {"resource": "orders", "action": "add", "Title": "a", "count": 2}
    corrected = registry.dispatch("shop", sent)["_meta"]["toolbooth"]["corrected"]
    assert corrected == {"resource": "orders", "action": "add", "title": "a", "count": 2}
    assert registry.dispatch("shop", corrected) == text("2 a")
    del sent["resource"]
    corrected = registry.dispatch("shop", sent)["_meta"]["toolbooth"]["corrected"]
    assert corrected == {"action": "add", "title": "a", "count": 2}


NAMES = {"resource": "contacts", "action": "create"}
REPEATED = {
    "in a wrapper": (
        {**NAMES, "data": {**NAMES, "email": "a@x.io"}},
        ("nested-wrapper", "$.data"),
        '"data" wraps the whole call; send "email" at the top level, not inside "data"',
    ),
    "as text": (
        {**NAMES, "data": json.dumps({**NAMES, "email": "a@x.io"})},
        ("nested-wrapper", "$.data"),
        '"data" wraps the whole call; send "email" at the top level, not inside "data"',
    ),
    "beside the same fields": (
        {**NAMES, "email": "a@x.io", "data": {**NAMES, "email": "a@x.io"}},
        ("nested-wrapper", "$.data"),
        "is already sent at the top level; leave it out here",
    ),
    "in params": (
        {**NAMES, "params": {"email": "a@x.io", "action": "create"}},
        ("unknown-key", "$.params.action"),
        "is already sent at the top level; leave it out here",
    ),
}


@pytest.mark.parametrize(("sent", "place", "message"), REPEATED.values(), ids=REPEATED)
def test_a_call_that_is_sent_once_more_inside_is_corrected(
    sent: dict[str, Any], place: tuple[str, str], message: str
):
    meta = crm().dispatch("crm", sent)["_meta"]["toolbooth"]
    [problem] = meta["problems"]
    assert (problem["code"], problem["path"], problem["message"]) == (*place, message)
    assert meta["corrected"] == {**NAMES, "email": "a@x.io"}
    assert crm().dispatch("crm", meta["corrected"]) == text("a@x.io  None")


NOT_REPEATED = {
    "another action": {**NAMES, "data": {**NAMES, "action": "list", "email": "a@x.io"}},
    "another value": {**NAMES, "email": "b@x.io", "data": {**NAMES, "email": "a@x.io"}},
    "twice": {**NAMES, "data": {**NAMES, "email": "a@x.io"}, "body": {**NAMES, "email": "b@x.io"}},
    "an unknown action": {**NAMES, "action": "zap", "data": {**NAMES, "email": "a@x.io"}},
    "another action in params": {**NAMES, "params": {"email": "a@x.io", "action": "list"}},
}


@pytest.mark.parametrize("sent", NOT_REPEATED.values(), ids=NOT_REPEATED)
def test_a_call_with_another_one_inside_is_not_corrected(sent: dict[str, Any]):
    result = crm().dispatch("crm", sent)
    assert result["isError"]
    assert "corrected" not in result["_meta"]["toolbooth"]
