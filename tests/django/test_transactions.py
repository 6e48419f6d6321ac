"""Writes of a view that fails are kept or rolled back exactly as over REST."""

import pytest
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.urls import include, path
from rest_framework.permissions import AllowAny
from rest_framework.views import APIView

from odd.models import Log

CASES = {"then_raises": "raises", "then_refuses": "refuses", "then_answers_400": "answers"}


@pytest.fixture(params=[True, False], ids=["atomic", "not-atomic"])
def atomic(request, monkeypatch):
    monkeypatch.setitem(connection.settings_dict, "ATOMIC_REQUESTS", request.param)
    return request.param


@pytest.mark.parametrize("action", CASES)
def test_rows_are_kept_after_an_error_exactly_as_in_rest(mcp, rest, atomic, action):
    rest.raise_request_exception = False
    rest.post(f"/odd/writes/{action}/")
    kept = Log.objects.count()
    Log.objects.all().delete()
    assert mcp(f"writes__{action}")["isError"] is True
    assert Log.objects.count() == kept == (0 if atomic and action != "then_answers_400" else 1)


@pytest.mark.parametrize("action", ["then_refuses", "then_answers_400"])
def test_nothing_was_done_is_claimed_only_after_a_rollback(mcp, atomic, action):
    said = "Nothing was done." in mcp(f"writes__{action}")["content"][0]["text"]
    assert said is (Log.objects.count() == 0)


def test_a_view_that_the_host_keeps_out_of_transactions_stays_out(mcp):
    text = mcp("freely__post")["content"][0]["text"]
    assert text == "Refused: 1 problem in the arguments of 'freely__post'.\n- $.line: no"
    assert Log.objects.count() == 1


def test_failed_call_leaves_the_connection_usable(mcp):
    mcp("writes__then_raises")
    assert mcp("open__create", {"line": "after"})["isError"] is False
    assert [each.line for each in Log.objects.all()] == ["after"]


def test_the_session_of_a_failed_view_is_not_saved_as_over_rest(settings_of, db, monkeypatch):
    """With ATOMIC_REQUESTS, the session that the view has made is rolled back."""
    monkeypatch.setitem(connection.settings_dict, "ATOMIC_REQUESTS", True)

    class Failing(APIView):
        permission_classes = (AllowAny,)

        def post(self, request):
            request.session["seen"] = True
            request.session.save()
            raise RuntimeError

    patterns = [
        path("mcp/", include("toolbooth.django.urls")),
        path("failing/", Failing.as_view(), name="failing"),
    ]
    settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": patterns}))
    params = {"name": "failing__post", "arguments": {}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    reply = Client().post("/mcp/", message, content_type="application/json")
    [content] = reply.json()["result"]["content"]
    assert content["text"] == "Tool 'failing__post' failed unexpectedly."
    assert Session.objects.count() == 0
