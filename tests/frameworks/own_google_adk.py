"""The features of Google's ADK alone: confirmation, callbacks, plugins, toolsets and streaming tools."""

import asyncio
import json
import pickle
from typing import Any

import pytest
from drivers import google_adk as host
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.tools import BaseTool, FunctionTool, LongRunningFunctionTool, google_search
from google.adk.tools.base_toolset import BaseToolset
from google.genai import types
from guide import run_guide
from shapes import ANN, ONLY_ANN, RECEIVED, create_contact

from toolbooth import is_protected, protect

TEXT = {"contact": json.dumps(ANN)}
EXACT = {"contact": ANN}
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}


@pytest.fixture(autouse=True)
def no_values():
    RECEIVED.clear()


def run(tools: Any, *calls: Any, **how: Any) -> list[str]:
    return [each.text for each in asyncio.run(host.loop(tools, list(calls), **how))]


def test_a_callback_of_the_agent_sees_what_runs():
    seen: list[Any] = []

    def callback(tool: Any, args: Any, tool_context: Any) -> None:
        seen.append(dict(args))

    tool = protect(host.tool(create_contact, "create_contact"))
    calls = [("create_contact", TEXT), ("create_contact", EXACT)]
    refused, ran = run([tool], *calls, before_tool_callback=callback)
    assert refused.endswith('Send instead: {"contact":' + json.dumps(ANN).replace(" ", "") + "}")
    assert ran == "created"
    assert seen[-1] == EXACT
    assert RECEIVED == [ONLY_ANN]


def test_a_callback_may_change_the_arguments():
    def callback(tool: Any, args: Any, tool_context: Any) -> None:
        args["note"] = "vip"

    tool = protect(host.tool(create_contact, "create_contact"))
    call = ("create_contact", dict(EXACT))
    assert run([tool], call, before_tool_callback=callback) == ["created"]
    assert [{**ONLY_ANN, "note": "vip"}] == RECEIVED


class Watching(BasePlugin):
    async def before_tool_callback(self, **found: Any) -> None:
        return None


def test_nothing_is_repaired_for_a_plugin_that_is_shown_the_arguments():
    tool = protect(host.tool(create_contact, "create_contact"))
    call = ("create_contact", TEXT)
    assert run([tool], call, plugins=[BasePlugin("idle")]) == ["created"]
    assert run([tool], call, plugins=[Watching("watching")])[0].startswith("Refused")
    assert RECEIVED == [ONLY_ANN]


def test_a_confirmation_policy_gets_the_values_of_the_function():
    seen: list[Any] = []

    def policy(contact: Any, note: str = "", limit: int = 10) -> bool:
        seen.append((type(contact).__name__, note))
        return False

    tool = protect(FunctionTool(create_contact, require_confirmation=policy))
    calls = [("create_contact", TEXT), ("create_contact", {"nots": 1}), ("create_contact", EXACT)]
    texts = run([tool], *calls)
    assert [each.split(":")[0] for each in texts] == ["Refused", "Refused", "created"]
    assert set(seen) == {("Contact", "")}
    assert RECEIVED == [ONLY_ANN]


class Own(host.Foreign):
    """A tool with a policy of its own."""

    async def check_require_confirmation(self, args: Any, tool_context: Any) -> bool:
        assert args == {"path": "1"}
        return False


def test_a_policy_of_the_tools_own_class_sees_what_runs():
    tool = protect(Own(SCHEMA, "read", json.dumps))
    refused, ran = run([tool], ("read", {"data": {"path": "1"}}), ("read", {"path": "1"}))
    assert refused.endswith('Send instead: {"path":"1"}')
    assert json.loads(ran) == {"path": "1"}


class Files(BaseToolset):
    async def get_tools(self, readonly_context: Any = None) -> list[BaseTool]:
        return [host.Foreign(SCHEMA, "read", json.dumps), google_search]


@pytest.mark.parametrize("prefix", [None, "files"])
def test_a_toolset_is_protected_and_the_original_is_not(prefix: str | None):
    plain = Files(tool_name_prefix=prefix)
    toolset = protect(plain)
    assert [is_protected(plain), is_protected(toolset)] == [False, True]
    assert isinstance(toolset, Files)
    assert protect(toolset) is toolset
    name = "read" if prefix is None else "files_read"
    found = asyncio.run(toolset.get_tools_with_prefix())
    assert found[0].name == name
    assert is_protected(found[0])
    call = {"path": "1", "haed": 5}
    refused = asyncio.run(host.step(found[0], call)).text
    assert refused.startswith(f"Refused: 1 problem in the arguments of '{name}'.")
    (lost,) = asyncio.run(plain.get_tools_with_prefix())[:1]
    assert json.loads(asyncio.run(host.step(lost, call)).text) == call


class Gemini(host.Foreign):
    """A tool that declares its parameters in Google's own form of a schema."""

    def _get_declaration(self) -> types.FunctionDeclaration:
        path = types.Schema(type=types.Type.STRING)
        schema = types.Schema(type=types.Type.OBJECT, properties={"path": path}, required=["path"])
        return types.FunctionDeclaration(name=self.name, parameters=schema)


def test_a_schema_in_googles_own_form_is_read():
    tool = protect(Gemini({}, "read", json.dumps))
    assert host.schema(tool)["properties"] == {"path": {"type": "string"}}
    refused, ran = run([tool], ("read", {"data": {"path": "1"}}), ("read", {"path": "1"}))
    assert refused.endswith('Send instead: {"path":"1"}')
    assert json.loads(ran) == {"path": "1"}


def test_a_tool_that_the_provider_runs_stays_as_it_is():
    assert protect(google_search) is google_search


def test_a_long_running_tool_stays_one():
    tool = protect(LongRunningFunctionTool(create_contact))
    assert tool.is_long_running
    assert run([tool], ("create_contact", {"data": EXACT}))[0].startswith("Refused")


def test_a_generator_runs_as_before():
    async def count(upto: int) -> Any:
        """Count."""
        yield sum(range(upto))

    plain = FunctionTool(count)
    expected = run([plain], ("count", {"upto": 3}))
    assert run([protect(plain)], ("count", {"upto": "3"})) == expected


def test_a_renamed_copy_is_protected():
    tool = protect(host.tool(create_contact, "create_contact"))
    again = pickle.loads(pickle.dumps(protect(tool)))
    assert host.schema(again) == host.schema(tool)


def test_the_blocks_of_the_guide_run(capsys: pytest.CaptureFixture[str]):
    run_guide("google-adk.md", capsys)
