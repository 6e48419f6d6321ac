"""Servers in their own processes, and clients that load them with raw bytes, since only the
server's work counts.

The CPU time of a process is read from the kernel's clock for it, which counts nanoseconds and
includes every thread.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
CONNECTIONS = 8
IDLE = 0.005
"""Seconds after an answer until a server is idle."""
PATIENCE = 60
"""Seconds until a server must listen."""
VERSION = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
CPUS = sorted(os.sched_getaffinity(0)) if sys.platform == "linux" else [0]
SERVER_CPU, CLIENT_CPU = CPUS[0], CPUS[-1]


def request(method: str, **params: Any) -> bytes:
    """A whole HTTP request, as a 2026-07-28 client sends it."""
    body = message(method, **params, _meta=META)
    name = f"Mcp-Name: {params['name']}\r\n" if "name" in params else ""
    return (
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nContent-Type: application/json\r\n"
        f"Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {VERSION}\r\n"
        f"Mcp-Method: {method}\r\n{name}Content-Length: {len(body)}\r\n\r\n"
    ).encode() + body


def message(method: str, **params: Any) -> bytes:
    """One JSON-RPC request."""
    return json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, separators=(",", ":")
    ).encode()


class Process:
    """A server's process, and the processes that it starts."""

    def __init__(
        self, host: str, tools: int, *where: str, python: Path | str = sys.executable, **how: Any
    ) -> None:
        command = [python, "-m", "servers.start", host, str(tools), *where]
        # An environment of its own has no Toolbooth.
        paths = {"PYTHONPATH": str(HERE.parent / "src")}
        self._process = subprocess.Popen(command, cwd=HERE, env={**os.environ, **paths}, **how)

    @property
    def pipes(self) -> subprocess.Popen[bytes]:
        return self._process

    def cpu(self) -> float:
        return cpu_seconds(self._process.pid, *self._children())

    def _children(self) -> list[int]:
        number = self._process.pid
        path = Path(f"/proc/{number}/task/{number}/children")
        return [int(each) for each in path.read_text().split()]

    def resident(self) -> float:
        """Bytes in memory."""
        pages = Path(f"/proc/{self._process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def close(self) -> None:
        children = self._children()
        self._process.kill()
        self._process.wait()
        for each in children:  # granian's
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)


class HttpServer:
    """A server on loopback, with connections to it that are kept alive."""

    def __init__(
        self,
        host: str,
        tools: int = 10,
        web_server: str = "uvicorn",
        python: Path | str = sys.executable,
    ) -> None:
        self.name = host
        with socket.create_server(("127.0.0.1", 0), backlog=CONNECTIONS) as listening:
            address = listening.getsockname()
            number, passed = listening.fileno(), [listening.fileno()]
            if web_server == "granian":  # it opens its own socket
                listening.close()
                number, passed = address[1], []
            self.process = Process(
                host, tools, web_server, str(number), python=python, pass_fds=passed
            )
            pin(SERVER_CPU, self.process.pipes.pid)
            # They wait in the backlog until the server is ready to accept them.
            self._connections = [_connection(address) for _ in range(CONNECTIONS)]
        for each in self._connections:
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, sent: bytes) -> tuple[Any, int]:
        """Return the JSON answer to a request, and the size of the whole reply."""
        connection = self._connections[0]
        connection.sendall(sent)
        reply = b""
        while b"\r\n\r\n" not in reply:
            reply += _received(connection)
        head, _, body = reply.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split()[0])
        while len(body) < length:
            body += _received(connection)
        if not head.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(f"{self.name} answered {head + body!r}")
        return json.loads(body), len(head) + 4 + length

    def load(self, sent: bytes, size: int, count: int) -> float:
        """CPU seconds of the server per request, over `count` of them on all connections; a reply
        has `size` bytes.
        """
        before = self.process.cpu()
        with selectors.DefaultSelector() as selector:
            for connection in self._connections[:count]:
                selector.register(connection, selectors.EVENT_READ, [0])
                connection.sendall(sent)
            begun = open_ = min(count, len(self._connections))
            while open_:
                for key, _ in selector.select():
                    connection: Any = key.fileobj
                    part = _received(connection)
                    if key.data[0] == 0 and not part.startswith(b"HTTP/1.1 200"):
                        raise RuntimeError(f"{self.name} answered {part!r}")
                    key.data[0] += len(part)
                    if key.data[0] < size:
                        continue
                    if begun < count:
                        key.data[0] = 0
                        begun += 1
                        connection.sendall(sent)
                    else:
                        selector.unregister(connection)
                        open_ -= 1
        return (self.process.cpu() - before) / count

    def close(self) -> None:
        for each in self._connections:
            each.close()
        self.process.close()


class StdioServer:
    """A server on two pipes, on the CPU of its client, so that neither must wake up another CPU."""

    def __init__(self, host: str, tools: int = 10) -> None:
        self.name = host
        self.process = Process(host, tools, "stdio", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        pin(CLIENT_CPU, self.process.pipes.pid)
        info = {"name": "bench", "version": "1"}
        self.ask(
            message("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=info)
        )
        self._send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')

    def _send(self, line: bytes) -> None:
        pipe = self.process.pipes.stdin
        assert pipe is not None
        pipe.write(line + b"\n")
        pipe.flush()

    def ask(self, line: bytes) -> bytes:
        """Send one line, and wait for one."""
        self._send(line)
        pipe = self.process.pipes.stdout
        assert pipe is not None
        return pipe.readline()

    def seconds(self, line: bytes, count: int) -> float:
        """Wall time of a round trip."""
        start = time.perf_counter()
        for _ in range(count):
            self.ask(line)
        return (time.perf_counter() - start) / count

    def cpu(self, line: bytes, count: int) -> float:
        """CPU time of a round trip, of both ends."""
        start = self.process.cpu() + time.process_time()
        self.seconds(line, count)
        return (self.process.cpu() + time.process_time() - start) / count

    def close(self) -> None:
        self.process.close()


@contextmanager
def client_pinned() -> Iterator[None]:
    """This process on its own CPU."""
    before = os.sched_getaffinity(0)
    pin(CLIENT_CPU, 0)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def cpu_seconds(*processes: int) -> float:
    """The CPU time of processes so far, in all threads. Work that runs now is not included, so wait
    until they are idle.
    """
    time.sleep(IDLE)
    # The value that clock_getcpuclockid(3) returns for a process.
    return sum(time.clock_gettime((~each << 3) | 2) for each in processes)


def _connection(address: tuple[str, int]) -> socket.socket:
    """A connection to a server, which may not have opened its socket yet."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return socket.create_connection(address)
        except ConnectionRefusedError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


def pin(cpu: int, process: int) -> None:
    os.sched_setaffinity(process, {cpu})


def _received(connection: socket.socket) -> bytes:
    part = connection.recv(1 << 18)
    if not part:
        raise RuntimeError("the server closed the connection")
    return part
