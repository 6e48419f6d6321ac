"""How the stdio shell ends, and that it survives hostile tools, signals, clients that do not read,
and one socket for both directions. Real processes.
"""

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from toolbooth import ToolRegistry
from toolbooth.server.stdio import serve_streams

SERVER = Path(__file__).with_name("ending_server.py")
STOPPED = {"code": -32603, "message": "the server is stopping; the tool may have run"}
STOPPING = {"code": -32603, "message": "the server is stopping; nothing was done"}
LIMIT = 30
"""Seconds after which a test fails."""

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


def tool_call(name: str, request_id: Any = 1, **arguments: Any) -> bytes:
    params = {"name": name, "arguments": arguments}
    body = {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params}
    return json.dumps(body).encode() + b"\n"


PING = b'{"jsonrpc": "2.0", "id": "ping", "method": "ping"}\n'
PONG = {"jsonrpc": "2.0", "id": "ping", "result": {}}


class Process:
    """A server over pipes."""

    def __init__(self, child: "subprocess.Popen[bytes]") -> None:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stderr is not None
        self.child = child
        self.stdin, self.stdout, self.stderr = child.stdin, child.stdout, child.stderr

    def send(self, *lines: bytes) -> None:
        self.stdin.write(b"".join(lines))
        self.stdin.flush()

    def next(self) -> Any:
        return json.loads(self.stdout.readline())

    def ask(self, line: bytes) -> Any:
        self.send(line)
        return self.next()

    def hang_in(self, tool: str, request_id: Any = 1, **arguments: Any) -> None:
        """Call a tool, and return when it hangs."""
        self.send(tool_call(tool, request_id, **arguments))
        assert self.stderr.readline() == b"hanging\n"

    def rest(self) -> tuple[int, list[Any]]:
        """Return the exit code, and the answers before it."""
        answers = [json.loads(line) for line in self.stdout.read().splitlines()]
        return self.child.wait(LIMIT), answers


@contextmanager
def process(stop: float = 5.0, drain: float = 60.0) -> Iterator[Process]:
    pipe = subprocess.PIPE
    command = [sys.executable, str(SERVER), str(stop), str(drain)]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as child:
        # Reading ends even after a failure, because the child does.
        watchdog = subprocess.Popen(
            [sys.executable, "-c", WATCHDOG, str(child.pid), str(LIMIT)], stdin=pipe
        )
        try:
            yield Process(child)
        finally:
            child.kill()
            watchdog.communicate()


WATCHDOG = """
import os, select, signal, sys
if not select.select([0], [], [], float(sys.argv[2]))[0]:
    os.kill(int(sys.argv[1]), signal.SIGKILL)
"""


# --- exceptions of tools
# ----------------------------------------------------------------------------


@pytest.mark.parametrize("tool", ["raise_", "raise_async"])
@pytest.mark.parametrize(
    "kind", ["KeyboardInterrupt", "SystemExit", "GeneratorExit", "CancelledError", "Own"]
)
def test_after_any_exception_the_call_is_answered_and_the_server_continues(tool, kind):
    with process() as server:
        failed = server.ask(tool_call(tool, 7, kind=kind))
        assert (failed["id"], failed["result"]["isError"]) == (7, True)
        assert "failed unexpectedly" in failed["result"]["content"][0]["text"]
        assert server.ask(PING) == PONG
        server.stdin.close()
        assert server.rest() == (0, [])


@pytest.mark.parametrize("kind", ["KeyboardInterrupt", "SystemExit", "CancelledError", "Own"])
def test_after_an_exception_in_a_task_of_a_tool_its_call_is_answered(kind):
    with process() as server:
        failed = server.ask(tool_call("raise_in_a_task", 7, kind=kind))
        assert (failed["id"], failed["result"]["isError"]) == (7, True)
        assert server.ask(PING) == PONG
        server.stdin.close()
        assert server.rest() == (0, [])


@pytest.mark.parametrize("kind", ["KeyboardInterrupt", "SystemExit"])
def test_an_exit_in_a_task_that_no_call_waits_for_does_not_end_the_server(kind):
    with process() as server:
        answer = server.ask(tool_call("leave_a_task", 7, kind=kind))
        assert answer["result"]["content"] == [{"type": "text", "text": "left"}]
        assert server.ask(PING) == PONG
        server.stdin.close()
        assert server.rest() == (0, [])


@posix
def test_the_exit_of_a_signal_handler_ends_the_server():
    with process() as server:
        assert server.ask(PING) == PONG
        # While the answer is still being sent, an exit only fails that call. So it may take several.
        while server.child.poll() is None:
            server.child.send_signal(signal.SIGUSR1)
            with contextlib.suppress(subprocess.TimeoutExpired):
                server.child.wait(1)
        assert server.child.returncode == 9


