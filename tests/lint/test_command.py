"""`toolbooth lint` as people use it: its inputs, its output, its exit codes."""

import contextlib
import json
import os
import pty
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from click.testing import CliRunner, Result

from toolbooth import ToolRegistry
from toolbooth.cli.main import main
from toolbooth.lint.catalogue import RULES
from toolbooth.lint.evidence import ANY, clients
from toolbooth.server.asgi import app

TOOLBOOTH = str(Path(sys.executable).with_name("toolbooth"))

GOOD = {
    "name": "ping",
    "description": "Answer.",
    "inputSchema": {"type": "object", "properties": {}},
}
NOTED = {**GOOD, "inputSchema": {"type": "object", "properties": {"p": {"type": "string"}}}}
WARNED = {
    **GOOD,
    "inputSchema": {
        "type": "object",
        "properties": {"self": {"type": "string", "description": "d"}},
    },
}
REFUSED = {
    **GOOD,
    "inputSchema": {"type": "object", "properties": {"p": {"type": "array", "description": "[1]"}}},
}

SERVERS = """
from fastmcp import FastMCP
from mcp.server.mcpserver import MCPServer
from toolbooth import ToolRegistry

def greet(name):
    "Greet."
    return name

registry = ToolRegistry("ours")
fast = FastMCP("fast")
sdk = MCPServer("sdk")
registry.tool(greet)
fast.tool(greet)
sdk.tool()(greet)
number = 1
"""


def run(*arguments: str, cwd: Path, given: str = "") -> Result:
    """Run `toolbooth lint` in a folder."""
    with contextlib.chdir(cwd):
        return CliRunner().invoke(main, ["lint", *arguments], input=given, prog_name="toolbooth")


