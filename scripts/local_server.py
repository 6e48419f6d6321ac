"""A server in its own process, on a free port of this machine."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path


@contextlib.contextmanager
def serving(
    command: Callable[[int], list[str]], log: Path, env: Mapping[str, str] | None = None
) -> Iterator[str]:
    """Its address, once it answers. The port is added to `command`, and its output is written to
    `log`.
    """
    port = _free_port()
    with log.open("wb") as out:
        server = subprocess.Popen(command(port), stdout=out, stderr=subprocess.STDOUT, env=env)
    try:
        _wait_for(server, port, log)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        server.terminate()
        server.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait_for(server: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and server.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    raise RuntimeError(f"the server did not start:\n{log.read_text()[-2000:]}")
