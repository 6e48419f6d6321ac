"""`toolbooth serve --http`: requests that arrive slowly, in part or not at all. Real processes and
sockets, with each of uvicorn's two parsers.
"""

import contextlib
import select
import socket
import threading
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from http_process import PING, PONG, Served, request, served, tool_call

SECONDS = "0.4"
TOO_SLOW = b"the rest of the request did not arrive within 0.4 s"
TOO_MANY = b"too many connections have not sent a complete request; send this one again"
WHOLE = request(PING)


@pytest.fixture(scope="module", params=["httptools", "h11"])
def parser(request):
    return request.param


@pytest.fixture(scope="module")
def server(parser):
    with served("--request-seconds", SECONDS, parser=parser) as found:
        yield found


@pytest.mark.parametrize(
    "part",
    [
        b"P",
        b"POST /mcp HTTP/1.1\r\nHost: local",
        WHOLE[: -len(PING)],
        WHOLE[:-1],
        request(PING).replace(b"Content-Length: 40", b"Transfer-Encoding: chunked")[: -len(PING)]
        + b"4\r\nabcd\r\n",
    ],
    ids=["one byte", "in the headers", "no body", "in the body", "in a chunk"],
)
def test_a_request_that_does_not_arrive_in_time_is_answered_with_408(part, server):
    with server.connection() as connection:
        assert connection.ask(part) == (408, TOO_SLOW)
        assert connection.rest() == b""
    assert server.ask(PING) == (200, PONG)


def test_a_connection_that_sends_nothing_is_closed(server):
    with server.connection() as connection:
        assert connection.rest() == b""


@pytest.mark.parametrize("whole", [WHOLE, WHOLE[: -len(PING)]], ids=["headers", "body"])
def test_bytes_that_arrive_one_by_one_do_not_prolong_the_time(whole, server):
    with server.connection() as connection:
        if whole is not WHOLE:
            connection.send(whole)
        connection.drip(WHOLE if whole is WHOLE else PING, every=0.05)
        assert connection.answer() == (408, TOO_SLOW)


def test_a_request_in_parts_is_answered_if_it_is_complete_in_time(server):
    with server.connection() as connection:
        for _ in range(3):
            for byte in WHOLE[:-1]:
                connection.send(bytes([byte]))
            assert connection.ask(WHOLE[-1:]) == (200, PONG)


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(cuts=st.sets(st.integers(1, 3 * len(WHOLE) - 1), max_size=9))
def test_requests_are_answered_however_they_are_cut_into_packets(cuts, server):
    sent = WHOLE * 3
    ends = [*sorted(cuts), len(sent)]
    with server.connection() as connection:
        connection.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for start, end in pairwise([0, *ends]):
            connection.send(sent[start:end])
        assert [connection.answer() for _ in range(3)] == [(200, PONG)] * 3


def test_each_request_of_a_connection_has_its_own_time_limit(server):
    with server.connection() as connection:
        assert connection.ask(WHOLE) == (200, PONG)
        # Idle connections have more time than a request that has begun.
        assert select.select([connection.socket], [], [], 0.6)[0] == []
        assert connection.ask(WHOLE) == (200, PONG)
        assert connection.ask(WHOLE[:20]) == (408, TOO_SLOW)


def test_the_time_limit_of_a_request_does_not_include_its_tool(parser):
    with (
        served("--request-seconds", SECONDS, parser=parser) as server,
        server.connection() as connection,
    ):
        connection.send(request(tool_call("hold")))
        assert server.says() == b"hanging\n"
        assert select.select([connection.socket], [], [], 0.6)[0] == []
        assert server.ask(tool_call("let_go"))[0] == 200
        assert connection.answer()[0] == 200


def test_the_time_limit_of_a_waiting_request_begins_when_it_is_read(parser):
    with (
        served("--request-seconds", SECONDS, parser=parser) as server,
        server.connection() as connection,
    ):
        connection.send(request(tool_call("hold")) + WHOLE + WHOLE[:-5])
        assert server.says() == b"hanging\n"
        assert select.select([connection.socket], [], [], 0.6)[0] == []
        assert server.ask(tool_call("let_go"))[0] == 200
        assert connection.answer()[0] == 200
        assert connection.answer() == (200, PONG)
        assert connection.answer() == (408, TOO_SLOW)


def test_a_request_that_was_refused_before_its_end_is_not_answered_twice(server):
    with server.connection() as connection:
        assert connection.ask(request(b"{", "/other", length=9))[0] == 404
        assert connection.rest() == b""


def test_headers_without_end_are_refused(server, parser):
    expected = (431, b"the headers of the request are too long")
    if parser == "h11":
        expected = (400, b"Invalid HTTP request received.")
    assert answer_to_headers(server, 70_000) == expected
    assert answer_to_headers(server, 10_000) == (408, TOO_SLOW)


def test_headers_without_end_are_not_kept_while_a_call_is_in_progress():
    with served() as server, server.connection() as connection:
        connection.send(request(tool_call("hold")))
        assert server.says() == b"hanging\n"
        connection.send(b"POST /mcp HTTP/1.1\r\nX-Header: " + b"x" * 70_000)
        # The next answer would be for the call, so there is none.
        with contextlib.suppress(ConnectionResetError):
            assert connection.rest() == b""
        assert server.ask(PING) == (200, PONG)


@pytest.mark.parametrize("size", [70_000, 1_000_000])
def test_the_header_limit_does_not_apply_to_a_long_body(size, server):
    long = b" " * size + PING
    with server.connection() as connection:
        connection.send(request(long) + request(long))
        assert [connection.answer(), connection.answer()] == [(200, PONG)] * 2


def answer_to_headers(server: Served, size: int) -> tuple[int, bytes]:
    with server.connection() as connection:
        connection.send(b"POST /mcp HTTP/1.1\r\nX-Header: " + b"x" * size)
        return connection.answer()


def test_the_oldest_of_too_many_incomplete_requests_is_refused(parser):
    with contextlib.ExitStack() as stack, served("--max-incomplete", "3", parser=parser) as server:
        opened = [stack.enter_context(server.connection()) for _ in range(8)]
        for connection in opened[1:]:
            connection.send(WHOLE[:-1])
        assert opened[0].rest() == b""
        for connection in opened[1:5]:
            assert connection.answer() == (503, TOO_MANY)
        for connection in opened[5:]:
            assert connection.ask(WHOLE[-1:]) == (200, PONG)


def test_calls_in_progress_and_idle_connections_do_not_count_as_incomplete(parser):
    with contextlib.ExitStack() as stack, served("--max-incomplete", "3", parser=parser) as server:
        opened = [stack.enter_context(server.connection()) for _ in range(8)]
        for connection in opened[:4]:
            connection.send(request(tool_call("hold")))
            assert server.says() == b"hanging\n"
        for connection in opened[4:]:
            assert connection.ask(WHOLE) == (200, PONG)
        sockets = [connection.socket for connection in opened]
        assert select.select(sockets, [], [], 1.5)[0] == []
        assert opened[7].ask(request(tool_call("let_go")))[0] == 200
        for connection in opened[:4]:
            assert connection.answer()[0] == 200


def test_many_clients_that_connect_at_once_are_all_answered(parser):
    with contextlib.ExitStack() as stack, served("--max-incomplete", "3", parser=parser) as server:
        opened = [stack.enter_context(server.connection()) for _ in range(60)]
        answers: list[tuple[int, bytes]] = []
        threads = [
            threading.Thread(target=lambda each=each: answers.append(each.ask(WHOLE)))
            for each in opened
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert answers == [(200, PONG)] * 60
