"""One API behind one gateway, in its own processes, and its answers: the bytes, and the part that a
model reads.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import socket
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import django_peer
from load import HERE, META, VERSION, message

SETTINGS = "servers.token_project.settings"
EXAMPLE = HERE.parent / "examples" / "crm"
PATIENCE = 300
"""Seconds that the first answer may take on a loaded machine."""
AUTHORIZATION = "Basic " + base64.b64encode(b"ann:demo").decode()

Dispatch = str | dict[str, list[str]] | None
"""The setting of a gateway: none (flat), one dispatcher for each resource or app, or named groups
of resources.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """An API as one gateway publishes it."""

    api: str
    """crm or wide."""
    gateway: str
    """toolbooth, frisian or openapi."""
    dispatch: Dispatch = None
    bulk_tools: bool = False
    """Toolbooth's setting of that name."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one message."""

    body: bytes
    """The bytes as received."""

    @property
    def result(self) -> dict[str, Any]:
        return json.loads(self.body)["result"]

    @property
    def text(self) -> str:
        """The part of a tool's result that a model reads."""
        return "\n".join(each["text"] for each in self.result["content"])

    @property
    def value(self) -> Any:
        return json.loads(self.text)

    @property
    def is_error(self) -> bool:
        return bool(self.result.get("isError"))


class Served:
    """A surface being served on loopback."""

    def __init__(self, surface: Surface, home: Path) -> None:
        """`home` contains the files that `wide.write` wrote, and the rows of each API."""
        self.surface = surface
        self._home = home
        self._stack = ExitStack()
        self._own = Path(self._stack.enter_context(TemporaryDirectory()))
        self._take_rows()
        gunicorn = [
            "gunicorn",
            "--worker-class=sync",
            "--workers=1",
            f"--timeout={PATIENCE}",
            "--log-level=error",
        ]
        address = self._serve(
            *gunicorn, "--bind=fd://{}", "django.core.wsgi:get_wsgi_application()"
        )
        if surface.gateway == "openapi":
            schema = self._own / "schema.json"
            self._manage("spectacular", "--format=openapi-json", f"--file={schema}")
            url = f"http://{address[0]}:{address[1]}"
            address = self._serve("servers.token_openapi", "{}", str(schema), url, AUTHORIZATION)
        self._client = HTTPConnection(*address, timeout=PATIENCE)
        self._stack.callback(self._client.close)

    def _take_rows(self) -> None:
        """The database of the API, which is filled on first use and shared by all gateways."""
        filled = self._home / f"{self.surface.api}.sqlite3"
        if not filled.exists():
            self._manage("seed")
            self._database.rename(filled)
        shutil.copy(filled, self._database)

    @property
    def _database(self) -> Path:
        return self._own / "database.sqlite3"

    @property
    def _environment(self) -> dict[str, str]:
        gateway = self.surface.gateway
        return {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": SETTINGS,
            "PYTHONPATH": os.pathsep.join(
                (str(EXAMPLE), str(self._home), os.environ.get("PYTHONPATH", ""))
            ),
            "BENCH_DATABASE": str(self._database),
            "BENCH_GATEWAY": "none" if gateway == "openapi" else gateway,
            "BENCH_API": self.surface.api,
            "BENCH_DISPATCH": json.dumps(self.surface.dispatch),
            "BENCH_BULK_TOOLS": json.dumps(self.surface.bulk_tools),
            "FASTMCP_LOG_LEVEL": "CRITICAL",
        }

    @property
    def _python(self) -> str:
        """frisian-mcp has its own environment."""
        return str(django_peer.python()) if self.surface.gateway == "frisian" else sys.executable

    def _manage(self, *command: str) -> None:
        line = [self._python, "-m", "django", *command]
        ran = subprocess.run(
            line, cwd=HERE, env=self._environment, capture_output=True, check=False
        )
        if ran.returncode:
            raise RuntimeError(f"{self.surface}: {' '.join(command)} failed\n{ran.stderr.decode()}")

    def _serve(self, *command: str) -> tuple[str, int]:
        """Start a module that serves on a socket, whose number replaces the braces. Returns the
        address.
        """
        with socket.create_server(("127.0.0.1", 0)) as listening:
            number = listening.fileno()
            process = subprocess.Popen(
                [self._python, "-m", *(each.replace("{}", str(number)) for each in command)],
                cwd=HERE,
                env=self._environment,
                pass_fds=[number],
                stdout=subprocess.DEVNULL,
            )
            self._stack.callback(process.wait)
            self._stack.callback(process.terminate)
            return listening.getsockname()

    def ask(self, method: str, **params: Any) -> Answer:
        """One 2026-07-28 message."""
        named = {"Mcp-Name": params["name"]} if "name" in params else {}
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Authorization": AUTHORIZATION,
            "MCP-Protocol-Version": VERSION,
            "Mcp-Method": method,
            **named,
        }
        self._client.request("POST", "/mcp", message(method, **params, _meta=META), headers)
        answer = self._client.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise AssertionError(
                f"{self.surface}, {method}: answered {answer.status} {body[:2000]!r}"
            )
        return Answer(body)

    def call(self, name: str, **arguments: Any) -> Answer:
        """One call of a tool."""
        return self.ask("tools/call", name=name, arguments=arguments)

    @cached_property
    def listing(self) -> list[Answer]:
        """All pages of `tools/list`."""
        pages = [self.ask("tools/list")]
        while cursor := pages[-1].result.get("nextCursor"):
            pages.append(self.ask("tools/list", cursor=cursor))
        return pages

    @cached_property
    def tools(self) -> dict[str, dict[str, Any]]:
        """Every tool that is listed, by name."""
        return {tool["name"]: tool for page in self.listing for tool in page.result["tools"]}

    def close(self) -> None:
        self._stack.close()
