"""`toolbooth serve --http`: accepted callers, addresses and tokens. Real processes and sockets."""

import http.client
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

TOOLBOOTH = Path(sys.executable).with_name("toolbooth")
SERVER = "from toolbooth import ToolRegistry\nregistry = ToolRegistry('shop')\n"
PING = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'
TOKEN = "s3cret-Token~+/=="
LIMIT = 30


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(SERVER)
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    return tmp_path


def environment(token: str | None) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "TOOLBOOTH_TOKEN"}
    return kept if token is None else {**kept, "TOOLBOOTH_TOKEN": token}


@contextmanager
def serving(folder: Path, *words: str, token: str | None = None) -> Iterator[tuple[str, int]]:
    """A server in a process of its own: the URL that it prints, and its port."""
    command = [TOOLBOOTH, "serve", "shop.py:registry", "--http", "0", *words]
    with subprocess.Popen(
        command, cwd=folder, env=environment(token), stderr=subprocess.PIPE, text=True
    ) as child:
        try:
            assert child.stderr is not None
            found = re.fullmatch(r"shop: 0 tools at (http://\S+)\n", child.stderr.readline())
            assert found is not None
            yield found[1], urlsplit(found[1]).port or 0
        finally:
            child.terminate()
            child.wait(LIMIT)


def ask(port: int, address: str = "127.0.0.1", **headers: str) -> tuple[int, dict[str, str], str]:
    connection = http.client.HTTPConnection(address, port, timeout=LIMIT)
    try:
        sent = {"Content-Type": "application/json", "Host": f"localhost:{port}", **headers}
        connection.request("POST", "/mcp", PING, sent)
        reply = connection.getresponse()
        return reply.status, dict(reply.headers), reply.read().decode()
    finally:
        connection.close()


def refused(folder: Path, *words: str, token: str | None = None) -> str:
    """Return the message of a command that cannot serve."""
    command = [TOOLBOOTH, "serve", "shop.py:registry", *words]
    done = subprocess.run(
        command, cwd=folder, env=environment(token), capture_output=True, text=True, timeout=LIMIT
    )
    assert (done.returncode, done.stdout) == (2, "")
    return done.stderr.rpartition("Error: ")[2].strip()


def test_a_path_without_its_slash_is_served_with_it(folder: Path):
    with serving(folder, "--path", "mcp") as (url, port):
        assert url == f"http://127.0.0.1:{port}/mcp"
        assert ask(port)[0] == 200


# --- the token ----------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["file", "variable", "file before variable"])
def test_requests_must_send_the_token(source, folder):
    words = [] if source == "variable" else ["--token-file", "token"]
    token = {"file": None, "variable": TOKEN}.get(source, "another")
    with serving(folder, *words, token=token) as (_, port):
        for sent in (
            {},
            {"Authorization": "Bearer"},
            {"Authorization": "Bearer "},
            {"Authorization": "Bearer another"},
            {"Authorization": f"Bearer {TOKEN}x"},
            {"Authorization": f"Bearer {TOKEN[:-1]}"},
            {"Authorization": f"Basic {TOKEN}"},
            {"Authorization": TOKEN},
            {"X-Token": TOKEN},
        ):
            status, headers, body = ask(port, **sent)
            assert (status, headers["www-authenticate"]) == (401, "Bearer")
            assert body == "send this server's token as Authorization: Bearer TOKEN"
        for scheme in ("Bearer", "bearer", "BEARER "):
            assert ask(port, Authorization=f"{scheme} {TOKEN}")[0] == 200
        assert ask(port, Authorization=f"Bearer {TOKEN}", Host="evil.example")[0] == 421


def test_two_authorization_headers_are_refused(folder):
    with serving(folder, token=TOKEN) as (_, port):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LIMIT)
        connection.putrequest("POST", "/mcp")
        for name, value in [("Content-Type", "application/json"), ("Content-Length", "0")]:
            connection.putheader(name, value)
        for token in ("another", TOKEN):
            connection.putheader("Authorization", f"Bearer {token}")
        connection.endheaders()
        assert connection.getresponse().status == 401
        connection.close()


@pytest.mark.parametrize(
    ("words", "token", "told"),
    [
        (["--token-file", "none"], None, "the token file none could not be read: No such file"),
        (["--token-file", "."], None, "the token file . could not be read: Is a directory"),
        (["--token-file", "bytes"], None, "the token file bytes could not be read: not text"),
        (["--token-file", "blank"], None, "blank is empty; it should hold the token"),
        (["--token-file", "blank"], TOKEN, "blank is empty; it should hold the token"),
        ([], " \n", "TOOLBOOTH_TOKEN is empty; it should hold the token"),
        ([], "", "TOOLBOOTH_TOKEN is empty; it should hold the token"),
        ([], "two words", "TOOLBOOTH_TOKEN does not hold a token: a token is one word of"),
        (["--token-file", "two"], None, "two does not hold a token: a token is one word of"),
        (["--token-file", "token", "--no-auth"], None, "--no-auth and --token-file contradict"),
    ],
    ids=str,
)
def test_unusable_token_is_refused_with_the_reason(words, token, told, folder):
    (folder / "blank").write_text("\n")
    (folder / "two").write_text("ünus\n")
    (folder / "bytes").write_bytes(b"\xff\xfe\x00")
    assert refused(folder, "--http", "0", *words, token=token).startswith(told)


