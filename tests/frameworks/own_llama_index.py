"""The features of LlamaIndex alone: callbacks, sync calls, tools of other classes, lone arguments."""

import asyncio
from typing import Any

import pytest
from drivers import llama_index as host
from guide import run_guide
from llama_index.core.bridge.pydantic import BaseModel, Field
from llama_index.core.tools import AsyncBaseTool, FunctionTool, ToolMetadata, ToolOutput
from llama_index.core.tools.calling import acall_tool, call_tool
from llama_index.core.workflow import Context
from shapes import ANN, Contact

from toolbooth import is_protected, protect


def greet(contact: Contact, times: int = Field(default=1, description="How often.")) -> str:
    """Greet."""
    return f"{type(contact).__name__} {contact.first_name} {times}"


async def greet_async(contact: Contact, times: int = 1) -> str:
    """Greet."""
    return f"{type(contact).__name__} {contact.first_name} {times}"


@pytest.mark.parametrize("function", [greet, greet_async])
def test_sync_and_async_calls_are_alike(function: Any):
    tool = protect(host.tool(function, "greet"))
    for arguments, text in [
        ({"contact": ANN}, "Contact Ann 1"),
        ({"contact": ANN, "times": "2"}, "Contact Ann 2"),
    ]:
        outputs = [tool.call(**arguments), tool(**arguments), asyncio.run(tool.acall(**arguments))]
        assert [each.content for each in outputs] == [text] * 3
    refused = [tool.call(contakt=ANN), asyncio.run(tool.acall(contakt=ANN))]
    assert [each.is_error for each in refused] == [True, True]
    assert refused[0].content == refused[1].content
    assert refused[0].content.startswith("Refused")


def test_callbacks_see_the_result_of_an_accepted_call_only():
    seen: list[Any] = []

    def said(result: Any) -> str:
        seen.append(result)
        return f"said {result}"

    tool = protect(FunctionTool.from_defaults(greet, name="greet", callback=said))
    assert tool.call(contact=ANN).content == "said Contact Ann 1"
    assert tool.call(contakt=ANN).content.startswith("Refused")
    assert seen == ["Contact Ann 1"]


def test_a_lone_argument_keeps_its_name():
    """`call_tool` passes the only argument of a tool without its name, if it can."""

    def one(note: str) -> str:
        """One."""
        return note

    tool = protect(host.tool(one, "one"))
    for output in (
        call_tool(tool, {"nota": "x"}),
        asyncio.run(acall_tool(tool, {"nota": "x"})),
    ):
        assert 'did you mean "note"?' in output.content
    assert call_tool(tool, {"note": "x"}).content == "x"
    with pytest.raises(TypeError, match="takes its arguments by name"):
        tool("x")


class Echo(AsyncBaseTool):
    """A tool of another class, with a schema of its own."""

    @property
    def metadata(self) -> ToolMetadata:
        return ToolMetadata("Echo.", "echo")

    def call(self, input: Any) -> ToolOutput:
        return ToolOutput("echo", f"echo {input}", raw_input={"input": input})

    async def acall(self, input: Any) -> ToolOutput:
        return self.call(input=input)


def test_a_tool_of_another_class_is_protected():
    plain = Echo()
    tool = protect(plain)
    assert isinstance(tool, Echo)
    assert [is_protected(plain), is_protected(tool)] == [False, True]
    assert tool.call(input="a").content == "echo a"
    assert asyncio.run(tool.acall(input="a")).content == "echo a"
    for output in (call_tool(tool, {"inptu": "a"}), asyncio.run(acall_tool(tool, {"inptu": "a"}))):
        assert 'did you mean "input"?' in output.content


def test_the_published_schema_cannot_be_changed_by_those_who_read_it():
    tool = protect(host.tool(greet, "greet"))
    tool.metadata.get_parameters_dict()["properties"].clear()
    model = tool.metadata.fn_schema
    assert model is not None
    model.model_json_schema()["properties"].clear()
    shown = tool.metadata.to_openai_tool()["function"]["parameters"]
    assert list(shown["properties"]) == ["contact", "times"]
    assert shown["properties"]["times"]["description"] == "How often."
    assert model.model_json_schema() == shown


def test_a_tool_of_a_json_schema_gets_the_context():
    class Arguments(BaseModel):
        @classmethod
        def model_json_schema(cls, *args: Any, **how: Any) -> dict[str, Any]:
            return {"type": "object", "properties": {"number": {"type": "integer"}}}

    async def call(ctx: Context, **arguments: Any) -> str:
        return f"{type(ctx).__name__} {arguments}"

    listed = ToolMetadata("A tool.", "call", fn_schema=Arguments)
    tool = protect(FunctionTool.from_defaults(async_fn=call, tool_metadata=listed))
    calls = [("call", {"number": "1"}), ("call", {"number": 1, "ctx": 1})]
    given, refused = asyncio.run(host.loop([tool], calls))
    assert given.text == "Context {'number': 1}"
    assert '- $.ctx: there is no field "ctx"' in refused.text


def test_the_blocks_of_the_guide_run(capsys: pytest.CaptureFixture[str]):
    run_guide("llama-index.md", capsys)
