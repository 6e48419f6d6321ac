"""`toolbooth proxy login`: OAuth against an authorization server on loopback, and the tokens in use."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from auth_server import AuthServer
from http_proxied import Client, Upstream, proxied, served
from test_booth import MAIN, toolbooth
from toolbooth.adapters.sdk.oauth import SavedLogin
from toolbooth.proxy.http_link import HttpLink
from toolbooth.server.state_file import state_file


async def answered(message: Any, upstream: Upstream, event: Any) -> Any:
    return {"content": [], "resultType": "complete"}


async def logged_in(name: str, folder: Path) -> tuple[int, str, str]:
    """Run the command, and open the page that it prints: its exit code, output and log."""
    words = [*MAIN, "proxy", "login", name, "--config", str(folder / "booth.toml")]
    # The command also opens a browser. This one does nothing.
    env = {**os.environ, "BROWSER": "true"}
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*words, stdout=pipe, stderr=pipe, env=env)
    assert process.stderr is not None
    log = ""
    while line := (await process.stderr.readline()).decode():
        log += line
        if line.startswith("Open this page"):
            async with httpx2.AsyncClient(follow_redirects=True, timeout=20) as browser:
                page = await browser.get(line.split()[-1])
                assert "You can close this window" in page.text
    output, _ = await process.communicate()
    return process.returncode or 0, output.decode(), log


@asynccontextmanager
async def guarded(folder: Path, **options: Any) -> AsyncIterator[tuple[AuthServer, str]]:
    """A server that asks for a login, as `far` in booth.toml."""
    server = AuthServer(Upstream(answered), **options)
    async with asyncio.timeout(60), served(server) as url:
        text = f'[servers.far]\nurl = "{url}"\n[servers.own]\ncommand = ["x"]\n'
        (folder / "booth.toml").write_text(text)
        yield server, url


@asynccontextmanager
async def client_of(url: str, file: Path) -> AsyncIterator[Client]:
    saved = SavedLogin(url, file)
    async with proxied(connect=lambda: HttpLink(url, None, saved)) as client:
        yield client


def test_a_login_is_saved_for_its_owner_and_used_for_every_request(tmp_path: Path):
    async def test() -> None:
        async with guarded(tmp_path) as (server, url):
            code, output, log = await logged_in("far", tmp_path)
            file = state_file("login", url, os.environ)
            assert (code, output) == (0, f"Logged in to {url}. The tokens are in {file}\n"), log
            assert file.stat().st_mode & 0o777 == 0o600
            assert server.registered[0]["client_name"] == "Toolbooth"
            assert "access-1" not in output + log
            async with client_of(url, file) as client:
                session = await client.initialize(authorization="Bearer of-the-client")
                found = await client.post(client.message("ping", {}), mcp_session_id=session)
                assert found.json()["result"] is not None
            headers = [headers for _, headers, _ in server.upstream.requests]
            assert {each.get("authorization") for each in headers} == {"Bearer access-1"}

    asyncio.run(test())


@pytest.mark.parametrize("lifetime", [3600, None], ids=["expires", "is-rejected"])
def test_an_access_token_is_renewed_once_for_all_requests(tmp_path: Path, lifetime: int | None):
    async def test() -> None:
        async with guarded(tmp_path, lifetime=lifetime) as (server, url):
            await logged_in(url, tmp_path)  # the URL is as good as the name
            file = state_file("login", url, os.environ)
            if lifetime is None:
                server.accepted = "Bearer of-another-time"
            else:
                saved = json.loads(file.read_text())
                file.write_text(json.dumps({**saved, "expires_at": 1}))
            async with client_of(url, file) as client:
                found = await asyncio.gather(*(client.call("{}") for _ in range(5)))
                assert {each.json()["result"]["resultType"] for each in found} == {"complete"}
            assert [each["grant_type"] for each in server.grants] == [
                "authorization_code",
                "refresh_token",
            ]
            assert server.grants[1]["resource"] == url
            assert json.loads(file.read_text())["tokens"]["access_token"] == "access-2"

    asyncio.run(test())


def test_a_login_that_has_ended_is_reported_and_the_call_is_safe_to_repeat(tmp_path: Path):
    async def test() -> None:
        async with guarded(tmp_path) as (server, url):
            await logged_in("far", tmp_path)
            server.denies, server.accepted = True, "none"
            async with client_of(url, state_file("login", url, os.environ)) as client:
                result = (await client.call("{}")).json()["result"]
            text = result["content"][0]["text"]
            assert "the server could not list its tools" in text
            assert result["_meta"]["toolbooth"]["code"] == "not-called"

    asyncio.run(test())


def test_without_a_login_the_client_learns_what_the_user_has_to_do(tmp_path: Path):
    async def test() -> None:
        async with guarded(tmp_path) as (_, url):
            async with proxied(connect=lambda: HttpLink(url)) as client:
                found = await client.post(client.message("initialize", {}))
            assert "`toolbooth proxy login`" in found.json()["error"]["message"]

    asyncio.run(test())


def test_a_user_who_refuses_is_not_logged_in(tmp_path: Path):
    async def test() -> None:
        async with guarded(tmp_path) as (server, url):
            server.denies = True
            code, _, log = await logged_in("far", tmp_path)
            assert (code, log.splitlines()[-1]) == (
                2,
                f"Error: no login to {url}: the user said no",
            )
            assert not state_file("login", url, os.environ).exists() or not json.loads(
                state_file("login", url, os.environ).read_text()
            ).get("tokens")

    asyncio.run(test())


def test_a_server_that_asks_for_no_login_is_reported(tmp_path: Path):
    async def test() -> None:
        async with guarded(tmp_path) as (server, _):
            server.asks_for_login = False
            code, _, log = await logged_in("far", tmp_path)
            assert code == 2
            assert "the server does not ask for a login" in log

    asyncio.run(test())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], b"name the server: `toolbooth proxy login NAME`"),
        (["fa"], b"booth.toml has no server 'fa'; there is far, own"),
        (["own"], b"own is started by a command; only servers with a URL ask for a login"),
        (["http://127.0.0.1:1/mcp"], b"no login to http://127.0.0.1:1/mcp"),
    ],
)
def test_wrong_usage_of_login_is_reported(tmp_path: Path, words: list[str], message: bytes):
    text = '[servers.far]\nurl = "http://127.0.0.1:1/mcp"\nheaders = { A = "${NOT_SET}" }\n'
    (tmp_path / "booth.toml").write_text(f'{text}[servers.own]\ncommand = ["x"]\n')
    done = toolbooth("proxy", "login", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr


def test_a_rejected_token_is_renewed_for_notifications_and_streams_too(tmp_path: Path):
    async def test() -> None:
        async with guarded(tmp_path) as (server, url):
            await logged_in("far", tmp_path)
            upstream = server.upstream
            async with client_of(url, state_file("login", url, os.environ)) as client:
                found = await client.post(client.message("initialize", {}))
                session = found.headers["mcp-session-id"]
                for method in ("notifications/initialized", "notifications/roots/list_changed"):
                    server.accepted = "Bearer of-another-time"
                    body = b'{"jsonrpc":"2.0","method":"%s"}' % method.encode()
                    assert (await client.post(body, mcp_session_id=session)).status_code == 202
                    while not upstream.streams or upstream.messages[-1]["method"] != method:
                        await asyncio.sleep(0.01)
            for number, method in ((2, "initialized"), (3, "roots/list_changed")):
                sent = upstream.headers_of(f"notifications/{method}")
                assert sent["authorization"] == f"Bearer access-{number}"
            [stream] = [headers for kind, headers, _ in upstream.requests if kind == "GET"]
            assert stream["authorization"] == "Bearer access-2"

    asyncio.run(test())


def test_a_token_that_expires_while_an_answer_is_suspended_is_renewed(tmp_path: Path):
    async def suspended(message: Any, upstream: Upstream, event: Any) -> None:
        server.accepted = "Bearer of-another-time"
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": {"content": []}}
        queue: asyncio.Queue[bytes] = asyncio.Queue()
        queue.put_nowait(json.dumps(answer).encode())
        upstream.streams["upstream-1"] = queue
        await event(b"\nretry: 1\nid: 7")

    async def test() -> None:
        nonlocal server
        async with guarded(tmp_path) as (server, url):
            await logged_in("far", tmp_path)
            server.upstream.answer = suspended
            async with client_of(url, state_file("login", url, os.environ)) as client:
                found = await client.post(client.message("initialize", {}))
                headers = {"mcp_session_id": found.headers["mcp-session-id"]}
                call = client.message("tools/call", {"name": "book", "arguments": {}})
                first = await client.post(call, **headers)
                last_id = next(line for line in first.text.splitlines() if line.startswith("id:"))
                rest = {**headers, "last-event-id": last_id[3:].strip()}
                names = {key.replace("_", "-"): value for key, value in rest.items()}
                found = await client.http.get(client.url, headers=names)
                assert '"result":{"content":[]}' in found.text.replace(" ", "")

    server: Any = None
    asyncio.run(test())


def test_a_token_that_another_proxy_has_renewed_is_used(tmp_path: Path):
    async def test() -> None:
        async with guarded(tmp_path) as (server, url):
            await logged_in("far", tmp_path)
            file = state_file("login", url, os.environ)
            async with client_of(url, file) as one, client_of(url, file) as other:
                server.accepted = "Bearer of-another-time"
                for client in (one, other):
                    result = (await client.call("{}")).json()["result"]
                    assert result == {"content": [], "resultType": "complete"}
            assert len(server.grants) == 2

    asyncio.run(test())


def test_a_file_that_cannot_be_written_is_reported_before_the_login(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "state").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    done = toolbooth("proxy", "login", "http://127.0.0.1:1/mcp", cwd=tmp_path)
    file = state_file("login", "http://127.0.0.1:1/mcp", os.environ)
    assert (done.returncode, done.stderr.decode()) == (
        2,
        "Error: no login to http://127.0.0.1:1/mcp: "
        f"the file {file} cannot be written: Not a directory\n",
    )