@posix
def test_ctrl_c_ends_the_server():
    with process() as server:
        assert server.ask(PING) == PONG
        server.child.send_signal(signal.SIGINT)
        assert server.rest() == (-signal.SIGINT, [])


@posix
@pytest.mark.parametrize("tool", ["hang", "hang_async"])
def test_ctrl_c_ends_the_server_even_if_a_tool_hangs(tool):
    with process(stop=0.1, drain=0.1) as server:
        server.hang_in(tool)
        server.child.send_signal(signal.SIGINT)
        code, _ = server.rest()
        assert code in (0, 128 + signal.SIGINT)


# --- the end of standard input ------------------------------------------------------------------


@pytest.mark.parametrize("tool", ["hang", "hang_async"])
def test_a_call_of_a_hanging_tool_is_answered_at_the_end_of_input(tool):
    with process(drain=0.2) as server:
        server.hang_in(tool, "a")
        server.stdin.close()
        assert server.rest() == (0, [{"jsonrpc": "2.0", "id": "a", "error": STOPPED}])


def test_hanging_thread_of_an_answered_call_does_not_delay_exit():
    with process(drain=0.2) as server:
        server.hang_in("hang_too_long")
        assert server.next()["result"]["isError"] is True
        server.stdin.close()
        assert server.rest() == (0, [])


@pytest.mark.parametrize("drain", [60.0, float("inf")])
def test_calls_that_end_in_time_are_answered_after_the_end_of_input(drain):
    with process(drain=drain) as server:
        server.hang_in("hold", 1)
        server.send(tool_call("let_go", 2))
        server.stdin.close()
        code, answers = server.rest()
        assert (code, sorted(answer["id"] for answer in answers)) == (0, [1, 2])
        assert not any("error" in answer for answer in answers)


# --- SIGTERM ------------------------------------------------------------------------------------


@posix
def test_sigterm_ends_an_idle_server_at_once():
    with process(stop=LIMIT) as server:
        assert server.ask(PING) == PONG
        server.child.send_signal(signal.SIGTERM)
        assert server.rest() == (0, [])


@posix
def test_after_sigterm_open_calls_are_answered_and_new_ones_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    # The time for the end of input does not count then.
    with process(stop=LIMIT, drain=0.0) as server:
        server.hang_in("read", 1, fifo=str(tmp_path / "pipe"))
        server.child.send_signal(signal.SIGTERM)
        # Requests are taken until the signal has arrived.
        while (found := server.ask(PING)) == PONG:
            pass
        assert found == {"jsonrpc": "2.0", "id": "ping", "error": STOPPING}
        refused = server.ask(tool_call("let_go", 2))
        assert refused == {"jsonrpc": "2.0", "id": 2, "error": STOPPING}
        server.send(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        (tmp_path / "pipe").write_text("done")
        text = {"content": [{"type": "text", "text": "done"}], "isError": False}
        assert server.rest() == (0, [{"jsonrpc": "2.0", "id": 1, "result": text}])


@posix
@pytest.mark.parametrize("tool", ["hang", "hang_async", "hang_the_loop"])
def test_after_sigterm_a_call_of_a_hanging_tool_is_answered(tool):
    with process(stop=0.2) as server:
        server.hang_in(tool, "a")
        server.child.send_signal(signal.SIGTERM)
        assert server.rest() == (0, [{"jsonrpc": "2.0", "id": "a", "error": STOPPED}])


@posix
def test_client_that_does_not_read_does_not_delay_exit_after_sigterm():
    with process(stop=0.2) as server:
        server.send(tool_call("big", size=3_000_000))
        assert server.stdout.read(1) == b"{"  # the answer has begun, and fills the pipe
        server.child.send_signal(signal.SIGTERM)
        assert server.child.wait(LIMIT) == 0


@posix
def test_a_second_sigterm_ends_the_server_at_once():
    with process(stop=LIMIT) as server:
        server.hang_in("hang")
        server.child.send_signal(signal.SIGTERM)
        while server.ask(PING) == PONG:
            pass
        server.child.send_signal(signal.SIGTERM)
        assert server.rest() == (-signal.SIGTERM, [])


# --- one socket for both directions -------------------------------------------------------------


@posix
@pytest.mark.parametrize("stderr", ["socket", "pipe"])
def test_one_socket_for_stdin_and_stdout_sends_whole_replies(stderr):
    ours, theirs = socket.socketpair()
    ours.settimeout(LIMIT)
    errors = theirs if stderr == "socket" else subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, str(SERVER)], stdin=theirs, stdout=theirs, stderr=errors
    ) as child:
        theirs.close()
        try:
            # A small buffer, and reading begins when both replies are due.
            ours.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            ours.sendall(tool_call("big", 1, size=3_000_000) + tool_call("raise_", 2, kind="Own"))
            ours.sendall(tool_call("big", 3, size=3_000_000) + PING)
            lines = ours.makefile("rb")
            answers = {
                found["id"]: found for found in (json.loads(lines.readline()) for _ in "1234")
            }
            assert answers["ping"] == PONG
            for each in (1, 3):
                text = answers[each]["result"]["content"][0]["text"]
                assert (len(text), set(text)) == (3_000_000, {"x"})
            assert answers[2]["result"]["isError"] is True
            ours.shutdown(socket.SHUT_WR)
            assert lines.read() == b""
            assert child.wait(LIMIT) == 0
        finally:
            child.kill()
            ours.close()


