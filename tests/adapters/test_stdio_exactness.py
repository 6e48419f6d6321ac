"""Over stdio, a protected server of either host gets every digit of a whole number, and loses no
key under an author's validator.
"""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

PROGRAM = """
import sys
from typing import Any
from fastmcp import FastMCP
from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel, model_validator
from toolbooth.adapters import fastmcp, mcp_sdk

class Contact(BaseModel):
    email: str | None = None

    @model_validator(mode="before")
    @classmethod
    def tidy(cls, value: Any) -> Any:
        made = dict(value)
        if value.get("mail"):
            made["email"] = value["mail"]
        return made

def count(n: int, more: dict[str, list[int | str]] | None = None) -> str:
    return f"{n} {more}"

def create(contact: Contact) -> str:
    return repr(contact)

host = sys.argv[1]
server = fastmcp.protect(FastMCP("shop")) if host == "fastmcp" else mcp_sdk.protect(MCPServer("shop"))
for tool in (count, create):
    (server.tool if host == "fastmcp" else server.add_tool)(tool)
server.run("stdio")
"""
INITIALIZE = (
    '{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25",'
    ' "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}'
)
CALLS: list[tuple[str, str, Any]] = [
    ("count", '{"n": 123456789012345678.0}', "123456789012345678 None"),
    ("count", '{"n": 12345678901234567890.0}', "12345678901234567890 None"),
    ("count", '{"n": 1.2345678901234567890e19}', "12345678901234567890 None"),
    (
        "count",
        '{"n": 1, "more": {"a": [9007199254740993.0, "9007199254740993.0", 7.0]}}',
        "1 {'a': [9007199254740993, '9007199254740993.0', 7]}",
    ),
    ("count", '{"n": "123456789012345678.0"}', "123456789012345678 None"),
    ("count", '{"n": 1.00000000000000000001}', [("wrong-type", "$.n")]),
    ("count", '{"n": 1e99999999999999999999}', [("lossy-number", "$.n")]),
    ("create", '{"contact": {"email": "a@x"}}', "Contact(email='a@x')"),
    ("create", '{"contact": {"mail": "a@x"}}', "Contact(email='a@x')"),
    (
        "create",
        '{"contact": {"data": {"email": "a@x"}}}',
        [("nested-wrapper", "$.contact.data")],
    ),
    ("create", '{"contact": {"emial": "a@x"}}', [("unknown-key", "$.contact.emial")]),
]


def outcome(result: dict[str, Any]) -> Any:
    problems = result.get("_meta", {}).get("toolbooth", {}).get("problems")
    if problems:
        return [(each["code"], each["path"]) for each in problems]
    return result["content"][0]["text"]


@pytest.mark.parametrize("host", ["fastmcp", "mcp_sdk"])
def test_a_protected_server_receives_numbers_and_keys_exactly_as_sent(host: str):
    environment = {
        **os.environ,
        "FASTMCP_SHOW_SERVER_BANNER": "false",
        "FASTMCP_LOG_LEVEL": "CRITICAL",
    }
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, host],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
    ) as process:

        def ask(line: str) -> Any:
            process.stdin.write(line.encode() + b"\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        ask(INITIALIZE)
        found: list[Any] = []
        for tool, arguments, _ in CALLS:
            params = f'{{"name": "{tool}", "arguments": {arguments}}}'
            line = f'{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {params}}}'
            found.append((tool, arguments, outcome(ask(line)["result"])))
        process.communicate()
    assert found == CALLS
