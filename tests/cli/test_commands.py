"""The common behaviour of all commands: exit codes, standard output, mistakes. And `config`,
`doctor` and `completion`.
"""

import json
import os
import pty
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from commands import LIMIT, SHOP, TOOLBOOTH, toolbooth

MISTAKES = """
from toolbooth import ToolRegistry
server = ToolRegistry("shop")

@server.tool
def order(items, *others):
    return 1
"""


FAILING = """
import fastmcp
import toolbooth
ToolRegistry = toolbooth.ToolRegistry("shop")
FastMCP = toolbooth.protect(fastmcp.FastMCP("shop"))

def order(count: int) -> int:
    "Order."
    return 1 // count

ToolRegistry.tool(order)
FastMCP.tool(order)
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(SHOP)
    (tmp_path / "wants.py").write_text("import json\nimport no_such_package\n")
    (tmp_path / "fails.py").write_text("server = 1\n\nraise ValueError('no database')\n")
    (tmp_path / "leaves.py").write_text("raise SystemExit(0)")
    (tmp_path / "mistakes.py").write_text(MISTAKES)
    return tmp_path


# --- mistakes -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ["explian"],
            "There is no command 'explian'; did you mean 'explain'? See `toolbooth --help`.",
        ),
        (["call"], "Missing argument 'TARGET'. See `toolbooth call --help`."),
        (
            ["call", "shop.py:server", "order", "{item: 1}"],
            "ARGUMENTS is not JSON: Expecting property name enclosed in double quotes at line 1, "
            "column 2. Write a JSON object in single quotes, such as '{\"a\": 1}'",
        ),
        (
            ["tools", "wants.py:server"],
            "wants.py imports 'no_such_package' in line 2, and there is no such module: "
            "install it, or correct the name",
        ),
        (
            ["tools", "fails.py:server"],
            "fails.py:server could not be loaded: ValueError: no database (fails.py, line 3). "
            "--traceback shows the rest",
        ),
        (
            ["tools", "leaves.py:server"],
            "leaves.py:server could not be loaded: SystemExit: 0 (leaves.py, line 1). "
            "--traceback shows the rest",
        ),
        (
            ["tools", "shop.py:server", "--token", "x"],
            "--header and --token are for a URL; leave them out for this target",
        ),
        (
            ["call", "order", "--"],
            "there is nothing after --; write the command that starts the server, "
            "such as `-- npx -y @example/server`",
        ),
    ],
    ids=["command", "argument", "json", "import", "exception", "exit", "token", "dashes"],
)
def test_a_mistake_is_reported_in_one_sentence_with_code_2(words: list[str], told: str, shop: Path):
    assert toolbooth(shop, *words) == (2, "", f"Error: {told}")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ["tools", "localhost:8000/mcp"],
            "'localhost:8000/mcp' does not name a server; write a URL with its scheme: http://localhost:8000/mcp",
        ),
        (
            ["tools", "example.org/mcp"],
            "'example.org/mcp' does not name a server; write a URL with its scheme: https://example.org/mcp",
        ),
        (
            ["tools", "ftp://example.org/mcp"],
            "'ftp://example.org/mcp' is not the URL of a server: it has to begin with http:// or https://",
        ),
        (
            ["lint", "shop.py"],
            "'shop.py' does not name a server: write the file or module, a colon and the name of the variable, such as shop.py:server",
        ),
        (
            ["tools", "./shop:server"],
            "there is no module './shop' here or on the path; write ./shop.py for the file",
        ),
        (
            ["tools", ":server"],
            "':server' does not name a server: write the file or module, a colon and the name of the variable, such as server.py:server",
        ),
        (
            ["tools", "makes.py:make"],
            "'make' in 'makes.py' is of type function, not ToolRegistry or FastMCP or MCPServer or Server; "
            "name a variable at the top level of the module, with a server",
        ),
        (
            ["call", "shop.py:server", "order", "item=tea", "count=2"],
            "there are several words after TOOL: item=tea count=2. "
            "Write one JSON object in single quotes, such as '{\"a\": 1}'",
        ),
        (
            ["call", "shop.py:server", "order", "-"],
            "standard input is empty, and - reads the arguments from there: "
            "write `- < arguments.json`, or the JSON object itself",
        ),
        (
            ["call", "shop.py:server", "order", "@shop.py"],
            "ARGUMENTS is a JSON object, and not a file; to read a file, write: - < shop.py",
        ),
        (
            ["lint", "-"],
            "standard input is empty, and - reads a tools/list from there: "
            "write `- < tools.json`, or the name of the file",
        ),
        (
            ["call", "empty.py:server", "order"],
            "there is no tool 'order'; the server has no tools at all",
        ),
        (
            ["replay", "shop.py:server", "shop.py"],
            "the file with the calls comes first: toolbooth replay shop.py shop.py:server",
        ),
        (
            ["serve", "shop.py:server", "--http", "8000", "--host", "no-such-machine.invalid"],
            "cannot listen at no-such-machine.invalid:8000: no machine of this name can be found",
        ),
        (
            ["tools", "shop.py:server", "--timeout", "long"],
            "Invalid value for '--timeout': 'long' is not a valid number. See `toolbooth tools --help`.",
        ),
        (
            ["completion"],
            "Missing argument '{bash|zsh|fish}'. It is one of bash, zsh, fish. See `toolbooth completion --help`.",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_usual_mistake_of_a_newcomer_is_answered_with_what_to_write(
    words: list[str], told: str, shop: Path
):
    (shop / "makes.py").write_text("def make():\n    return 1\n")
    (shop / "empty.py").write_text(
        "from toolbooth import ToolRegistry\nserver = ToolRegistry('e')\n"
    )
    assert toolbooth(shop, *words) == (2, "", f"Error: {told}")


@pytest.mark.parametrize(
    ("redirect", "code", "shown", "error"),
    [
        ("<&-", 0, "1 tea\n", "printed by a tool\n"),
        (">&-", 0, "", "printed by a tool\n"),
        ("2>&-", 0, "1 tea\n", ""),
    ],
    ids=["stdin", "stdout", "stderr"],
)
def test_a_closed_standard_stream_is_read_and_written_as_empty(
    redirect: str, code: int, shown: str, error: str, shop: Path
):
    line = f"""{TOOLBOOTH} call shop.py:server order '{{"item": "tea"}}' {redirect}"""
    done = subprocess.run(
        ["sh", "-c", line], cwd=shop, capture_output=True, text=True, timeout=LIMIT, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (code, shown, error)


def test_a_print_of_a_started_server_is_one_line_and_no_traceback(shop: Path):
    code, shown, error = toolbooth(shop, "tools", "--", "echo", "hello")
    assert (code, shown) == (3, "")
    assert error.splitlines() == [
        'The server wrote a line to standard output that is not a message: "hello"',
        "Error: echo hello: the server ended, or closed the connection, before it answered",
    ]


def test_without_a_command_the_help_is_shown(tmp_path: Path):
    code, shown, error = toolbooth(tmp_path)
    assert (code, shown) == (2, "")
    assert error.startswith("Usage: toolbooth [OPTIONS] COMMAND")


def test_the_authors_contract_mistakes_are_listed(shop: Path):
    code, shown, error = toolbooth(shop, "tools", "mistakes.py:server")
    assert (code, shown) == (2, "")
    head, *mistakes = error.splitlines()
    assert head == "Error: order cannot be registered:"
    assert mistakes
    assert all(line.startswith("- ") for line in mistakes)


def test_a_traceback_is_shown_with_traceback(shop: Path):
    _, _, error = toolbooth(shop, "tools", "fails.py:server", "--traceback")
    assert 'fails.py", line 3, in <module>' in error
    assert error.splitlines()[-1].startswith("Error: fails.py:server could not be loaded")


@pytest.mark.parametrize("server", ["ToolRegistry", "FastMCP"])
def test_a_tool_that_fails_takes_one_line_and_its_traceback_is_shown_with_traceback(
    server: str, tmp_path: Path
):
    (tmp_path / "shop.py").write_text(FAILING)
    call = ["call", f"shop.py:{server}", "order", '{"count": 0}']
    code, shown, error = toolbooth(tmp_path, *call)
    assert (code, "Traceback" in error) == (1, False)
    assert "order" in shown
    # FastMCP writes its log in a narrow column.
    assert (
        "ZeroDivisionError: integer division or modulo by zero (shop.py, line 9). "
        "--traceback shows the rest"
    ) in " ".join(error.split())
    assert "Traceback" in toolbooth(tmp_path, *call, "--traceback")[2]


def test_with_json_a_mistake_is_one_json_document(shop: Path):
    code, shown, error = toolbooth(shop, "call", "shop.py:server", "oder", "--json")
    sentence = "there is no tool 'oder'; did you mean 'order'?"
    assert (code, error) == (2, f"Error: {sentence}")
    assert json.loads(shown) == {"error": sentence, "exit_code": 2}


def test_output_of_a_tool_goes_to_standard_error_beside_json(shop: Path):
    code, shown, error = toolbooth(
        shop, "call", "shop.py:server", "order", '{"item": "tea"}', "--json"
    )
    assert (code, error) == (0, "printed by a tool")
    assert json.loads(shown)["content"] == [{"type": "text", "text": "1 tea"}]


@pytest.mark.parametrize("command", ["call", "tools"])
def test_an_unreachable_server_exits_with_3(command: str, shop: Path):
    words = [command, "http://127.0.0.1:9/mcp", *(["order"] if command == "call" else [])]
    told = "Error: http://127.0.0.1:9/mcp: nothing answers there; is the server running?"
    assert toolbooth(shop, *words) == (3, "", told)


def test_a_server_that_does_not_answer_in_time_exits_with_3(shop: Path):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/mcp"
        ended = toolbooth(shop, "tools", url, "--timeout", "1")
    assert ended == (3, "", f"Error: {url}: no answer within 1 seconds")


def test_ctrl_c_is_quiet_with_code_130_and_progress_is_on_standard_error(shop: Path):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/mcp"
        command = [TOOLBOOTH, "tools", url]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, cwd=shop, stdout=pipe, stderr=pipe, text=True) as child:
            assert child.stderr is not None
            assert child.stderr.readline() == f"Asking {url} for its tools ...\n"
            child.send_signal(signal.SIGINT)
            shown, error = child.communicate(timeout=LIMIT)
    assert (child.returncode, shown, error) == (130, "", "")


@pytest.mark.parametrize("quiet", [False, True], ids=["terminal", "NO_COLOR"])
def test_only_a_terminal_gets_colour(quiet: bool, shop: Path):
    ours, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm", **({"NO_COLOR": "1"} if quiet else {})}
    command = [TOOLBOOTH, "call", "shop.py:server", "order"]
    subprocess.run(command, cwd=shop, env=env, stdout=theirs, check=False, timeout=LIMIT)
    os.close(theirs)
    shown = os.read(ours, 65536).decode()
    os.close(ours)
    assert ("\x1b[31mRefused" in shown) is not quiet
    assert "Refused: 1 problem" in shown


# --- tools --------------------------------------------------------------------------------------

NESTED = """
from pydantic import BaseModel
from toolbooth import ToolRegistry
server = ToolRegistry("nested")

