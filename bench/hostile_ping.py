"""Pings to a server that is sent the hostile corpus on another connection -> their latencies.

The server is `toolbooth serve --http` in its own process. A ping is due every 10 ms, and its
latency counts from then, so the delay of pings that wait for the previous one is included.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import quantiles

from servers.hostile import bodies

HERE = Path(__file__).parent
EVERY = 0.01
"""Seconds between two pings."""
TOOLBOOTH = "from toolbooth.cli.entry import main; main()"
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
CALL = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"%s","arguments":%s}}'
HEAD = (
    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Content-Length: %d\r\n\r\n"
)


def calls() -> dict[str, bytes]:
    """A whole message for each body of the corpus, by the name of the body."""
    return {each.name: CALL % (tool.encode(), each.body) for tool, each in bodies()}


@contextmanager
def serving() -> Iterator[int]:
    """The port of the server."""
    command = [sys.executable, "-W", "ignore", "-c", TOOLBOOTH, "serve"]
    target = ("servers.hostile:registry", "--http", "0")
    path = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
    with subprocess.Popen(
        [*command, *target],
        cwd=HERE,
        env={**os.environ, "PYTHONPATH": path},
        stderr=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stderr is not None
        try:
            # The command line shows warnings about tools first.
            addresses = (re.search(r":(\d+)/mcp$", line.strip()) for line in child.stderr)
            yield next(int(found[1]) for found in addresses if found is not None)
        finally:
            child.terminate()


def latencies(port: int, sent: list[bytes]) -> list[float]:
    """The seconds that each ping took while the messages were sent, one after the other."""
    return asyncio.run(_latencies(port, sent))


async def _latencies(port: int, sent: list[bytes]) -> list[float]:
    pinging = _Connections(port)
    found: list[float] = []

    async def ping(due: float) -> None:
        await asyncio.sleep(due - time.perf_counter())
        await pinging.ask(PING)
        found.append(time.perf_counter() - due)

    await pinging.ask(PING)
    sending = asyncio.ensure_future(_send_all(port, sent))
    pings: list[asyncio.Task[None]] = []
    due = time.perf_counter()
    while not sending.done():
        due += EVERY
        pings.append(asyncio.ensure_future(ping(due)))
        await asyncio.sleep(due - time.perf_counter())
    await asyncio.gather(sending, *pings)
    await pinging.close()
    return found


async def _send_all(port: int, sent: list[bytes]) -> None:
    sending = _Connections(port)
    for each in sent:
        await sending.ask(each)
    await sending.close()


class _Connections:
    """Connections to the server. More are opened if needed, so that no ping waits for another."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._free: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def ask(self, message: bytes) -> None:
        reader, writer = await self._open()
        writer.write(HEAD % len(message) + message)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        await reader.readexactly(int(head.partition(b"content-length:")[2].split()[0]))
        if head.split()[1] not in (b"200", b"400"):
            raise RuntimeError(f"the server answered {head!r}")
        self._free.append((reader, writer))

    async def _open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        while self._free:
            reader, writer = self._free.pop()
            if not reader.at_eof():  # the server closes connections that are idle for long
                return reader, writer
            writer.close()
        return await asyncio.open_connection("127.0.0.1", self._port)

    async def close(self) -> None:
        for _, writer in self._free:
            writer.close()
            await writer.wait_closed()


def rounds(count: int) -> Iterator[list[float]]:
    """The latencies of each round. In a round, every body of the corpus is sent once."""
    sent = list(calls().values())
    with serving() as port:
        latencies(port, sent)  # work that is done only on the first call
        for _ in range(count):
            yield latencies(port, sent)


def percentile(seconds: list[float], percent: int) -> float:
    """The time within which this percentage was answered."""
    return quantiles(seconds, n=100, method="inclusive")[percent - 1]


def _show_each() -> None:
    """Print how long each body delays pings: `python bench/hostile_ping.py`."""
    with serving() as port:
        found = {name: latencies(port, [body] * 3) for name, body in calls().items()}
    for name, seconds in sorted(found.items(), key=lambda item: max(item[1])):
        print(f"{max(seconds) * 1e3:7.1f} ms at most of {len(seconds):4} pings: {name}")


if __name__ == "__main__":
    _show_each()
