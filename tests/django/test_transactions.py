"""What a view wrote before it failed is kept or rolled back exactly as over REST."""

import pytest
from django.db import connection

from odd.models import Log

CASES = {"then_raises": "raises", "then_refuses": "refuses", "then_answers_400": "answers"}


@pytest.fixture(params=[True, False], ids=["atomic", "not-atomic"])
def atomic(request, monkeypatch):
    monkeypatch.setitem(connection.settings_dict, "ATOMIC_REQUESTS", request.param)
    return request.param


@pytest.mark.parametrize("action", CASES)
def test_rows_are_kept_exactly_where_rest_keeps_them(mcp, rest, atomic, action):
    rest.raise_request_exception = False
    rest.post(f"/odd/writes/{action}/")
    kept = Log.objects.count()
    Log.objects.all().delete()
    assert mcp(f"writes__{action}")["isError"] is True
    assert Log.objects.count() == kept == (0 if atomic and action != "then_answers_400" else 1)


@pytest.mark.parametrize("action", ["then_refuses", "then_answers_400"])
def test_nothing_was_done_is_said_only_where_it_was_rolled_back(mcp, atomic, action):
    said = "Nothing was done." in mcp(f"writes__{action}")["content"][0]["text"]
    assert said is (Log.objects.count() == 0)


def test_a_view_that_the_host_keeps_out_of_transactions_stays_out(mcp):
    text = mcp("freely__post")["content"][0]["text"]
    assert text == "Refused: 1 problem in the arguments of 'freely__post'.\n- $.line: no"
    assert Log.objects.count() == 1


def test_one_call_that_fails_leaves_the_connection_usable(mcp):
    mcp("writes__then_raises")
    assert mcp("open__create", {"line": "after"})["isError"] is False
    assert [each.line for each in Log.objects.all()] == ["after"]
