"""The trial run: nothing changes on the wire, and the report shows what would have happened."""

import asyncio
import json
import re
from pathlib import Path

from proxied import proxied
from toolbooth.proxy.records import Records
from toolbooth.proxy.report import by_tool, lines
from toolbooth.proxy.rules import Rules
from toolbooth.recording import read_calls, record_calls

LINES = [
    b'{"id":"a", "jsonrpc":"2.0","method":"initialize","params":{"x":1.50}}',
    b'{"jsonrpc":"2.0","method":"notifications/initialized"}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"n":"5"}}}',
    b'{"jsonrpc":"2.0","id":2,"method":"tools/list"}',
    b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"twice","arguments":{"colour":1}}}',
    b'{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"echo","arguments":{"colour":1}}}',
    b"not json",
]


def test_a_trial_run_forwards_every_byte_and_reports_what_it_would_have_done(tmp_path: Path):
    seen, file = tmp_path / "seen", tmp_path / "calls.jsonl"
    records = Records()
    record_calls(records, file)

    async def test() -> None:
        rules = Rules(observe=True, prefix="never_")
        async with proxied(rules=rules, records=records, env={"SEEN": str(seen)}) as client:
            for line in LINES[:-1]:
                client.send(line)
            found = [await client.next() for _ in range(6)]
            # The answer to `twice` comes twice, as it does without the proxy.
            assert [each["id"] for each in found] == ["a", 1, 2, 3, 3, 4]
            assert found[2]["result"]["tools"][0]["name"] == "echo"

    asyncio.run(test())
    assert seen.read_bytes().splitlines() == LINES[:-1]
    reports = by_tool(read_calls(file).values())
    assert lines(reports) == [
        "twice: 1 calls, 1 refused",
        "  problems: unknown-key (1)",
        "  undeclared keys: colour (1)",
        "echo: 2 calls, 1 repaired, 1 forwarded with a note",
        "  repairs: scalar-text (1)",
        "  undeclared keys: colour (1)",
        "",
        "To forward undeclared keys of these tools with a note, add to the server in booth.toml:",
        'policies = { "twice" = "lenient" }',
    ]


def test_a_recording_leaves_out_secrets_and_can_be_read_by_its_owner_alone(tmp_path: Path):
    file = tmp_path / "calls.jsonl"
    records = Records()
    record_calls(records, file)

    async def test() -> None:
        async with proxied(records=records) as client:
            await client.call("echo", {"n": 1, "api_key": "hunter2"})

    asyncio.run(test())
    line = json.loads(re.sub(r'"at": "[^"]*", ', "", file.read_text()))
    assert line == {
        "tool": "echo",
        "outcome": "passed",
        "repairs": [],
        "problems": [],
        "undeclared": ["api_key"],
        "redacted": True,
        "arguments": {"n": 1, "api_key": "[redacted]"},
    }
    assert file.stat().st_mode & 0o777 == 0o600