def test_a_client_that_disconnects_ends_the_server():
    with process() as server:
        server.stdout.close()
        server.send(PING)
        assert server.child.wait(LIMIT) == 0


@posix
def test_the_mode_of_a_terminal_is_restored():
    ours, theirs = os.openpty()
    with subprocess.Popen(
        [sys.executable, str(SERVER)], stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL
    ) as child:
        os.write(ours, PING)
        with os.fdopen(ours, "rb", buffering=0) as terminal:
            assert b'"ping"' in terminal.readline()  # the echo of the typed text
            assert b'"result":{}' in terminal.readline()
            child.send_signal(signal.SIGTERM)
            assert child.wait(LIMIT) == 0
            assert os.get_blocking(theirs)
    os.close(theirs)


# --- ids ----------------------------------------------------------------------------------------

DEEP = b"[" * 5000
LONG = b'"' + b"x" * (16 * 1024 * 1024) + b'"'
MESSAGES = {
    "nested 5,000 deep": (b'{"id": 10, "method": "tools/call", "params": ' + DEEP, 10),
    "the id after it": (
        b'{"params": ' + DEEP + b"]" * 5000 + b', "method": "ping", "id": "x"}',
        "x",
    ),
    "no JSON after it": (b'{"jsonrpc": "2.0", "id": 5, "method": nonsense', 5),
    "another message after it": (b'{"id": 5, "method": "ping"} {"id": 6}', 5),
    "a key twice": (b'{"id": 5, "method": "ping", "method": "ping", "params": {"id": 6}}', 5),
    "a fraction": (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', 1.5),
    "more than 64 bits": (b'{"jsonrpc": "2.0", "id": 18446744073709551616, "method": "a"}', 2**64),
    "an escaped key": (b'{"jsonrpc": "2.0", "\\u0069d": 7, "method": 5}', 7),
    "no UTF-8": (b'{"jsonrpc": "2.0", "id": 5, "method": "\xff"}', 5),
    "two ids": (b'{"jsonrpc": "2.0", "id": 5, "id": 5, "method": "ping"}', None),
    "an id below": (b'{"jsonrpc": "2.0", "method": 5, "params": {"id": 5}}', None),
    "an id in text": (b'{"jsonrpc": "2.0", "method": "\\"id\\": 5", "x": nonsense}', None),
    "null": (b'{"jsonrpc": "2.0", "id": null, "method": 5}', None),
    "a list": (b'{"jsonrpc": "2.0", "id": [1], "method": 5}', None),
    "a batch": (b'[{"jsonrpc": "2.0", "id": 5, "method": "ping"}]', None),
    "too long, the id first": (b'{"id": 5, "method": ' + LONG + b"}", 5),
    "too long, the id last": (b'{"params": {"id": 4, "x": ' + LONG + b'}, "id": "z"}', "z"),
    "too long, an id below": (b'{"x": ' + LONG + b', "params": {"id": 5}}', None),
    "too long, two ids": (b'{"id": 5, "x": ' + LONG + b', "id": 5, "method": "ping"}', None),
}


@pytest.mark.parametrize(("line", "request_id"), MESSAGES.values(), ids=MESSAGES)
def test_the_only_id_of_a_hostile_message_is_repeated(line, request_id, tmp_path):
    (tmp_path / "requests").write_bytes(line + b"\n" + PING)
    with (tmp_path / "requests").open("rb") as source, (tmp_path / "answers").open("wb") as sink:
        asyncio.run(serve_streams(ToolRegistry("ending"), source, sink))
    first, last = map(json.loads, (tmp_path / "answers").read_bytes().splitlines())
    assert (first["id"], last) == (request_id, PONG)
    assert "error" in first
