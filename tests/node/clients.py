"""The official TypeScript client and the Inspector call the inventory on each host, over stdio and
HTTP.

Run by `make clients`, which sets up Node; its name keeps this file out of `make test`.
"""

import contextlib
import importlib
import importlib.util
import inspect
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from toolbooth import compile_function, input_schema

ROOT = Path(__file__).resolve().parent.parent.parent
INVENTORY = ROOT / "examples/inventory"
HOSTS = ["toolbooth", "fastmcp", "mcp_sdk"]
TRANSPORTS = ["stdio", "http"]
MODES = ["legacy", "auto", "2026-07-28"]
"""Capabilities of the TypeScript client."""
ERAS = ["legacy", "modern"]
"""Capabilities of the Inspector, besides its discovery of the protocol version."""


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / f"scripts/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


node_home, local_server = script("node_home"), script("local_server")
# As the servers of the example find it.
sys.path.insert(0, str(INVENTORY))
tools = importlib.import_module("tools")


# --- servers ----------------------------------------------------------------------------------------------------


def inventory(host: str, port: int | None = None) -> list[str]:
    """Return the command that serves the inventory, as in its README."""
    program = Path(sys.executable).with_name("toolbooth") if host == "toolbooth" else sys.executable
    file = str(INVENTORY / f"on_{host}.py")
    started = (
        [str(program), "serve", f"{file}:registry"] if host == "toolbooth" else [str(program), file]
    )
    return started if port is None else [*started, "--http", str(port)]


def counting(host: str, port: int | None = None) -> list[str]:
    return [
        sys.executable,
        str(Path(__file__).with_name("counting_server.py")),
        host,
        str(port or "stdio"),
    ]


class Places:
    """The targets of the servers: a URL for a running one, a command for one on stdio."""

    def __init__(self, folder: Path, running: contextlib.ExitStack) -> None:
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "INVENTORY_DB": str(folder / "inventory.sqlite3"),
        }
        self.urls = {
            (kind, host): running.enter_context(
                local_server.serving(
                    lambda port, kind=kind, host=host: kind(host, port), folder / host, self.env
                )
            )
            for kind in (inventory, counting)
            for host in HOSTS
        }

    def find(self, kind: Callable[..., list[str]], host: str, transport: str) -> dict[str, Any]:
        if transport == "http":
            return {"url": self.urls[kind, host]}
        return {"command": kind(host), "env": self.env}


# --- clients ----------------------------------------------------------------------------------------------------


