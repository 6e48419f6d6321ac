"""A protected server handles a refused call as its host would: in its logs, its exceptions, its
middleware and its tasks.
"""

import asyncio
import logging
from typing import Annotated, Any

import pytest
from fastmcp import Client as HostClient
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError as HostToolError
from fastmcp.exceptions import ValidationError
from fastmcp.server.middleware import Middleware
from mcp import Client
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import InvalidSignature
from mcp.server.mcpserver.exceptions import ToolError as SdkToolError
from mcp.server.mcpserver.resolve import Resolve
from mcp_types import CallToolResult, InputRequiredResult
from pydantic import BaseModel, Field, field_validator
from pydantic_core import ValidationError as PydanticError

from toolbooth import ToolError, ToolInputError
from toolbooth.adapters import fastmcp, mcp_sdk


class Line(BaseModel):
    sku: str
    quantity: int = 1

    @field_validator("sku")
    @classmethod
    def not_secret(cls, value: str) -> str:
        if value == "SECRET":
            raise ValueError("no such thing")
        return value


def place(customer: str, lines: list[Line]) -> str:
    return f"{len(lines)} for {customer}"


def fail(reason: str) -> str:
    raise ToolError("the printer is on fire", "call the fire brigade", {"reason": reason})


def server_of(host: str, *tools: Any, **how: Any) -> Any:
    if host == "fastmcp":
        server: Any = fastmcp.protect(FastMCP("shop", **how))
        for tool in tools:
            server.tool(tool)
        return server
    server = mcp_sdk.protect(MCPServer("shop", **how))
    for tool in tools:
        server.add_tool(tool)
    return server


def sent(server: Any, name: str, **arguments: Any) -> CallToolResult:
    async def run() -> CallToolResult:
        if isinstance(server, FastMCP):
            async with HostClient(server) as client:
                return await client.call_tool_mcp(name, arguments)
        async with Client(server) as client:
            return await client.call_tool(name, arguments)

    return asyncio.run(run())


HOSTS = pytest.mark.parametrize("host", ["fastmcp", "mcp_sdk"])
WRONG = {"customer": "Ann", "lines": [{"sku": "A", "quantity": "many"}], "note": "PRIVATE"}
TEXT = """Refused: 2 problems in the arguments of 'place'. Nothing was done.
- $.lines[0].quantity: must be an integer, got text "many"; e.g. 1; leave it out if unknown
- $.note: there is no field "note\""""


# --- logs -----------------------------------------------------------------------------------------


