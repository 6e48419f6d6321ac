"""Several servers behind one proxy: each message reaches the right one, and lists are merged."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from proxied import FAULTY, Client, proxied, text_of
from toolbooth.proxy.link import ChildLink
from toolbooth.proxy.rules import Rules
from toolbooth.proxy.session import Server

HERE = Path(__file__).parent


def server(name: str, *lacks: str, prefix: str = "") -> Server:
    command = [sys.executable, str(HERE / "several_server.py"), name, *lacks]
    return Server(
        name=name, connect=lambda: ChildLink(command), rules=Rules(prefix=prefix), timeout=30
    )


def run(test: Any, *servers: Server) -> None:
    async def opened() -> None:
        async with proxied(servers=servers or [server("a"), server("b")]) as client:
            await test(client)

    asyncio.run(opened())


async def listed(client: Client, method: str, member: str, key: str) -> list[list[Any]]:
    """The names on each page."""
    pages: list[list[Any]] = []
    params: Any = {}
    while True:
        result = (await client.ask(method, params))["result"]
        pages.append([each[key] for each in result[member]])
        if "nextCursor" not in result:
            return pages
        params = {"cursor": result["nextCursor"]}


def test_the_handshake_names_what_each_server_can_do():
    async def test(client: Client) -> None:
        found = await client.handshake()
        info = found.pop("serverInfo")
        assert info["name"] == "toolbooth"
        assert found == {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {"listChanged": True}, "a": {}, "b": {}},
            "instructions": "a: Use a.\n\nb: Use b.",
        }
        heard = [(await client.until("notifications/message"))["params"] for _ in "ab"]
        assert sorted(each["from"] for each in heard) == ["a", "b"]
        assert {each["heard"] for each in heard} == {"notifications/initialized"}

    run(test)


def test_a_server_without_a_handshake_is_left_out_and_named():
    async def test(client: Client) -> None:
        found = await client.handshake()
        assert found["capabilities"] == {"tools": {"listChanged": False}, "a": {}}
        assert "The server b is not available at the moment" in found["instructions"]

    run(test, server("a"), server("b", "initialize"))


def test_lists_are_merged_page_by_page():
    async def test(client: Client) -> None:
        assert await listed(client, "tools/list", "tools", "name") == [
            ["a_echo", "x_b_echo"],
            ["a_ask", "x_b_ask"],
            ["a_task", "x_b_task"],
        ]
        pages = await listed(client, "resources/templates/list", "resourceTemplates", "uriTemplate")
        assert pages == [["a://{id}/x", "b://{id}/x"]]
        first = (await client.ask("tools/list"))["result"]
        assert (first["ttlMs"], first["cacheScope"]) == (500, "private")
        wrong = await client.ask("tools/list", {"cursor": "abc"})
        assert wrong["error"]["code"] == -32602

    run(test, server("a"), server("b", prefix="x_"))


def test_of_two_prompts_with_one_name_the_first_is_listed_and_used():
    async def test(client: Client) -> None:
        pages = await listed(client, "prompts/list", "prompts", "name")
        assert pages == [["same"], ["a_prompt", "b_prompt"]]
        for name, owner in (("same", "a"), ("b_prompt", "b")):
            assert (await client.ask("prompts/get", {"name": name}))["result"]["from"] == owner
            asked = {"ref": {"type": "ref/prompt", "name": name}, "argument": {"n": 1.50}}
            found = (await client.ask("completion/complete", asked))["result"]
            assert found == {"from": owner, "params": asked}

    run(test)


@pytest.mark.parametrize("knows_lists", [True, False])
def test_a_resource_is_read_from_the_server_that_has_it(knows_lists: bool):
    async def test(client: Client) -> None:
        if knows_lists:
            await listed(client, "resources/list", "resources", "uri")
            await listed(client, "resources/templates/list", "resourceTemplates", "uriTemplate")
        for uri, owner in (
            ("b://one", "b"),
            ("b://7/x", "b"),
            ("a://one", "a"),
            ("all://same", "a"),
        ):
            for method in ("resources/read", "resources/subscribe"):
                assert (await client.ask(method, {"uri": uri}))["result"]["from"] == owner
        missing = await client.ask("resources/read", {"uri": "c://one"})
        assert missing["error"] == {"code": -32002, "message": "not in a"}

    run(test)


def test_a_call_reaches_the_server_of_the_tool_before_any_list_was_read():
    async def test(client: Client) -> None:
        assert text_of(await client.call("b_echo")) == "b"
        assert text_of(await client.call("a_echo")) == "a"
        unknown = await client.ask("tools/call", {"name": "b_ech", "arguments": {}})
        assert "b_echo" in unknown["error"]["message"]

    run(test)


def test_questions_of_two_servers_at_the_same_time_get_their_own_answers():
    async def test(client: Client) -> None:
        for number, name in enumerate(("a_ask", "b_ask"), 100):
            params = {"name": name, "arguments": {}}
            client.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
        questions = [await client.until("sampling/createMessage") for _ in "ab"]
        assert len({each["id"] for each in questions}) == 2
        for each in reversed(questions):
            result = {"to": each["params"]["from"]}
            client.send({"jsonrpc": "2.0", "id": each["id"], "result": result})
        answers = {each["id"]: each for each in [await client.next() for _ in "ab"]}
        assert text_of(answers[100]["result"]) == "a got a"
        assert text_of(answers[101]["result"]) == "b got b"

    run(test)


def test_a_task_is_asked_of_the_server_that_made_it():
    async def test(client: Client) -> None:
        await client.ask("tools/call", {"name": "b_task", "arguments": {}})
        for method in ("tasks/get", "tasks/cancel"):
            found = await client.ask(method, {"taskId": "task-b"})
            assert found["result"]["from"] == "b"

    run(test)


def test_a_method_that_the_proxy_does_not_know_goes_to_the_first_server_that_knows_it():
    async def test(client: Client) -> None:
        assert (await client.ask("x/new", {"n": 1.50}))["result"]["from"] == "b"
        assert (await client.ask("x/old"))["error"]["message"] == "a has no x/old"
        assert (await client.ask("ping"))["result"]["from"] == "a"

    run(test, server("a", "x/new", "x/old"), server("b", "x/old"))


def test_when_one_server_is_down_the_others_go_on_and_its_tools_can_be_called_again():
    async def test(client: Client) -> None:
        await client.handshake()
        assert "crash" in (await listed(client, "tools/list", "tools", "name"))[0]
        assert "It may have run" in text_of(await client.call("crash"))
        assert text_of(await client.call("a_echo")) == "a"
        found = await client.call("echo")
        assert found["_meta"]["toolbooth"] == {"code": "not-called", "retry_after": 600}
        assert (await listed(client, "tools/list", "tools", "name"))[0] == ["a_echo"]

    faulty = Server(
        name="faulty",
        connect=lambda: ChildLink([sys.executable, str(FAULTY)], pauses=(600,)),
        timeout=30,
    )
    run(test, server("a"), faulty)


def test_cancelled_requests_to_several_servers_get_no_answer():
    async def test(client: Client) -> None:
        silent = {"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": {"name": "hang"}}
        client.send(silent)
        params = {"requestId": "x"}
        client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
        again = {"jsonrpc": "2.0", "id": "x", "method": "ping"}
        client.send(again)
        while (found := await client.next()).get("id") != "x":
            pass
        assert found["result"]["from"] == "a"

    faulty = Server(name="faulty", connect=lambda: ChildLink([sys.executable, str(FAULTY)]))
    run(test, server("a"), faulty)


def test_arguments_arrive_with_their_bytes(tmp_path: Path):
    seen = tmp_path / "seen"

    async def test(client: Client) -> None:
        line = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"f_echo","arguments":{ "n" : 1e0}}}'
        client.send(line)
        assert (await client.next())["id"] == 1
        assert b'"name":"echo","arguments":{ "n" : 1e0}' in seen.read_bytes()

    faulty = Server(
        name="faulty",
        connect=lambda: ChildLink([sys.executable, str(FAULTY)], env={"SEEN": str(seen)}),
        rules=Rules(prefix="f_"),
    )
    run(test, server("a"), faulty)
    assert b"initialize" not in seen.read_bytes()
    assert json.loads(seen.read_bytes().splitlines()[-1])["method"] == "tools/call"


def test_a_server_that_ends_in_the_handshake_gets_it_when_it_is_started_again(tmp_path: Path):
    ended = tmp_path / "ended"
    once = 'test -e "$0" || { touch "$0"; read line; exit 3; }; exec "$@"'
    command = ["sh", "-c", once, str(ended), sys.executable, str(HERE / "several_server.py"), "b"]
    late = Server(name="b", connect=lambda: ChildLink(command, pauses=(0.01,)), timeout=30)

    async def test(client: Client) -> None:
        found = await client.handshake()
        assert "The server b is not available at the moment" in found["instructions"]
        heard = {"from": "b", "heard": "notifications/initialized"}
        missing = [heard, "notifications/tools/list_changed"]
        while missing:
            message = await client.next()
            missing = [
                each for each in missing if each not in (message["method"], message["params"])
            ]
        assert text_of(await client.call("b_echo")) == "b"

    run(test, server("a"), late)
