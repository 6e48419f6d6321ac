"""The memory of a proxy in its own process: with 500 open streams, and with a server that answers with
100 MB or sends more notifications than the client reads. Linux only.
"""

import asyncio
import itertools
import json
import os
import re
import select
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from http_proxied import META, STATELESS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="sizes are read from /proc")

HERE = Path(__file__).parent
PROXY = [sys.executable, "-c", "from toolbooth.cli.entry import main; main()", "proxy"]
FAULTY = [sys.executable, str(HERE / "faulty_server.py")]
STREAMING = [sys.executable, str(HERE / "streaming_server.py")]

MB = 1_000_000
MOST_WITH_STREAMS = 150 * MB
MOST_ADDED = 50 * MB
FLOOD = 50_000
"""Notifications of one kilobyte."""
EACH = 250
"""The streams of each era."""
NUMBERS = itertools.count(1_000)
ROUTING = {"mcp-protocol-version": STATELESS, "mcp-method": "subscriptions/listen"}


def run(test: Callable[[], Awaitable[None]]) -> None:
    async def limited() -> None:
        async with asyncio.timeout(300):
            await test()

    asyncio.run(limited())


def size(process: Any, name: str) -> int:
    """The present size (`VmRSS`) or the largest so far (`VmHWM`) of a process, in bytes."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(rf"{name}:\s+(\d+) kB", status)[1]) * 1024


# --- over HTTP ----------------------------------------------------------------------------------


class Http:
    """A proxy over HTTP in a process of its own."""

    def __init__(self, process: Any, port: int) -> None:
        self.process = process
        self.port = port

    @asynccontextmanager
    async def open(self, method: str, message: Any, **headers: str) -> AsyncIterator[Any]:
        """A request on a connection of its own; the reader is at the body of the answer."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        body = b"" if message is None else json.dumps(message).encode()
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        lines = [f"{method} /mcp HTTP/1.1", "host: 127.0.0.1", f"content-length: {len(body)}"]
        lines += ["accept: application/json, text/event-stream", "content-type: application/json"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        writer.write("\r\n".join((*lines, "", "")).encode() + body)
        try:
            yield reader
        finally:
            writer.close()

    async def ask(self, message: Any, **headers: str) -> tuple[bytes, bytes]:
        """The head and the body of a whole answer."""
        async with self.open("POST", message, connection="close", **headers) as reader:
            head, _, body = (await reader.read()).partition(b"\r\n\r\n")
            return head, body

    async def call(self, name: str, **arguments: Any) -> str:
        """The text of the result of a stateless call."""
        _, body = await self.ask(call(name, **arguments), **routing(name))
        return json.loads(re.search(rb'\{"jsonrpc".*\}', body)[0])["result"]["content"][0]["text"]

    async def handshake(self) -> str:
        """A new session."""
        params = {"protocolVersion": "2025-11-25", "capabilities": {}}
        head, _ = await self.ask(request(1, "initialize", params))
        session = re.search(rb"mcp-session-id: (\S+)", head)[1].decode()
        await self.ask(
            {"jsonrpc": "2.0", "method": "notifications/initialized"}, mcp_session_id=session
        )
        return session


def request(number: int, method: str, params: Any) -> Any:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def call(name: str, **arguments: Any) -> Any:
    return request(
        next(NUMBERS), "tools/call", {"_meta": META, "name": name, "arguments": arguments}
    )


def routing(name: str) -> dict[str, str]:
    return {"mcp-protocol-version": STATELESS, "mcp-method": "tools/call", "mcp-name": name}


async def next_event(reader: asyncio.StreamReader) -> Any:
    """The params of the next notification on a stream."""
    while not (line := await reader.readline()).startswith(b"data: {"):
        assert line, "the stream has ended"
    return json.loads(line[6:])["params"]


@contextmanager
def http_proxy() -> Iterator[Http]:
    with (
        subprocess.Popen(STREAMING, stdout=subprocess.PIPE) as server,
        subprocess.Popen(
            [*PROXY, f"http://127.0.0.1:{int(server.stdout.readline())}/mcp", "--http", "0"],
            stderr=subprocess.PIPE,
        ) as proxy,
    ):
        try:
            port = int(re.search(rb":(\d+)/mcp\n", proxy.stderr.readline())[1])
            yield Http(proxy, port)
        finally:
            proxy.kill()
            server.kill()


def test_five_hundred_streams_take_little_memory_and_each_gets_its_own_messages():
    async def test(proxy: Http) -> None:
        async with AsyncExitStack() as stack:
            streams: dict[str, Any] = {}
            for number in range(1, EACH + 1):
                message = request(
                    number, "subscriptions/listen", {"_meta": META, "name": str(number)}
                )
                opened = proxy.open("POST", message, **ROUTING)
                streams[f"listening {number}"] = await stack.enter_async_context(opened)
                session = await proxy.handshake()
                opened = proxy.open("GET", None, mcp_session_id=session)
                streams[f"of {session}"] = await stack.enter_async_context(opened)
            names = {name: (await next_event(stream))["open"] for name, stream in streams.items()}
            assert len(set(names.values())) == 2 * EACH
            assert await proxy.call("announce") == str(2 * EACH)
            for name, stream in streams.items():
                assert (await next_event(stream))["to"] == names[name]
            assert size(proxy.process, "VmHWM") < MOST_WITH_STREAMS

    with http_proxy() as proxy:
        run(lambda: test(proxy))


@pytest.mark.parametrize("tool", ["huge", "stream"], ids=["as JSON", "as one event"])
def test_an_answer_of_100_mb_over_http_is_reported_and_takes_little_memory(tool: str):
    async def test(proxy: Http) -> None:
        await proxy.call("huge", n=1)
        before = size(proxy.process, "VmRSS")
        text = await proxy.call(tool, n=100 * MB)
        assert "its answer is longer than the proxy forwards" in text
        assert size(proxy.process, "VmHWM") - before < MOST_ADDED
        assert await proxy.call("huge", n=1) == ""

    with http_proxy() as proxy:
        run(lambda: test(proxy))


def test_a_connection_is_read_again_after_an_answer_of_several_megabytes():
    async def test(proxy: Http) -> None:
        for _ in range(3):
            assert len(await proxy.call("stream", n=4 * MB)) == 61 * 65_536
            assert await proxy.call("huge", n=1) == ""

    with http_proxy() as proxy:
        run(lambda: test(proxy))


def test_a_flood_over_http_waits_until_its_own_client_reads():
    async def test(proxy: Http) -> None:
        await proxy.call("huge", n=1)
        before = size(proxy.process, "VmRSS")
        flood = call("flood", n=FLOOD)
        async with proxy.open("POST", flood, **routing("flood")) as reader:
            await next_event(reader)
            # Other calls of the same credential are answered while this client does not read.
            for _ in range(100):
                await proxy.call("announce")
            for number in range(1, FLOOD):
                assert (await next_event(reader))["number"] == number
        assert size(proxy.process, "VmHWM") - before < MOST_ADDED

    with http_proxy() as proxy:
        run(lambda: test(proxy))


# --- over stdio ---------------------------------------------------------------------------------


class Stdio:
    """A proxy over stdio in a process of its own, in front of a server that floods."""

    def __init__(self, process: Any) -> None:
        self.process = process

    def send(self, message: Any) -> None:
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def next(self) -> Any:
        return json.loads(self.process.stdout.readline())

    def ask(self, method: str, params: Any) -> Any:
        self.send(request(1, method, params))
        return self.next()["result"]

    def call(self, name: str, **arguments: Any) -> str:
        result = self.ask("tools/call", {"name": name, "arguments": arguments})
        return result["content"][0]["text"]


@contextmanager
def stdio_proxy(**options: Any) -> Iterator[Stdio]:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([*PROXY, "--", *FAULTY], **pipes, **options) as process:
        try:
            yield Stdio(process)
        finally:
            process.stdin.close()


def test_an_answer_of_100_mb_over_stdio_is_reported_and_takes_little_memory():
    with stdio_proxy() as proxy:
        proxy.call("echo")
        before = size(proxy.process, "VmRSS")
        assert "its answer is longer than the proxy forwards" in proxy.call("huge", n=100 * MB)
        assert size(proxy.process, "VmHWM") - before < MOST_ADDED
        assert '"echo"' in proxy.call("echo")


def test_a_flood_over_stdio_waits_until_the_client_reads(tmp_path: Path):
    fifo = tmp_path / "progress"
    os.mkfifo(fifo)
    environment = {**os.environ, "PROGRESS": str(fifo)}
    with (
        open(os.open(fifo, os.O_RDWR), "r+b", buffering=0) as progress,
        stdio_proxy(env=environment) as proxy,
    ):
        proxy.call("echo")
        before = size(proxy.process, "VmRSS")
        params = {"name": "flood", "arguments": {"n": FLOOD, "text": "x" * 1000}}
        proxy.send(request(2, "tools/call", params))
        # Until somebody reads, most of the flood must wait in the server.
        assert steps(progress) < FLOOD // 1000 // 2
        for number in range(FLOOD):
            assert proxy.next()["params"]["data"][0] == number
        assert proxy.next()["result"]["content"][0]["text"] == "flooded"
        assert size(proxy.process, "VmHWM") - before < MOST_ADDED


def steps(progress: Any) -> int:
    """The bytes that arrive until none has come for two seconds."""
    found = 0
    while select.select([progress], [], [], 2.0)[0]:
        found += len(progress.read(1))
    return found
