"""`toolbooth serve --http` in a process of its own, and raw connections to it."""

import json
import re
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import parse_headers
from pathlib import Path
from typing import IO, Any

SERVER = Path(__file__).with_name("ending_server.py")
LIMIT = 30
"""Seconds after which a test fails."""

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
PONG = b'{"jsonrpc":"2.0","id":1,"result":{}}'
PROGRAM = """
import sys
if sys.argv.pop(1) == "h11":
    sys.modules["httptools"] = None  # as if it were not installed
from toolbooth.cli.entry import main
main()
"""


def tool_call(name: str, request_id: Any = 1, **params: Any) -> bytes:
    sent = {"name": name, "arguments": {}, **params}
    message = {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": sent}
    return json.dumps(message).encode()


def request(body: bytes, path: str = "/mcp", length: int | None = None) -> bytes:
    """Return a POST whose Content-Length is `length`, if given, instead of the length of its body."""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body) if length is None else length}\r\n\r\n"
    )
    return head.encode() + body


class Served:
    """A running server."""

    def __init__(self, child: "subprocess.Popen[bytes]", port: int) -> None:
        self.child = child
        self.port = port

    @contextmanager
    def connection(self) -> Iterator["Connection"]:
        with (
            socket.create_connection(("127.0.0.1", self.port), timeout=LIMIT) as opened,
            opened.makefile("rb") as reader,
        ):
            yield Connection(opened, reader)

    def ask(self, body: bytes) -> tuple[int, bytes]:
        with self.connection() as connection:
            return connection.ask(request(body))

    def says(self) -> bytes:
        """Return the next line on standard error."""
        assert self.child.stderr is not None
        return self.child.stderr.readline()

    def terminated(self) -> tuple[int, bytes]:
        """Return the exit code after SIGTERM, and the log."""
        self.child.send_signal(signal.SIGTERM)
        return self.ended()

    def ended(self) -> tuple[int, bytes]:
        assert self.child.stderr is not None
        logged = self.child.stderr.read()
        return self.child.wait(LIMIT), logged


class Connection:
    """A client that sends arbitrary bytes."""

    def __init__(self, opened: socket.socket, reader: IO[bytes]) -> None:
        self.socket = opened
        self.reader = reader

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def ask(self, data: bytes) -> tuple[int, bytes]:
        self.send(data)
        return self.answer()

    def answer(self) -> tuple[int, bytes]:
        """Return the status and the body of the next answer."""
        status = int(self.reader.readline().split()[1])
        headers = parse_headers(self.reader)
        if headers["transfer-encoding"] != "chunked":
            return status, self.reader.read(int(headers["content-length"] or -1))
        body = b""
        while size := int(self.reader.readline(), 16):
            body += self.reader.read(size)
            self.reader.readline()
        self.reader.readline()
        return status, body

    def drip(self, data: bytes, every: float) -> None:
        """Send a byte at a time, until the server answers."""
        for byte in data:
            if select.select([self.socket], [], [], every)[0]:
                return
            self.send(bytes([byte]))

    def rest(self) -> bytes:
        """Return all bytes until the end of the connection."""
        return self.reader.read()


@contextmanager
def served(*words: str, parser: str = "httptools") -> Iterator[Served]:
    target = f"{SERVER}:registry"
    command = [sys.executable, "-c", PROGRAM, parser, "serve", target, "--http", "0", *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as child:
        try:
            assert child.stderr is not None
            found = re.search(rb":(\d+)/mcp\n", child.stderr.readline())
            assert found is not None
            yield Served(child, int(found[1]))
        finally:
            child.kill()
