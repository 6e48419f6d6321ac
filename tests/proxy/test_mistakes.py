"""Mistakes of people who use the proxy for the first time, and what they read."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

TOOLBOOTH = str(Path(sys.executable).with_name("toolbooth"))
LISTING = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n'


def toolbooth(folder: Path, *words: str, given: bytes = b"") -> tuple[int, str, str]:
    done = subprocess.run(
        [TOOLBOOTH, *words],
        cwd=folder,
        input=given,
        capture_output=True,
        timeout=60,
        env=os.environ,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["npx", "-y", "@example/server"],
            "'npx' is a program; the command that starts a server comes after `--`: "
            "`toolbooth proxy -- npx -y @example/server`. See `toolbooth proxy --help`.",
        ),
        (
            ["--policy", "strict", "python", "server.py"],
            "'python' is a program; the command that starts a server comes after `--`: "
            "`toolbooth proxy --policy strict -- python server.py`. See `toolbooth proxy --help`.",
        ),
        (
            ["--port", "8000", "--", "npx", "server"],
            "There is no option '--port'; write `--http PORT`. See `toolbooth proxy --help`.",
        ),
        (
            ["--token", "t", "http://127.0.0.1:1/mcp"],
            "There is no option '--token'; write `--header 'Authorization: Bearer TOKEN'`. "
            "See `toolbooth proxy --help`.",
        ),
        (
            ["files"],
            "'files' is neither a URL nor a command after `--`; if it is a server of booth.toml, "
            "write: `toolbooth proxy --config booth.toml files`",
        ),
        (
            ["booth.toml"],
            "a configuration file comes after --config: `toolbooth proxy --config booth.toml`",
        ),
        (
            ["server.py:mcp"],
            "a proxy does not load 'server.py:mcp' itself; write the command that starts it: "
            "`toolbooth proxy -- python server.py`. You can also change its code: it needs no "
            "proxy if you wrap it in `toolbooth.protect`",
        ),
        (
            ["report", "nope.jsonl"],
            "nope.jsonl cannot be read: No such file or directory; "
            "`toolbooth proxy --record FILE` writes such files",
        ),
        (
            ["--config", "text.toml"],
            "text.toml cannot be used: servers.files.command: this has to be a list of texts; "
            'write command = ["npx", "-y", "a server"]',
        ),
        (
            ["--config", "misspelt.toml"],
            "misspelt.toml cannot be used: servers.files.comand: there is no such setting; "
            'did you mean "command"?',
        ),
        (
            ["--config", "quoted.toml"],
            "quoted.toml cannot be used: servers.files.command: this has to be a list of texts",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_mistake_is_answered_with_what_to_write(words: list[str], sentence: str, tmp_path: Path):
    (tmp_path / "booth.toml").write_text('[servers.files]\nurl = "http://127.0.0.1:1/mcp"\n')
    (tmp_path / "text.toml").write_text("[servers.files]\ncommand = \"npx -y 'a server'\"\n")
    (tmp_path / "misspelt.toml").write_text('[servers.files]\ncomand = ["npx"]\n')
    (tmp_path / "quoted.toml").write_text('[servers.files]\ncommand = "npx \'a"\n')
    assert toolbooth(tmp_path, "proxy", *words) == (2, "", f"Error: {sentence}\n")


def test_a_server_of_the_file_may_have_the_name_of_a_program(tmp_path: Path):
    (tmp_path / "booth.toml").write_text('[servers.files]\nurl = "http://127.0.0.1:1/mcp"\n')
    assert toolbooth(tmp_path, "proxy", "--config", "booth.toml", "docker") == (
        2,
        "",
        "Error: booth.toml has no server 'docker'; there is files\n",
    )


class _NotFound(BaseHTTPRequestHandler):
    """A server that has nothing at this path, and answers in JSON."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        body = b'{"error": "not found"}'
        self.send_response(404)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def wrong_url() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _NotFound) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/wrong"
        server.shutdown()


def test_a_wrong_url_is_reported_once_with_the_usual_path(wrong_url: str, tmp_path: Path):
    code, shown, error = toolbooth(tmp_path, "proxy", wrong_url, given=LISTING)
    assert code == 0
    assert shown == (
        '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"the request was not handled: the '
        'server answered with HTTP status 404; check the path of its URL, often it is /mcp"}}\n'
    )
    assert error == f"Guarding the tool calls for {wrong_url} (policy: default).\n"
