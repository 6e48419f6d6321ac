"""A call that becomes a task has the outcome of any other call, and is refused before there is a
task.

Over real HTTP on 2026-07-28, with FastMCP's own tasks extension, its queue and its worker.
"""

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from copy import deepcopy
from decimal import Decimal
from typing import Annotated, Any

import pytest
import uvicorn
from fastmcp import FastMCP
from fastmcp.dependencies import Depends
from fastmcp.server.extensions import ServerExtension
from fastmcp.server.middleware import Middleware
from fastmcp_tasks.extension import TasksExtension
from pydantic import BeforeValidator

from toolbooth.adapters.fastmcp import protect

PRICE = "0.1000000000000000055511151231257827"
TASKS = {"extensions": {"io.modelcontextprotocol/tasks": {}}}
RUNS: list[str] = []


async def delete_rows(
    older_than: int = 0, table: str | None = None, price: Decimal = Decimal(0)
) -> str:
    RUNS.append("delete_rows")
    return f"{older_than} {table} {price}"


class Asking:
    """A client on 2026-07-28."""

    def __init__(self, port: int, capabilities: dict[str, Any]) -> None:
        self.port = port
        self.meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        }

    def ask(self, method: str, name: str, params: str) -> dict[str, Any]:
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": method,
            "Mcp-Name": name,
        }
        message = f'{{{params}, "_meta": {json.dumps(self.meta)}}}'
        body = f'{{"jsonrpc": "2.0", "id": 1, "method": "{method}", "params": {message}}}'
        with closing(http.client.HTTPConnection("127.0.0.1", self.port)) as connection:
            connection.request("POST", "/mcp", body.encode(), headers)
            answer = connection.getresponse().read()
        *_, data = [
            line.removeprefix(b"data: ")
            for line in answer.splitlines()
            if line.startswith((b"data: ", b"{"))
        ]
        return json.loads(data)

    def call(self, arguments: str, name: str = "delete_rows") -> tuple[bool, dict[str, Any]]:
        """Return whether the call became a task, and its result."""
        reply = self.ask("tools/call", name, f'"name": "{name}", "arguments": {arguments}')[
            "result"
        ]
        task = reply.get("taskId")
        if task is None:
            return False, reply
        while (reply := self.ask("tasks/get", task, f'"taskId": "{task}"')["result"])[
            "status"
        ] == "working":
            pass
        return True, reply["result"]


@contextmanager
def served(server: FastMCP[Any]) -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as door:
        running = uvicorn.Server(uvicorn.Config(server.http_app(), log_level="critical", ws="none"))
        thread = threading.Thread(target=running.run, kwargs={"sockets": [door]})
        thread.start()
        try:
            yield door.getsockname()[1]
        finally:
            running.should_exit = True
            thread.join()


class Other(ServerExtension):
    identifier = "com.example/other"


class Renaming(Middleware):
    async def on_call_tool(self, context: Any, call_next: Any) -> Any:
        if context.message.arguments.get("table") == "change":
            context.message.arguments["table"] = "changed"
        return await call_next(context)


def server_of(*, extended_first: bool) -> FastMCP[Any]:
    server = FastMCP("main", middleware=[Renaming()])
    if extended_first:
        server.add_extension(TasksExtension())
        protect(server)
    else:
        protect(server).add_extension(TasksExtension())
    server.add_extension(Other())
    server.tool(task=True)(delete_rows)
    server.tool(name="at_once")(delete_rows)
    grandchild, child = FastMCP("grandchild"), FastMCP("child")
    grandchild.tool(task=True)(delete_rows)
    child.mount(grandchild, namespace="gr")
    server.mount(child, namespace="ch")
    return server


@pytest.fixture(scope="module", params=[True, False], ids=["extended first", "protected first"])
def port(request: pytest.FixtureRequest) -> Iterator[int]:
    with served(server_of(extended_first=request.param)) as port:
        yield port


async def failing() -> str:
    raise ValueError("out of order")


async def depending(number: int, found: str = Depends(failing)) -> str:
    return f"{number} {found}"


class Analytics(Middleware):
    """Lists a field with every tool, and takes it out of every call."""

    async def on_list_tools(self, context: Any, call_next: Any) -> Any:
        tools = await call_next(context)
        for tool in tools:
            tool.parameters = deepcopy(tool.parameters)
            tool.parameters["properties"]["context"] = {"type": "string"}
        return tools

    async def on_call_tool(self, context: Any, call_next: Any) -> Any:
        context.message.arguments.pop("context", None)
        return await call_next(context)


@pytest.fixture(scope="module")
def analysed() -> Iterator[int]:
    server = protect(FastMCP("main", middleware=[Analytics()]))
    server.add_extension(TasksExtension())
    server.tool(task=True)(delete_rows)
    server.tool(task=True)(depending)
    with served(server) as port:
        yield port


