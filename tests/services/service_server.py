"""The project of tests/services on a real server with two processes, and calls to it over HTTP."""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local_server import serving
from service_databases import Config

ROOT = Path(__file__).resolve().parent.parent.parent
PROJECT = Path(__file__).resolve().parent / "project"
WAIT_SECONDS = 60
PROCESSES = 2
THREADS = 20
"""In each process. All threads together stay below the connections that PostgreSQL allows."""


# --- the server ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A server, and the other things that tests examine besides its answers."""

    port: int
    config: Config
    gate: Gate
    hooks: Path
    log: Path

    @property
    def engine(self) -> str:
        return self.config["ENGINE"].rpartition(".")[2]


def gunicorn(port: int, threads: int = THREADS) -> list[str]:
    # So few connections that one process cannot handle all calls of a test.
    limits = (f"--threads={threads}", f"--worker-connections={2 * threads}", "--timeout=120")
    words = ("--preload", f"--workers={PROCESSES}", *limits, "--bind", f"127.0.0.1:{port}")
    return _command("gunicorn", *words, "service_wsgi:application")


def gunicorn_sync(port: int) -> list[str]:
    """One call at a time in each process."""
    return gunicorn(port, threads=1)


def uvicorn(port: int) -> list[str]:
    words = (f"--workers={PROCESSES}", f"--port={port}", "--log-level=warning")
    return _command("uvicorn", *words, "service_asgi:application")


def _command(*words: str) -> list[str]:
    return [sys.executable, "-m", *words]


@contextlib.contextmanager
def served(
    config: Config, folder: Path, command: Callable[[int], list[str]] = gunicorn
) -> Iterator[Served]:
    """The project on this database, which `prepare` has filled."""
    log, hooks = folder / "server.log", folder / "hooks"
    hooks.touch()
    with contextlib.closing(Gate()) as gate:
        variables = {
            **environment(config),
            "SERVICES_GATE": str(gate.port),
            "SERVICES_HOOKS": str(hooks),
        }
        with serving(command, log, variables) as address:
            port = int(address.rpartition(":")[2].partition("/")[0])
            yield Served(port=port, config=config, gate=gate, hooks=hooks, log=log)


def prepare(config: Config) -> None:
    """The tables, and the users ann and bob."""
    command = [sys.executable, str(PROJECT / "create_tables.py")]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = subprocess.run(command, env=environment(config), text=True, **pipes)
    if done.returncode:
        raise RuntimeError(f"the tables could not be created:\n{done.stdout}")


def environment(config: Config) -> dict[str, str]:
    """Return the environment of a process which runs the project."""
    folders = [str(PROJECT), str(ROOT / "src")]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(folders),
        "DJANGO_SETTINGS_MODULE": "service_settings",
        "SERVICES_DATABASE": json.dumps(config),
    }


class Gate:
    """Holds calls of `gated__create` inside their view until the test lets them go."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._socket.settimeout(WAIT_SECONDS)
        self.port = self._socket.getsockname()[1]

    @contextlib.contextmanager
    def holding(self) -> Iterator[Callable[[str], None]]:
        """Waits until a view is at the gate. The returned function takes the order for that view:
        `pass`, `refuse` or `crash`.
        """
        connection, _ = self._socket.accept()
        with connection:
            connection.settimeout(WAIT_SECONDS)
            connection.makefile().readline()
            yield lambda word: connection.sendall(f"{word}\n".encode())

    def close(self) -> None:
        self._socket.close()


# --- calls --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Answer:
    """The HTTP status, the JSON-RPC message, and the process that has answered."""

    status: int
    body: Mapping[str, Any]
    """If the answer is not JSON, its text as an error."""
    worker: str | None

    @property
    def result(self) -> Mapping[str, Any]:
        return self.body["result"]

    @property
    def failed(self) -> bool:
        return "error" in self.body or bool(self.result["isError"])

    @property
    def content(self) -> Mapping[str, Any]:
        """Return the receipt of a call that was made."""
        assert not self.failed, self.body
        return self.result["structuredContent"]

    @property
    def codes(self) -> list[str]:
        """Return the codes of the problems of a call that was refused, or the code of its failure."""
        return [each["code"] for each in self.told.get("problems", (self.told,))]

    @property
    def told(self) -> Mapping[str, Any]:
        """Return the gateway's message about a call that was not made."""
        return self.result["_meta"]["toolbooth"]


def call(
    port: int,
    tool: str,
    arguments: Mapping[str, Any],
    *,
    user: str = "ann",
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """Make one call over a connection of its own."""
    params = {"name": tool, "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    credentials = base64.b64encode(f"{user}:pw".encode()).decode()
    sent = {
        "Content-Type": "application/json",
        "Authorization": f"Basic {credentials}",
        **(headers or {}),
    }
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT_SECONDS)
    with contextlib.closing(connection):
        connection.request("POST", "/mcp", json.dumps(message), sent)
        reply = connection.getresponse()
        return Answer(reply.status, _message(reply.read()), reply.headers["X-Worker"])


def _message(body: bytes) -> Mapping[str, Any]:
    try:
        return json.loads(body)
    except ValueError:
        return {"error": body.decode(errors="replace")}


def all_at_once(number: int, one: Callable[[], Answer]) -> list[Answer]:
    """Return the answers to calls that are sent at the same moment."""
    ready = threading.Barrier(number, timeout=WAIT_SECONDS)

    def wait_and_call(_: int) -> Answer:
        ready.wait()
        return one()

    with ThreadPoolExecutor(number) as pool:
        return list(pool.map(wait_and_call, range(number)))


@contextlib.contextmanager
def in_background(one: Callable[[], Answer]) -> Iterator[Callable[[], Answer]]:
    """Sends a call without waiting; the returned function waits for the answer."""
    with ThreadPoolExecutor(1) as pool:
        under_way = pool.submit(one)
        yield lambda: under_way.result(WAIT_SECONDS)
