"""booth.toml: the servers of a proxy and their rules, and its mistakes."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from proxied import FAULTY
from toolbooth.proxy.booth import BoothError, ServerSettings, read_booth
from toolbooth.proxy.http_client import Address
from toolbooth.proxy.rules import Rules

WHOLE = """
[servers.files]
command = ["npx", "files", "."]
env = { TOKEN = "a ${SECRET} b" }
cwd = "/srv"
timeout = 60
policy = "strict"
policies = { read = "lenient" }
publish = "as-is"
flatten = true
allow = ["read*"]
deny = ["read_all"]
rename = { read = "get" }
prefix = "f_"

[servers.far]
url = "https://example.org/mcp"
headers = { Authorization = "Bearer ${SECRET}" }
"""
MAIN = [sys.executable, "-c", "from toolbooth.cli.entry import main; main()"]


def toolbooth(*words: str, cwd: Path, given: bytes = b"") -> Any:
    return subprocess.run(
        [*MAIN, *words], cwd=cwd, input=given, capture_output=True, timeout=60, env=os.environ
    )


def test_every_setting_is_read():
    assert read_booth(WHOLE, {"SECRET": "s3"}) == {
        "files": ServerSettings(
            name="files",
            command=("npx", "files", "."),
            env={"TOKEN": "a s3 b"},
            cwd="/srv",
            timeout=60.0,
            rules=Rules(
                policy="strict",
                policies={"read": "lenient"},
                publish="as-is",
                flatten=True,
                allow=("read*",),
                deny=("read_all",),
                rename={"read": "get"},
                prefix="f_",
            ),
        ),
        "far": ServerSettings(
            name="far",
            url="https://example.org/mcp",
            headers={"Authorization": "Bearer s3"},
        ),
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("servers = 1", "servers: this has to be a table"),
        ("", "there are no servers; write one as [servers.NAME]"),
        ("[server.a]", 'server: there is no such setting; did you mean "servers"?'),
        ("[servers.a]", "servers.a: give either command or url"),
        (
            '[servers.a]\nurl = "x"\npolicy = "lax"',
            "servers.a.policy: this has to be one of strict, default, lenient",
        ),
        (
            '[servers.a]\nurl = "x"\nprefx = "p"',
            'servers.a.prefx: there is no such setting; did you mean "prefix"?',
        ),
        ('[servers.a]\nurl = "x"\ntimeout = 0', "servers.a.timeout: this has to be a number"),
        ('[servers.a]\nurl = "x"\nallow = "y"', "servers.a.allow: this has to be a list of texts"),
        (
            '[servers.a]\nurl = "x"\nheaders = { A = "${NONE}" }',
            "servers.a.headers.A: the environment has no NONE",
        ),
        (
            '[servers.a]\ncommand = ["x"]\nheaders = { A = "b" }',
            "servers.a.headers: this has an effect only on a server with a url",
        ),
        (
            '[servers.a]\nurl = "x"\ncwd = "/srv"',
            "servers.a.cwd: this has an effect only on a server with a command",
        ),
        ("[", "it is not TOML"),
    ],
)
def test_mistakes_name_the_setting_and_the_nearest_one(text: str, message: str):
    with pytest.raises(BoothError) as caught:
        read_booth(text, {})
    assert message in str(caught.value)


def test_a_server_starts_without_the_variables_of_the_others():
    found = read_booth(WHOLE, {"SECRET": "s3"}, starts="far")
    assert found["far"].headers == {"Authorization": "Bearer s3"}
    assert read_booth(WHOLE.replace("${SECRET} b", "${NONE} b"), {"SECRET": ""}, starts="far")
    with pytest.raises(BoothError, match=r"servers\.far\.headers\.Authorization"):
        read_booth(WHOLE, {}, starts="far")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--policy", "strict"], b"--policy has no effect with --config"),
        (["--deny", "echo"], b"--deny has no effect with --config"),
        (["--timeout", "5"], b"--timeout has no effect with --config"),
        (["--host", "0.0.0.0"], b"--host is for HTTP; add --http PORT"),
    ],
    ids=["policy", "deny", "timeout", "host"],
)
def test_an_option_without_effect_is_refused(tmp_path: Path, words: list[str], message: bytes):
    (tmp_path / "booth.toml").write_text('[servers.far]\nurl = "http://127.0.0.1:1/mcp"\n')
    done = toolbooth("proxy", "--config", "booth.toml", "far", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr


def test_a_server_of_the_file_is_proxied_with_its_rules(tmp_path: Path):
    command = json.dumps([sys.executable, str(FAULTY)])
    (tmp_path / "booth.toml").write_text(
        f'[servers.faulty]\ncommand = {command}\nprefix = "p_"\nallow = ["echo"]\n'
    )
    asked = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n'
    done = toolbooth("proxy", "--config", "booth.toml", "faulty", cwd=tmp_path, given=asked)
    assert done.returncode == 0
    [tool] = json.loads(done.stdout)["result"]["tools"]
    assert tool["name"] == "p_echo"
    done = toolbooth("proxy", "--config", "booth.toml", "fault", cwd=tmp_path)
    assert done.returncode == 2
    assert b"booth.toml has no server 'fault'; there is faulty" in done.stderr


def test_names_in_the_file_that_no_tool_has_are_reported(tmp_path: Path):
    command = json.dumps([sys.executable, str(FAULTY)])
    (tmp_path / "booth.toml").write_text(
        f'[servers.faulty]\ncommand = {command}\nallow = ["echo", "flo*", "read_*"]\n'
        'deny = ["flod"]\npolicies = { ecko = "strict" }\nrename = { echo = "say" }\n'
    )
    asked = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n'
    done = toolbooth("proxy", "--config", "booth.toml", cwd=tmp_path, given=asked * 2)
    said = done.stderr.decode()
    for told in (
        "allow has 'read_*', but the server has no such tool",
        "deny has 'flod', but the server has no such tool; did you mean 'flood'?",
        "policies has 'ecko', but the server has no such tool; did you mean 'echo'?",
    ):
        assert said.count(told) == 1
    assert said.count("has no such tool") == 3


def test_the_entry_for_a_client_starts_the_proxy(tmp_path: Path):
    (tmp_path / "booth.toml").write_text('[servers.far]\nurl = "https://example.org/mcp"\n')
    done = toolbooth("config", "--client", "claude-code", "--proxy", "far", cwd=tmp_path)
    entry = json.loads(done.stdout)["mcpServers"]["far"]
    file = str((tmp_path / "booth.toml").resolve())
    assert entry["args"] == ["proxy", "--config", file, "far"]


def test_one_entry_starts_the_proxy_for_all_servers_of_the_file(tmp_path: Path):
    file = tmp_path / "shop.toml"
    file.write_text(
        '[servers.far]\nurl = "https://example.org/mcp"\nheaders = { X-Key = "${NOT_SET_HERE}" }\n'
        '[servers.near]\ncommand = ["near"]\n'
    )
    done = toolbooth("config", "--client", "cursor", "--booth", "shop.toml", cwd=tmp_path)
    assert done.returncode == 0
    entry = json.loads(done.stdout)["mcpServers"]["shop"]
    assert entry["args"] == ["proxy", "--config", str(file.resolve())]


@pytest.mark.parametrize("words", [[], ["https://example.org/mcp", "--booth", "shop.toml"]])
def test_an_entry_is_for_a_target_or_for_the_proxy(tmp_path: Path, words: list[str]):
    done = toolbooth("config", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert b"give a TARGET; or --proxy" in done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["module:object"], b"a proxy needs the URL of a server"),
        ([], b"a proxy needs the URL of a server"),
        (["nprx", "server"], b"the words of a command come after `--`"),
        (["report"], b"name the recording"),
        (["--header", "A: b", "--", "x"], b"are for a URL"),
        (["--", "/nowhere/at/all"], b"could not be started"),
        (["http://127.0.0.1:1/mcp", "--http", "0", "--host", "0.0.0.0"], b"need a token"),
    ],
    ids=[
        "object",
        "nothing",
        "no-dashes",
        "report",
        "header",
        "command",
        "open-address",
    ],
)
def test_wrong_usage_is_reported_in_one_sentence(tmp_path: Path, words: list[str], message: bytes):
    done = toolbooth("proxy", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [("Authorization", "Bearer €"), ("Authorization", "${TOKEN}"), ("X Y", "1")],
    ids=["not-latin-1", "a-line-break", "a-space-in-the-name"],
)
def test_a_header_that_cannot_be_sent_is_reported_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
):
    monkeypatch.setenv("TOKEN", "Bearer s3cret\n")
    text = f'[servers.far]\nurl = "http://127.0.0.1:1/mcp"\nheaders = {{ "{name}" = "{value}" }}\n'
    (tmp_path / "booth.toml").write_text(text)
    done = toolbooth("proxy", "--config", "booth.toml", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.decode()) == (
        2,
        b"",
        f"Error: the header {name!r} of server 'far' cannot be sent: the name of a header has no "
        "spaces, and its value has no line breaks and only characters of Latin-1\n",
    )


def test_a_url_with_other_letters_is_requested_in_its_encoded_form():
    found = Address.of("http://127.0.0.1:1/é/%20/a b?q=€&x=[1]")
    assert found.path == "/%C3%A9/%20/a%20b?q=%E2%82%AC&x=[1]"
