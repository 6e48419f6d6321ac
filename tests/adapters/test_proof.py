"""`protect` checks once per process and host that the installed version can be protected."""

import asyncio
import logging
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from fastmcp import FastMCP
from fastmcp.server.providers import LocalProvider
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.tools import ToolManager
from mcp.server.runner import ServerRunner

from toolbooth import is_protected, protect
from toolbooth.adapters import fastmcp as fastmcp_adapter
from toolbooth.adapters import lowlevel, mcp_sdk, proof
from toolbooth.adapters.kinds import TESTED, untested

HOSTS: list[Any] = [FastMCP, MCPServer, Server]
KIND = {FastMCP: "fastmcp", MCPServer: "mcp_sdk", Server: "lowlevel"}
ADAPTERS = {FastMCP: fastmcp_adapter, MCPServer: mcp_sdk, Server: lowlevel}

NOT_WITH_THE_SDK = (
    "protect() does not work with mcp 2.3.0; this version of Toolbooth is tested with mcp 2.3.0: "
    "pip install mcp==2.3.0, or upgrade Toolbooth"
)
NOT_WITH_FASTMCP = (
    "protect() does not work with fastmcp 4.1.2 and mcp 2.3.0; this version of Toolbooth is tested "
    "with fastmcp 4.1.2 and mcp 2.3.0: pip install fastmcp==4.1.2 mcp==2.3.0, or upgrade Toolbooth"
)