class Address(BaseModel):
    city: str

class Person(BaseModel):
    name: str
    addresses: list[Address] = []

@server.tool
def add(person: Person) -> str:
    '''Add a person.'''
    return person.name

@server.tool
def nothing() -> str:
    '''Do nothing.'''
    return ""
"""


def test_fields_are_shown_at_every_depth(tmp_path: Path):
    (tmp_path / "nested.py").write_text(NESTED)
    code, shown, _ = toolbooth(tmp_path, "tools", "nested.py:server", "add")
    assert code == 0
    assert shown.splitlines()[3:] == [
        "  person       object, required",
        "    name       string, required",
        "    addresses  array of object, default []",
        "      city     string, required",
    ]
    _, shown, _ = toolbooth(tmp_path, "tools", "nested.py:server", "nothing")
    assert shown.splitlines()[1:] == ["  Do nothing.", "  takes no arguments"]


# --- config, doctor, completion -----------------------------------------------------------------


def test_printed_config_starts_the_server_from_any_folder(shop: Path):
    code, shown, error = toolbooth(shop, "config", "shop:server", "--client", "vscode")
    assert (code, error) == (0, "# for .vscode/mcp.json")
    entry = json.loads(shown)["servers"]["shop"]
    assert entry == {"command": TOOLBOOTH, "args": ["serve", f"{shop / 'shop.py'}:server"]}
    command = [entry["command"], *entry["args"]]
    assert toolbooth(Path("/"), "call", "price", '{"item": "tea"}', "--", *command)[:2] == (
        0,
        "1 per piece of tea\n",
    )


def test_config_accepts_a_url_with_its_token_and_a_command(shop: Path):
    _, shown, _ = toolbooth(shop, "config", "https://example.org/mcp", "--token", "t")
    assert json.loads(shown)["mcpServers"]["example.org"] == {
        "type": "http",
        "url": "https://example.org/mcp",
        "headers": {"Authorization": "Bearer t"},
    }
    _, shown, _ = toolbooth(shop, "config", "--", "npx", "-y", "@example/server")
    assert json.loads(shown)["mcpServers"] == {
        "server": {"command": "npx", "args": ["-y", "@example/server"]}
    }
    # A program of this environment gets its path, because a client would not find it.
    env = {**os.environ, "PATH": f"{Path(TOOLBOOTH).parent}:{os.environ['PATH']}"}
    words = ["config", "--name", "files", "--", "toolbooth", "proxy", "--", "npx", "server"]
    done = subprocess.run([TOOLBOOTH, *words], env=env, capture_output=True, timeout=LIMIT)
    assert json.loads(done.stdout)["mcpServers"]["files"] == {
        "command": TOOLBOOTH,
        "args": ["proxy", "--", "npx", "server"],
    }


def test_doctor_warns_of_a_server_without_tools(tmp_path: Path):
    (tmp_path / "empty.py").write_text(
        "from toolbooth import ToolRegistry\nserver = ToolRegistry('shop')\n"
    )
    code, shown, _ = toolbooth(tmp_path, "doctor", "empty.py:server")
    remedy = "register a tool, or import the modules that register them before the server is used"
    assert code == 0
    assert f"warning shop has no tools\n        -> {remedy}\n" in shown


def test_the_doctor_checks_the_installation_and_the_target(shop: Path):
    code, shown, error = toolbooth(shop, "doctor", "shop.py:server", "--json")
    assert (code, error) == (0, "")
    found = json.loads(shown)
    whats = [each["what"] for each in found["findings"]]
    assert whats[0].startswith("Python 3.")
    assert "shop (toolbooth) lists 2 tools" in whats
    assert "the tools of shop are behind the boundary" in whats
    assert "2 schemas compile" in whats


@pytest.mark.parametrize(
    ("target", "code", "told"),
    [
        ("fails.py:server", 2, "fails.py:server could not be loaded: ValueError: no database"),
        ("http://127.0.0.1:9/mcp", 3, "nothing answers there; is the server running?"),
    ],
    ids=["fails", "nobody"],
)
def test_doctor_reports_why_a_target_cannot_be_used(target: str, code: int, told: str, shop: Path):
    ended, shown, _ = toolbooth(shop, "doctor", target)
    assert ended == code
    assert told in shown


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(shell: str, tmp_path: Path):
    code, shown, _ = toolbooth(tmp_path, "completion", shell)
    assert code == 0
    assert "_TOOLBOOTH_COMPLETE" in shown


def test_command_names_are_completed(tmp_path: Path):
    env = {**os.environ, "_TOOLBOOTH_COMPLETE": "bash_complete"}
    env |= {"COMP_WORDS": "toolbooth exp", "COMP_CWORD": "1"}
    done = subprocess.run([TOOLBOOTH], env=env, capture_output=True, text=True, timeout=LIMIT)
    assert done.stdout == "plain,explain\n"
