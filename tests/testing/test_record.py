"""Real calls are recorded, each in a line of a file, and a file that is no recording is told."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from recorded_shop import ORDER, lines, place_order, recorded, registry_of
from toolbooth import ToolRegistry
from toolbooth.testing import record_calls, replay_calls
from toolbooth.testing.replay.record import BadRecording

# --- recording --------------------------------------------------------------------------------------------------


def test_a_line_says_what_was_sent_and_what_became_of_it(calls: Path):
    registry = registry_of(place_order=place_order)
    sent = [
        (
            "place_order",
            b'{"customer":"Ann","lines":"[{\\"sku\\":\\"A1\\"}]","price":12345678901234567890.10}',
        ),
        ("place_order", {"data": ORDER}),
        ("place_order", b'{"customer":1,"customer":2}'),
    ]
    recorded(calls, registry, *sent)
    about = {"at": "…", "tool": "place_order", "redacted": False}
    client = {"client": "toolbooth"}
    assert lines(calls) == [
        {
            **about,
            **client,
            "outcome": "repaired",
            "repairs": ["json-text"],
            "problems": [],
            "arguments": {
                "customer": "Ann",
                "lines": '[{"sku":"A1"}]',
                "price": 12345678901234567890.10,
            },
        },
        {
            **about,
            **client,
            "outcome": "refused",
            "repairs": [],
            "problems": ["nested-wrapper"],
            "arguments": {"data": ORDER},
        },
        {**about, **client, "outcome": "refused", "repairs": [], "problems": ["duplicate-key"]},
    ]
    assert '"price":12345678901234567890.10}' in calls.read_text()  # with every digit


def test_secrets_are_left_out_unless_they_are_asked_for(calls: Path, tmp_path: Path):
    def log_in(user: str, password: SecretStr) -> str:
        return user

    registry = registry_of(log_in=log_in)
    record_calls(registry, tmp_path / "whole.jsonl", arguments="whole")
    recorded(
        calls, registry, ("log_in", {"user": "ann", "password": "hunter2"}), arguments="redacted"
    )
    assert lines(calls)[0]["arguments"] == {"user": "ann", "password": "[redacted]"}
    assert (lines(calls)[0]["redacted"], lines(tmp_path / "whole.jsonl")[0]["redacted"]) == (
        True,
        False,
    )
    assert "hunter2" in (tmp_path / "whole.jsonl").read_text()


def test_a_recording_can_be_read_by_its_owner_alone(calls: Path):
    recorded(calls, registry_of(place_order=place_order))
    assert calls.stat().st_mode & 0o777 == 0o600


def test_a_recording_is_added_to(calls: Path):
    registry = registry_of(place_order=place_order)
    recorded(calls, registry, ("place_order", ORDER))
    recorded(calls, registry_of(place_order=place_order), ("place_order", ORDER))
    assert len(lines(calls)) == 2


def test_where_nothing_can_be_written_is_told_at_once(tmp_path: Path):
    with pytest.raises(FileNotFoundError):
        record_calls(ToolRegistry("shop"), tmp_path / "nowhere" / "calls.jsonl")
    with pytest.raises(
        ValueError, match=r"^arguments='none': calls are recorded 'redacted' or 'whole'$"
    ):
        record_calls(ToolRegistry("shop"), tmp_path / "calls.jsonl", arguments="none")  # pyright: ignore[reportArgumentType]


# --- files ------------------------------------------------------------------------------------------------------


def test_a_line_may_be_written_by_hand(calls: Path):
    calls.write_text('\n{"tool": "place_order", "arguments": {"customer": "Ann", "lines": []}}\n\n')
    assert (
        str(replay_calls(calls, registry_of(place_order=place_order)))
        == "1 of 1 calls mean the same."
    )


def test_every_bad_line_is_told(calls: Path):
    bad = [
        "{",
        "[]",
        "{}",
        '{"tool": 1}',
        '{"tool": "a", "repairs": "x"}',
        '{"tool": "a", "argument": {}}',
    ]
    calls.write_text("\n".join([*bad, '{"tool": "a"}']))
    with pytest.raises(BadRecording) as error:
        replay_calls(calls, ToolRegistry("shop"))
    keys = "at, client, dispatcher, tool, outcome, repairs, problems, redacted, arguments, values"
    assert str(error.value).splitlines() == [
        f"{calls} is no recording of calls:",
        "line 1: not JSON (Expecting property name enclosed in double quotes: line 1 column 2 (char 1))",
        "line 2: not an object",
        "line 3: the tool is missing",
        "line 4: tool should be of type str, not int",
        "line 5: repairs should be of type list, not str",
        f"line 6: no such key: argument; there is {keys}",
    ]


def test_of_very_many_bad_lines_some_are_told(calls: Path):
    calls.write_text("x\n" * 1000)
    with pytest.raises(BadRecording, match=r"line 10: not JSON .*\nand 990 lines more$"):
        replay_calls(calls, ToolRegistry("shop"))


def test_an_empty_recording_is_told(calls: Path):
    calls.write_text("\n")
    with pytest.raises(BadRecording) as error:
        replay_calls(calls, ToolRegistry("shop"))
    assert (
        str(error.value)
        == f"{calls} holds no calls; record_calls(registry, '{calls}') has them written there"
    )
