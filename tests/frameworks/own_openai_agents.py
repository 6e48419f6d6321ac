"""The features of the OpenAI Agents SDK alone: strict tools, guardrails, error functions, MCP servers."""

import asyncio
import json
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
from agents import (
    Agent,
    RunContextWrapper,
    Runner,
    ToolGuardrailFunctionOutput,
    function_tool,
    tool_input_guardrail,
)
from agents.mcp import MCPServerStdio
from drivers import openai_agents as host
from guide import run_guide
from pydantic import BaseModel

from toolbooth import ContractWarning, is_protected, protect

SERVER = str(Path(__file__).with_name("foreign_server.py"))


class Person(BaseModel):
    name: str
    email: str | None = None
    age: int = 30
    tags: list[str] = []


def greet(person: Person, times: int = 1, note: str | None = None) -> str:
    """Greet.

    Args:
        times: How often.
    """
    sent = sorted(person.model_fields_set)
    return f"{person!r} {times} {note} {sent}"


def call(tool: Any, text: str) -> str:
    return asyncio.run(host.step(tool, text)).text


def test_a_strict_tool_stays_strict_and_null_means_not_sent():
    records: list[Any] = []
    tool = protect(function_tool(greet), observers=[records.append])
    text: Any = {"type": "string"}
    null: Any = {"type": "null"}
    person = {
        "type": "object",
        "properties": {
            "name": text,
            "email": {"anyOf": [text, null]},
            "age": {"anyOf": [{"type": "integer"}, null], "description": "null for 30"},
            "tags": {
                "anyOf": [{"type": "array", "items": text}, null],
                "description": "null for []",
            },
        },
        "required": ["name", "email", "age", "tags"],
        "additionalProperties": False,
    }
    assert tool.strict_json_schema
    assert tool.params_json_schema == {
        "type": "object",
        "properties": {
            "person": person,
            "times": {
                "anyOf": [{"type": "integer"}, null],
                "description": "How often. (null for 1)",
            },
            "note": {"anyOf": [text, null]},
        },
        "required": ["person", "times", "note"],
        "additionalProperties": False,
    }
    nulls = '{"person":{"name":"Ann","email":null,"age":null,"tags":null},"times":null,"note":null}'
    assert call(tool, nulls) == f"{Person(name='Ann')!r} 1 None ['name']"
    assert [(each.outcome, each.repairs) for each in records] == [("passed", ())]


@pytest.mark.parametrize(
    ("annotation", "default", "reason"),
    [
        (Any, None, "$.value takes any keys"),
        (list, [], "$.value[0] takes any keys"),
        (str | None, "x", "$.value may be null, and has another default"),
    ],
    ids=["any", "list", "nullable with a default"],
)
def test_a_type_without_a_strict_form_makes_the_tool_loose_with_one_warning(
    annotation: Any, default: Any, reason: str
):
    def keep(value=default) -> str:
        """Keep."""
        return repr(value)

    keep.__annotations__["value"] = annotation
    plain = function_tool(keep)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tool = protect(plain)
    said = [str(each.message) for each in caught if "strict" in str(each.message)]
    assert said == [f"keep: {reason}, so the tool is not strict"]
    assert issubclass(caught[-1].category, ContractWarning)
    assert not tool.strict_json_schema


def test_the_law_of_bytes_holds():
    tool = protect(host.tool(greet, "greet"))
    assert "the same key is sent twice" in call(tool, '{"person":{"name":"A","name":"B"}}')
    assert "not valid JSON" in call(tool, "{nope")
    assert "arguments" in call(tool, "[1]")