def test_a_task_fails_if_its_dependency_fails(analysed: int):
    client = Asking(analysed, TASKS)
    params = '"name": "depending", "arguments": {"number": 1}'
    task = client.ask("tools/call", "depending", params)["result"]["taskId"]
    status: dict[str, Any] = {"status": "working"}
    while status["status"] == "working":
        status = client.ask("tasks/get", task, f'"taskId": "{task}"')["result"]
    assert status["status"] == "failed"
    assert status["error"]["code"] == -32603
    assert "out of order" not in status["error"]["message"]


def test_listed_field_is_validated_before_a_task_is_created(analysed: int):
    client = Asking(analysed, TASKS)
    is_task, result = client.call('{"table": "logs", "context": "a test"}')
    assert (is_task, result["content"][0]["text"]) == (True, "0 logs 0")
    is_task, result = client.call('{"table": "logs", "context": 5}')
    [problem] = result["_meta"]["toolbooth"]["problems"]
    assert (is_task, problem["code"], problem["path"]) == (False, "wrong-type", "$.context")


def outcome(result: dict[str, Any]) -> tuple[str, Any]:
    return result["content"][0]["text"], result.get("_meta", {}).get("toolbooth")


@pytest.mark.parametrize("name", ["delete_rows", "ch_gr_delete_rows"])
@pytest.mark.parametrize(
    "arguments",
    [
        "[1]",
        '["logs"]',
        '"table=logs"',
        "5",
        '{"table": "logs", "table": null}',
        '"{\\"table\\": \\"logs\\", \\"table\\": null}"',
        '{"tabel": "logs"}',
        '{"data": {"table": "logs"}}',
        '{"older_than": 1e400}',
        '{"toolbooth/arguments": "{}"}',
        '{"older_than": "many"}',
        '{"older_than": 1}, "table": "logs"',
    ],
)
def test_a_call_that_is_refused_never_becomes_a_task(port: int, arguments: str, name: str):
    RUNS.clear()
    tasked, result = Asking(port, TASKS).call(arguments, name)
    assert not tasked
    assert result["isError"]
    assert f"'{name}'" in outcome(result)[0]
    assert outcome(result) == outcome(Asking(port, {}).call(arguments, name)[1])
    assert RUNS == []


@pytest.mark.parametrize("name", ["delete_rows", "ch_gr_delete_rows"])
@pytest.mark.parametrize(
    ("arguments", "text", "repairs"),
    [
        ("{}", "0 None 0", None),
        ("null", "0 None 0", None),
        (f'{{"price": {PRICE}}}', f"0 None {PRICE}", None),
        (f'{{"older_than": {2**70}}}', f"{2**70} None 0", None),
        ('{"table": "change", "older_than": 5.0}', "5 changed 0", None),
        ('{"table": "\\u00e9 ж"}', "0 é ж 0", None),
        ('{"older_than": "3"}', "3 None 0", [{"code": "scalar-text", "path": "$.older_than"}]),
        (f'"{{\\"price\\": {PRICE}}}"', f"0 None {PRICE}", [{"code": "json-text", "path": "$"}]),
    ],
)
def test_task_gets_the_result_of_a_plain_call(
    port: int, arguments: str, text: str, repairs: Any, name: str
):
    expected = (text, None if repairs is None else {"repairs": repairs})
    tasked, result = Asking(port, TASKS).call(arguments, name)
    plainly, plain = Asking(port, {}).call(arguments, name)
    assert (tasked, outcome(result)) == (True, expected)
    assert (plainly, outcome(plain)) == (False, expected)


def test_tool_without_task_support_is_called_without_a_task(port: int):
    tasked, result = Asking(port, TASKS).call(f'{{"price": {PRICE}}}', "at_once")
    assert (tasked, outcome(result)) == (False, (f"0 None {PRICE}", None))


def test_a_refused_task_is_a_protocol_error_with_errors_protocol():
    def fails(value: Any) -> Any:
        raise KeyError("secret")

    async def broken(number: Annotated[int, BeforeValidator(fails)]) -> str:
        return "ran"

    server = protect(FastMCP("main"), errors="protocol")
    server.add_extension(TasksExtension())
    for tool in (delete_rows, broken):
        server.tool(task=True)(tool)
    before = len(RUNS)
    with served(server) as port:
        asking = Asking(port, TASKS)
        sent = '"name": "delete_rows", "arguments": {"data": {"table": "a"}}'
        wrapped = asking.ask("tools/call", "delete_rows", sent)
        failed = asking.ask("tools/call", "broken", '"name": "broken", "arguments": {"number": 1}')
        became_task, result = asking.call('{"table": "a"}')
    assert wrapped["error"]["code"] == failed["error"]["code"] == -32602
    assert wrapped["error"]["data"]["toolbooth"]["corrected"] == {"table": "a"}
    assert failed["error"]["data"]["toolbooth"]["problems"][0]["path"] == "$.number"
    assert (became_task, result["isError"], len(RUNS) - before) == (True, False, 1)
