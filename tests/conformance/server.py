"""The tools that the official conformance suite requires of a server, on our server. Run: python
server.py PORT.
"""

from __future__ import annotations

import sys
from typing import Annotated, Any

import uvicorn
from pydantic import Field
from samples import JSON_SCHEMA, PNG, WAV

from toolbooth import Context, ToolError, ToolRegistry, compile_json_schema
from toolbooth.content import Audio, Image, Resource, Text
from toolbooth.server.asgi import app

registry = ToolRegistry("toolbooth-conformance")


@registry.tool
def test_simple_text() -> str:
    """Returns text."""
    return "This is a simple text response for testing."


@registry.tool
def test_image_content() -> Image:
    """Returns a picture."""
    return Image(data=PNG)


@registry.tool
def test_audio_content() -> Audio:
    """Returns a sound."""
    return Audio(data=WAV)


@registry.tool
def test_embedded_resource() -> Resource:
    """Returns a file."""
    return Resource(uri="test://embedded-resource", content="This is an embedded resource content.")


@registry.tool
def test_multiple_content_types() -> list[Any]:
    """Returns several pieces."""
    resource = Resource(
        uri="test://mixed-content-resource", content='{"test":"data"}', mime_type="application/json"
    )
    return [Text(text="Multiple content types test:"), Image(data=PNG), resource]


@registry.tool
async def test_tool_with_progress(ctx: Context) -> str:
    """Reports progress."""
    for done in (0, 50, 100):
        await ctx.progress(done, 100, f"Completed step {done} of 100")
    return "done"


@registry.tool
def test_error_handling() -> str:
    """Always fails."""
    raise ToolError("test_error_handling", "This tool intentionally returns an error for testing")


@registry.tool
def test_logging_tool() -> str:
    """Would log, if we sent logs: the suite checks that nothing comes unasked."""
    return "done"


@registry.tool
async def test_streaming_elicitation(ctx: Context) -> str:
    """Streams; the suite checks that no request of ours comes on the stream."""
    await ctx.progress(1, 1)
    return "done"


@registry.tool(name="test_custom_headers")
def custom_headers(
    region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})] = "",
    priority: Annotated[int | None, Field(json_schema_extra={"x-mcp-header": "Priority"})] = None,
    verbose: Annotated[bool | None, Field(json_schema_extra={"x-mcp-header": "Verbose"})] = None,
) -> str:
    """Mirrors parameters in headers."""
    return f"region={region} priority={priority} verbose={verbose}"


registry.add(
    compile_json_schema(
        JSON_SCHEMA,
        lambda arguments: "ok",
        name="json_schema_2020_12_tool",
        description="A schema of its own.",
    )
)

if __name__ == "__main__":
    uvicorn.run(app(registry), host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
