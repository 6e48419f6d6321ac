"""The Claude Agent SDK: protected tools, and protected servers, over MCP."""

import asyncio
import copy
import json
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
import shapes
from claude_agent_sdk import PermissionResultAllow, SdkMcpTool, create_sdk_mcp_server, tool
from drivers import claude_agent_sdk as host
from guide import run_guide
from shapes import ANN, ONLY_ANN, RECEIVED, SHAPES, WHOLE, Contact, create_contact

from toolbooth import (
    ToolError,
    ToolRegistry,
    Unpack,
    is_protected,
    protect,
    tools_for,
    unpack_pydantic_params,
)


@pytest.fixture(autouse=True)
def no_values() -> None:
    RECEIVED.clear()


def call(tools: list[Any], *arguments: Any, server: bool = False) -> list[Any]:
    config: Any = create_sdk_mcp_server("tools", tools=tools)
    if server:
        assert not is_protected(config)
        config = protect(config)
        assert is_protected(config)
    return asyncio.run(host.call(config, tools[0].name, *arguments))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("way", ["tool", "server", "both"])
def test_no_shape_is_lost(shape: str, way: str):
    arguments, meant = SHAPES[shape]
    made = host.plain(create_contact, "create_contact")
    if way != "server":
        made = protect(made)
    first, second = call([made], arguments, {"contact": ANN}, server=way != "tool")
    assert RECEIVED.pop() == ONLY_ANN
    assert second.text == "created"
    assert not shapes.is_loss(meant)
    assert first.is_error is (RECEIVED == [])
    if way == "server":
        assert first.text.startswith("Refused") is first.is_error


def test_a_protected_server_repairs_before_the_sdk_checks():
    made = host.plain(create_contact, "create_contact")
    (answer,) = call([made], {"contact": json.dumps(ANN), "limit": "5"}, server=True)
    assert answer.text == "created"
    assert [each["code"] for each in answer.data["toolbooth"]["repairs"]] == [
        "json-text",
        "scalar-text",
    ]
    assert RECEIVED == [{**WHOLE, "note": ""}]


def test_a_refusal_of_a_tool_has_the_corrected_call_and_its_observers_are_informed():
    records: list[Any] = []
    plain = host.plain(create_contact, "create_contact")
    made = protect(plain, observers=[records.append])
    assert [is_protected(plain), is_protected(made)] == [False, True]
    assert protect(made) is made
    (answer,) = call([made], {"data": {"contact": ANN}})
    assert answer.is_error
    assert answer.text.endswith(json.dumps({"contact": ANN}, separators=(",", ":")))
    assert [(each.outcome, each.problems) for each in records] == [("refused", ("nested-wrapper",))]


def test_schemas_of_types_and_of_typed_dicts():
    class Sum(TypedDict):
        a: float
        b: float

    async def add(arguments: Sum) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": str(arguments["a"] + arguments["b"])}]}

    for schema in ({"a": float, "b": float}, Sum):
        made = protect(tool("add", "Add.", schema)(add))
        good, wrong = call([made], {"a": 1, "b": 2.5}, {"a": 1, "b": 2.5, "c": 3})
        assert good.text == "3.5"
        assert '$.c: there is no field "c"' in wrong.text


def test_a_handler_may_have_parameters_with_types():
    async def create(contact: Contact, note: str = "") -> str:
        return create_contact(contact, note)

    async def flat(contact: Annotated[Contact, Unpack()], note: str = "") -> str:
        return create_contact(contact, note)

    typed = protect(SdkMcpTool("create", "Create.", {}, create))
    assert list(typed.input_schema["properties"]) == ["contact", "note"]
    assert [each.text for each in call([typed], {"contact": ANN})] == ["created"]
    for function in (flat, unpack_pydantic_params(flat)):
        made = protect(SdkMcpTool("create", "Create.", {}, function))
        assert list(made.input_schema["properties"]) == [*ANN, "note"]
        good, wrong = call([made], ANN, {"contact": ANN})
        assert good.text == "created"
        assert wrong.text.startswith("Refused")
    assert [ONLY_ANN] * 3 == RECEIVED


