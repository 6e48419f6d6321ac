"""The tools that the conformance suite requires, on the hosts: `python host_server.py HOST
(bare|protected) PORT`.

The same functions on both hosts, including those that log, ask the client for something, or need
several rounds: a protected server must support all of it as the bare one does. There are no prompts
or resources, because `protect` is about tools.
"""

import sys
from base64 import b64encode
from collections.abc import Callable
from typing import Annotated, Any

import fastmcp
import mcp_types as types
import uvicorn
from fastmcp.server.event_store import EventStore
from fastmcp.tools import Tool as FastMCPTool
from fastmcp.tools import ToolResult
from mcp.server import mcpserver
from mcp.server.mcpserver.tools import Tool as SDKTool
from mcp.shared.exceptions import MCPError
from pydantic import Field
from samples import JSON_SCHEMA, PNG, WAV

from toolbooth.adapters import fastmcp as fastmcp_adapter
from toolbooth.adapters import mcp_sdk as sdk_adapter

Tool = Callable[..., Any]


# --- tools that answer ------------------------------------------------------------------------------------------


def simple_text() -> str:
    return "This is a simple text response for testing."


def image_content() -> types.ImageContent:
    return types.ImageContent(data=b64encode(PNG).decode(), mime_type="image/png")


def audio_content() -> types.AudioContent:
    return types.AudioContent(data=b64encode(WAV).decode(), mime_type="audio/wav")


def embedded_resource() -> types.EmbeddedResource:
    return _resource(
        "test://embedded-resource", "text/plain", "This is an embedded resource content."
    )


def multiple_content_types() -> list[types.ContentBlock]:
    return [
        types.TextContent(text="Multiple content types test:"),
        types.ImageContent(data=b64encode(PNG).decode(), mime_type="image/png"),
        _resource("test://mixed-content-resource", "application/json", '{"test":"data"}'),
    ]


def _resource(uri: str, mime_type: str, text: str) -> types.EmbeddedResource:
    return types.EmbeddedResource(
        resource=types.TextResourceContents(uri=uri, mime_type=mime_type, text=text)
    )


def error_handling() -> str:
    raise RuntimeError("This tool intentionally returns an error for testing")


def custom_headers(
    region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})],
    priority: Annotated[int, Field(json_schema_extra={"x-mcp-header": "Priority"})] = 0,
    verbose: Annotated[bool, Field(json_schema_extra={"x-mcp-header": "Verbose"})] = False,
) -> str:
    return f"region={region} priority={priority} verbose={verbose}"


# --- tools that talk with the client ----------------------------------------------------------------------------

FORM = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
PERSON = {
    "type": "object",
    "properties": {"username": {"type": "string"}, "email": {"type": "string"}},
    "required": ["username", "email"],
}
DEFAULTS = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {
            "type": "string",
            "enum": ["active", "inactive", "pending"],
            "default": "active",
        },
        "verified": {"type": "boolean", "default": True},
    },
}
PLAIN = ["option1", "option2", "option3"]
TITLED = [{"const": f"value{n}", "title": f"Choice {n}"} for n in (1, 2, 3)]
ENUMS = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": PLAIN},
        "titledSingle": {"type": "string", "oneOf": TITLED},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["One", "Two", "Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": PLAIN}},
        "titledMulti": {"type": "array", "items": {"anyOf": TITLED}},
    },
}


async def ask(ctx: Any, message: str, form: dict[str, Any]) -> str:
    told = await ctx.session.elicit_form(message, form, ctx.request_id)
    return f"action={told.action}, content={told.content}"


def capabilities(ctx: Any) -> types.ClientCapabilities:
    return ctx.session.client_capabilities or types.ClientCapabilities()


def conversing(context: type) -> list[Tool]:
    """The tools that use the Context of a host, limited to the methods that both hosts have."""
    made: list[Tool] = []

    @made.append
    async def tool_with_progress(ctx: context) -> str:
        for done in (0, 50, 100):
            await ctx.report_progress(done, 100)
        return "done"

    @made.append
    async def tool_with_logging(ctx: context) -> str:
        for what in ("Tool execution started", "Tool processing data", "Tool execution completed"):
            await ctx.info(what)
        return "done"

    @made.append
    async def logging_tool(ctx: context) -> str:
        await ctx.info("Not to be seen unasked")
        return "done"

    @made.append
    async def streaming_elicitation(ctx: context) -> str:
        await ctx.report_progress(1, 1)
        return "done"

    @made.append
    async def reconnection(ctx: context) -> str:
        await ctx.close_sse_stream()
        return "Reconnection test completed"

    @made.append
    async def sampling(prompt: str, ctx: context) -> str:
        message = types.SamplingMessage(role="user", content=types.TextContent(text=prompt))
        told = await ctx.session.create_message(
            [message], max_tokens=100, related_request_id=ctx.request_id
        )
        return f"LLM response: {told.content.text}"

    @made.append
    async def elicitation(message: str, ctx: context) -> str:
        return f"User response: {await ask(ctx, message, PERSON)}"

    @made.append
    async def elicitation_sep1034_defaults(ctx: context) -> str:
        return f"Elicitation completed: {await ask(ctx, 'Look through these', DEFAULTS)}"

    @made.append
    async def elicitation_sep1330_enums(ctx: context) -> str:
        return f"Elicitation completed: {await ask(ctx, 'Choose', ENUMS)}"

    @made.append
    async def missing_capability(ctx: context) -> str:
        if not capabilities(ctx).sampling:
            needed = {"requiredCapabilities": {"sampling": {}}}
            raise MCPError(
                types.MISSING_REQUIRED_CLIENT_CAPABILITY, "the client must offer sampling", needed
            )
        return "done"

    return made


