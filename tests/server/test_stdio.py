"""The stdio shell as a client sees it: a real process, one message a line, every line answered."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from toolbooth import Context, ToolRegistry
from toolbooth.server.stdio import serve, serve_streams

SERVER = Path(__file__).with_name("shop_server.py")
COMMAND = [sys.executable, str(SERVER), "stdio"]
PARSE_ERROR = -32700


def request(method: str, params: Any = None, request_id: Any = 1) -> bytes:
    return json.dumps(
        {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params or {}}
    ).encode()


def tool_call(name: str, arguments: Any = None, request_id: Any = 1, **params: Any) -> bytes:
    return request("tools/call", {"name": name, "arguments": arguments, **params}, request_id)


def cancel(request_id: Any) -> bytes:
    params = {"requestId": request_id}
    return json.dumps(
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
    ).encode()


def text(words: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": words}], "isError": False}


def result(value: Any, request_id: Any = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "result": value}


class Server:
    """A running server: lines in, messages out."""

    def __init__(self, reader: asyncio.StreamReader, write: Callable[[bytes], Any]) -> None:
        self.reader = reader
        self.write = write

    def send(self, *lines: bytes, end: bytes = b"\n") -> None:
        for line in lines:
            self.write(line + end)

    async def next(self) -> Any:
        line = await self.reader.readline()
        assert line.endswith(b"\n"), "the server ended without an answer"
        return json.loads(line)

    async def ask(self, line: bytes) -> Any:
        self.send(line)
        return await self.next()

    async def several(self, many: int) -> dict[Any, Any]:
        """Return this many messages, by id; the server chooses their order."""
        return {found["id"]: found for found in [await self.next() for _ in range(many)]}


@asynccontextmanager
async def process() -> AsyncIterator[Server]:
    """Run a new server; standard input is closed at the end, and that must end it."""
    pipe = asyncio.subprocess.PIPE
    async with asyncio.timeout(30):
        child = await asyncio.create_subprocess_exec(
            *COMMAND, stdin=pipe, stdout=pipe, stderr=pipe, limit=2**26
        )
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            yield Server(child.stdout, child.stdin.write)
            child.stdin.close()
            assert await child.wait() == 0
        finally:
            if child.returncode is None:
                child.kill()
            await child.communicate()


@asynccontextmanager
async def in_process() -> AsyncIterator[Server]:
    """Run the same loop over two pipes, where coverage can measure it."""
    registry = ToolRegistry("shop")
    seen: list[str] = []

    @registry.tool
    async def wait(ctx: Context) -> None:
        try:
            ctx.progress(1)
            await asyncio.Event().wait()
        finally:
            seen.append("cancelled")

    @registry.tool(name="seen")
    async def see() -> list[str]:
        return seen

    @registry.tool
    async def count(to: int, ctx: Context) -> str:
        for done in range(1, to + 1):
            ctx.progress(done, to, f"step {done}")
        return "done"

    server_in, client_out = os.pipe()
    client_in, server_out = os.pipe()
    reader = asyncio.StreamReader(limit=2**26)
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(30):
        back, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(client_in, "rb")
        )
        out, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, os.fdopen(client_out, "wb", 0))
        with os.fdopen(server_in, "rb", 0) as source, os.fdopen(server_out, "wb") as sink:
            served = asyncio.ensure_future(serve_streams(registry, source, sink))
            yield Server(reader, out.write)
            out.close()
            await served
        back.close()


@pytest.fixture(params=[process, in_process], ids=["process", "in-process"])
def serving(request: pytest.FixtureRequest) -> Any:
    return request.param


def run(steps: Coroutine[Any, Any, None]) -> None:
    asyncio.run(steps)


def test_requests_are_answered_until_standard_input_ends(serving):
    async def steps() -> None:
        async with serving() as server:
            assert await server.ask(request("ping")) == result({})
            assert await server.ask(request("ping", request_id="two")) == result({}, "two")

    run(steps())


@pytest.mark.parametrize(
    ("line", "request_id", "code"),
    [
        (b"nonsense", None, PARSE_ERROR),
        (b"{", None, PARSE_ERROR),
        (b"\xff\xfe", None, PARSE_ERROR),
        (
            b'{"jsonrpc": "2.0", "id": 5, "method": "ping", "params": {"a": 1, "a": 2}}',
            5,
            PARSE_ERROR,
        ),
        (b'{"jsonrpc": "2.0", "id": 5, "method": "ping", "params": {"a": NaN}}', 5, PARSE_ERROR),
        (b"[" * 100_000, None, PARSE_ERROR),
        (b"[]", None, -32600),
        (b'{"jsonrpc": "2.0", "id": [], "method": "ping"}', None, -32600),
        (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', None, -32600),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', None, -32600),
        (
            b'{"jsonrpc": "2.0", "id": 5, "method": "notifications/cancelled", "params": {}}',
            5,
            -32601,
        ),
        (b"notifications/cancelled", None, PARSE_ERROR),
    ],
    ids=[
        "words",
        "cut",
        "bytes",
        "duplicate",
        "nan",
        "deep",
        "batch",
        "list-id",
        "dict-id",
        "null-id",
        "cancel",
        "half",
    ],
)
def test_invalid_line_gets_an_error_and_the_next_line_is_answered(line, request_id, code, serving):
    async def steps() -> None:
        async with serving() as server:
            found = await server.ask(line)
            assert (found["id"], found["error"]["code"]) == (request_id, code)
            assert await server.ask(request("ping", request_id=2)) == result({}, 2)

    run(steps())


def test_a_line_that_is_too_long_gets_an_error_and_the_next_line_is_answered(serving):
    async def steps() -> None:
        async with serving() as server:
            found = await server.ask(b"x" * (17 * 1024 * 1024))
            error = {"code": PARSE_ERROR, "message": "Parse error: the line is too long"}
            assert found == {"jsonrpc": "2.0", "id": None, "error": error}
            server.send(request("ping"))
            while "error" in (found := await server.next()):  # the rest of the line
                assert (found["id"], found["error"]["code"]) == (None, PARSE_ERROR)
            assert found == result({})

    run(steps())


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\n\n", b"\n \r\n\n"], ids=ascii)
def test_lines_may_end_with_crlf_and_blank_lines_are_ignored(end, serving):
    async def steps() -> None:
        async with serving() as server:
            server.send(request("ping", request_id=1), request("ping", request_id=2), end=end)
            assert await server.several(2) == {1: result({}, 1), 2: result({}, 2)}

    run(steps())


def test_carriage_returns_between_tokens_are_white_space(serving):
    async def steps() -> None:
        async with serving() as server:
            assert await server.ask(request("ping").replace(b", ", b",\r\t ")) == result({})

    run(steps())


def test_a_last_line_without_an_end_is_answered(serving):
    async def steps() -> None:
        async with serving() as server:
            server.send(b"", request("ping", request_id=1))
            server.send(request("ping", request_id=2), end=b"")
            assert await server.next() == result({}, 1)

    run(steps())
    done = subprocess.run(
        COMMAND, input=request("ping"), capture_output=True, timeout=30, check=True
    )
    assert json.loads(done.stdout) == result({})


def test_notifications_are_not_answered(serving):
    async def steps() -> None:
        async with serving() as server:
            server.send(
                b'{"jsonrpc": "2.0", "method": "notifications/initialized"}', cancel("nobody")
            )
            assert await server.ask(request("ping")) == result({})

    run(steps())


def test_progress_comes_before_its_response(serving):
    async def steps() -> None:
        async with serving() as server:
            server.send(tool_call("count", {"to": 2}, _meta={"progressToken": "t"}))
            found = [await server.next() for _ in range(3)]
            params = {"progressToken": "t", "total": 2}
            assert [each.get("params") for each in found] == [
                {**params, "progress": 1, "message": "step 1"},
                {**params, "progress": 2, "message": "step 2"},
                None,
            ]
            assert found[2] == result(text("done"))

    run(steps())


@pytest.mark.parametrize("request_id", [1, "a", 0], ids=repr)
@pytest.mark.parametrize(
    "meta", [{}, {"_meta": {"progressToken": "t"}}], ids=["plain", "streaming"]
)
def test_a_cancelled_call_ends_without_an_answer_and_no_other_does(request_id, meta, serving):
    async def steps() -> None:
        async with serving() as server:
            server.send(tool_call("wait", None, request_id, **meta))
            if meta:
                assert (await server.next())["method"] == "notifications/progress"
            server.send(cancel(True), cancel(1.0), cancel(None), cancel("other"))
            assert await server.ask(tool_call("seen", None, 2)) == result(text("[]"), 2)
            server.send(cancel(request_id))
            while (found := await server.ask(tool_call("seen", None, 2))) == result(text("[]"), 2):
                pass
            assert found == result(text('["cancelled"]'), 2)

    run(steps())


def test_calls_of_the_same_id_are_all_answered(serving):
    async def steps() -> None:
        async with serving() as server:
            server.send(*[tool_call("count", {"to": 1})] * 3)
            assert [await server.next() for _ in range(3)] == [result(text("done"))] * 3

    run(steps())


def test_a_slow_call_does_not_delay_the_next():
    async def steps() -> None:
        async with process() as server:
            server.send(tool_call("hold", None, 1))
            assert await server.ask(request("ping", request_id=2)) == result({}, 2)
            server.send(tool_call("let_go", None, 3))
            assert await server.several(2) == {
                1: result(text("held"), 1),
                3: result(text("let go"), 3),
            }

    run(steps())


def test_tool_output_on_stdout_does_not_break_the_framing():
    async def steps() -> None:
        async with process() as server:
            server.send(tool_call("loud", {"words": "hello"}), request("ping", request_id=2))
            assert await server.several(2) == {1: result(text("hello"), 1), 2: result({}, 2)}
            assert await server.ask(tool_call("loud", {"words": "{}"}, 3)) == result(text("{}"), 3)

    run(steps())


def test_stdout_of_a_tool_goes_to_standard_error():
    done = subprocess.run(
        COMMAND, input=tool_call("loud", {"words": "hello"}), capture_output=True, timeout=30
    )
    assert json.loads(done.stdout) == result(text("hello"))
    assert done.stderr.count(b"hello") == 3


def test_calls_that_are_still_running_when_standard_input_ends_are_answered():
    lines = b"\n".join([tool_call("hold", None, 1), tool_call("let_go", None, 2)])
    done = subprocess.run(COMMAND, input=lines, capture_output=True, timeout=30, check=True)
    assert sorted(json.loads(line)["id"] for line in done.stdout.splitlines()) == [1, 2]


@pytest.mark.parametrize(
    "content", [b"", request("ping") + b"\n" + request("ping")], ids=["empty", "two-lines"]
)
def test_standard_input_may_be_a_file(content, tmp_path):
    path = tmp_path / "requests"
    path.write_bytes(content)
    with path.open("rb") as source:
        done = subprocess.run(COMMAND, stdin=source, capture_output=True, timeout=30, check=True)
    assert [json.loads(line) for line in done.stdout.splitlines()] == [result({})] * content.count(
        b"ping"
    )


def test_standard_input_may_be_empty():
    done = subprocess.run(
        COMMAND, stdin=subprocess.DEVNULL, capture_output=True, timeout=30, check=True
    )
    assert done.stdout == b""


def test_requests_in_a_file_are_answered(tmp_path):
    (tmp_path / "requests").write_bytes(request("ping"))
    with (tmp_path / "requests").open("rb") as source, (tmp_path / "answers").open("wb") as sink:
        asyncio.run(serve_streams(ToolRegistry("shop"), source, sink))
    assert json.loads((tmp_path / "answers").read_bytes()) == result({})


def test_serving_takes_the_standard_streams_for_itself(tmp_path, monkeypatch):
    (tmp_path / "requests").write_bytes(request("ping"))
    monkeypatch.setattr(sys, "stdout", sys.stdout)
    kept = [os.dup(0), os.dup(1)]
    try:
        with (
            (tmp_path / "requests").open("rb") as source,
            (tmp_path / "answers").open("wb") as sink,
        ):
            os.dup2(source.fileno(), 0)
            os.dup2(sink.fileno(), 1)
        serve(ToolRegistry("shop"))
        left = (os.read(0, 1), os.fstat(1) == os.fstat(2), sys.stdout is sys.stderr)
    finally:
        for index, each in enumerate(kept):
            os.dup2(each, index)
            os.close(each)
    assert json.loads((tmp_path / "answers").read_bytes()) == result({})
    assert left == (b"", True, True)