def test_errors_of_a_tool():
    async def fail(arguments: dict[str, Any]) -> dict[str, Any]:
        raise (arguments.get("closed") and ToolError("closed today")) or ZeroDivisionError("boom")

    schema = {"type": "object", "properties": {"closed": {"type": "boolean"}}}
    plain = SdkMcpTool("fail", "Fail.", schema, fail)
    closed, other = call([protect(plain)], {"closed": True}, {})
    (expected,) = call([plain], {})
    assert [closed.text, closed.is_error] == ["closed today", True]
    assert other == expected


def test_a_deep_copy_is_protected():
    made = copy.deepcopy(protect(host.plain(create_contact, "create_contact")))
    assert is_protected(made)
    assert call([made], {"data": {"contact": ANN}})[0].text.startswith("Refused")


def test_the_tools_of_a_registry_are_tools_of_the_sdk():
    registry = ToolRegistry("shop")
    registry.tool(create_contact)
    (made,) = tools_for("claude-agent-sdk", registry)
    good, wrong = call([made], {"contact": ANN}, {"data": {"contact": ANN}})
    assert [good.text, good.is_error, wrong.is_error] == ["created", False, True]
    assert '\nSend instead: {"contact":{"first_name":"Ann"' in wrong.text


def test_no_shape_is_lost_in_the_loop_of_claude_code(tmp_path: Path):
    config: Any = create_sdk_mcp_server(
        "tools", tools=[host.plain(create_contact, "create_contact")]
    )
    calls = [("create_contact", each) for each, _ in SHAPES.values()]
    calls.append(("create_contact", {"contact": ANN}))
    answers = asyncio.run(host.converse(protect(config), calls, tmp_path))
    assert len(answers) == len(SHAPES) + 1
    ran = [meant for _, meant in SHAPES.values()][-4:]
    assert [*ran, ONLY_ANN] == RECEIVED
    assert [each.is_error for each in answers] == [True] * 8 + [False] * 5
    assert all(each.text.startswith("Refused") for each in answers[:8])


def test_the_approver_sees_what_runs(tmp_path: Path):
    shown: list[Any] = []

    async def approve(name: str, arguments: dict[str, Any], context: Any) -> PermissionResultAllow:
        shown.append(arguments)
        return PermissionResultAllow()

    made = protect(host.plain(create_contact, "create_contact"), approval=True)
    config: Any = create_sdk_mcp_server("tools", tools=[made])
    sent = [{"contact": json.dumps(ANN)}, {"data": {"contact": ANN}}, {"contact": ANN}]
    calls = [("create_contact", each) for each in sent]
    answers = asyncio.run(
        host.converse(config, calls, tmp_path, allowed_tools=[], can_use_tool=approve)
    )
    assert [each.is_error for each in answers] == [False, True, False]
    # Claude Code decodes the JSON text itself, before it asks.
    assert [shown[0], shown[-1]] == [{"contact": ANN}] * 2
    assert [ONLY_ANN] * 2 == RECEIVED
    with pytest.raises(TypeError, match="for the tools"):
        protect(config, approval=True)


def test_parallel_calls_do_not_mix_and_one_can_be_ended():
    running = asyncio.Event()

    async def echo(arguments: dict[str, Any]) -> dict[str, Any]:
        if arguments["number"] == 0:
            running.set()
            await asyncio.Event().wait()
        return {"content": [{"type": "text", "text": str(arguments["number"])}]}

    schema = {"type": "object", "properties": {"number": {"type": "integer"}}}
    made = protect(SdkMcpTool("echo", "Echo.", schema, echo))

    async def together() -> list[Any]:
        endless = asyncio.create_task(host.step(made, {"number": 0}))
        await running.wait()
        answers = await asyncio.gather(*(host.step(made, {"number": n}) for n in range(1, 50)))
        endless.cancel()
        with pytest.raises(asyncio.CancelledError):
            await endless
        return [each.text for each in answers]

    assert asyncio.run(together()) == [str(each) for each in range(1, 50)]


def test_the_blocks_of_the_guide_run(capsys: pytest.CaptureFixture[str]):
    run_guide("claude-agent-sdk.md", capsys)
