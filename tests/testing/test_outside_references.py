"""A `$ref` to a file or URL is a `ContractError` in every part of the kit. No file or URL is read."""

import asyncio
import json
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from fastmcp import FastMCP
from fastmcp.tools import Tool

from toolbooth import ContractError, ToolRegistry, compile_function, compile_json_schema
from toolbooth.contract import Contract
from toolbooth.jsonvalue import Json
from toolbooth.lint.apply import apply_fixes
from toolbooth.lint.check import lint
from toolbooth.testing import (
    agent_shapes,
    arguments_for,
    assert_boundary,
    check_boundary,
    example_arguments,
    replay_calls,
    schema_honesty,
    wire,
)


@dataclass
class Loopback:
    """A server on this machine, and the paths that were requested from it."""

    address: str
    requests: list[str]


@pytest.fixture
def loopback() -> Iterator[Loopback]:
    requests: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            requests.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"type": "integer"}')

        def log_message(self, format: str, *args: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield Loopback(f"http://127.0.0.1:{server.server_port}", requests)
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(params=["file", "url", "pipe"])
def target(request: pytest.FixtureRequest, tmp_path: Path, loopback: Loopback) -> Iterator[str]:
    """Yield the URL of a schema. A pipe without a writer would block a program that opens it."""
    file = tmp_path / "integer.json"
    if request.param == "file":
        file.write_text('{"type": "integer"}')
    elif request.param == "pipe":
        os.mkfifo(file)
    yield f"{loopback.address}/integer.json" if request.param == "url" else file.as_uri()
    assert loopback.requests == []


def schema_of(target: str) -> Json:
    return {
        "type": "object",
        "properties": {"n": {"anyOf": [{"type": "object", "$ref": target}, {"type": "object"}]}},
    }


def contract_of(target: str) -> Contract:
    def tool(n: int) -> str:
        return str(n)

    return replace(compile_function(tool), describe=lambda: schema_of(target))


def registry_of(target: str) -> ToolRegistry:
    registry = ToolRegistry("shop")
    registry.add(contract_of(target), lambda n: str(n))
    return registry


def host_of(target: str) -> FastMCP:
    class Foreign(Tool):
        async def run(self, arguments: dict[str, Any]) -> Any: ...

    server = FastMCP("shop", dereference_schemas=False)
    server.add_tool(Foreign(name="tool", parameters=schema_of(target)))
    return server


def replay(target: str) -> Any:
    calls = Path("calls.jsonl")
    calls.write_text(json.dumps({"tool": "tool", "arguments": {"n": 1}}) + "\n")
    return replay_calls(calls, registry_of(target))


ENTRIES: dict[str, Callable[[str], Any]] = {
    "compile_json_schema": lambda target: compile_json_schema(schema_of(target), name="tool"),
    "arguments_for": lambda target: arguments_for(schema_of(target)),
    "example_arguments": lambda target: example_arguments(contract_of(target)),
    "agent_shapes": lambda target: agent_shapes(contract_of(target), {"n": 1}),
    "wire-schema": lambda target: wire(
        {"n": {}}, "json", "openai-strict", schema=schema_of(target)
    ),
    "wire-contract": lambda target: wire(
        {"n": {}}, "json", "openai-strict", schema=contract_of(target)
    ),
    "check_boundary": lambda target: asyncio.run(check_boundary(registry_of(target))),
    "assert_boundary": lambda target: assert_boundary(
        registry_of(target), examples={"tool": {"n": 1}}
    ),
    "assert_boundary-host": lambda target: assert_boundary(host_of(target)),
    "schema_honesty": lambda target: schema_honesty(registry_of(target)),
    "schema_honesty-host": lambda target: schema_honesty(host_of(target)),
    "replay_calls": replay,
}


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_reference_to_a_file_or_url_is_a_contract_error_and_nothing_is_read(
    entry: str, target: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ContractError) as caught:
        ENTRIES[entry](target)
    assert target in str(caught.value)


def test_outside_reference_error_names_the_remedy(target: str):
    with pytest.raises(ContractError) as caught:
        example_arguments(contract_of(target))
    assert str(caught.value) == (
        f"tool: $ref {target!r} is outside the schema and is not read; "
        "copy the definition into $defs"
    )


def test_lint_reports_the_reference_and_its_fix_reads_nothing(target: str):
    report = lint([{"name": "tool", "inputSchema": schema_of(target)}])
    found = [each.message for each in report.findings if each.rule == "external-reference"]
    assert found == [f"refers to {target}"]
    assert target not in json.dumps(apply_fixes(report))


def test_a_custom_meta_schema_is_not_fetched(target: str):
    schema = {"$schema": target, "type": "object"}
    with pytest.raises(ContractError, match="not a usable JSON Schema: Unknown meta-schema"):
        arguments_for(schema)
    assert lint([{"name": "tool", "inputSchema": schema}]).listing.tools[0].name == "tool"


def test_a_reference_to_the_id_of_a_definition_is_resolved_inside_the_document():
    schema = {
        "$id": "https://example.org/tool",
        "type": "object",
        "properties": {"n": {"$ref": "n.json"}},
        "$defs": {"n": {"$id": "n.json", "type": "integer"}},
    }
    assert wire({"n": 1}, "json", "openai-strict", schema=schema) == {"n": 1}


def test_text_that_looks_like_a_reference_is_accepted():
    schema = {"type": "object", "properties": {"n": {"const": {"$ref": "file:///etc/passwd"}}}}
    assert wire({"n": 1}, "json", "openai-strict", schema=schema) == {"n": 1}
