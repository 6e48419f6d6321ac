"""Previews and keys at places where they do not belong: nothing is written, or it is written once."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from keyed_api import Urls
from odd.models import Log
from toolbooth.django.models import UsedKey


@pytest.fixture
def call(settings_of: Any, mcp: Any) -> Any:
    settings_of(ROOT_URLCONF=Urls)
    return mcp


def codes(result: Any) -> list[tuple[str, str]]:
    assert result["isError"] is True, result
    found = result["_meta"]["toolbooth"]["problems"]
    return [(each["code"], each["path"]) for each in found]


@pytest.mark.parametrize("name", ["preview", "idempotency_key"])
def test_a_protocol_argument_inside_of_an_item_is_refused(call: Any, name: str) -> None:
    word = True if name == "preview" else "k"
    refused = call("lines__create", {"objects": [{"line": "a"}, {"line": "b", name: word}]})
    assert codes(refused) == [("unknown-key", f"$.objects[1].{name}")]
    assert (Log.objects.count(), UsedKey.objects.count()) == (0, 0)


@pytest.mark.parametrize("name", ["preview", "idempotency_key"])
def test_two_values_on_two_levels_of_a_dispatcher_are_refused(
    settings_of: Any, ann: Any, mcp_as: Any, name: str
) -> None:
    settings_of(ROOT_URLCONF=Urls, TOOLBOOTH={"DISPATCH": "resource"})
    outer, inner = (True, False) if name == "preview" else ("k", "l")
    sent = {"action": "create", name: outer, "params": {"line": "a", name: inner}}
    for arguments in (sent, {**sent, name: inner, "params": {"line": "a", name: outer}}):
        assert mcp_as("ann")("lines", arguments)["isError"] is True
    assert (Log.objects.count(), UsedKey.objects.count()) == (0, 0)


def test_a_preview_of_many_rows_with_a_key_uses_no_key(call: Any) -> None:
    sent = {"objects": [{"line": "a"}, {"line": "b"}], "idempotency_key": "k"}
    previewed = call("lines__create", {**sent, "preview": True})["structuredContent"]
    assert (previewed["preview"], previewed["created"], Log.objects.count()) == (True, 2, 0)
    assert not UsedKey.objects.exists()
    made = call("lines__create", sent)["structuredContent"]
    assert "repeated" not in made
    assert call("lines__create", sent)["structuredContent"] == {**made, "repeated": True}
    assert Log.objects.count() == 2


def test_a_preview_that_is_refused_uses_no_key(call: Any) -> None:
    sent = {"line": "", "idempotency_key": "k", "preview": True}
    assert call("lines__create", sent)["isError"] is True
    made = call("lines__create", {"line": "a", "idempotency_key": "k"})
    assert (made["isError"], Log.objects.count()) == (False, 1)


def test_times_have_a_time_zone_also_in_a_project_without_time_zones(
    settings_of: Any, ann: Any, mcp_as: Any
) -> None:
    settings_of(ROOT_URLCONF=Urls, USE_TZ=False, TIME_ZONE="Asia/Tokyo")
    call = mcp_as("ann")
    made = call("lines__create", {"line": "a", "idempotency_key": "k"})["structuredContent"]
    left = datetime.fromisoformat(made["retry_until"]) - datetime.now(UTC)
    assert abs(left - timedelta(hours=24)) < timedelta(minutes=5)
    again = call("lines__create", {"line": "a", "idempotency_key": "k"})["structuredContent"]
    assert again == {**made, "repeated": True}
    earlier = call("lines__create", {"line": "a"})["structuredContent"]["possible_duplicate_of"]
    age = datetime.now(UTC) - datetime.fromisoformat(earlier["time"])
    assert abs(age) < timedelta(minutes=5)
