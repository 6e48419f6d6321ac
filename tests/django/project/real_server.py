"""A project on gunicorn or uvicorn, in a process of its own, and messages to it."""

import contextlib
import http.client
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

PROGRAM = Path(__file__).with_name("bare_server.py")
BASIC = {"Authorization": "Basic YW5uOnB3"}
"""The user ann, whom the server creates when it starts."""


@contextlib.contextmanager
def served(
    server: str, folder: Path, root: str = "", settings: str = "bare_settings"
) -> Iterator[int]:
    """Yield the port of a server in a process of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {
        **os.environ,
        "CRM_DATABASE": str(folder / "crm.sqlite3"),
        "CRM_DEBUG": "0",
        "DJANGO_SETTINGS_MODULE": settings,
    }
    command = [sys.executable, str(PROGRAM), server, str(port), root]
    process = subprocess.Popen(
        command, env=environment, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    try:
        while process.poll() is None:
            with (
                contextlib.suppress(OSError),
                socket.create_connection(("127.0.0.1", port), timeout=1),
            ):
                break
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=0.1)
        assert process.poll() is None, f"the server ended with {process.returncode}"
        yield port
    finally:
        process.terminate()
        process.wait(timeout=30)


def post(port: int, message: dict, headers: dict | None = None, path: str = "/mcp/"):
    sent = {"Content-Type": "application/json", **(BASIC if headers is None else headers)}
    with contextlib.closing(
        http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    ) as connection:
        connection.request("POST", path, json.dumps(message), sent)
        reply = connection.getresponse()
        return reply.status, reply.headers, reply.read()


def call(tool, **arguments):
    return {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    }