# --- addresses ----------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["0.0.0.0", "::", ""])
def test_an_address_that_others_can_reach_needs_a_token(host, folder):
    assert refused(folder, "--http", "0", "--host", host) == (
        f"other machines can reach {host}, so requests need a token: set TOOLBOOTH_TOKEN, "
        "name a --token-file, or take requests from anyone with --no-auth"
    )


def test_an_address_that_others_can_reach_is_served_with_a_token(folder):
    with serving(folder, "--host", "0.0.0.0", token=TOKEN) as (url, port):
        assert url == f"http://0.0.0.0:{port}/mcp"
        assert ask(port)[0] == 401
        assert ask(port, Authorization=f"Bearer {TOKEN}")[0] == 200
        # Web pages can reach this name, which is not an allowed host.
        assert ask(port, Authorization=f"Bearer {TOKEN}", Host=f"0.0.0.0:{port}")[0] == 421


def test_no_auth_serves_a_public_address_without_a_token(folder):
    with serving(folder, "--host", "0.0.0.0", "--no-auth", token=TOKEN) as (_, port):
        assert ask(port)[0] == 200


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.0.0.2"])
def test_loopback_needs_no_token(host, folder):
    with serving(folder, "--host", host) as (_, port):
        assert ask(port, host, Host=f"{host}:{port}")[0] == 200


def test_loopback_of_the_other_protocol_needs_no_token(folder):
    with serving(folder, "--host", "::1") as (url, port):
        assert url == f"http://[::1]:{port}/mcp"
        assert ask(port, "::1", Host=f"[::1]:{port}")[0] == 200


# --- hosts --------------------------------------------------------------------------------------


def test_further_hosts_are_served_if_allowed(folder):
    allowed = ("--allow-host", "Tools.example", "--allow-host", "192.0.2.1")
    with serving(folder, *allowed) as (_, port):
        for host in ("localhost", f"127.0.0.1:{port}", "tools.example", "TOOLS.example:443"):
            assert ask(port, Host=host)[0] == 200
        assert ask(port, Host="192.0.2.1")[0] == 200
        assert ask(port, Origin="https://tools.example")[0] == 200
        assert ask(port, Origin="http://evil.example//tools.example")[0] == 403
        status, _, body = ask(port, Host="evil.example")
        assert (status, body) == (
            421,
            "this host is not served here; name it in hosts= or with --allow-host",
        )


@pytest.mark.parametrize("host", ["https://tools.example", "a/b", "me@tools.example", "[::1", ""])
def test_invalid_allowed_host_is_refused(host, folder):
    assert refused(folder, "--http", "0", "--allow-host", host).startswith(
        f"{host!r} is not a host; valid hosts are, for example, 'tools.example.com'"
    )


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--host", "127.0.0.1"], "--host is for HTTP; add --http PORT"),
        (["--path", "/x"], "--path is for HTTP; add --http PORT"),
        (["--allow-host", "a"], "--allow-host is for HTTP; add --http PORT"),
        (["--token-file", "token"], "--token-file is for HTTP; add --http PORT"),
        (["--no-auth"], "--no-auth is for HTTP; add --http PORT"),
        (["--request-seconds", "9"], "--request-seconds is for HTTP; add --http PORT"),
        (["--max-incomplete", "9"], "--max-incomplete is for HTTP; add --http PORT"),
        (["--http", "0", "--drain-seconds", "1"], "--drain-seconds is for stdio; leave out --http"),
    ],
    ids=str,
)
def test_option_without_effect_is_refused(words, told, folder):
    assert refused(folder, *words) == told


def test_http_without_a_number_is_refused(folder):
    assert refused(folder, "--http", "abc") == (
        "Invalid value for '--http': 'abc' is not a valid port. See `toolbooth serve --help`."
    )


def test_stdio_is_served_even_with_an_unusable_token(folder):
    command = [
        TOOLBOOTH,
        "serve",
        "shop.py:registry",
        "--stop-seconds",
        "1",
        "--drain-seconds",
        "1",
    ]
    done = subprocess.run(
        command, input=PING, cwd=folder, env=environment(""), capture_output=True, timeout=LIMIT
    )
    assert (done.returncode, done.stdout) == (0, b'{"jsonrpc":"2.0","id":1,"result":{}}\n')