def by_typescript(mode: str, place: dict[str, Any], calls: list[Any]) -> dict[str, Any]:
    """Return the TypeScript client's view of the server, its tools, and the results of the calls."""
    done = subprocess.run(
        node_home.node(Path(__file__).with_name("typescript_client.mjs")),
        input=json.dumps({"mode": mode, "calls": calls, **place}),
        cwd=node_home.HOME,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def by_inspector(era: str, place: dict[str, Any], request: list[str]) -> tuple[int, Any]:
    """Return the exit code of the Inspector, and its output: the result, or the error if there is
    none.
    """
    command = [
        *node_home.node("inspector/clients/launcher/build/index.js"),
        "--cli",
        "--format",
        "json",
        "--quiet",
    ]
    command += ["--protocol-era", era, *request]
    command += [f"-e{name}={value}" for name, value in place.get("env", {}).items()]
    command += [place["url"]] if "url" in place else place["command"]
    # It stores its state in the home directory.
    env = {**os.environ, "HOME": str(node_home.HOME)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
    return done.returncode, json.loads(done.stdout or done.stderr)


# --- the calls and their expected results
# -------------------------------------------------------------------------

ROOIBOS = {
    "sku": "TEA-003",
    "name": "Rooibos 250 g",
    "category": "tea",
    "price": "7.20",
    "stock": 0,
    "on_order": 0,
    "reorder_level": 10,
    "supplier_id": None,
    "note": None,
}
WRAPPER = (
    '"request" is not a declared field and its value is a nested object. Likely cause: a REST-style wrapper. '
    'Send "sku" at the top level, not inside "request"'
)
REFUSAL = f"""Refused: 1 problem in the arguments of 'get_product'. Nothing was done.
- $.request: {WRAPPER}
Declared fields: "sku" (text, required).
Send instead: {{"sku":"TEA-003"}}"""


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def passed(value: Any, *repairs: tuple[str, str]) -> dict[str, Any]:
    meta = (
        {"toolbooth": {"repairs": [{"code": code, "path": path} for code, path in repairs]}}
        if repairs
        else {}
    )
    return {"_meta": meta, "structuredContent": value, "isError": False}


def failed(text: str, **meta: Any) -> dict[str, Any]:
    return {"_meta": meta, "content": [{"type": "text", "text": text}], "isError": True}


CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "an exact call": (call("get_product", sku="TEA-003"), passed(ROOIBOS)),
    "JSON text": (
        call("list_orders", status='["cancelled"]'),
        passed({"orders": []}, ("json-text", "$.status")),
    ),
    "null for what is optional": (
        call("search_products", search_query="rooibos", limit=None),
        passed({"total": 1, "products": [ROOIBOS]}, ("null-optional", "$.limit")),
    ),
    "a wrapper": (
        call("get_product", request={"sku": "TEA-003"}),
        failed(
            REFUSAL,
            toolbooth={
                "code": -32602,
                "problems": [{"code": "nested-wrapper", "path": "$.request", "message": WRAPPER}],
                "declared": {"$": {"sku": "text, required"}},
                "edits": ["move $.request.* to $"],
                "corrected": {"sku": "TEA-003"},
            },
        ),
    ),
    "a tool's own error": (
        call("get_product", sku="TEA-999"),
        failed(
            "Tool 'get_product' failed: there is no product TEA-999; search_products has their codes"
        ),
    ),
}
UNKNOWN = call("get_prduct")
UNKNOWN_TOLD: dict[str, dict[str, Any]] = {
    "toolbooth": {
        "error": {
            "code": -32602,
            "message": "there is no tool 'get_prduct'; did you mean 'get_product'?",
        }
    },
    "fastmcp": {"result": failed("Unknown tool: 'get_prduct'")},
    "mcp_sdk": {"result": failed("Unknown tool: get_prduct")},
}
"""Each host has its own message for an unknown name."""
VERSIONS = {"toolbooth": version("toolbooth"), "fastmcp": version("fastmcp"), "mcp_sdk": ""}


TOOLS = [
    {
        "name": function.__name__,
        "description": inspect.getdoc(function),
        "inputSchema": input_schema(compile_function(function)),
        "annotations": annotations,
    }
    for function, annotations in tools.Inventory(None).tools()
]


def as_listed(tool: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of a listed tool that are the same on every host; titles and output schemas
    differ.
    """
    return {key: tool[key] for key in TOOLS[0]}


def as_sent(
    expected: dict[str, Any], host: str, modern: bool, server: str = "inventory"
) -> dict[str, Any]:
    """Return a whole result, as a host writes it: a value is its text, too, and 2026-07-28 adds the
    server's name.
    """
    content = expected.get("content") or [
        {"type": "text", "text": in_words(expected["structuredContent"], host)}
    ]
    stamp = (
        {"io.modelcontextprotocol/serverInfo": {"name": server, "version": VERSIONS[host]}}
        if modern
        else {}
    )
    meta = {"_meta": {**stamp, **expected["_meta"]}} if stamp or expected["_meta"] else {}
    return {
        **{key: value for key, value in expected.items() if key != "_meta"},
        "content": content,
        **meta,
    }


def in_words(value: Any, host: str) -> str:
    return (
        json.dumps(value, indent=2)
        if host == "mcp_sdk"
        else json.dumps(value, separators=(",", ":"))
    )


# --- tests ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Places]:
    with contextlib.ExitStack() as running:
        yield Places(tmp_path_factory.mktemp("servers"), running)


def all_of(run: Callable[..., Any], *choices: Iterable[str]) -> dict[tuple[str, ...], Any]:
    """Return the result of a run for every combination, with as many in parallel as there are
    cores.
    """
    combinations = list(itertools.product(*choices))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(combinations, pool.map(lambda each: run(*each), combinations), strict=True))


def all_as(expected: Callable[..., Any], *choices: Iterable[str]) -> dict[tuple[str, ...], Any]:
    return {each: expected(*each) for each in itertools.product(*choices)}


@pytest.mark.parametrize("host", HOSTS)
def test_the_typescript_client_calls_the_inventory(host, places):
    def run(transport: str, mode: str) -> Any:
        calls = [*(asked for asked, _ in CASES.values()), UNKNOWN]
        done = by_typescript(mode, places.find(inventory, host, transport), calls)
        outcomes = dict(zip([*CASES, "an unknown tool"], done["outcomes"], strict=True))
        return {**done, "outcomes": outcomes, "tools": [as_listed(tool) for tool in done["tools"]]}

    def expected(transport: str, mode: str) -> Any:
        modern = mode != "legacy"
        outcomes = {
            name: {"result": as_sent(told, host, modern)} for name, (_, told) in CASES.items()
        }
        unknown = UNKNOWN_TOLD[host]
        if "result" in unknown:
            unknown = {"result": as_sent(unknown["result"], host, modern)}
        return {
            "version": "2026-07-28" if modern else "2025-11-25",
            "server": {"name": "inventory", "version": VERSIONS[host]},
            "instructions": tools.INSTRUCTIONS,
            "tools": TOOLS,
            "outcomes": {**outcomes, "an unknown tool": unknown},
        }

    assert all_of(run, TRANSPORTS, MODES) == all_as(expected, TRANSPORTS, MODES)


@pytest.mark.parametrize("host", HOSTS)
def test_the_typescript_client_sees_progress(host, places):
    steps = [{"progress": done, "total": 3, "message": f"step {done}"} for done in (1, 2, 3)]

    def run(transport: str) -> Any:
        # One mode after the other: the server has one count at a time.
        place = places.find(counting, host, transport)
        done = [
            by_typescript(mode, place, [call("count", to=3)])["outcomes"]
            for mode in (MODES[0], MODES[-1])
        ]
        return [(outcome["result"]["content"], outcome["progress"]) for [outcome] in done]

    def expected(transport: str) -> Any:
        return [([{"type": "text", "text": "done"}], steps)] * 2

    assert all_of(run, TRANSPORTS) == all_as(expected, TRANSPORTS)


@pytest.mark.parametrize("host", HOSTS)
def test_the_inspector_calls_the_inventory(host, places):
    def run(transport: str, era: str, name: str) -> Any:
        asked, _ = CASES.get(name, (UNKNOWN, None))
        request = ["--method", "tools/call", "--tool-name", asked["name"]]
        request += ["--tool-args-json", json.dumps(asked["arguments"])]
        return by_inspector(era, places.find(inventory, host, transport), request)

    def expected(transport: str, era: str, name: str) -> Any:
        if name == "an unknown tool":
            return 5, {
                "error": {
                    "code": "tool_not_found",
                    "message": "Tool 'get_prduct' not found on server.",
                }
            }
        told = as_sent(CASES[name][1], host, era == "modern")
        return (5 if told["isError"] else 0), {"result": told}

    # It reads JSON text at the top level itself, so that case is never sent.
    cases = [name for name in [*CASES, "an unknown tool"] if name != "JSON text"]
    assert all_of(run, ["http"], ERAS, cases) == all_as(expected, ["http"], ERAS, cases)
    assert all_of(run, ["stdio"], ERAS, ["a wrapper"]) == all_as(
        expected, ["stdio"], ERAS, ["a wrapper"]
    )


@pytest.mark.parametrize("host", HOSTS)
def test_the_inspector_finds_every_schema_portable(host, places):
    def run(transport: str, era: str) -> Any:
        code, told = by_inspector(
            era, places.find(inventory, host, transport), ["--strict", "--method", "tools/list"]
        )
        return code, [as_listed(tool) for tool in told["result"]["tools"]]

    assert all_of(run, ["http"], ERAS) == all_as(lambda *_: (0, TOOLS), ["http"], ERAS)