# --- tools that need several rounds -----------------------------------------------------------------------------


def elicit(message: str, form: dict[str, Any] = FORM) -> types.ElicitRequest:
    return types.ElicitRequest(
        params=types.ElicitRequestFormParams(message=message, requested_schema=form)
    )


def sample(prompt: str) -> types.CreateMessageRequest:
    message = types.SamplingMessage(role="user", content=types.TextContent(text=prompt))
    return types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(messages=[message], max_tokens=100)
    )


ROOTS = types.ListRootsRequest(params=types.RequestParams())


def needs(state: str | None = None, **asked: Any) -> types.InputRequiredResult:
    return types.InputRequiredResult(input_requests=asked, request_state=state)


def answered(ctx: Any, *keys: str) -> list[Any] | None:
    given = ctx.input_responses or {}
    return [given[key] for key in keys] if all(key in given for key in keys) else None


def rounds(context: type) -> list[Tool]:
    """The tools that return a request for input, and are called again with the answers."""
    made: list[Tool] = []

    @made.append
    async def input_required_result_elicitation(ctx: context) -> Any:
        given = answered(ctx, "user_name")
        if given is None or not isinstance(given[0], types.ElicitResult):
            return needs(user_name=elicit("What is your name?"))
        return f"Hello, {(given[0].content or {}).get('name')}!"

    @made.append
    async def input_required_result_sampling(ctx: context) -> Any:
        given = answered(ctx, "capital_question")
        return (
            needs(capital_question=sample("What is the capital of France?"))
            if given is None
            else str(given)
        )

    @made.append
    async def input_required_result_list_roots(ctx: context) -> Any:
        given = answered(ctx, "client_roots")
        return needs(client_roots=ROOTS) if given is None else str(given)

    @made.append
    async def input_required_result_request_state(ctx: context) -> Any:
        if answered(ctx, "confirm") is None:
            return needs("asked", confirm=elicit("Please confirm"))
        return "state-ok" if ctx.request_state == "asked" else "state lost"

    @made.append
    async def input_required_result_tampered_state(ctx: context) -> Any:
        return (
            needs("asked", confirm=elicit("Please confirm"))
            if ctx.request_state is None
            else "done"
        )

    @made.append
    async def input_required_result_multiple_inputs(ctx: context) -> Any:
        asked = {
            "user_name": elicit("What is your name?"),
            "greeting": sample("Greet"),
            "client_roots": ROOTS,
        }
        given = answered(ctx, *asked)
        return needs("asked", **asked) if given is None else str(given)

    @made.append
    async def input_required_result_multi_round(ctx: context) -> Any:
        if answered(ctx, "step1") is not None:
            return needs("second", step2=elicit("Step 2: What is your favorite color?"))
        return (
            needs("first", step1=elicit("Step 1: What is your name?"))
            if ctx.request_state is None
            else "done"
        )

    @made.append
    async def input_required_result_capabilities(ctx: context) -> Any:
        offered = capabilities(ctx)
        asked = {"name": elicit("What is your name?")} if offered.elicitation else {}
        return needs(**asked, **({"words": sample("Greet")} if offered.sampling else {}))

    return made


# --- servers ----------------------------------------------------------------------------------------------------

ANSWERING = [
    simple_text,
    image_content,
    audio_content,
    embedded_resource,
    multiple_content_types,
    error_handling,
    custom_headers,
]


class OwnSchema(FastMCPTool):
    """A tool whose author wrote the schema by hand."""

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        return ToolResult("ok")


class OwnSDKSchema(SDKTool):
    """The same, for the SDK."""

    async def run(
        self, arguments: dict[str, Any], context: Any, convert_result: bool = False
    ) -> Any:
        return types.CallToolResult(content=[types.TextContent(text="ok")])


def named(tool: Tool) -> dict[str, str]:
    """Add the method by which the suite calls a tool; it requires a description, too."""
    return {"name": f"test_{tool.__name__}", "description": tool.__name__.replace("_", " ")}


def on_fastmcp(protected: bool) -> Any:
    # As FastMCP's own conformance server: schemas as their authors wrote them.
    server = fastmcp.FastMCP("conformance", dereference_schemas=False)
    for each in (*ANSWERING, *conversing(fastmcp.Context), *rounds(fastmcp.Context)):
        server.tool(each, **named(each))
    server.add_tool(
        OwnSchema(name="json_schema_2020_12_tool", description="own schema", parameters=JSON_SCHEMA)
    )
    if protected:
        fastmcp_adapter.protect(server)
    return server.http_app(
        event_store=EventStore(), retry_interval=100, host_origin_protection=True
    )


def sdk_server() -> mcpserver.MCPServer:
    own = OwnSDKSchema.from_function(
        simple_text, name="json_schema_2020_12_tool", description="own schema"
    )
    own.parameters = JSON_SCHEMA
    server = mcpserver.MCPServer("conformance", tools=[own])
    for each in (*ANSWERING, *conversing(mcpserver.Context), *rounds(mcpserver.Context)):
        server.add_tool(each, **named(each))
    return server


def on_mcp_sdk(protected: bool) -> Any:
    server = sdk_server()
    if protected:
        sdk_adapter.protect(server)
    return server.streamable_http_app(event_store=EventStore(), retry_interval=100)


if __name__ == "__main__":
    host, state, port = sys.argv[1:]
    app = {"fastmcp": on_fastmcp, "mcp_sdk": on_mcp_sdk}[host](state == "protected")
    uvicorn.run(app, host="127.0.0.1", port=int(port), log_level="warning")
