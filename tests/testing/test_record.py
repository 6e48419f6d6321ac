"""Real calls are recorded, each in a line of a file, and a file that is not a recording is
reported.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import HttpUrl, SecretStr

from recorded_shop import ORDER, lines, place_order, recorded, registry_of
from toolbooth import ToolRegistry
from toolbooth.recording import BadRecording, TornRecording
from toolbooth.testing import record_calls, replay_calls

# --- recording --------------------------------------------------------------------------------------------------


def test_recorded_line_contains_the_arguments_and_the_outcome(calls: Path):
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


def test_secrets_are_left_out_unless_requested(calls: Path, tmp_path: Path):
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


def test_only_the_owner_can_read_a_recording(calls: Path):
    recorded(calls, registry_of(place_order=place_order))
    assert calls.stat().st_mode & 0o777 == 0o600


def test_new_calls_are_appended_to_a_recording(calls: Path):
    registry = registry_of(place_order=place_order)
    recorded(calls, registry, ("place_order", ORDER))
    recorded(calls, registry_of(place_order=place_order), ("place_order", ORDER))
    assert len(lines(calls)) == 2


def test_unwritable_recording_path_raises_at_once(tmp_path: Path):
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


def test_every_bad_line_of_a_recording_is_reported(calls: Path):
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
    keys = "at, client, dispatcher, tool, outcome, repairs, problems, undeclared, redacted, arguments, values"
    assert str(error.value).splitlines() == [
        f"{calls} is not a recording of calls:",
        "line 1: not JSON (Expecting property name enclosed in double quotes: line 1 column 2 (char 1))",
        "line 2: not an object",
        "line 3: the tool is missing",
        "line 4: tool should be of type str, not int",
        "line 5: repairs should be of type list, not str",
        f"line 6: no such key: argument; there is {keys}",
    ]


def test_at_most_ten_bad_lines_are_reported(calls: Path):
    calls.write_text("x\n" * 1000)
    with pytest.raises(BadRecording, match=r"line 10: not JSON .*\nand 990 lines more$"):
        replay_calls(calls, ToolRegistry("shop"))


def test_empty_recording_is_an_error_with_a_remedy(calls: Path):
    calls.write_text("\n")
    with pytest.raises(BadRecording) as error:
        replay_calls(calls, ToolRegistry("shop"))
    assert (
        str(error.value)
        == f"{calls} contains no calls; record_calls(registry, '{calls}') writes them to it"
    )


# --- full disks ---------------------------------------------------------------------------------

FULL_DISK = """
import json, logging, resource, sys
from toolbooth import ToolRegistry
from toolbooth.testing import record_calls

path, limit = sys.argv[1], int(sys.argv[2])
registry = ToolRegistry("shop")
registry.tool(name="take")(lambda: "taken")
record_calls(registry, path)
told = []
for _ in range(3):
    told.append(registry.call("take", {})["isError"])
    # As a disk that is full: a write beyond this size is cut short, and the next one fails.
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
if len(sys.argv) > 3:
    told.append(registry.call("take", {})["isError"])
print(json.dumps(told))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit for the size of files")
@pytest.mark.parametrize("goes_on", [[], ["then-there-is-room"]], ids=["stays-full", "room-again"])
def test_a_recording_that_a_full_disk_cut_short_is_read_without_the_torn_line(calls, goes_on):
    whole = len(b'{"at": "2026-01-01T00:00:00+00:00", "tool": "take", "outcome": "passed"')
    command = [sys.executable, "-c", FULL_DISK, str(calls), str(whole + 150), *goes_on]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert set(json.loads(done.stdout)) == {False}  # a call goes on without its record
    assert "an observer failed" in done.stderr

    registry = registry_of(take=lambda: "taken")
    with pytest.warns(
        TornRecording, match=r"cut short and left out: line 2\. Was the disk full\?$"
    ):
        replayed = replay_calls(calls, registry)
    whole_lines = 2 if goes_on else 1
    assert str(replayed) == f"{whole_lines} of {whole_lines} calls mean the same."


def test_a_recording_without_a_whole_line_is_reported_as_empty(calls: Path):
    calls.write_text('{"at": "2026')
    with pytest.warns(TornRecording), pytest.raises(BadRecording, match="contains no calls"):
        replay_calls(calls, ToolRegistry("shop"))


def test_a_bad_line_that_is_not_the_last_is_not_treated_as_torn(calls: Path):
    calls.write_text('{"tool": "a"\n{"tool": "b"}\n')
    with pytest.raises(BadRecording, match="line 1: not JSON"):
        replay_calls(calls, ToolRegistry("shop"))


def test_a_value_that_is_redacted_in_part_is_not_compared(calls: Path):
    def visit(url: HttpUrl, attempts: int = 1) -> str:
        return str(url)

    registry = registry_of(visit=visit)
    sent = {"url": "https://ann:hunter2@example.com/", "attempts": "2"}
    recorded(calls, registry, ("visit", sent), arguments="redacted")
    assert lines(calls)[0]["arguments"]["url"] == "https://[redacted]@example.com/"
    assert str(replay_calls(calls, registry)) == (
        "1 of 1 calls mean the same. 1 hold redacted values, which were not compared."
    )
