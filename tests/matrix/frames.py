"""JSON-RPC frames as bytes, over a pipe or HTTP: every official client would read and write them
anew.

In: the command of a server, a revision, and numbered calls. Out: the replies by number; no entry
where none came.
"""

import http.client
import json
import subprocess
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import Any

HANDSHAKE = "2025-11-25"
STATELESS = "2026-07-28"

META = {
    "io.modelcontextprotocol/protocolVersion": STATELESS,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "matrix", "version": "1"},
}
INITIALIZE = {
    "protocolVersion": HANDSHAKE,
    "capabilities": {},
    "clientInfo": {"name": "matrix", "version": "1"},
}
INITIALIZED = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
AT_ONCE = 40
"""Frames that are in progress together: fewer bytes than a pipe holds, so that neither side waits
for the other.
"""

Numbered = tuple[int, str, bytes]
"""A call: its id, its tool, the bytes of its arguments."""

Replies = dict[int, dict[str, Any]]


def call_frame(number: int, tool: str, arguments: bytes, revision: str) -> bytes:
    meta = b'"_meta":%s,' % json.dumps(META).encode() if revision == STATELESS else b""
    sent = b',"arguments":%s' % arguments if arguments else b""
    params = b'{%s"name":"%s"%s}' % (meta, tool.encode(), sent)
    return b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}' % (number, params)


def initialize_frame() -> bytes:
    return json.dumps(
        {"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": INITIALIZE}
    ).encode()


# --- over pipes ------------------------------------------------------------------------------------------------


class Stdio:
    """A server at the other end of two pipes."""

    def __init__(self, process: subprocess.Popen[bytes], revision: str) -> None:
        self.process = process
        self.revision = revision
        self.replies: Replies = {}
        self.alone = 0
        if revision == HANDSHAKE:
            self._write(initialize_frame())
            assert "result" in json.loads(self.process.stdout.readline())
            self._write(INITIALIZED)

    def call_together(self, calls: list[Numbered]) -> None:
        """Calls that every server answers, many at once."""
        for start in range(0, len(calls), AT_ONCE):
            batch = calls[start : start + AT_ONCE]
            self._write(b"\n".join(self._frame(*call) for call in batch))
            while any(number not in self.replies for number, _, _ in batch):
                self._take()

    def call_alone(self, number: int, tool: str, arguments: bytes) -> None:
        """A call whose answer may not name it, or may never arrive: a call that is answered follows
        it.
        """
        self.alone = number
        self._write(
            self._frame(number, tool, arguments)
            + b"\n"
            + self._frame(-number, "no_arguments", b"{}")
        )
        while -number not in self.replies:
            self._take()

    def finish(self) -> None:
        """At the end of its input a server has sent all of its answers."""
        self.process.stdin.close()
        for line in self.process.stdout:
            self._keep(line)

    def _frame(self, number: int, tool: str, arguments: bytes) -> bytes:
        # A line is a frame: a new line is not white space between tokens.
        return call_frame(number, tool, arguments.replace(b"\n", b" "), self.revision)

    def _write(self, frames: bytes) -> None:
        self.process.stdin.write(frames + b"\n")
        self.process.stdin.flush()

    def _take(self) -> None:
        line = self.process.stdout.readline()
        assert line, "the server is gone"
        self._keep(line)

    def _keep(self, line: bytes) -> None:
        reply = json.loads(line)
        self.replies[self.alone if reply.get("id") is None else reply["id"]] = reply


def over_stdio(
    command: list[str], revision: str, together: list[Numbered], alone: Iterable[Numbered]
) -> Replies:
    with running(command) as process:
        server = Stdio(process, revision)
        server.call_together(together)
        for call in alone:
            server.call_alone(*call)
        server.finish()
        return server.replies


# --- over HTTP -------------------------------------------------------------------------------------------------


class Http:
    """A server behind one connection."""

    def __init__(self, port: int, revision: str) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port)
        self.headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        self.revision = revision
        if revision == HANDSHAKE:
            reply, session = self._post(initialize_frame())
            assert "result" in json.loads(reply)
            self.headers |= {
                "MCP-Protocol-Version": HANDSHAKE,
                **({"Mcp-Session-Id": session} if session else {}),
            }
            self._post(INITIALIZED)
        else:
            self.headers |= {"MCP-Protocol-Version": STATELESS, "Mcp-Method": "tools/call"}

    def call(self, number: int, tool: str, arguments: bytes) -> dict[str, Any]:
        if self.revision == STATELESS:
            self.headers["Mcp-Name"] = tool
        reply, _ = self._post(call_frame(number, tool, arguments, self.revision))
        return json.loads(reply)

    def _post(self, body: bytes) -> tuple[bytes, str | None]:
        self.connection.request("POST", "/mcp", body, self.headers)
        answer = self.connection.getresponse()
        return answer.read(), answer.getheader("Mcp-Session-Id")


def over_http(
    command: list[str], revision: str, together: list[Numbered], alone: Iterable[Numbered]
) -> Replies:
    with running(command) as process:
        server = Http(int(process.stdout.readline()), revision)
        replies = {call[0]: server.call(*call) for call in (*together, *alone)}
        server.connection.close()
        process.terminate()
        return replies


@contextmanager
def running(command: list[str]) -> Generator[subprocess.Popen[bytes]]:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, **pipes) as process:
        try:
            yield process
        except BaseException:
            process.kill()
            raise


TRANSPORTS = {"stdio": over_stdio, "http": over_http}