def test_fastmcp_logs_a_refusal_as_a_warning_with_the_kinds_of_errors(caplog):
    server = server_of("fastmcp", place)
    with caplog.at_level(logging.DEBUG, "fastmcp.server.server"):
        assert sent(server, "place", **WRONG).is_error
    [record] = [each for each in caplog.records if "Invalid arguments" in each.getMessage()]
    assert (record.levelname, record.exc_info) == ("WARNING", None)
    kinds = "['int_parsing', 'unexpected_keyword_argument']"
    assert record.getMessage() == (
        f"Invalid arguments for tool 'place': {{'error_count': 2, 'error_types': {kinds}}}"
    )


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ({"customer": "Ann"}, "missing_argument"),
        ({"customer": "Ann", "lines": [{}]}, "missing"),
        ({"customer": "Ann", "lines": [{"sku": "A", "Q": 1}]}, "extra_forbidden"),
        ({"customer": 5, "lines": []}, "string_type"),
        ({"customer": "Ann", "lines": [{"sku": "SECRET"}]}, "value_error"),
        ({"customer": "Ann", "lines": 5}, "list_type"),
        ({"customer": "Ann", "lines": [5]}, "model_type"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_kinds_of_errors_are_those_of_pydantic(arguments, kind, caplog):
    with caplog.at_level(logging.WARNING, "fastmcp.server.server"):
        sent(server_of("fastmcp", place), "place", **arguments)
    [record] = caplog.records
    assert f"'error_types': ['{kind}']" in record.getMessage()


def test_the_sdk_logs_a_refusal_with_the_names_of_the_fields(caplog):
    server = server_of("mcp_sdk", place)
    with caplog.at_level(logging.INFO, "mcp.server.mcpserver.server"):
        assert sent(server, "place", **WRONG).is_error
    [record] = [each for each in caplog.records if each.name == "mcp.server.mcpserver.server"]
    assert (record.levelname, record.exc_info) == ("INFO", None)
    assert record.getMessage() == ("Tool 'place' rejected arguments: ['lines.0.quantity', 'note']")


# --- exceptions -----------------------------------------------------------------------------------


@HOSTS
def test_a_refusal_is_raised_within_the_process_and_sent_in_full(host):
    server = server_of(host, place)
    expected = ValidationError if host == "fastmcp" else SdkToolError
    with pytest.raises(expected) as raised:
        asyncio.run(server.call_tool("place", WRONG))
    assert type(raised.value) is expected
    assert str(raised.value).startswith(TEXT)
    cause = raised.value.__cause__
    assert isinstance(cause, PydanticError)
    assert [each["loc"] for each in cause.errors()] == [("lines", 0, "quantity"), ("note",)]
    assert "PRIVATE" not in str(cause)
    result = sent(server, "place", **WRONG)
    assert result.is_error
    assert result.content[0].text == str(raised.value)
    assert [each["code"] for each in result.meta["toolbooth"]["problems"]] == [
        "wrong-type",
        "unknown-key",
    ]


@HOSTS
def test_the_error_of_a_tool_is_raised_as_the_hosts_and_sent_with_its_details(host):
    server = server_of(host, fail)
    expected = HostToolError if host == "fastmcp" else SdkToolError
    with pytest.raises(expected, match="call the fire brigade") as raised:
        asyncio.run(server.call_tool("fail", {"reason": "heat"}))
    assert isinstance(raised.value.__cause__, ToolError)
    result = sent(server, "fail", reason="heat")
    assert (result.is_error, result.content[0].text) == (True, str(raised.value))
    assert result.structured_content == {"details": {"reason": "heat"}}


class Watch(Middleware):
    def __init__(self, answer: str | None = None) -> None:
        self.answer = answer
        self.seen: list[Exception] = []

    async def on_call_tool(self, context, call_next):
        try:
            return await call_next(context)
        except Exception as error:
            self.seen.append(error)
            if self.answer is not None:
                raise HostToolError(self.answer) from error
            raise


def test_middleware_sees_a_refusal_as_fastmcps_exception():
    server = server_of("fastmcp", place)
    watch = Watch()
    server.add_middleware(watch)
    result = sent(server, "place", **WRONG)
    assert [type(each) for each in watch.seen] == [ValidationError]
    assert result.content[0].text.startswith(TEXT)
    assert len(result.meta["toolbooth"]["problems"]) == 2


def test_refusal_changed_by_middleware_is_sent():
    server = server_of("fastmcp", place)
    server.add_middleware(Watch("please try again"))
    result = sent(server, "place", **WRONG)
    assert (result.content[0].text, result.is_error) == ("please try again", True)
    assert "toolbooth" not in (result.meta or {})


def test_a_refusal_names_a_mounted_tool_as_it_was_called_within_the_process():
    child, parent, top = FastMCP("child"), FastMCP("parent"), FastMCP("top")
    child.tool(place)
    parent.mount(child, namespace="orders")
    top.mount(parent, namespace="api")
    fastmcp.protect(top)
    for server, name in [(child, "place"), (parent, "orders_place"), (top, "api_orders_place")]:
        with pytest.raises(ValidationError, match=f"arguments of '{name}'"):
            asyncio.run(server.call_tool(name, WRONG))


# --- functions that the SDK does not register
# -------------------------------------------------------


async def ask() -> str:
    return "Ann"


def combined(who: Annotated[str, Resolve(ask)]) -> str | InputRequiredResult:
    return who


def needs_unknown(missing: str) -> str:
    return missing


def unknown_name(who: Annotated[str, Resolve(needs_unknown)]) -> str:
    return who


def nested(who: list[Annotated[str, Resolve(ask)]]) -> str:
    return str(who)


def optional_header(
    region: Annotated[str | None, Field(json_schema_extra={"x-mcp-header": "Region"})] = None,
) -> str:
    return str(region)


def bad_header(
    region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region Name"})],
) -> str:
    return region


@pytest.mark.parametrize("function", [combined, unknown_name, nested, optional_header, bad_header])
def test_signature_rejected_by_the_sdk_raises_the_same_error(function):
    with pytest.raises(InvalidSignature) as plain:
        MCPServer("plain").add_tool(function)
    server = server_of("mcp_sdk")
    with pytest.raises(InvalidSignature) as raised:
        server.add_tool(function)
    assert str(raised.value) == str(plain.value)
    assert asyncio.run(server.list_tools()) == []


def test_the_sdks_own_middleware_stays_the_last_one():
    async def own(ctx: Any, call_next: Any) -> Any:
        return await call_next(ctx)

    server = mcp_sdk.protect(MCPServer("s", middleware=[own]))
    assert server.middleware[-1] is own


# --- strict servers -------------------------------------------------------------------------------


def count(number: int, ready: bool = True, tags: list[int] | None = None) -> str:
    return f"{number} {ready} {tags}"


def test_a_strict_server_does_not_convert_text_to_numbers_or_booleans():
    server = server_of("fastmcp", count, strict_input_validation=True)
    result = sent(server, "count", number="2", ready="true", tags=["3"])
    assert [each["path"] for each in result.meta["toolbooth"]["problems"]] == [
        "$.number",
        "$.ready",
        "$.tags[0]",
    ]
    result = sent(server, "count", number=2.0, ready="", tags="[3]")
    assert result.content[0].text == "2 True [3]"
    assert [each["code"] for each in result.meta["toolbooth"]["repairs"]] == [
        "empty-optional",
        "json-text",
    ]
    assert sent(server, "count", number=2).content[0].text == "2 True None"


def test_strictness_is_taken_from_the_server_that_owns_the_tool():
    strict, lenient = FastMCP("strict", strict_input_validation=True), FastMCP("lenient")
    for server in (strict, lenient):
        server.tool(count)
    parent = fastmcp.protect(FastMCP("parent"))
    parent.mount(strict, namespace="strict")
    parent.mount(lenient, namespace="lenient")
    assert sent(parent, "strict_count", number="2").is_error
    assert sent(parent, "lenient_count", number="2").content[0].text == "2 True None"


# --- a refusal in another ---------------------------------------------------------------------------


def test_a_refusal_raised_by_a_tool_itself_is_sent():
    def outer() -> str:
        raise ToolInputError([], tool="inner")

    result = sent(server_of("fastmcp", outer), "outer")
    assert result.is_error
    assert "'inner'" in result.content[0].text
