"""How `toolbooth serve --http` ends: calls in progress, tools that hang, signals. Real processes
and sockets.
"""

import json
import os
import signal
import sys
from time import monotonic

import pytest

from http_process import PING, PONG, request, served, tool_call

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")

STOPPED = {"code": -32603, "message": "the server is stopping; the tool may have run"}
WRITTEN = {"content": [{"type": "text", "text": "written"}], "isError": False}
STOPPING = b"the server is stopping; nothing was done"


@pytest.fixture(params=["httptools", "h11"])
def parser(request):
    return request.param


def test_sigterm_ends_an_idle_server(parser):
    with served(parser=parser) as server, server.connection() as idle:
        assert idle.ask(request(PING)) == (200, PONG)
        assert server.terminated() == (0, b"")
        assert idle.rest() == b""


def test_calls_that_end_in_time_are_answered_after_sigterm(parser, tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with served("--stop-seconds", "20", parser=parser) as server, server.connection() as calling:
        calling.send(request(tool_call("read", arguments={"fifo": str(fifo)})))
        assert server.says() == b"hanging\n"
        with server.connection() as incomplete:
            assert incomplete.ask(request(PING)) == (200, PONG)
            incomplete.send(request(PING)[:-1])
            server.child.send_signal(signal.SIGTERM)
            # It is refused as soon as the signal is seen.
            assert incomplete.answer() == (503, STOPPING)
        fifo.write_text("written")
        status, body = calling.answer()
        assert (status, json.loads(body)["result"]) == (200, WRITTEN)
        assert calling.rest() == b""
        assert server.ended() == (0, b"")


@pytest.mark.parametrize("tool", ["hang", "hang_too_long"])
def test_hanging_sync_tool_does_not_keep_the_process_alive(tool, parser):
    with served("--stop-seconds", "0.3", parser=parser) as server, server.connection() as calling:
        calling.send(request(tool_call(tool, 7)))
        assert server.says() == b"hanging\n"
        if tool == "hang_too_long":
            assert calling.answer()[0] == 200
        start = monotonic()
        server.child.send_signal(signal.SIGTERM)
        if tool == "hang":
            status, body = calling.answer()
            expected = {"jsonrpc": "2.0", "id": 7, "error": STOPPED}
            assert (status, json.loads(body)) == (503, expected)
        assert calling.rest() == b""
        assert server.ended() == (0, b"")
        assert monotonic() - start < 5


def test_a_stream_of_a_tool_that_hangs_ends_with_an_error(parser):
    body = tool_call("hang_with_progress", "a", _meta={"progressToken": "t"})
    with served("--stop-seconds", "0.3", parser=parser) as server, server.connection() as calling:
        calling.send(request(body))
        assert server.says() == b"hanging\n"
        server.child.send_signal(signal.SIGTERM)
        status, events = calling.answer()
        assert status == 200
        progress, answer = (json.loads(each[6:]) for each in events.splitlines()[1::3])
        assert progress["method"] == "notifications/progress"
        assert answer == {"jsonrpc": "2.0", "id": "a", "error": STOPPED}
        assert server.ended() == (0, b"")


@pytest.mark.parametrize("tool", ["hang_async", "hang_the_loop"])
def test_uncancellable_tool_does_not_keep_the_process_alive(tool, parser):
    with served("--stop-seconds", "0.3", parser=parser) as server, server.connection() as calling:
        calling.send(request(tool_call(tool)))
        assert server.says() == b"hanging\n"
        assert server.terminated() == (0, b"")


def test_a_second_sigterm_ends_the_process_at_once():
    with (
        served("--stop-seconds", "60") as server,
        server.connection() as calling,
        server.connection() as idle,
    ):
        assert idle.ask(request(PING)) == (200, PONG)
        calling.send(request(tool_call("hang")))
        assert server.says() == b"hanging\n"
        server.child.send_signal(signal.SIGTERM)
        assert idle.rest() == b""  # the signal has been seen
        assert server.terminated() == (-signal.SIGTERM, b"")


def test_ctrl_c_ends_a_server_with_a_tool_that_hangs():
    with served("--stop-seconds", "0.3") as server, server.connection() as calling:
        calling.send(request(tool_call("hang")))
        assert server.says() == b"hanging\n"
        server.child.send_signal(signal.SIGINT)
        status, body = calling.answer()
        assert (status, json.loads(body)["error"]) == (503, STOPPED)
        assert server.ended()[0] == 128 + signal.SIGINT
