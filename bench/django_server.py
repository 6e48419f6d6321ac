"""The project of the bench in its own server with its own database, and a client that loads it."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from http.client import HTTPConnection
from itertools import count
from pathlib import Path
from typing import Any

import django_peer
from load import HERE, META, SERVER_CPU, VERSION, cpu_seconds, message, pin

SETTINGS = "servers.django_project.settings"
FURTHER = 165
"""Resources of six tools each. With contacts, and companies and tags that can only be read: 1,000
tools.
"""

PATIENCE = 300
"""Seconds that the first answer may take on a loaded machine, with a thousand tools to describe."""

CALLERS = {"gunicorn": 2, "uvicorn": 1}
"""The number of callers. With two, one waits while the other is served, so that a worker never
sleeps; in uvicorn two would compete for the GIL.
"""

NUMBER = "#number#"
"""In a body: replaced by a new number for each request. The gateways look equal creates up, to tell
the caller that one may have been sent twice.
"""

_CONTACTS = "django_project_contact"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One HTTP request and the expected status."""

    method: str
    path: str
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict[str, str])
    user: str | None = "ann"
    status: int = 200

    def numbered_body(self, number: int) -> bytes:
        return self.body.replace(NUMBER.encode(), b"%08d" % number)


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """The configuration with which a server runs the project."""

    database: Path
    gateway: str = "toolbooth"
    server: str = "gunicorn"
    resources: int = 0
    permissions: str = "watched"
    dispatch: str | None = None
    middleware: str | None = None

    @property
    def python(self) -> str:
        """Each gateway has its own environment."""
        return str(django_peer.python()) if self.gateway == "frisian" else sys.executable

    @property
    def environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": SETTINGS,
            "BENCH_DATABASE": str(self.database),
            "BENCH_GATEWAY": self.gateway,
            "BENCH_SERVER": self.server,
            "BENCH_RESOURCES": str(self.resources),
            "BENCH_PERMISSIONS": self.permissions,
            "BENCH_DISPATCH": self.dispatch or "",
            "BENCH_MIDDLEWARE": self.middleware or "",
        }

    def start(self, *command: str, **how: Any) -> subprocess.Popen[bytes]:
        """A Python process with the project in its environment."""
        return subprocess.Popen(
            [self.python, "-m", *command], cwd=HERE, env=self.environment, **how
        )

    def manage(self, *command: str) -> str:
        """Return the output of a command of the project."""
        process = self.start("django", *command, stdout=subprocess.PIPE)
        printed, _ = process.communicate()
        if process.returncode:
            raise RuntimeError(f"{self}: {' '.join(command)} failed")
        return printed.decode()

    def serving(self, number: int) -> list[str]:
        """The module that serves the project on a listening socket, with its arguments."""
        if self.server == "uvicorn":
            return ["servers.django_asgi", str(number)]
        gunicorn = ["gunicorn", "--worker-class=sync", "--workers=1", f"--timeout={PATIENCE}"]
        return [
            *gunicorn,
            "--log-level=error",
            f"--bind=fd://{number}",
            "django.core.wsgi:get_wsgi_application()",
        ]