@pytest.fixture(autouse=True)
def _nothing_is_proven(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(proof, "_proven", set())


def ignored(name: str) -> property:
    """An attribute that a newer version of a host computes itself: assignments to it are ignored."""

    def get(server: Any) -> Any:
        return vars(server)[f"own_{name}"]

    def set_once(server: Any, value: Any) -> None:
        vars(server).setdefault(f"own_{name}", value)

    return property(get, set_once)


def without_patches(kind: type, *names: str) -> Any:
    """A `__getattribute__` for a newer version whose methods cannot be replaced on one object."""
    get = kind.__getattribute__

    def get_own(self: Any, name: str) -> Any:
        return getattr(kind, name).__get__(self) if name in names else get(self, name)

    return get_own


def test_an_sdk_that_ignores_the_tool_manager_is_detected(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(MCPServer, "_tool_manager", ignored("_tool_manager"), raising=False)
    monkeypatch.setattr(ToolManager, "_tools", ignored("_tools"), raising=False)
    own = without_patches(ToolManager, "get_tool")
    monkeypatch.setattr(ToolManager, "__getattribute__", own)
    server = MCPServer("x")
    for attempt in (protect, mcp_sdk.protect):
        with pytest.raises(RuntimeError) as raised:
            attempt(server)
        assert str(raised.value) == NOT_WITH_THE_SDK
        assert "was not refused" in str(raised.value.__cause__)
    assert not is_protected(server)


def test_an_sdk_that_ignores_middleware_is_detected(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ServerRunner, "_compose_server_middleware", lambda self, inner: inner)
    server = Server("x")
    for attempt in (protect, lowlevel.protect):
        with pytest.raises(RuntimeError) as raised:
            attempt(server)
        assert str(raised.value) == NOT_WITH_THE_SDK
    assert not is_protected(server)


def test_an_sdk_that_looks_handlers_up_elsewhere_is_detected(monkeypatch: pytest.MonkeyPatch):
    # The guard refuses a call in place of the handler, so the server must look up the handler.
    own = without_patches(Server, "get_request_handler")
    monkeypatch.setattr(Server, "__getattribute__", own)
    with pytest.raises(RuntimeError) as raised:
        protect(Server("x"))
    assert str(raised.value) == NOT_WITH_THE_SDK


def test_a_fastmcp_that_ignores_our_containers_is_detected(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(LocalProvider, "_components", ignored("_components"), raising=False)
    monkeypatch.setattr(FastMCP, "_transforms", ignored("_transforms"), raising=False)
    for kind in (FastMCP, LocalProvider):
        own = without_patches(kind, "get_tool", "_get_tool")
        monkeypatch.setattr(kind, "__getattribute__", own)
    server = FastMCP("x")
    for attempt in (protect, fastmcp_adapter.protect):
        with pytest.raises(RuntimeError) as raised:
            attempt(server)
        assert str(raised.value) == NOT_WITH_FASTMCP


def test_a_host_that_raises_is_detected(monkeypatch: pytest.MonkeyPatch):
    server = FastMCP("x")
    read_only = property(lambda provider: {})
    monkeypatch.setattr(LocalProvider, "_components", read_only, raising=False)
    with pytest.raises(RuntimeError) as raised:
        protect(server)
    assert str(raised.value) == NOT_WITH_FASTMCP
    assert isinstance(raised.value.__cause__, AttributeError)


@pytest.mark.parametrize("host", HOSTS)
def test_proof_runs_once_for_both_protect_functions(host: Any, monkeypatch: pytest.MonkeyPatch):
    made: list[str] = []
    make = host.__init__

    def noted(self: Any, name: str, **how: Any) -> None:
        made.append(f"{type(self).__name__} {name}")
        make(self, name, **how)

    monkeypatch.setattr(host, "__init__", noted)
    ADAPTERS[host].protect(host("x"))
    protect(host("y"))
    protect(type("Own", (host,), {})("z"))
    name = host.__name__
    assert made == [f"{name} x", f"{name} toolbooth_probe", f"{name} y", "Own z"]
    assert proof._proven == {KIND[host]}


@pytest.mark.parametrize("host", HOSTS)
def test_the_probe_never_instantiates_a_users_class(host: Any):
    made: list[str] = []

    class Own(host):
        def __init__(self, name: str) -> None:
            made.append(name)
            super().__init__(name)

    protect(Own("own"))
    assert made == ["own"]


@pytest.mark.parametrize("host", HOSTS)
def test_the_proof_works_if_every_new_server_is_protected(
    host: Any, monkeypatch: pytest.MonkeyPatch
):
    make = host.__init__

    def protected(self: Any, *args: Any, **how: Any) -> None:
        make(self, *args, **how)
        protect(self)

    monkeypatch.setattr(host, "__init__", protected)
    assert is_protected(host("x"))


@pytest.mark.parametrize("host", HOSTS)
def test_the_proof_works_in_a_running_event_loop_and_cleans_up(host: Any, caplog: Any):
    async def run() -> Any:
        return protect(host("x"))

    threads = threading.active_count()
    assert is_protected(asyncio.run(run()))
    assert threading.active_count() == threads
    assert caplog.records == []


def test_only_the_probes_own_lines_are_kept_out_of_the_logs(caplog: pytest.LogCaptureFixture):
    logger = logging.getLogger("fastmcp.server.server")
    caplog.set_level(logging.INFO, logger.name)

    def line() -> None:
        logger.info("a line of %s", threading.current_thread().name)

    with proof._quiet():
        for name in ("another thread", "toolbooth_probe_0"):
            thread = threading.Thread(target=line, name=name)
            thread.start()
            thread.join()
    line()
    assert [each.getMessage() for each in caplog.records] == [
        "a line of another thread",
        "a line of MainThread",
    ]


@pytest.mark.parametrize("host", HOSTS)
def test_the_proof_writes_nothing(host: Any):
    program = (
        f"from {host.__module__} import {host.__name__}; from toolbooth import protect; "
        f"protect({host.__name__}('x'))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


def test_the_tested_versions_are_those_of_the_constraints():
    constraints = Path(__file__).parents[2].joinpath("constraints.txt").read_text()
    pinned = dict(line.split("==") for line in constraints.split())
    assert {name: pinned[name] for name in TESTED} == TESTED


def test_a_package_without_metadata_has_an_unknown_version(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(TESTED, "mcp", "2.3.0")
    monkeypatch.setattr(sys, "meta_path", [])
    assert untested("mcp_sdk").startswith("protect() does not work with mcp (unknown version); ")