@pytest.mark.parametrize("asked", [True, "policy"])
def test_a_call_that_needs_a_repair_is_refused_before_anybody_is_asked(asked: Any):
    shown: list[Any] = []

    def policy(context: Any, arguments: Any, call_id: str) -> bool:
        shown.append(arguments)
        return True

    wanted = policy if asked == "policy" else True
    tool = protect(function_tool(greet, strict_mode=False, needs_approval=wanted))
    calls = [("greet", '{"person":{"name":"Ann"},"times":"2"}'), ("greet", '{"prson":{}}')]
    agent = Agent(name="agent", tools=[tool], model=host.Scripted(calls))
    done = asyncio.run(Runner.run(agent, "go"))
    assert not done.interruptions
    texts = [item.output for item in done.new_items if item.type == "tool_call_output_item"]
    assert texts[0].endswith('Send instead: {"person":{"name":"Ann"},"times":2}')
    assert texts[1].startswith("Refused")
    assert shown == []


def test_a_guardrail_sees_the_arguments_that_run():
    seen: list[str] = []

    @tool_input_guardrail
    def guard(data: Any) -> ToolGuardrailFunctionOutput:
        seen.append(data.context.tool_arguments)
        return ToolGuardrailFunctionOutput.allow()

    tool = protect(function_tool(greet, strict_mode=False, tool_input_guardrails=[guard]))
    exact = '{"person":{"name":"Ann"},"times":2}'
    calls = [("greet", '{"person":{"name":"Ann"},"times":"2"}'), ("greet", exact)]
    refused, ran = asyncio.run(host.loop([tool], calls))
    assert refused.text.endswith(f"Send instead: {exact}")
    assert ran.text.startswith(repr(Person(name="Ann")) + " 2")
    assert seen[-1] == exact


def test_a_function_for_failures_is_used_and_none_raises():
    def fail(number: int) -> str:
        """Fail."""
        raise ZeroDivisionError("boom")

    def said(context: RunContextWrapper[Any], error: Exception) -> str:
        return f"sorry: {error}"

    tool = protect(function_tool(fail, failure_error_function=said))
    assert call(tool, '{"number":1}') == "sorry: boom"
    tool = protect(function_tool(fail, failure_error_function=None))
    with pytest.raises(ZeroDivisionError, match="boom"):
        call(tool, '{"number":1}')


def test_data_of_the_author_stays_beside_the_repairs():
    plain = function_tool(greet, strict_mode=False)
    plain.custom_data_extractor = lambda found: {"author": found.output[:6]}
    (answer,) = asyncio.run(
        host.loop([protect(plain)], [("greet", '{"person":{"name":"Ann"},"times":"2"}')])
    )
    repairs = [{"code": "scalar-text", "path": "$.times"}]
    assert answer.data == {
        "author": repr(Person(name="Ann"))[:6],
        "toolbooth": {"repairs": repairs},
    }


def test_a_foreign_mcp_server_is_protected_and_the_original_is_not():
    plain = MCPServerStdio({"command": sys.executable, "args": [SERVER]}, cache_tools_list=True)
    server = protect(plain)
    assert [is_protected(plain), is_protected(server)] == [False, True]
    assert isinstance(server, MCPServerStdio)
    assert protect(server) is server

    async def run(server: Any) -> list[str]:
        calls = [
            ("read", '{"path":"a","head":"5"}'),
            ("read", '{"path":"a","haed":5}'),
            ("read", '{"data":{"path":"a"}}'),
            ("read", '{"path":"a","config":"c"}'),
        ]
        async with server:
            agent = Agent(name="agent", mcp_servers=[server], model=host.Scripted(calls))
            done = await Runner.run(agent, "go")
        outputs = [each.output for each in done.new_items if each.type == "tool_call_output_item"]
        return [each["text"] if isinstance(each, dict) else each for each in outputs]

    repaired, misspelt, wrapped, exact = asyncio.run(run(server))
    assert json.loads(repaired) == {"path": "a", "head": 5}
    assert 'did you mean "head"?' in misspelt
    assert wrapped.endswith('Send instead: {"path":"a"}')
    assert json.loads(exact) == {"path": "a", "config": "c"}
    # Without protection, the misspelt argument is lost.
    assert json.loads(asyncio.run(run(plain))[1]) == {"path": "a"}


def test_the_blocks_of_the_guide_run(capsys: pytest.CaptureFixture[str]):
    run_guide("openai-agents.md", capsys)
