"""Clients that call through a proxy with raw bytes, over stdio and HTTP, in the handshake revision.

The same client calls the server directly, so that the difference is the proxy's.
"""

from __future__ import annotations

import http.client
import os
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Protocol

from load import HERE, VERSION, cpu_seconds, message

HANDSHAKE = "2025-11-25"
PATIENCE = 30.0
_PROTOCOL = {
    "protocolVersion": HANDSHAKE,
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}
_INITIALIZED = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'


class Client(Protocol):
    """Sends one message and waits for its answer."""

    def ask(self, body: bytes) -> bytes: ...
    def close(self) -> None: ...


class Stdio:
    """A client on the two pipes of a process."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.source, self.sink = process.stdout, process.stdin
        self.ask(message("initialize", **_PROTOCOL))
        self.sink.write(_INITIALIZED + b"\n")
        self.sink.flush()

    def ask(self, body: bytes) -> bytes:
        self.sink.write(body + b"\n")
        self.sink.flush()
        while True:
            line = self.source.readline()
            if not line:
                raise RuntimeError("the process has ended")
            # Some proxies send notifications of their own.
            if b'"result"' in line or b'"error"' in line:
                return line

    def close(self) -> None:
        with suppress(OSError):
            self.sink.close()


class Http:
    """A client on one connection that is kept alive. With the name of a tool, it sends calls of
    this tool in 2026-07-28, which has no handshake.
    """

    def __init__(self, port: int, *, name: str = "") -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        self.headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        if name:
            self.headers |= {"MCP-Protocol-Version": VERSION, "Mcp-Method": "tools/call"}
            self.headers["Mcp-Name"] = name
            return
        _, session = self._post(message("initialize", **_PROTOCOL))
        self.headers["MCP-Protocol-Version"] = HANDSHAKE
        if session is not None:
            self.headers["Mcp-Session-Id"] = session
        self._post(_INITIALIZED)

    def ask(self, body: bytes) -> bytes:
        answer, _ = self._post(body)
        if answer[:1] == b"{":
            return answer
        # A stream of events.
        lines = [line[5:].strip() for line in answer.splitlines() if line.startswith(b"data:")]
        return next(line for line in lines if b'"result"' in line or b'"error"' in line)

    def _post(self, body: bytes) -> tuple[bytes, str | None]:
        try:
            self.connection.request("POST", "/mcp", body, self.headers)
            answer = self.connection.getresponse()
        except ConnectionError:  # it was closed while other proxies were measured
            self.connection.close()
            self.connection.request("POST", "/mcp", body, self.headers)
            answer = self.connection.getresponse()
        return answer.read(), answer.getheader("Mcp-Session-Id")

    def close(self) -> None:
        self.connection.close()


class Running:
    """A started process and a client of it."""

    def __init__(self, process: subprocess.Popen[bytes], client: Client) -> None:
        self.process = process
        self.client = client

    def seconds(self, body: bytes, count: int) -> list[float]:
        """The wall time of each call."""
        found: list[float] = []
        for _ in range(count):
            start = time.perf_counter()
            self.client.ask(body)
            found.append(time.perf_counter() - start)
        return found

    def cpu(self) -> float:
        """The CPU time of the process so far, without its children."""
        return cpu_seconds(self.process.pid)


@contextmanager
def started(command: Sequence[str], *, port: int | None) -> Iterator[Running]:
    """A process that serves on a port, or on its pipes if there is none."""
    pipe = subprocess.PIPE if port is None else None
    process = subprocess.Popen(
        command,
        cwd=HERE,
        stdin=pipe or subprocess.DEVNULL,
        stdout=pipe or subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        if port is None:
            client: Client = Stdio(process)
        else:
            _wait_for(process, port)
            client = Http(port)
        try:
            yield Running(process, client)
        finally:
            client.close()
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, 9)
        process.wait()


def _wait_for(process: subprocess.Popen[bytes], port: int) -> None:
    end = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < end:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    raise RuntimeError(f"{process.args!r} does not listen on {port}")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]
