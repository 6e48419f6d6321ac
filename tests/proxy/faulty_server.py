"""A server on stdio that misbehaves by the tool that is called. It adds every line that it reads to the
file in SEEN, byte for byte. Run: python faulty_server.py
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

SEEN = os.environ.get("SEEN")
TOOLS = os.environ.get("TOOLS")
"""A file with the list of tools, which may change between two starts."""
ANY = {"type": "object", "properties": {"n": {"type": "integer"}, "text": {"type": "string"}}}
NAMES = [
    "echo",
    "crash",
    "crash_after",
    "hang",
    "huge",
    "flood",
    "garbage",
    "wrong_id",
    "twice",
    "ask",
    "close",
]
HINTS = {
    "hang": {"idempotentHint": True},
    "crash": {},
    "crash_after": {"readOnlyHint": True},
    "echo": {"readOnlyHint": True},
}


asking: list[Any] = []
"""The calls that wait for an answer of the client."""


def tools() -> list[Any]:
    if TOOLS:
        return json.loads(Path(TOOLS).read_text())
    return [
        {"name": name, "inputSchema": ANY, "annotations": HINTS.get(name, {})} for name in NAMES
    ]


def send(message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def answer(request: Any, text: str, request_id: Any = None) -> None:
    content = {"content": [{"type": "text", "text": text}]}
    send({"id": request["id"] if request_id is None else request_id, "result": content})


def flood(n: int, text: str | None = None) -> None:
    """Send n notifications. The file PROGRESS gets a byte after each thousand."""
    path = os.environ.get("PROGRESS")
    progress = None if path is None else os.open(path, os.O_WRONLY)
    for number in range(n):
        data = number if text is None else [number, text]
        send({"method": "notifications/message", "params": {"level": "info", "data": data}})
        if progress is not None and number % 1000 == 999:
            os.write(progress, b".")


def called(request: Any, line: str) -> None:
    params = request["params"]
    name = params["name"]
    if name == "crash":
        os._exit(3)
    if name == "huge":
        answer(request, "x" * params["arguments"].get("n", 20_000_000))
    elif name == "flood":
        flood(**params["arguments"])
        answer(request, "flooded")
    elif name == "garbage":
        sys.stdout.write("Server listening on port 3000\n[1, 2\n")
        answer(request, "after garbage")
    elif name == "wrong_id":
        answer(request, "for nobody", 99_999)
        answer(request, "for you")
    elif name == "twice":
        answer(request, "once")
        answer(request, "again")
    elif name == "crash_after":
        answer(request, "done")
        os._exit(4)
    elif name == "close":
        os.close(1)
    elif name == "ask":
        asking.append(request["id"])
        send({"id": "q-1", "method": "sampling/createMessage", "params": {"text": "1.50"}})
    elif name != "hang":
        answer(request, line)
    elif params["arguments"].get("text") == "ping":
        send({"id": "p-1", "method": "ping"})


def take(line: str) -> None:
    message = json.loads(line)
    method = message.get("method")
    if method == "initialize":
        capabilities = {"tools": {"listChanged": True}}
        info = {"name": "faulty", "version": "1"}
        result = {
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "serverInfo": info,
        }
        send({"id": message["id"], "result": result})
    elif method == "tools/list":
        send({"id": message["id"], "result": {"tools": tools()}})
    elif method == "tools/call":
        called(message, line)
    elif method is None:
        send({"method": "notifications/answered", "params": message})
        answer({"id": asking[0]}, "asked")
    elif "id" in message:
        send({"id": message["id"], "result": {"line": line}})


def main() -> None:
    if os.environ.get("DIES"):
        sys.exit(7)
    if os.environ.get("GRANDCHILD"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        # A process that neither reads its input nor obeys SIGTERM, as behind `npx`.
        ignoring = "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(600)"
        child = subprocess.Popen([sys.executable, "-c", ignoring], stdin=subprocess.DEVNULL)
        Path(os.environ["GRANDCHILD"]).write_text(str(child.pid))
    for line in sys.stdin.buffer:
        if SEEN:
            with open(SEEN, "ab") as seen:
                seen.write(line)
        take(line.decode())
    if os.environ.get("GRANDCHILD"):
        signal.pause()


main()
