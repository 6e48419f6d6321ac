"""Several servers in one booth.toml: the official client in each of its modes, the start of the
command, and sessions over HTTP.
"""

import asyncio
import json
import sys
import warnings
from pathlib import Path
from typing import Any

import httpx2
import mcp
import pytest
from mcp.client.stdio import StdioServerParameters, stdio_client

from http_proxied import META, STATELESS, Upstream, served
from test_booth import toolbooth
from test_clients import DIRECT, MODES, outcomes
from toolbooth.proxy.http_link import HttpLink
from toolbooth.proxy.http_server import HttpProxy
from toolbooth.proxy.link import ChildLink
from toolbooth.proxy.session import Server
from toolbooth.server.revisions import SERVER_KEY

MAIN = [sys.executable, "-c", "from toolbooth.cli.entry import main; main()", "proxy"]
NAMED = str(Path(__file__).with_name("several_server.py"))


def booth(folder: Path, **servers: str) -> list[str]:
    """The command of a proxy with these servers. Each has the words of its table."""
    tables = "\n".join(f"[servers.{name}]\n{words}" for name, words in servers.items())
    (folder / "booth.toml").write_text(tables)
    return [*MAIN, "--config", str(folder / "booth.toml")]


@pytest.mark.parametrize("mode", MODES)
def test_every_interaction_has_the_same_outcome_with_two_servers(mode: str, tmp_path: Path):
    command = f"command = {json.dumps(DIRECT)}"
    first, second = f'{command}\nprefix = "a_"', f'{command}\nprefix = "b_"'
    proxy = booth(tmp_path, first=first, second=second)
    with warnings.catch_warnings():
        # The client warns about what is deprecated since 2026-07-28, and servers still use.
        warnings.simplefilter("ignore")
        direct = asyncio.run(outcomes(DIRECT, mode))
        found = asyncio.run(outcomes(proxy, mode, prefix="b_"))
    names = direct.pop("names")
    assert found.pop("names") == [f"{prefix}_{name}" for prefix in "ab" for name in names]
    assert _without_server(found) == _without_server(direct)


def _without_server(found: dict[str, Any]) -> dict[str, Any]:
    """The outcomes, without the name of the server in each merged list."""
    for name in ("resources", "templates", "prompts"):
        found[name].get("_meta", {}).pop(SERVER_KEY, None)
    return found


def test_a_client_falls_back_to_the_handshake_if_one_server_needs_it(tmp_path: Path):
    named = f"command = {json.dumps([sys.executable, NAMED, 'named', 'server/discover'])}"
    proxy = booth(tmp_path, full=f"command = {json.dumps(DIRECT)}", named=named)

    async def test() -> None:
        env = {"XDG_STATE_HOME": str(tmp_path)}
        parameters = StdioServerParameters(command=proxy[0], args=proxy[1:], env=env)
        transport = stdio_client(parameters)
        async with asyncio.timeout(60), mcp.Client(transport, mode="auto") as client:
            tools = (await client.list_tools()).tools
            assert {"test_simple_text", "named_echo"} <= {tool.name for tool in tools}

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        asyncio.run(test())


def test_two_servers_with_one_tool_name_are_an_error_at_the_start(tmp_path: Path):
    command = f"command = {json.dumps([sys.executable, NAMED, 'a'])}"
    booth(tmp_path, one=command, two=command)
    done = toolbooth("proxy", "--config", "booth.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert (
        done.stderr.decode()
        .strip()
        .splitlines()[-1]
        .endswith(
            "the servers one and two both have a tool 'a_echo'; "
            'write a prefix for one of them, such as prefix = "two_"'
        )
    )


