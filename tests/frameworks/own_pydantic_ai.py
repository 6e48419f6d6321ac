"""The features of PydanticAI alone: toolsets, retries, its own validators and metadata of results."""

import asyncio
from pathlib import Path
from typing import Annotated, Any

import pytest
from drivers import pydantic_ai as host
from fastmcp.client.transports import PythonStdioTransport
from guide import run_guide
from pydantic import BaseModel, Field
from pydantic_ai import Agent, FunctionToolset, ModelRetry, RunContext, Tool, ToolReturn
from pydantic_ai.exceptions import UnexpectedModelBehavior
from pydantic_ai.mcp import MCPToolset

from toolbooth import is_protected, protect

SERVER = str(Path(__file__).with_name("foreign_server.py"))


class Person(BaseModel):
    name: str
    age: int = 30


def greet(person: Person, times: int = 1) -> str:
    """Greet.

    Args:
        person: Whom.
        times: How often.
    """
    return f"{person!r} {times}"


GOOD = '{"person":{"name":"Ann"},"times":"2"}'
WRONG = '{"person":{"nam":"Ann"}}'


def loop(tools: list[Any], *texts: str, name: str = "greet") -> list[Any]:
    return asyncio.run(host.loop(tools, [(name, text) for text in texts]))


def test_a_refusal_counts_as_a_retry_of_the_tool():
    tool = protect(Tool(greet))

    async def run(*texts: str) -> list[Any]:
        model = host._agent([tool], [("greet", text) for text in texts]).model
        # PydanticAI's own limit, one retry.
        done = await Agent(model, tools=[tool]).run("go")
        return host._answers(done.all_messages())

    refused, good = asyncio.run(run(WRONG, GOOD))
    assert refused.text.startswith("Refused")
    assert good.text == f"{Person(name='Ann')!r} 2"
    with pytest.raises(UnexpectedModelBehavior, match="exceeded max retries count of 1"):
        asyncio.run(run(WRONG, WRONG))


def test_descriptions_of_the_docstring_are_published():
    shown = host.schema(protect(Tool(greet)))["properties"]
    assert shown["times"]["description"] == "How often."
    assert shown["person"]["description"] == "Whom."


def test_a_strict_tool_has_a_strict_schema_and_null_means_not_sent():
    tool = protect(Tool(greet, strict=True))
    assert tool.strict is True
    assert host.schema(tool)["required"] == ["person", "times"]
    (answer,) = loop([tool], '{"person":{"name":"Ann","age":null},"times":null}')
    assert [answer.text, answer.data] == [f"{Person(name='Ann')!r} 1", {}]


def test_the_authors_own_validator_gets_the_values():
    def check(context: RunContext[Any], person: Person, times: int = 1) -> None:
        if times > 5:
            raise ModelRetry("not so often")

    tool = protect(Tool(greet, args_validator=check, max_retries=9))
    refused, good = loop([tool], '{"person":{"name":"Ann"},"times":"9"}', GOOD)
    assert refused.text == "not so often"
    assert good.text.endswith(" 2")


def test_metadata_of_the_author_stays_beside_the_repairs():
    def pair(number: int) -> ToolReturn:
        """Pair."""
        return ToolReturn(str(number), metadata={"rows": number})

    (answer,) = loop([protect(Tool(pair))], '{"number":"1"}', name="pair")
    repairs = [{"code": "scalar-text", "path": "$.number"}]
    assert answer.data == {"rows": 1, "toolbooth": {"repairs": repairs}}


def test_a_toolset_of_functions_is_copied_with_protected_tools():
    plain = FunctionToolset([greet], max_retries=9)
    toolset = protect(plain)
    assert [is_protected(plain), is_protected(toolset)] == [False, True]
    assert not is_protected(plain.tools["greet"])
    refused, good = loop([toolset], WRONG, GOOD)
    assert refused.text.startswith("Refused")
    assert good.text.endswith(" 2")


def test_any_other_toolset_is_protected_by_its_schemas():
    records: list[Any] = []
    plain = FunctionToolset([greet], max_retries=9).prefixed("my")
    toolset = protect(plain, observers=[records.append])
    assert is_protected(toolset)
    assert protect(toolset) is toolset
    refused, good = loop([toolset], WRONG, GOOD, name="my_greet")
    assert 'did you mean "name"?' in refused.text
    assert good.text == f"{Person(name='Ann')!r} 2"
    assert good.data["toolbooth"]["repairs"] == [{"code": "scalar-text", "path": "$.times"}]
    assert [each.outcome for each in records] == ["refused", "repaired"]


def test_a_toolset_that_asks_for_approval_repairs_nothing():
    toolset = protect(FunctionToolset([greet], max_retries=9).approval_required())
    (refused,) = loop([toolset], GOOD)
    assert refused.text.endswith('Send instead: {"person":{"name":"Ann"},"times":2}')


def test_the_law_of_bytes_holds():
    tool = protect(Tool(greet, max_retries=9))
    twice, broken = loop([tool], '{"person":{"name":"A","name":"B"}}', "{nope")
    assert "the same key is sent twice" in twice.text
    assert "not valid JSON" in broken.text


def test_one_model_as_the_only_parameter_is_not_unwrapped():
    def add(person: Annotated[Person, Field(description="e.g. {}")]) -> str:
        """Add."""
        return repr(person)

    tool = protect(Tool(add, max_retries=9))
    (answer,) = loop([tool], '{"person":{"name":"Ann"}}', name="add")
    assert answer.text == repr(Person(name="Ann"))
    assert list(host.schema(tool)["properties"]) == ["person"]


def test_tools_of_a_foreign_mcp_server_are_protected():
    plain = MCPToolset(PythonStdioTransport(SERVER), max_retries=9)
    calls = ['{"path":"a","head":"5"}', '{"path":"a","haed":5}', '{"data":{"path":"a"}}']
    repaired, misspelt, wrapped = loop([protect(plain)], *calls, name="read")
    assert repaired.text == str({"path": "a", "head": 5})
    assert 'did you mean "head"?' in misspelt.text
    assert wrapped.text.endswith('Send instead: {"path":"a"}')


def test_the_blocks_of_the_guide_run(capsys: pytest.CaptureFixture[str]):
    run_guide("pydantic-ai.md", capsys)
