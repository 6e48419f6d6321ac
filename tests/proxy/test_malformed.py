"""Messages that are JSON but not valid in MCP: each gets one answer, and the next ones work."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from http_proxied import proxied as proxied_over_http
from proxied import Client, proxied
from toolbooth.proxy.link import ChildLink
from toolbooth.proxy.memory import Memory
from toolbooth.proxy.probe import SameTool, check_names
from toolbooth.proxy.rules import Rules
from toolbooth.proxy.session import Server
from toolbooth.proxy.shared import SharedChild

RAW = str(Path(__file__).with_name("raw_server.py"))
SUBSCRIPTION = '"io.modelcontextprotocol/subscriptionId":7'


def raw(folder: Path, lines: Any, name: str = "raw", **options: Any) -> Server:
    """A server that answers with these lines."""
    file = folder / f"{name}.json"
    file.write_text(json.dumps(lines))
    command = [sys.executable, RAW, str(file)]
    return Server(name=name, connect=lambda: ChildLink(command), timeout=20, **options)


def request(method: str, params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()


async def answer_to(client: Client, sent: bytes) -> bytes:
    """The bytes of the next message. Then one more request is answered."""
    client.send(sent)
    line = await client.reader.readline()
    assert (await client.ask("ping"))["result"] is not None
    return line.rstrip(b"\n")


def run(sent: bytes, *servers: Server) -> bytes:
    async def test() -> bytes:
        async with proxied(servers=servers) as client:
            client.ids = 100
            return await answer_to(client, sent)

    return asyncio.run(test())


REPAIRED = request("tools/call", {"name": "echo", "arguments": {"n": "5"}})
NOTED = request("tools/call", {"name": "echo", "arguments": {"zz": 5}})
REPAIR = '"toolbooth":{"repairs":[{"code":"scalar-text","path":"$.n"}]}'
NOTE = 'Note: \\"zz\\" is not a declared field of this tool; the server may have ignored it.'


@pytest.mark.parametrize(
    ("sent", "answer", "expected"),
    [
        (
            REPAIRED,
            '"result":{"content":[],"content":[]}',
            f'"result":{{"content":[],"content":[],"_meta":{{{REPAIR}}}}}',
        ),
        (
            REPAIRED,
            '"result":{"_meta":{"a":1,"a":2}}',
            f'"result":{{"_meta":{{"a":2,{REPAIR}}}}}',
        ),
        (
            REPAIRED,
            '"result":{"_meta":{"a":"\\ud800"}}',
            f'"result":{{"_meta":{{"a":"\\ud800",{REPAIR}}}}}',
        ),
        (NOTED, '"error":5', '"error":5'),
        (
            NOTED,
            '"error":{"message":"a","message":"b"}',
            f'"error":{{"message":"a","message":"b {NOTE}"}}',
        ),
    ],
    ids=["a-key-twice", "a-key-of-meta-twice", "half-a-surrogate-pair", "no-object", "in-an-error"],
)
def test_a_malformed_answer_to_a_call_is_forwarded_with_the_report(
    tmp_path: Path, sent: bytes, answer: str, expected: str
):
    line = f'{{"jsonrpc":"2.0","id":$ID,{answer}}}'
    found = run(sent, raw(tmp_path, {"tools/call": [line]}))
    assert found == f'{{"jsonrpc":"2.0","id":1,{expected}}}'.encode()


@pytest.mark.parametrize(
    "result",
    [
        f'{{"x":1,"x":2,"_meta":{{{SUBSCRIPTION}}}}}',
        f'{{"_meta":{{{SUBSCRIPTION},"a":1,"a":2}}}}',
        "null",
        "[]",
    ],
)
@pytest.mark.parametrize("method", ["initialize", "tools/list", "x/new"])
def test_a_malformed_result_is_forwarded(tmp_path: Path, method: str, result: str):
    line = f'{{"jsonrpc":"2.0","id":$ID,"result":{result}}}'
    found = run(request(method, {}), raw(tmp_path, {method: [line]}))
    # Only the ids are other ones.
    shown = result.replace(SUBSCRIPTION, SUBSCRIPTION.replace("7", "1"))
    assert found == f'{{"jsonrpc":"2.0","id":1,"result":{shown}}}'.encode()


def test_a_tool_whose_definition_has_a_key_twice_is_listed_with_the_last_value(tmp_path: Path):
    schema = '{"type":"object","properties":{"n":{"anyOf":[{"type":"integer"},{"type":"null"}]}}}'
    tool = f'{{"name":"t","inputSchema":3,"inputSchema":{schema}}}'
    line = f'{{"jsonrpc":"2.0","id":$ID,"result":{{"tools":[{tool}]}}}}'
    found = run(request("tools/list", {}), raw(tmp_path, {"tools/list": [line]}))
    [listed] = json.loads(found)["result"]["tools"]
    assert (listed["name"], listed["inputSchema"]["type"]) == ("t", "object")


@pytest.mark.parametrize(
    ("method", "result", "expected"),
    [
        ("prompts/list", "[]", '{"prompts":[{"name":"p"}]}'),
        ("prompts/list", "null", '{"prompts":[{"name":"p"}]}'),
        (
            "prompts/list",
            '{"prompts":[],"prompts":[{"name":"q"}]}',
            '{"prompts":[{"name":"p"},{"name":"q"}]}',
        ),
        ("ping", '{"x":"\\ud800"}', '{"x":"\\ud800"}'),
    ],
)
def test_a_malformed_result_of_one_of_several_servers_does_not_stop_the_others(
    tmp_path: Path, method: str, result: str, expected: str
):
    good = '{"jsonrpc":"2.0","id":$ID,"result":{"prompts":[{"name":"p"}]}}'
    bad = f'{{"jsonrpc":"2.0","id":$ID,"result":{result}}}'
    lines = {"prompts/list": [good]}
    servers = raw(tmp_path, lines, "a"), raw(tmp_path, {method: [bad]}, "b")
    found = run(request(method, {}), *servers)
    assert found == f'{{"jsonrpc":"2.0","id":1,"result":{expected}}}'.encode()


@pytest.mark.parametrize("cursor", ["[" * 20_000, '{"-1":"x"}', '{"2":"x"}', "{}", "abc"])
def test_a_cursor_that_the_proxy_has_not_made_is_refused(tmp_path: Path, cursor: str):
    sent = request("prompts/list", {"cursor": cursor})
    found = json.loads(run(sent, raw(tmp_path, {}, "a"), raw(tmp_path, {}, "b")))
    assert found["error"] == {
        "code": -32602,
        "message": "this cursor was not made by the proxy; read the list from its beginning",
    }


def test_a_cursor_of_null_is_the_first_page(tmp_path: Path):
    servers = raw(tmp_path, {}, "a"), raw(tmp_path, {}, "b", rules=Rules(prefix="b_"))
    found = json.loads(run(request("tools/list", {"cursor": None}), *servers))
    assert [each["name"] for each in found["result"]["tools"]] == ["echo", "b_echo"]


NO_REQUEST = 'a request must have "jsonrpc": "2.0" and a method'


@pytest.mark.parametrize("member", ['"method":5', '"method":null', '"params":{}'])
@pytest.mark.parametrize("names", ["a", "ab"], ids=["one-server", "two-servers"])
def test_a_message_that_is_neither_a_request_nor_an_answer_is_refused(
    tmp_path: Path, names: str, member: str
):
    sent = f'{{"jsonrpc":"2.0","id":"q",{member}}}'.encode()
    found = json.loads(run(sent, *(raw(tmp_path, {}, name) for name in names)))
    error = {"code": -32600, "message": NO_REQUEST}
    assert found == {"jsonrpc": "2.0", "id": "q", "error": error}


def test_a_message_that_is_no_request_is_refused_over_http(tmp_path: Path):
    async def test() -> None:
        async with proxied_over_http(connect=raw(tmp_path, {}).connect) as client:
            session = await client.initialize()
            sent = b'{"jsonrpc":"2.0","id":"q","method":5}'
            found = await client.post(sent, mcp_session_id=session)
            error = {"code": -32600, "message": NO_REQUEST}
            assert (found.status_code, found.json()) == (
                400,
                {"jsonrpc": "2.0", "id": "q", "error": error},
            )

    asyncio.run(test())


def test_a_key_of_meta_that_occurs_twice_is_refused_when_clients_share_a_server(tmp_path: Path):
    async def test() -> None:
        child = SharedChild(raw(tmp_path, {}).connect)
        async with proxied_over_http(connect=child.seat) as client:
            session = await client.initialize()
            twice = b'"_meta":{"progressToken":1,"progressToken":2}'
            sent = b'{"jsonrpc":"2.0","id":"q","method":"prompts/list","params":{%s}}' % twice
            found = await client.post(sent, mcp_session_id=session)
            message = "_meta: the key 'progressToken' is there twice"
            assert found.json()["error"] == {"code": -32600, "message": message}

    asyncio.run(test())


@pytest.mark.parametrize(
    "params",
    [
        '{"progressToken":[1]}',
        '{"progressToken":{"a":1}}',
        '{"_meta":{"io.modelcontextprotocol/subscriptionId":[1]}}',
        "[]",
    ],
)
def test_a_malformed_notification_of_a_shared_server_is_left_out(tmp_path: Path, params: str):
    notification = f'{{"jsonrpc":"2.0","method":"notifications/progress","params":{params}}}'
    answer = '{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}'

    async def test() -> None:
        child = SharedChild(raw(tmp_path, {"tools/call": [notification, answer]}).connect)
        async with proxied_over_http(connect=child.seat) as client:
            session = await client.initialize()
            found = await client.post(REPAIRED.replace(b'"5"', b"5"), mcp_session_id=session)
            assert found.json() == {"jsonrpc": "2.0", "id": 1, "result": {"content": []}}

    asyncio.run(test())


def test_params_that_are_a_list_are_forwarded(tmp_path: Path):
    sent = b'{"jsonrpc":"2.0","id":1,"method":"resources/unsubscribe","params":[]}'
    assert json.loads(run(sent, raw(tmp_path, {})))["result"] == {}


# --- the list of tools at the start -------------------------------------------------------------


def page(*names: str, cursor: Any) -> list[str]:
    tools = [{"name": name, "inputSchema": {"type": "object"}} for name in names]
    result = json.dumps({"tools": tools, "nextCursor": cursor})
    return ['{"jsonrpc":"2.0","id":$ID,"result":' + result + "}"]


@pytest.mark.parametrize(
    "lines",
    [
        {"tools/list": page("t", cursor=None)},
        {"tools/list": page("t", cursor="2"), "tools/list@2": page("t", cursor=None)},
        {"tools/list": ['{"jsonrpc":"2.0","id":$ID,"result":[]}']},
        {"tools/list": ['{"jsonrpc":"2.0","id":$ID,"result":{"tools":{}}}']},
    ],
    ids=["cursor-of-null", "a-tool-on-two-pages", "result-is-no-object", "tools-are-no-list"],
)
def test_a_server_with_an_unusual_list_does_not_collide_with_itself(tmp_path: Path, lines: Any):
    check_names([raw(tmp_path, lines, "a"), raw(tmp_path, {}, "b")])


def test_a_collision_on_a_later_page_names_both_servers(tmp_path: Path):
    lines = {"tools/list": page("t", cursor="2"), "tools/list@2": page("echo", cursor=None)}
    with pytest.raises(SameTool, match="servers a and b both have a tool 'echo'"):
        check_names([raw(tmp_path, lines, "a"), raw(tmp_path, {}, "b")])


def test_tools_are_remembered_if_the_last_page_has_a_cursor_of_null(tmp_path: Path):
    memory = Memory(tmp_path / "state.json")
    lines = {"tools/list": page("t", cursor=None)}
    run(request("tools/list", {}), raw(tmp_path, lines, memory=memory))
    assert list(Memory(tmp_path / "state.json").before) == ["t"]
