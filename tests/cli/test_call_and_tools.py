"""`toolbooth call` and `toolbooth tools` on a server of each kind, as a newcomer would use them."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = """
from typing import Annotated, Literal
from pydantic import Field

def order(item: str, count: int = 1, how: Literal["post", "bike"] = "post", tags: Annotated[list[str] | None, Field(examples=[["vip"]])] = None) -> str:
    '''Order something.

    In as many pieces as needed.'''
    return f"{count} {item} by {how}"
"""
SERVERS = {
    "ours.py": "from toolbooth import ToolRegistry\nserver = ToolRegistry('shop')\nserver.tool(order)\n",
    "fast.py": "from fastmcp import FastMCP\nfrom toolbooth.adapters.fastmcp import protect\n"
    "server = protect(FastMCP('shop'))\nserver.tool(order)\n",
    "sdk.py": "from mcp.server.mcpserver import MCPServer\nfrom toolbooth.adapters.mcp_sdk import protect\n"
    "server = protect(MCPServer('shop'))\nserver.tool()(order)\n",
}


@pytest.fixture(scope="session")
def folder(tmp_path_factory) -> Path:
    made = tmp_path_factory.mktemp("shop")
    for name, text in SERVERS.items():
        (made / name).write_text(TOOLS + text)
    return made


def run(folder: Path, *words: str, sent: str = "") -> tuple[int, str, str]:
    command = [Path(sys.executable).with_name("toolbooth"), *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, input=sent)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("file", SERVERS)
def test_the_tools_of_any_server_are_listed_and_called(file, folder):
    target = f"{file}:server"
    code, shown, error = run(folder, "tools", target)
    assert (code, error) == (0, "")
    row, total = shown.splitlines()
    assert re.fullmatch(r" +\d+  order  Order something\.", row)
    assert re.fullmatch(r" +\d+  tokens for 1 tool \(bytes / 4\)", total)
    code, shown, error = run(folder, "tools", target, "order")
    assert (code, error) == (0, "")
    head, *lines = shown.splitlines()
    assert re.fullmatch(r"order  about \d+ tokens", head)
    assert lines == [
        "  Order something.",
        "",
        "  In as many pieces as needed.",
        "",
        "  item   string, required",
        "  count  integer, default 1",
        '  how    "post" | "bike", default "post"',
        "  tags   array of string",
    ]
    assert run(folder, "call", target, "order", '{"item": "tea", "count": "2"}') == (
        0,
        "2 tea by post\n",
        "",
    )
    code, told, _ = run(folder, "call", target, "order", "-", sent='{"data": {"item": "tea"}}')
    assert (code, told.splitlines()[0]) == (
        1,
        "Refused: 1 problem in the arguments of 'order'. Nothing was done.",
    )


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ("call", "ours.py:server", "ordre"),
            "there is no tool 'ordre'; did you mean 'order'?",
        ),
        (
            ("tools", "ours.py:server", "ordre"),
            "there is no tool 'ordre'; did you mean 'order'?",
        ),
        (("call", "ours.py:order", "order"), "'order' in 'ours.py' is of type function"),
    ],
)
def test_mistake_exits_with_2_and_a_remedy(words, told, folder):
    code, printed, error = run(folder, *words)
    assert (code, printed) == (2, "")
    assert told in error


@pytest.mark.parametrize(
    "words", [["tools"], ["tools", "--json"], ["call", "order"], ["lint"]], ids=" ".join
)
def test_a_closed_output_pipe_ends_a_command_quietly(words, folder):
    """As `toolbooth tools server.py:server | head` does after `head` has ended."""
    first, *rest = words
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "wb") as output:
        ran = subprocess.run(
            [Path(sys.executable).with_name("toolbooth"), first, "ours.py:server", *rest],
            cwd=folder,
            stdout=output,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert (ran.stderr, ran.returncode) == (b"", 1)
