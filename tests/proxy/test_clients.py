"""The official client, in each of its modes, against a server that has everything: each interaction
has the same outcome through the proxy as without it, over stdio.
"""

import asyncio
import os
import sys
import warnings
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import mcp
import mcp_types as types
import pytest
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

SERVER = Path(__file__).parents[1] / "conformance" / "full_server.py"
DIRECT = [sys.executable, str(SERVER), "stdio"]
PROXY = [sys.executable, "-c", "from toolbooth.cli.entry import main; main()", "proxy", "--"]
MODES = ["legacy", "auto", "2026-07-28"]

TOOLS: dict[str, Any] = {
    "test_simple_text": {},
    "test_image_content": {},
    "test_audio_content": {},
    "test_embedded_resource": {},
    "test_multiple_content_types": {},
    "test_error_handling": {},
    "test_tool_with_progress": {},
    "test_tool_with_logging": {},
    "test_sampling": {"prompt": "Which?"},
    "test_elicitation": {"message": "Who?"},
    "test_elicitation_sep1034_defaults": {},
    "test_elicitation_sep1330_enums": {},
    "test_input_required_result_elicitation": {},
    "test_input_required_result_sampling": {},
    "test_input_required_result_list_roots": {},
    "test_input_required_result_request_state": {},
    "test_input_required_result_multiple_inputs": {},
    "test_input_required_result_multi_round": {},
    "test_input_required_result_tampered_state": {},
    "test_logging_tool": {},
    "test_streaming_elicitation": {},
    "test_missing_capability": {},
    "test_custom_headers": {"region": "eu", "priority": 3, "verbose": True},
    "test_trigger_tool_change": {},
    "test_trigger_prompt_change": {},
    "greet": {"name": "Ann"},
    "confirm_delete": {"filename": "a"},
    "slow_compute": {"seconds": 0.5, "label": "b"},
}

Interaction = Callable[[mcp.Client], Awaitable[Any]]
OTHERS: dict[str, Interaction] = {
    "resources": lambda client: client.list_resources(),
    "templates": lambda client: client.list_resource_templates(),
    "text": lambda client: client.read_resource("test://static-text"),
    "binary": lambda client: client.read_resource("test://static-binary"),
    "template": lambda client: client.read_resource("test://template/123/data"),
    "unknown resource": lambda client: client.read_resource("test://none"),
    "prompts": lambda client: client.list_prompts(),
    "prompt": lambda client: client.get_prompt("test_simple_prompt"),
    "arguments": lambda client: client.get_prompt(
        "test_prompt_with_arguments", {"arg1": "a", "arg2": "b"}
    ),
    "picture": lambda client: client.get_prompt("test_prompt_with_image"),
    "asking prompt": lambda client: client.get_prompt("test_input_required_result_prompt"),
    "completion": lambda client: client.complete(
        types.PromptReference(name="test_prompt_with_arguments"), {"name": "arg1", "value": "par"}
    ),
}


async def outcome(coming: Awaitable[Any]) -> Any:
    try:
        found = await coming
    except MCPError as error:
        return ("error", error.error.code, error.error.message)
    return found.model_dump(mode="json", by_alias=True, exclude_none=True)


async def sampled(context: Any, params: Any) -> types.CreateMessageResult:
    return types.CreateMessageResult(
        role="assistant", content=types.TextContent(text="Paris"), model="test"
    )


async def elicited(context: Any, params: Any) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content={"name": "Ann"})


async def roots(context: Any) -> types.ListRootsResult:
    return types.ListRootsResult(roots=[types.Root(uri="file:///srv", name="srv")])


async def outcomes(command: list[str], mode: str, prefix: str = "") -> dict[str, Any]:
    """The outcome of every interaction. `prefix` stands before the names of tools."""
    heard: list[Any] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        heard.append((done, total, message))

    async def logged(params: Any) -> None:
        heard.append(params.model_dump(mode="json", exclude_none=True))

    # The client starts commands without most variables of the environment.
    env = {"XDG_STATE_HOME": os.environ["XDG_STATE_HOME"]}
    transport = stdio_client(StdioServerParameters(command=command[0], args=command[1:], env=env))
    async with (
        asyncio.timeout(90),
        mcp.Client(
            transport,
            mode=mode,
            sampling_callback=sampled,
            elicitation_callback=elicited,
            list_roots_callback=roots,
            logging_callback=logged,
        ) as client,
    ):
        found: dict[str, Any] = {"names": [t.name for t in (await client.list_tools()).tools]}
        for name, arguments in TOOLS.items():
            called = client.call_tool(prefix + name, arguments, progress_callback=progress)
            found[name] = await outcome(called)
        for name, interaction in OTHERS.items():
            found[name] = await outcome(interaction(client))
        found["heard"] = heard
        return found


@pytest.mark.parametrize("mode", MODES)
def test_every_interaction_has_the_same_outcome_through_the_proxy(mode: str):
    with warnings.catch_warnings():
        # The client warns about what is deprecated since 2026-07-28, and servers still use.
        warnings.simplefilter("ignore")
        direct = asyncio.run(outcomes(DIRECT, mode))
        proxied = asyncio.run(outcomes([*PROXY, *DIRECT], mode))
    assert len(direct) == 42
    assert proxied == direct
