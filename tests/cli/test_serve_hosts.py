"""`toolbooth serve` on servers of FastMCP and the official SDK, in a terminal, and with --reload.
Real processes, pipes, sockets and terminals.
"""

import http.client
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

TOOLBOOTH = str(Path(sys.executable).with_name("toolbooth"))
LIMIT = 60
TOOL = """
def order(item: str, count: int = 1) -> str:
    '''Order something.'''
    print("printed by a tool")
    return f"{count} {item}"
"""
SERVERS = {
    "fast": TOOL
    + "from fastmcp import FastMCP\nfrom toolbooth import protect\n"
    + "server = protect(FastMCP('shop'))\nserver.tool(order)\n",
    "sdk": TOOL
    + "from mcp.server.mcpserver import MCPServer\nfrom toolbooth import protect\n"
    + "server = protect(MCPServer('shop'))\nserver.tool()(order)\n",
    "low": """
from mcp.server.lowlevel import Server
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool
from toolbooth import protect

async def list_tools(ctx, params):
    schema = {"type": "object", "properties": {"item": {"type": "string"}, "count": {"type": "integer"}}, "required": ["item"]}
    return ListToolsResult(tools=[Tool(name="order", description="Order something.", input_schema=schema)])

async def call_tool(ctx, params):
    sent = params.arguments
    return CallToolResult(content=[TextContent(text=f"{sent.get('count', 1)} {sent['item']}")])

server = protect(Server("shop", on_list_tools=list_tools, on_call_tool=call_tool))
""",
    "ours": TOOL
    + "from toolbooth import ToolRegistry\nserver = ToolRegistry('shop')\nserver.tool(order)\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    made = tmp_path_factory.mktemp("served")
    for name, text in SERVERS.items():
        (made / f"{name}.py").write_text(text)
    return made


def toolbooth(folder: Path, *words: str) -> tuple[int, str]:
    done = subprocess.run(
        [TOOLBOOTH, *words], cwd=folder, capture_output=True, text=True, timeout=LIMIT
    )
    return done.returncode, done.stdout


@contextmanager
def serving(folder: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    command = [TOOLBOOTH, "serve", *words, "--http", "0"]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as child:
        try:
            yield child, url_of(child)
        finally:
            child.terminate()
            child.wait(LIMIT)


def url_of(child: subprocess.Popen[str]) -> str:
    """Return the URL that a server prints when it has started."""
    assert child.stderr is not None
    for line in child.stderr:
        found = re.search(r"http://\S+$", line)
        if found:
            return found[0]
    raise AssertionError("the server did not start")


@pytest.mark.parametrize("name", ["fast", "sdk", "low"])
def test_hosts_are_served_over_stdio(name: str, folder: Path):
    served = ["--", TOOLBOOTH, "serve", f"{name}.py:server"]
    assert toolbooth(folder, "call", "order", '{"item": "tea"}', *served) == (0, "1 tea\n")
    code, text = toolbooth(folder, "call", "order", '{"data": {"item": "tea"}}', *served)
    assert code == 1
    assert text.splitlines()[-1] == 'Send instead: {"item":"tea"}'


@pytest.mark.parametrize("name", ["fast", "sdk", "low"])
def test_hosts_are_served_over_http_for_known_hosts_with_the_token(name: str, folder: Path):
    (folder / "token").write_text("secret")
    with serving(folder, f"{name}.py:server", "--token-file", "token") as (child, url):
        call = ("call", url, "order", '{"item": "tea", "count": "2"}')
        assert toolbooth(folder, *call, "--token", "secret") == (0, "2 tea\n")
        assert toolbooth(folder, *call)[0] == 3
        statuses = [status(url, host, "Bearer secret") for host in ("evil.example", "localhost:1")]
        assert statuses[0] == 421
        assert statuses[1] not in (401, 403, 421)
        child.send_signal(signal.SIGINT)
        assert child.wait(LIMIT) == 130


def status(url: str, host: str, authorization: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", urlsplit(url).port, timeout=LIMIT)
    headers = {"Host": host, "Authorization": authorization, "Content-Type": "application/json"}
    connection.request("POST", "/mcp", b"{}", headers)
    try:
        return connection.getresponse().status
    finally:
        connection.close()


def test_requests_from_another_origin_are_refused(folder: Path):
    with serving(folder, "sdk.py:server") as (_, url):
        connection = http.client.HTTPConnection("127.0.0.1", urlsplit(url).port, timeout=LIMIT)
        connection.request("POST", "/mcp", b"{}", {"Origin": "https://evil.example"})
        assert connection.getresponse().status == 403
        connection.close()


@pytest.mark.parametrize("name", ["ours", "fast"])
def test_a_terminal_gets_an_explanation_and_ctrl_c_is_quiet(name: str, folder: Path):
    ours, theirs = pty.openpty()
    command = [TOOLBOOTH, "serve", f"{name}.py:server"]
    with subprocess.Popen(
        command, cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    ) as child:
        os.close(theirs)
        shown = b""
        while b"Ctrl-C ends it." not in shown:
            shown += os.read(ours, 4096)
        assert b"shop is served over stdio." in shown
        assert f"toolbooth call {name}.py:server TOOL".encode() in shown
        child.send_signal(signal.SIGINT)
        assert child.wait(LIMIT) == 130
    rest = b""
    # On Linux reading ends with an error when the other end is closed everywhere.
    try:
        while part := os.read(ours, 4096):
            rest += part
    except OSError:
        pass
    os.close(ours)
    assert b"Traceback" not in rest
    assert b"Abort" not in rest


def test_a_changed_file_is_served_again_at_the_same_address(tmp_path: Path):
    file = tmp_path / "server.py"
    file.write_text(SERVERS["ours"])
    with serving(tmp_path, "server.py:server", "--reload") as (child, url):
        assert toolbooth(tmp_path, "call", url, "order", '{"item": "tea"}') == (0, "1 tea\n")
        file.write_text("1 / 0")
        assert child.stderr is not None
        assert any("could not be loaded: ZeroDivisionError" in line for line in child.stderr)
        file.write_text(SERVERS["ours"].replace('f"{count} {item}"', 'f"{item}: {count}"'))
        assert url_of(child) == url
        assert toolbooth(tmp_path, "call", url, "order", '{"item": "tea"}') == (0, "tea: 1\n")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ["fast.py:server", "--log"],
            "--log is for a ToolRegistry; FastMCP and the SDK have their own logging",
        ),
        (["fast.py:server", "--reload"], "--reload is for HTTP; add --http PORT"),
        (
            ["http://127.0.0.1:9/mcp"],
            "this command loads the server itself, so it does not take 'http://127.0.0.1:9/mcp'; "
            "it takes module:object or file.py:object",
        ),
    ],
    ids=["log", "reload", "url"],
)
def test_unservable_target_exits_with_2(words: list[str], told: str, folder: Path):
    done = subprocess.run(
        [TOOLBOOTH, "serve", *words], cwd=folder, capture_output=True, text=True, timeout=LIMIT
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1] == f"Error: {told}"


def test_a_taken_port_is_reported_in_one_sentence(folder: Path):
    with serving(folder, "ours.py:server") as (_, url):
        port = str(urlsplit(url).port)
        done = subprocess.run(
            [TOOLBOOTH, "serve", "ours.py:server", "--http", port],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=LIMIT,
        )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"Error: port {port} of 127.0.0.1 is taken; "
        "use another one, or --http 0 for any free port\n"
    )
