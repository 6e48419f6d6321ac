"""A view that catches an error of the database and continues. Inside a transaction that is not
possible, so neither a preview nor a key is.
"""

from typing import Any

import pytest
from django.db import connection

from keyed_api import Urls
from odd.models import Log
from toolbooth.django.models import UsedKey


@pytest.fixture
def call(settings_of: Any, mcp: Any) -> Any:
    settings_of(ROOT_URLCONF=Urls)
    return mcp


def lines():
    return list(Log.objects.order_by("id").values_list("line", flat=True))


def problems(result):
    assert result["isError"] is True, result
    found = result["_meta"]["toolbooth"]["problems"]
    return [(each["code"], each["path"], each["message"]) for each in found]


def test_a_view_that_continues_after_an_error_of_the_database_accepts_no_key(call, monkeypatch):
    monkeypatch.setitem(connection.settings_dict, "ATOMIC_REQUESTS", False)
    reason = (
        "the view continues after an error of the database, which is not possible in a transaction"
    )
    keyed = call("catching__create", {"line": "a", "idempotency_key": "k"})
    assert problems(keyed) == [("invalid", "$.idempotency_key", f"cannot be used here: {reason}")]
    previewed = call("catching__create", {"line": "a", "preview": True})
    assert problems(previewed) == [
        ("invalid", "$.preview", f"this call cannot be previewed: {reason}")
    ]
    for refused in (keyed, previewed):
        assert "Nothing was done." in refused["content"][0]["text"]
    assert (lines(), UsedKey.objects.count()) == ([], 0)
    # Without a transaction, it does what its author meant.
    assert not call("catching__create", {"line": "a"})["isError"]
    assert lines() == ["first", "a"]


def test_a_view_that_fails_in_every_transaction_is_not_told_to_leave_out_the_key(call, monkeypatch):
    monkeypatch.setitem(connection.settings_dict, "ATOMIC_REQUESTS", True)
    for sent in ({"line": "a"}, {"line": "a", "idempotency_key": "k"}):
        failed = call("catching__create", sent)
        assert failed["content"][0]["text"] == "Tool 'catching__create' failed unexpectedly."
    assert (lines(), UsedKey.objects.count()) == ([], 0)


def test_an_error_that_a_view_hides_completely_is_noticed(call, monkeypatch):
    monkeypatch.setitem(connection.settings_dict, "ATOMIC_REQUESTS", False)
    assert "continues after an error" in problems(call("hiding__post", {"preview": True}))[0][2]
    keyed = call("hiding__post", {"idempotency_key": "k"})
    assert "continues after an error" in problems(keyed)[0][2]
    assert (lines(), UsedKey.objects.count()) == ([], 0)