@pytest.mark.parametrize("words", [[], ["--http", "0"]], ids=["stdio", "http"])
def test_a_server_that_cannot_be_started_is_named(words: list[str], tmp_path: Path):
    good = f"command = {json.dumps([sys.executable, NAMED, 'a'])}"
    booth(tmp_path, good=good, bad='command = ["/nowhere/at/all"]')
    done = toolbooth("proxy", "--config", "booth.toml", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert b"'bad' could not be started" in done.stderr


def test_a_trial_run_takes_one_server(tmp_path: Path):
    command = f"command = {json.dumps([sys.executable, NAMED, 'a'])}"
    booth(tmp_path, one=command, two=command)
    done = toolbooth("proxy", "--config", "booth.toml", "--observe", cwd=tmp_path)
    assert b"--observe is for one server: write its name after the file" in done.stderr


def test_a_child_and_a_server_over_http_are_served_together_over_http():
    async def answer(message: Any, upstream: Upstream, event: Any) -> Any:
        return {"content": [{"type": "text", "text": "booked"}], "resultType": "complete"}

    async def test() -> None:
        upstream = Upstream(answer)
        async with asyncio.timeout(30), served(upstream) as far:
            servers = [
                Server(name="a", connect=lambda: ChildLink([sys.executable, NAMED, "a"])),
                Server(name="far", connect=lambda: HttpLink(far)),
            ]
            proxy = HttpProxy(servers)
            async with served(proxy) as url, mcp.Client(url, mode="legacy") as client:
                names = [tool.name for tool in (await client.list_tools()).tools]
                assert names[:2] == ["a_echo", "book"]
                assert text(await client.call_tool("a_echo", {})) == "a"
                assert text(await client.call_tool("book", {"city": "Bern"})) == "booked"
            await proxy.sessions.close()

    def text(result: Any) -> str:
        return result.content[0].text

    asyncio.run(test())


async def listening(message: Any, upstream: Upstream, event: Any) -> Any:
    """Acknowledges a subscription, sends one notification, and ends it when the client leaves."""
    if message["method"] != "subscriptions/listen":
        return {"content": [], "resultType": "complete"}
    meta = {"io.modelcontextprotocol/subscriptionId": message["id"]}
    wanted = message["params"]["notifications"]
    kept = {key: wanted[key] for key in wanted if key in upstream.offers}  # type: ignore[attr-defined]
    for method, params in (
        ("subscriptions/acknowledged", {"notifications": kept, "_meta": meta}),
        ("tools/list_changed", {"_meta": meta}),
    ):
        note = {"jsonrpc": "2.0", "method": f"notifications/{method}", "params": params}
        await event(json.dumps(note).encode())
    await upstream.left.wait()
    return None


def test_a_subscription_is_acknowledged_once_for_all_servers():
    wanted = {"toolsListChanged": True, "promptsListChanged": True, "resourcesListChanged": True}

    async def test() -> None:
        one, two = Upstream(listening), Upstream(listening)
        one.offers, two.offers = ["toolsListChanged"], ["toolsListChanged", "promptsListChanged"]  # type: ignore[attr-defined]
        async with asyncio.timeout(30), served(one) as first, served(two) as second:
            servers = [
                Server(name="one", connect=lambda: HttpLink(first)),
                Server(name="two", connect=lambda: HttpLink(second)),
            ]
            proxy = HttpProxy(servers)
            async with served(proxy) as url:
                await check(url)
                await one.left.wait()
                await two.left.wait()
            await proxy.sessions.close()

    async def check(url: str) -> None:
        params = {"_meta": META, "notifications": wanted}
        message = {"jsonrpc": "2.0", "id": "s", "method": "subscriptions/listen", "params": params}
        headers = {
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": STATELESS,
            "mcp-method": "subscriptions/listen",
        }
        found: list[Any] = []
        async with (
            httpx2.AsyncClient(timeout=20) as http,
            http.stream("POST", url, json=message, headers=headers) as response,
        ):
            async for line in response.aiter_lines():
                if line.startswith("data: "):
                    found.append(json.loads(line[6:]))
                if len(found) == 3:
                    break
        assert found[0]["method"] == "notifications/subscriptions/acknowledged"
        assert found[0]["params"]["notifications"] == {
            "toolsListChanged": True,
            "promptsListChanged": True,
        }
        for each in found:
            assert each["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == "s"
        assert [each["method"] for each in found[1:]] == ["notifications/tools/list_changed"] * 2

    asyncio.run(test())
