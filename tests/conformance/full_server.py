"""Everything that the conformance suite asks of a server but tasks, on the official SDK: the
upstream of the proxy. Run: python full_server.py PORT, or stdio instead of a port.
"""

import json
import sys
from base64 import b64encode
from typing import Any

import mcp_types as types
import uvicorn
from fastmcp.server.event_store import EventStore
from host_server import elicit, sdk_server
from mcp.server import mcpserver
from mcp.server.mcpserver.prompts.base import UserMessage
from samples import PNG

server = sdk_server()
lowlevel = server._lowlevel_server

# --- resources ----------------------------------------------------------------------------------


@server.resource("test://static-text", mime_type="text/plain")
def static_text() -> str:
    return "This is the content of the static text resource."


@server.resource("test://static-binary", mime_type="image/png")
def static_binary() -> bytes:
    return PNG


@server.resource("test://template/{id}/data", mime_type="application/json")
def template(id: str) -> str:
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


@server.resource("test://watched-resource", mime_type="text/plain")
def watched() -> str:
    return "Watched resource content"


async def accept(ctx: Any, params: Any) -> types.EmptyResult:
    return types.EmptyResult()


lowlevel.add_request_handler("resources/subscribe", types.SubscribeRequestParams, accept)
lowlevel.add_request_handler("resources/unsubscribe", types.UnsubscribeRequestParams, accept)
lowlevel.add_request_handler("logging/setLevel", types.SetLevelRequestParams, accept)


# --- prompts ------------------------------------------------------------------------------------


@server.prompt()
def test_simple_prompt() -> str:
    """A prompt."""
    return "This is a simple prompt for testing."


@server.prompt()
def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    """A prompt with arguments."""
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@server.prompt()
def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:
    """A prompt with a resource."""
    contents = types.TextResourceContents(
        uri=resourceUri, mime_type="text/plain", text="Embedded resource content for testing."
    )
    return [
        UserMessage(content=types.EmbeddedResource(resource=contents)),
        UserMessage(content=types.TextContent(text="Please process the embedded resource above.")),
    ]


@server.prompt()
def test_prompt_with_image() -> list[UserMessage]:
    """A prompt with a picture."""
    picture = types.ImageContent(data=b64encode(PNG).decode(), mime_type="image/png")
    return [
        UserMessage(content=picture),
        UserMessage(content=types.TextContent(text="Please analyze the image above.")),
    ]


@server.prompt()
async def test_input_required_result_prompt(ctx: mcpserver.Context) -> Any:
    """A prompt that asks first."""
    given = (ctx.input_responses or {}).get("user_context")
    if given is None:
        asked = {"user_context": elicit("What context should the prompt use?")}
        return types.InputRequiredResult(input_requests=asked)
    return str(given)


@server.completion()
async def complete(ref: Any, argument: Any, context: Any) -> types.Completion:
    return types.Completion(values=["paris", "park", "party"], total=3, has_more=False)


# --- changes ------------------------------------------------------------------------------------


@server.tool()
async def test_trigger_tool_change(ctx: mcpserver.Context) -> str:
    """Announces that the tools have changed."""
    await ctx.notify_tools_changed()
    return "done"


@server.tool()
async def test_trigger_prompt_change(ctx: mcpserver.Context) -> str:
    """Announces that the prompts have changed."""
    await ctx.notify_prompts_changed()
    return "done"


# --- tools that the scenarios of tasks call, here without tasks ------------------------------------


@server.tool()
def greet(name: str = "you") -> str:
    """Greets."""
    return f"Hello, {name}!"


@server.tool()
def confirm_delete(filename: str = "") -> str:
    """Deletes without a question."""
    return f"deleted {filename}"


@server.tool()
def slow_compute(seconds: float = 0, label: str = "") -> str:
    """Computes, not slowly."""
    return "computed"


if __name__ == "__main__" and sys.argv[1] == "stdio":
    server.run()
elif __name__ == "__main__":
    app = server.streamable_http_app(event_store=EventStore(), retry_interval=100)
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