def run_apart(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the same in a process of its own, to check the modules imported there."""
    return subprocess.run(
        [TOOLBOOTH, "lint", *arguments], cwd=cwd, capture_output=True, text=True, encoding="utf-8"
    )


def saved(folder: Path, *tools: Any) -> str:
    (folder / "tools.json").write_text(json.dumps({"tools": tools}), encoding="utf-8")
    return "tools.json"


# --- exit codes ---


@pytest.mark.parametrize(
    ("tool", "options", "code"),
    [
        (GOOD, [], 0),
        (NOTED, [], 0),
        (NOTED, ["--strict"], 1),
        (NOTED, ["--fail-on", "note"], 1),
        (WARNED, [], 1),
        (WARNED, ["--fail-on", "error"], 0),
        (REFUSED, ["--fail-on", "error"], 1),
        (REFUSED, ["--fail-on", "never"], 0),
        (REFUSED, ["--client", "mistral"], 0),
        (REFUSED, ["--client", "mistral,openai"], 1),
        (REFUSED, ["--client", "mistral", "--client", "openai"], 1),
        (REFUSED, ["--ignore", "array-without-items,opaque-parameter"], 0),
        (REFUSED, ["--select", "tool-name"], 0),
        (REFUSED, ["--select", "tool-name", "--select", "array-without-items"], 1),
    ],
)
def test_exit_code_shows_whether_there_are_selected_findings(tool, options, code, tmp_path: Path):
    ended = run(saved(tmp_path, tool), *options, cwd=tmp_path)
    assert (ended.exit_code, ended.stderr) == (code, "")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            [],
            "TARGET is missing. TARGET should be module:server or file.py:server, a URL, a file with a "
            "saved tools/list, - for standard input, or -- and the command that starts a server",
        ),
        (
            ["nothing"],
            "there is no file or module 'nothing'. TARGET should be module:server or file.py:server, a URL, "
            "a file with a saved tools/list, - for standard input, or -- and the command that starts a server",
        ),
        (
            ["servers.py"],
            "there is no file or module 'servers.py'. TARGET should be module:server or file.py:server, a URL, "
            "a file with a saved tools/list, - for standard input, or -- and the command that starts a server",
        ),
        (["sever.py:registry"], "there is no file 'sever.py'"),
        (["toosl.json"], "toosl.json could not be read: No such file or directory"),
        (["broken.json"], "broken.json is not JSON: Expecting value: line 1 column 1 (char 0)"),
        (
            ["other.json"],
            "other.json: expected a tools/list result, but this is an object "
            'with the keys "openapi"',
        ),
        (
            ["tools.json", "--client", "claud-code"],
            "there is no client 'claud-code'; did you mean 'claude-code'?",
        ),
        (
            ["tools.json", "--ignore", "zzz"],
            "there is no rule 'zzz'; --rules lists them",
        ),
        (
            ["--explain", "untypd"],
            "there is no rule 'untypd'; did you mean 'untyped'?",
        ),
        (
            ["tools.json", "--fix", "no/such/folder.json"],
            "no/such/folder.json could not be written: No such file or directory",
        ),
        (
            ["http://127.0.0.1:9/mcp", "--header", "Bearer x"],
            "a header is written 'Name: value', not 'Bearer x'",
        ),
        (
            ["deep.json", "--fix", "fixed.json"],
            "a schema is nested too deep for lint, and for every client",
        ),
        (["deeper.json"], "a schema is nested too deep for lint, and for every client"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_usage_error_is_one_line_with_exit_code_2(arguments: list[str], told: str, tmp_path: Path):
    saved(tmp_path, GOOD)
    (tmp_path / "broken.json").write_text("tools")
    (tmp_path / "other.json").write_text('{"openapi": "3.1.0"}')
    # Since Python 3.12, comprehensions use none of the levels that calls have.
    deep = 400 if sys.version_info < (3, 12) else 1_000
    for name, levels in (("deep", deep), ("deeper", 50_000)):
        opened, closed = '{"properties": {"a": ' * levels, "}}" * levels
        (tmp_path / f"{name}.json").write_text(
            f'[{{"name": "t", "inputSchema": {opened}true{closed}}}]'
        )
    ended = run(*arguments, cwd=tmp_path)
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert ended.stderr.splitlines()[-1] == f"Error: {told}"


def test_a_module_that_fails_is_named_with_the_line_and_code_2(tmp_path: Path):
    (tmp_path / "servers.py").write_text("1 / 0")
    ended = run_apart("servers.py:registry", cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == (
        "Error: servers.py:registry could not be loaded: ZeroDivisionError: division by zero "
        "(servers.py, line 1). --traceback shows the rest\n"
    )


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ["http://127.0.0.1:9/mcp"],
            "http://127.0.0.1:9/mcp: nothing answers there; is the server running?",
        ),
        (
            ["--", "no-such-program", "x"],
            "no-such-program x: there is no program 'no-such-program'",
        ),
        (["--", "true"], "true: the server ended, or closed the connection, before it answered"),
    ],
    ids=["no-server", "no-program", "no-answer"],
)
def test_a_server_that_cannot_be_reached_exits_with_3(
    arguments: list[str], told: str, tmp_path: Path
):
    ended = run(*arguments, cwd=tmp_path)
    assert (ended.exit_code, ended.stdout) == (3, "")
    assert ended.stderr.splitlines()[-1] == f"Error: {told}"


def test_command_that_ends_at_once_is_reported_with_its_last_output(tmp_path: Path):
    ended = run("--", sys.executable, "-c", "raise SystemExit('no database')", cwd=tmp_path)
    assert (ended.exit_code, ended.stdout) == (3, "")
    assert ended.stderr.splitlines()[-2:] == [
        f"Error: {sys.executable} -c raise SystemExit('no database'): "
        "the server ended, or closed the connection, before it answered",
        "no database",
    ]


def test_a_command_that_never_answers_is_abandoned(tmp_path: Path):
    ended = run(
        "--timeout", "0.5", "--", sys.executable, "-c", "import sys; sys.stdin.read()", cwd=tmp_path
    )
    assert ended.exit_code == 3
    assert ended.stderr.splitlines()[-1].endswith(": no answer within 0.5 seconds")


# --- inputs ---


@pytest.mark.parametrize(
    ("name", "title"), [("registry", "ours"), ("fast", "fast"), ("sdk", "sdk")]
)
def test_servers_of_every_kind_are_read_without_being_started(
    name: str, title: str, tmp_path: Path
):
    (tmp_path / "servers.py").write_text(SERVERS)
    ended = run_apart(f"servers.py:{name}", "--format", "json", cwd=tmp_path)
    told = json.loads(ended.stdout)
    assert (told["server"], told["tools"]) == (title, 1)


@contextlib.contextmanager
def listening(registry: ToolRegistry, secret: str) -> Iterator[str]:
    """A registry at a URL that requires a token."""
    inner = app(registry)

    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        if dict(scope["headers"]).get(b"authorization") == secret.encode():
            return await inner(scope, receive, send)
        await send({"type": "http.response.start", "status": 401, "headers": []})
        await send({"type": "http.response.body"})

    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        bound.listen()  # a client that starts before the server waits for it
        server = uvicorn.Server(
            uvicorn.Config(guarded, log_level="critical", lifespan="off", ws="none")
        )
        thread = threading.Thread(target=server.run, args=([bound],))
        thread.start()
        try:
            yield f"http://127.0.0.1:{bound.getsockname()[1]}/mcp"
        finally:
            server.should_exit = True
            thread.join()


def test_every_page_of_a_running_server_is_requested_with_the_given_headers(tmp_path: Path):
    registry = ToolRegistry("paged", page_size=2)
    for index in range(5):
        registry.tool(name=f"tool_{index}", description="Do it.")(lambda: "")
    with listening(registry, "Bearer x") as address:
        ended = run(
            address, "--header", "Authorization: Bearer x", "--format", "json", cwd=tmp_path
        )
        refused = run(address, cwd=tmp_path)
    told = json.loads(ended.stdout)
    assert (ended.exit_code, told["server"], told["tools"]) == (0, "paged", 5)
    assert (refused.exit_code, refused.stdout) == (3, "")
    assert refused.stderr.splitlines()[-1] == (
        f"Error: {address} requires credentials (HTTP 401): send them with --token TOKEN "
        "or --header 'NAME: VALUE'"
    )


def test_standard_input_is_read_like_a_file(tmp_path: Path):
    ended = run(
        "-", "--format", "json", cwd=tmp_path, given=json.dumps({"result": {"tools": [REFUSED]}})
    )
    assert json.loads(ended.stdout)["matrix"]["ping"]["vscode"] == "refuses"


# --- output ---


def test_piped_output_has_no_colour_and_no_wrapping(tmp_path: Path):
    ended = run(
        saved(tmp_path, REFUSED), "--client", "openai,gemini,vertex,vscode,cursor", cwd=tmp_path
    )
    assert ended.stdout == (
        "tools/list: 1 tool, about 31 tokens (bytes ÷ 4)\n\n"
        "ping\n"
        "  error   array-without-items  $.p\n"
        "          an array without items; refused by OpenAI API, Gemini API, Vertex AI, VS Code Copilot\n\n"
        "     oai gem ver vsc\n"
        "ping  x   x   x   x\n"
        "x refused   ! misread   . constraint dropped\n"
        "oai OpenAI API, gem Gemini API, ver Vertex AI, vsc VS Code Copilot\n"
        "No complaint known from: Cursor.\n\n"
        "1 error in 1 of 1 tools.\n"
        "With a mechanical fix: 1; --fix FILE writes the fixed tools/list.\n"
        "Details and evidence of a rule: toolbooth lint --explain RULE\n"
    )


@pytest.mark.parametrize(
    ("environment", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_a_terminal_gets_colour_unless_no_color_is_set(
    environment: dict[str, str], coloured: bool, tmp_path: Path
):
    ours, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "60", **environment}
    command = [
        TOOLBOOTH,
        "lint",
        saved(tmp_path, REFUSED),
        "--client",
        "openai,gemini,vertex,vscode",
    ]
    subprocess.run(command, cwd=tmp_path, env=env, stdout=theirs, check=False)
    os.close(theirs)
    shown = b""
    # On Linux reading ends with an error when the other end is closed everywhere.
    with open(ours, "rb", buffering=0) as terminal:
        try:
            while part := terminal.read(4096):
                shown += part
        except OSError:
            pass
    lines = shown.decode().replace("\r\n", "\n").splitlines()
    assert ("\x1b[31merror\x1b[0m" in shown.decode()) == coloured
    assert "  error   array-without-items  $.p" in [
        line.replace("\x1b[31m", "").replace("\x1b[0m", "") for line in lines
    ]
    assert "          an array without items; refused by OpenAI API," in lines


def test_notes_are_counted_and_shown_on_request(tmp_path: Path):
    plain = run(saved(tmp_path, NOTED), cwd=tmp_path).stdout
    assert "no-parameter-description" not in plain
    assert "1 note in 1 of 1 tools.\nNot shown: 1; --notes shows them.\n" in plain
    assert (
        "  note    no-parameter-description  $.p\n"
        in run("tools.json", "--notes", cwd=tmp_path).stdout
    )


def test_the_markdown_report_is_a_whole_page(tmp_path: Path):
    ended = run(
        saved(tmp_path, REFUSED), "--format", "markdown", "--client", "openai", cwd=tmp_path
    )
    assert ended.stdout.splitlines()[6] == (
        "| error | `array-without-items` | ping | $.p | an array without items; refused by OpenAI API |"
    )


def test_the_server_name_counts_towards_the_length_of_tool_names(tmp_path: Path):
    target = saved(tmp_path, {**GOOD, "name": "a" * 40})
    assert run(target, cwd=tmp_path).exit_code == 0
    ended = run(target, "--server", "b" * 21, "--client", "cursor", cwd=tmp_path)
    assert "refused by Cursor (60 at most, with the server's name)" in ended.stdout


def test_fixes_are_written_and_remaining_findings_are_listed(tmp_path: Path):
    target = saved(tmp_path, {**REFUSED, "title": "Ping"}, {**WARNED, "name": "other"})
    ended = run(
        target, "--fix", "fixed.json", "--format", "json", "--client", "openai", cwd=tmp_path
    )
    assert ended.exit_code == 1
    assert ended.stderr == "fixed.json: 1 of 2 findings fixed. What is left:\n\n"
    assert [each["rule"] for each in json.loads(ended.stdout)["findings"]] == ["leaked-parameter"]
    written = json.loads((tmp_path / "fixed.json").read_text(encoding="utf-8"))
    assert written["tools"][1] == {**WARNED, "name": "other"}
    assert written["tools"][0]["title"] == "Ping"
    assert "items" in written["tools"][0]["inputSchema"]["properties"]["p"]


def test_rules_and_clients_are_listed(tmp_path: Path):
    rules = run("--rules", cwd=tmp_path)
    assert [line.split()[1] for line in rules.stdout.splitlines()] == list(RULES)
    listed = run("--clients", cwd=tmp_path)
    assert [line.split()[0] for line in listed.stdout.splitlines()] == [
        name for name in clients() if name != ANY
    ]
    assert (rules.exit_code, listed.exit_code) == (0, 0)


def test_a_rule_is_explained_with_its_evidence(tmp_path: Path):
    ended = run("--explain", "old-dialect", cwd=tmp_path)
    assert ended.stdout == (
        "old-dialect (note)\n\n"
        "`$schema` names a draft other than 2020-12.\n"
        "Leave `$schema` out: 2020-12 is the default of MCP.\n"
        "--fix publishes the portable form of the schema.\n\n"
        "- Better without, for Amazon Bedrock (some relays): "
        "hypothesi/mcp-server-tauri#31 (2026-06-25), "
        "modelcontextprotocol/typescript-sdk#2721 (2026-09-12)\n"
    )
