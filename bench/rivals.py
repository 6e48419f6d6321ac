"""The proxies that are compared, with the commands that start them. Each of the others has an
environment of its own under `.bench/`.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Literal

from environments import set_up
from load import HERE
from npm_packages import node, set_up_npm

Transport = Literal["stdio", "HTTP"]

PYPI = "0.13.0"
"""Of mcp-proxy. It needs an older SDK than Toolbooth's own tests, so constraints.txt has no pin."""
NPM = {"mcp-proxy": "6.7.19", "mcp-remote": "0.15.1", "supergateway": "4.0.0"}
FASTMCP = HERE / "servers/fastmcp_proxy.py"

OURS = "Toolbooth"
VERSIONS = {
    "mcp-proxy (PyPI)": PYPI,
    "mcp-proxy (npm)": NPM["mcp-proxy"],
    "mcp-remote": NPM["mcp-remote"],
    "supergateway": NPM["supergateway"],
    "FastMCP": version("fastmcp"),
}


@dataclass(frozen=True, slots=True)
class Target:
    """The server behind a proxy: its URL, or its command."""

    url: str = ""
    command: tuple[str, ...] = ()

    @property
    def words(self) -> list[str]:
        return [self.url] if self.url else list(self.command)


Command = Callable[[Target, int | None], list[str]]
"""Makes the command of a proxy for a target and a port. Without a port, the proxy uses stdio."""


def toolbooth(target: Target, port: int | None) -> list[str]:
    start = [sys.executable, "-c", "from toolbooth.cli.entry import main; main()", "proxy"]
    served = [] if port is None else ["--http", str(port)]
    return [*start, *served, *([target.url] if target.url else ["--", *target.command])]


def pypi_proxy(python: Path, target: Target, port: int | None) -> list[str]:
    start = [str(python.with_name("mcp-proxy")), "--log-level", "ERROR"]
    if port is None:
        return [*start, "--transport", "streamablehttp", target.url]
    return [*start, "--pass-environment", "--port", str(port), "--", *target.command]


def npm_proxy(home: Path, target: Target, port: int | None) -> list[str]:
    start = node(home, "mcp-proxy/dist/bin/mcp-proxy.mjs")
    return [*start, "--host", "127.0.0.1", "--port", str(port), "--", *target.command]


def mcp_remote(home: Path, target: Target, port: int | None) -> list[str]:
    return [*node(home, "mcp-remote/dist/proxy.js"), target.url, "--transport", "http-only"]


def supergateway(home: Path, target: Target, port: int | None) -> list[str]:
    start = [*node(home, "supergateway/dist/index.js"), "--logLevel", "none"]
    if port is None:
        return [*start, "--streamableHttp", target.url]
    served = ["--outputTransport", "streamableHttp", "--stateful", "--port", str(port)]
    return [*start, "--stdio", shlex.join(target.command), *served]


def fastmcp_proxy(python: Path, sessions: str, target: Target, port: int | None) -> list[str]:
    where = "stdio" if port is None else str(port)
    return [str(python), str(FASTMCP), sessions, where, *target.words]


@dataclass(frozen=True, slots=True)
class Leg:
    """The transport of the client, and that of the server."""

    client: Transport
    server: Transport

    @property
    def name(self) -> str:
        return f"{self.client} → {self.server}"


LEGS = (Leg("HTTP", "HTTP"), Leg("stdio", "stdio"), Leg("HTTP", "stdio"), Leg("stdio", "HTTP"))


def proxies() -> Mapping[Leg, Mapping[str, Command]]:
    """The proxies for each pair of transports. Installs them if necessary."""
    pypi = set_up("mcp-proxy", f"mcp-proxy=={PYPI}", constrained=False)
    fastmcp = set_up("fastmcp", "fastmcp")
    npm = set_up_npm("npm-proxies", *(f"{name}@{number}" for name, number in NPM.items()))
    both: dict[str, Command] = {
        OURS: toolbooth,
        "FastMCP": lambda *given: fastmcp_proxy(fastmcp, "new", *given),
        "FastMCP, one session": lambda *given: fastmcp_proxy(fastmcp, "same", *given),
    }
    of_pypi: dict[str, Command] = {"mcp-proxy (PyPI)": lambda *given: pypi_proxy(pypi, *given)}
    of_npm: dict[str, Command] = {
        "mcp-proxy (npm)": lambda *given: npm_proxy(npm, *given),
        "mcp-remote": lambda *given: mcp_remote(npm, *given),
        "supergateway": lambda *given: supergateway(npm, *given),
    }
    from_http = {name: of_npm[name] for name in ("mcp-proxy (npm)", "supergateway")}
    from_stdio = {name: of_npm[name] for name in ("mcp-remote", "supergateway")}
    found = (both, both, {**both, **of_pypi, **from_http}, {**both, **of_pypi, **from_stdio})
    return dict(zip(LEGS, found, strict=True))
