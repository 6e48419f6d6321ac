"""The proxy over stdio in front of a server that crashes, hangs, floods and lies."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from proxied import FAULTY, Client, proxied, text_of
from toolbooth.proxy.rules import Rules

REPEATABLE = {"toolbooth": {"code": "unanswered", "repeatable": True}}
UNCLEAR = {"toolbooth": {"code": "unanswered", "repeatable": False}}


def run(test: Any) -> None:
    asyncio.run(test)


async def is_alive(client: Client) -> None:
    """A further call works."""
    assert '"n": 5' in text_of(await client.call("echo", {"n": 5}))


async def alive_again(client: Client) -> None:
    """The server was started again, and a further call works."""
    await client.until("notifications/tools/list_changed")
    await is_alive(client)


def test_the_bytes_of_correct_arguments_reach_the_child_as_they_were_sent(tmp_path: Path):
    seen = tmp_path / "seen"
    written = rb'{ "text" :"\u00e9\/\ud83d\ude00 \" }",  "n":5.0 }'.decode()
    line = '{"params": {"arguments": %s,"name":"echo", "_meta": {"x": 1.10}}, "id": "a","method":"tools/call","jsonrpc":"2.0"}'

    async def test() -> None:
        async with proxied(env={"SEEN": str(seen)}) as client:
            await client.ask("tools/list")
            client.send((line % written).encode())
            assert (await client.next())["id"] == "a"

    run(test())
    *_, last = seen.read_text().splitlines()
    # Only the id is another one.
    assert last == (line % written).replace('"id": "a"', '"id": 2')


def test_a_call_before_any_list_makes_the_proxy_fetch_it(tmp_path: Path):
    seen = tmp_path / "seen"

    async def test() -> None:
        async with proxied(env={"SEEN": str(seen)}) as client:
            await is_alive(client)

    run(test())
    methods = [json.loads(line)["method"] for line in seen.read_text().splitlines()]
    assert methods == ["tools/list", "tools/call"]


def test_a_refused_call_never_reaches_the_child(tmp_path: Path):
    seen = tmp_path / "seen"

    async def test() -> None:
        async with proxied(env={"SEEN": str(seen)}) as client:
            result = await client.call("hang", {"N": 5})
            assert result["isError"]
            assert result["_meta"]["toolbooth"]["corrected"] == {"n": 5}

    run(test())
    assert b"tools/call" not in seen.read_bytes()


def test_repairs_and_notes_are_added_to_the_result():
    async def test() -> None:
        async with proxied() as client:
            result = await client.call("echo", {"n": "5", "color": "red"})
            sent = json.loads(result["content"][0]["text"])
            assert sent["params"]["arguments"] == {"n": 5, "color": "red"}
            note = 'Note: "color" is not a declared field of this tool; the server may have ignored it.'
            assert result["content"][1] == {"type": "text", "text": note}
            assert result["_meta"]["toolbooth"] == {
                "repairs": [{"code": "scalar-text", "path": "$.n"}],
                "undeclared": ["color"],
            }

    run(test())


def test_unknown_tools_are_refused_after_one_more_look_at_the_list():
    async def test() -> None:
        async with proxied() as client:
            await client.ask("tools/list")
            found = await client.ask("tools/call", {"name": "ecko", "arguments": {}})
            assert found["error"]["code"] == -32602
            assert "echo" in found["error"]["message"]

    run(test())


def test_unknown_methods_are_forwarded_with_their_answers():
    async def test() -> None:
        async with proxied() as client:
            found = await client.ask("tasks/get", {"taskId": "t"})
            assert json.loads(found["result"]["line"])["params"] == {"taskId": "t"}

    run(test())


def test_renamed_tools_are_called_by_the_name_that_the_server_knows():
    async def test() -> None:
        rules = Rules(rename={"echo": "say"}, prefix="f_", deny=("cr*",))
        async with proxied(rules=rules) as client:
            listed = (await client.ask("tools/list"))["result"]["tools"]
            names = [each["name"] for each in listed]
            assert names[:2] == ["f_say", "f_hang"]
            sent = json.loads(text_of(await client.call("f_say", {"n": 1})))
            assert sent["params"]["name"] == "echo"
            hidden = await client.ask("tools/call", {"name": "crash", "arguments": {}})
            assert hidden["error"]["code"] == -32602

    run(test())


# --- the server ends ----------------------------------------------------------------------------


def test_a_crash_during_a_call_may_have_run_it_and_the_server_is_started_again():
    async def test() -> None:
        async with proxied() as client:
            await client.handshake()
            result = await client.call("crash")
            assert text_of(result) == (
                "Tool 'crash' did not answer: the server ended with exit code 3. It may have run. "
                "Check whether it had an effect before you repeat it."
            )
            assert (result["isError"], result["_meta"]) == (True, UNCLEAR)
            await alive_again(client)

    run(test())


def test_a_crash_after_the_answer_does_not_hide_the_answer():
    async def test() -> None:
        async with proxied() as client:
            await client.handshake()
            assert text_of(await client.call("crash_after")) == "done"
            await alive_again(client)

    run(test())


def test_a_server_that_closes_its_output_has_ended():
    async def test() -> None:
        async with proxied() as client:
            await client.handshake()
            assert (await client.call("close"))["_meta"] == UNCLEAR
            await alive_again(client)

    run(test())


def test_calls_while_the_server_is_down_were_not_made_and_are_safe_to_repeat():
    async def test() -> None:
        async with proxied(pauses=(20.0,)) as client:
            await client.handshake()
            await client.call("crash")
            result = await client.call("echo")
            assert text_of(result) == (
                "Tool 'echo' was not called: the server ended and starts again in 20 seconds. "
                "It is safe to repeat the call."
            )
            assert result["_meta"] == {"toolbooth": {"code": "not-called", "retry_after": 20.0}}
            other = await client.ask("resources/list")
            assert other["error"]["code"] == -32603

    run(test())


def test_a_server_that_ends_again_and_again_is_given_up():
    async def test() -> None:
        async with proxied(env={"DIES": "1"}, pauses=(0.01, 0.01)) as client:
            result = await client.call("echo")
            assert "It is safe to repeat the call" in text_of(result) or result["isError"]
            while "not started again" not in text_of(result):
                result = await client.call("echo")
            assert result["_meta"] == {"toolbooth": {"code": "not-called"}}

    run(test())


def test_a_server_that_was_started_again_gets_the_handshake_of_its_session(tmp_path: Path):
    seen = tmp_path / "seen"

    async def test() -> None:
        async with proxied(env={"SEEN": str(seen)}) as client:
            await client.handshake()
            await client.ask("logging/setLevel", {"level": "debug"})
            await client.ask("resources/subscribe", {"uri": "a"})
            await client.ask("resources/subscribe", {"uri": "b"})
            await client.ask("resources/unsubscribe", {"uri": "a"})
            await client.call("crash")
            await alive_again(client)

    run(test())
    lines = [json.loads(line) for line in seen.read_text().splitlines()]
    methods = [line["method"] for line in lines]
    after = methods.index("tools/call") + 1
    assert methods[after : after + 4] == [
        "initialize",
        "notifications/initialized",
        "logging/setLevel",
        "resources/subscribe",
    ]
    assert lines[after + 3]["params"] == {"uri": "b"}


def test_a_call_is_judged_by_the_tools_of_the_server_that_runs_now(tmp_path: Path):
    tools = tmp_path / "tools.json"
    crash = {"name": "crash", "inputSchema": {"type": "object"}}
    old = {"type": "object", "properties": {"old": {"type": "integer"}}}
    new = {"type": "object", "properties": {"new": {"type": "integer"}}}
    tools.write_text(json.dumps([crash, {"name": "echo", "inputSchema": old}]))

    async def test() -> None:
        async with proxied(env={"TOOLS": str(tools)}) as client:
            await client.handshake()
            assert "content" in await client.call("echo", {"old": 1})
            tools.write_text(json.dumps([crash, {"name": "echo", "inputSchema": new}]))
            await client.call("crash")
            await client.until("notifications/tools/list_changed")
            assert (await client.call("echo", {"old": 1}))["isError"]
            assert '"new": 1' in text_of(await client.call("echo", {"new": 1}))

    run(test())


# --- the server hangs, floods and lies ----------------------------------------------------------


def test_a_call_without_an_answer_is_cancelled_in_time_and_the_server_keeps_running(tmp_path: Path):
    seen = tmp_path / "seen"

    async def test() -> None:
        async with proxied(env={"SEEN": str(seen)}, timeout=0.3) as client:
            result = await client.call("hang")
            assert text_of(result) == (
                "Tool 'hang' did not answer: there was no answer within 0.3 seconds, so the call "
                "was cancelled. It may have run. A second call has no further effect, so you can "
                "repeat it."
            )
            assert result["_meta"] == REPEATABLE
            await is_alive(client)

    run(test())
    cancelled = [json.loads(line) for line in seen.read_text().splitlines()][2]
    assert cancelled["method"] == "notifications/cancelled"
    assert cancelled["params"] == {"requestId": 2, "reason": "no answer in time"}


def test_a_ping_without_an_answer_does_not_stop_the_time_of_a_call():
    async def test() -> None:
        async with proxied(timeout=0.3) as client:
            params = {"name": "hang", "arguments": {"text": "ping"}}
            client.send({"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": params})
            assert (await client.next())["method"] == "ping"
            answer = await client.next()
            assert answer["id"] == "x"
            assert "there was no answer within 0.3 seconds" in text_of(answer["result"])

    run(test())


def test_a_cancellation_of_the_client_reaches_the_server_with_its_own_id(tmp_path: Path):
    seen = tmp_path / "seen"

    async def test() -> None:
        async with proxied(env={"SEEN": str(seen)}) as client:
            params = {"name": "hang", "arguments": {}}
            client.send({"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": params})
            cancel = {"requestId": "x", "reason": "enough"}
            await client.ask("tools/list")
            client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel})
            await is_alive(client)

    run(test())
    found = [json.loads(line) for line in seen.read_text().splitlines()]
    [call] = [each for each in found if each.get("params", {}).get("name") == "hang"]
    [cancelled] = [each for each in found if each.get("method") == "notifications/cancelled"]
    assert cancelled["params"] == {"requestId": call["id"], "reason": "enough"}


def test_an_answer_that_is_too_long_is_reported_as_one():
    async def test() -> None:
        async with proxied() as client:
            result = await client.call("huge")
            assert "its answer is longer than the proxy forwards" in text_of(result)
            await is_alive(client)

    run(test())


@pytest.mark.parametrize(
    ("tool", "expected"),
    [("garbage", "after garbage"), ("wrong_id", "for you"), ("twice", "once")],
)
def test_lines_that_answer_nothing_are_left_out(tool: str, expected: str):
    async def test() -> None:
        async with proxied() as client:
            assert text_of(await client.call(tool)) == expected
            await is_alive(client)

    run(test())


def test_every_notification_of_a_flood_arrives_in_order():
    async def test() -> None:
        async with proxied() as client:
            await client.ask("tools/list")
            params = {"name": "flood", "arguments": {"n": 10_000}}
            client.send({"jsonrpc": "2.0", "id": "f", "method": "tools/call", "params": params})
            for number in range(10_000):
                assert (await client.next())["params"]["data"] == number
            assert text_of((await client.next())["result"]) == "flooded"

    run(test())


def test_a_question_of_the_server_and_its_answer_keep_their_bytes():
    async def test() -> None:
        async with proxied() as client:
            await client.ask("tools/list")
            params = {"name": "ask", "arguments": {}}
            client.send({"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": params})
            question = await client.next()
            assert question["method"] == "sampling/createMessage"
            client.send(b'{"jsonrpc":"2.0","result":{"n":1.50},"id":%d}' % question["id"])
            answered = await client.until("notifications/answered")
            assert answered["params"] == {"jsonrpc": "2.0", "result": {"n": 1.5}, "id": "q-1"}

    run(test())


@pytest.mark.parametrize(
    ("line", "code", "request_id"),
    [
        (b"not json", -32700, None),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, None),
        (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', -32700, None),
        (
            b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"n":1},"\\u0061rguments":{}}}',
            -32700,
            3,
        ),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":}', -32700, 7),
    ],
    ids=["not-json", "batch", "two-ids", "two-arguments", "null-id", "broken"],
)
def test_a_line_of_the_client_that_is_no_message_is_answered(
    line: bytes, code: int, request_id: Any
):
    async def test() -> None:
        async with proxied() as client:
            client.send(line)
            found = await client.next()
            assert (found["error"]["code"], found["id"]) == (code, request_id)
            await is_alive(client)

    run(test())


def test_a_tool_call_without_an_id_does_not_reach_the_server(tmp_path: Path):
    seen = tmp_path / "seen"
    line = b'{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo","arguments":{"zzz":1}}}'

    async def test() -> None:
        async with proxied(env={"SEEN": str(seen)}) as client:
            await is_alive(client)
            client.send(line)
            await is_alive(client)

    run(test())
    assert "zzz" not in seen.read_text()


# --- the end ------------------------------------------------------------------------------------


def test_the_whole_process_group_ends_with_the_proxy(tmp_path: Path):
    pid_file = tmp_path / "pid"
    main = "from toolbooth.cli.entry import main; main()"

    async def test() -> None:
        child = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-c", main, "proxy", "--", sys.executable, str(FAULTY)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "GRANDCHILD": str(pid_file)},
        )
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        await child.stdout.readline()
        child.send_signal(signal.SIGTERM)
        async with asyncio.timeout(20):
            assert await child.wait() == 0

    run(test())
    state = subprocess.run(
        ["ps", "-o", "stat=", "-p", pid_file.read_text()], capture_output=True, text=True
    )
    # Gone, or dead and not yet collected by the system.
    assert state.stdout.strip()[:1] in ("", "Z")


def test_a_client_that_leaves_ends_the_proxy_after_its_answers():
    async def test() -> None:
        async with proxied() as client:
            await client.ask("tools/list")

    run(test())