class DjangoServer:
    """A server on loopback, and its callers. Each waits for an answer before its next request."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._numbers = count()
        project.manage("seed")
        with socket.create_server(("127.0.0.1", 0)) as listening:
            number = listening.fileno()
            command = project.serving(number)
            self._process = project.start(*command, pass_fds=[number], stdout=subprocess.DEVNULL)
            pin(SERVER_CPU, self._process.pid)
            # They wait in the backlog until the server is ready to accept them.
            address = listening.getsockname()
            self._clients = [
                HTTPConnection(*address, timeout=PATIENCE) for _ in range(CALLERS[project.server])
            ]
            self._clients[0].connect()
        # gunicorn ends a worker that waits for a request for PATIENCE seconds, and it may take
        # longer to start all servers. So the connection is used, and closed, at once.
        self.asked()
        self._clients[0].close()

    @cached_property
    def _worker(self) -> int:
        """The process that answers: gunicorn's only child, or uvicorn itself."""
        children = (
            Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text().split()
        )
        return int(children[0]) if children else self._process.pid

    def ask(self, exchange: Exchange) -> Any:
        """Return the JSON answer to a request."""
        self._send(self._clients[0], exchange)
        return self._received(self._clients[0], exchange)

    def cpu(self, exchange: Exchange, times: int) -> float:
        """CPU seconds of the server per request."""
        callers = self._clients[:times]
        before = cpu_seconds(self._worker)
        for caller in callers:
            self._send(caller, exchange)
        for number in range(times):
            caller = callers[number % len(callers)]
            self._received(caller, exchange)
            if number + len(callers) < times:
                self._send(caller, exchange)
        return (cpu_seconds(self._worker) - before) / times

    def _send(self, client: HTTPConnection, exchange: Exchange) -> None:
        known = {"Authorization": f"Token token-of-{exchange.user}"} if exchange.user else {}
        headers = {"Content-Type": "application/json", **known, **exchange.headers}
        body = exchange.numbered_body(next(self._numbers))
        client.request(exchange.method, exchange.path, body or None, headers)

    def _received(self, client: HTTPConnection, exchange: Exchange) -> Any:
        answer = client.getresponse()
        body = answer.read()
        if answer.status != exchange.status:
            raise AssertionError(
                f"{self.project}, {exchange}: answered {answer.status} {body[:2000]!r}"
            )
        return (
            json.loads(body)
            if answer.getheader("Content-Type", "").startswith("application/json")
            else body
        )

    def asked(self) -> dict[str, int]:
        """How often authentication, permissions and the throttle ran since the last time."""
        return self.ask(Exchange(method="GET", path="/asked", user=None))

    def created(self, like: dict[str, Any]) -> int:
        """The number of complete rows that were created, with their tags. They are deleted."""
        with (
            closing(sqlite3.connect(self.project.database, timeout=PATIENCE)) as database,
            database,
        ):
            columns = {name: each for name, each in like.items() if not isinstance(each, list)}
            columns["company_id"] = columns.pop("company").replace("-", "")
            where = " AND ".join(
                f"{name} {'GLOB' if NUMBER in str(each) else '='} ?"
                for name, each in columns.items()
            )
            values = [
                each.replace(NUMBER, "[0-9]" * len(NUMBER)) if isinstance(each, str) else each
                for each in columns.values()
            ]
            found = database.execute(f"SELECT id FROM {_CONTACTS} WHERE {where}", values)
            rows = found.fetchall()
            tags = len(like["tags"])
            for row in rows:
                linked = database.execute(
                    f"DELETE FROM {_CONTACTS}_tags WHERE contact_id = ?", row
                ).rowcount
                database.execute(f"DELETE FROM {_CONTACTS} WHERE id = ?", row)
                if linked != tags:
                    raise AssertionError(f"{self.project}: a row with {linked} tags, not {tags}")
            blank = database.execute(
                f"SELECT count(*) FROM {_CONTACTS} WHERE email = ''"
            ).fetchone()[0]
        if blank:
            raise AssertionError(f"{self.project}: {blank} blank rows")
        return len(rows)

    def close(self) -> None:
        for each in self._clients:
            each.close()
        self._process.terminate()  # gunicorn ends its worker too
        self._process.wait()


def over_mcp(method: str, user: str | None = "ann", status: int = 200, **params: Any) -> Exchange:
    """A 2026-07-28 message."""
    named = {"Mcp-Name": params["name"]} if "name" in params else {}
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": VERSION,
        "Mcp-Method": method,
        **named,
    }
    body = message(method, **params, _meta=META)
    return Exchange(
        method="POST", path="/mcp", body=body, headers=headers, user=user, status=status
    )
