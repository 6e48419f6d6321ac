"""One message in, one reply out: both eras of the protocol, and everything that is not a message."""

import asyncio
import base64
import json
import logging
import threading
from decimal import Decimal
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from toolbooth import Context, ToolError, ToolRegistry, Unpack, compile_function, compile_json_schema, handle_arguments
from toolbooth.content import Image, Text
from toolbooth.contract import Limits
from toolbooth.server.respond import Reply, respond, respond_sync
from toolbooth.server.revisions import CAPABILITIES_KEY, CLIENT_KEY, HANDSHAKE, SERVER_KEY, STATELESS, VERSION_KEY

META = {VERSION_KEY: STATELESS, CAPABILITIES_KEY: {}, CLIENT_KEY: {"name": "tests", "version": "1"}}
"""What every request of 2026-07-28 says of itself."""

SERVED = {SERVER_KEY: {"name": "shop", "version": "0.1.0"}}
"""What every reply of 2026-07-28 says of the server."""


def message(method: Any, params: Any = None, **more: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}, **more}).encode()


def tool_call(name: Any, arguments: Any = None, **params: Any) -> bytes:
    return message("tools/call", {"name": name, "arguments": arguments, **params})


def routed(method: str, name: str | None = None, **more: str) -> dict[str, str]:
    """The headers of a request of 2026-07-28."""
    headers = {"mcp-protocol-version": STATELESS, "mcp-method": method, **({"mcp-name": name} if name else {})}
    return headers | {key.replace("_", "-"): value for key, value in more.items()}


def answer(registry: ToolRegistry, body: bytes, headers: dict[str, str] | None = None) -> tuple[int, Any]:
    """Status and message of the reply; the two ways to ask must agree on it."""

    async def ask() -> Reply:
        async with asyncio.timeout(10):
            return await respond(registry, body, headers)

    reply = asyncio.run(ask())
    assert reply.events is None
    assert respond_sync(registry, body, headers) == reply
    return reply.status, json.loads(reply.body) if reply.body else None


def result_of(registry: ToolRegistry, body: bytes, headers: dict[str, str] | None = None) -> Any:
    status, found = answer(registry, body, headers)
    assert (status, found.keys(), found["id"]) == (200, {"jsonrpc", "id", "result"}, 1)
    return found["result"]


def error_of(registry: ToolRegistry, body: bytes, headers: dict[str, str] | None = None) -> tuple[int, Any, Any]:
    """Status, id and error of a reply that is one."""
    status, found = answer(registry, body, headers)
    assert found.keys() == {"jsonrpc", "id", "error"}
    return status, found["id"], found["error"]


def text(words: str, *, error: bool = False) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": words}], "isError": error}


def shop(**how: Any) -> ToolRegistry:
    """A registry with two tools, one sync and one async."""
    registry = ToolRegistry("shop", **how)

    @registry.tool
    def add(a: int, b: int = 0) -> int:
        """Add two numbers."""
        return a + b

    @registry.tool(title="Echo", annotations={"readOnlyHint": True})
    async def echo(words: str) -> str:
        return words

    return registry


LISTED = [
    {
        "name": "add",
        "description": "Add two numbers.",
        "inputSchema": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer", "default": 0}},
            "required": ["a"],
        },
    },
    {
        "name": "echo",
        "title": "Echo",
        "inputSchema": {"type": "object", "properties": {"words": {"type": "string"}}, "required": ["words"]},
        "annotations": {"readOnlyHint": True},
    },
]


# --- 2026-07-28 -------------------------------------------------------------------------------------------------


def test_discover_names_the_version_and_what_the_server_offers():
    registry = shop(instructions="Add first.")
    body = message("server/discover", {"_meta": META})
    assert result_of(registry, body, routed("server/discover")) == {
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {}},
        "instructions": "Add first.",
        "ttlMs": 0,
        "cacheScope": "private",
        "resultType": "complete",
        "_meta": SERVED,
    }


def test_a_stateless_list_may_be_cached_by_its_own_words():
    assert result_of(shop(), message("tools/list", {"_meta": META}), routed("tools/list")) == {
        "tools": LISTED,
        "ttlMs": 0,
        "cacheScope": "private",
        "resultType": "complete",
        "_meta": SERVED,
    }


@pytest.mark.parametrize("headers", [None, routed("tools/call", "add")], ids=["stdio", "http"])
def test_a_stateless_call_is_complete_and_says_who_answered(headers):
    body = tool_call("add", {"a": 1, "b": 2}, _meta=META)
    assert result_of(shop(), body, headers) == {**text("3"), "resultType": "complete", "_meta": SERVED}


def test_repairs_and_the_server_stand_side_by_side_in_meta():
    body = tool_call("add", {"a": "1"}, _meta=META)
    repaired = {"toolbooth": {"repairs": [{"code": "scalar-text", "path": "$.a"}]}}
    assert result_of(shop(), body) == {**text("1"), "resultType": "complete", "_meta": {**repaired, **SERVED}}


@pytest.mark.parametrize(
    ("meta", "words"),
    [
        (None, f"params._meta must be an object with {VERSION_KEY!r} and {CAPABILITIES_KEY!r}"),
        ({}, f"params._meta lacks {VERSION_KEY}, {CAPABILITIES_KEY}"),
        ({VERSION_KEY: STATELESS}, f"params._meta lacks {CAPABILITIES_KEY}"),
        ({CAPABILITIES_KEY: {}}, f"params._meta lacks {VERSION_KEY}"),
        (5, "params._meta must be an object"),
        ([], "params._meta must be an object"),
        ("x", "params._meta must be an object"),
    ],
    ids=str,
)
def test_meta_must_say_version_and_capabilities(meta, words):
    body = message("tools/list", {"_meta": meta})
    assert error_of(shop(), body, routed("tools/list")) == (400, 1, {"code": -32602, "message": words})


def test_a_version_that_is_not_text_is_told_so_where_no_header_contradicts_it():
    body = message("tools/list", {"_meta": {**META, VERSION_KEY: 20260728}})
    assert error_of(shop(), body) == (200, 1, {"code": -32602, "message": f"{VERSION_KEY} must be a string"})


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (message("tools/list", {"_meta": {**META, VERSION_KEY: "1999-01-01"}}), None),
        (
            message("tools/list", {"_meta": {**META, VERSION_KEY: "1999-01-01"}}),
            routed("tools/list", mcp_protocol_version="1999-01-01"),
        ),
        (message("tools/list"), {"mcp-protocol-version": "1999-01-01"}),
    ],
    ids=["in-meta", "in-both", "in-the-header"],
)
def test_an_unsupported_version_is_answered_with_those_that_are(body, headers):
    data = {"supported": ["2026-07-28"], "requested": "1999-01-01"}
    error = {"code": -32022, "message": "Unsupported protocol version", "data": data}
    assert error_of(shop(), body, headers) == (400, 1, error)


@pytest.mark.parametrize(
    ("headers", "what"),
    [
        (routed("tools/call", "add", mcp_protocol_version="2025-11-25"), "MCP-Protocol-Version"),
        ({"mcp-method": "tools/call", "mcp-name": "add"}, "MCP-Protocol-Version"),
        (routed("tools/list", "add"), "Mcp-Method"),
        ({"mcp-protocol-version": STATELESS, "mcp-name": "add"}, "Mcp-Method"),
        (routed("tools/call", "echo"), "Mcp-Name"),
        (routed("tools/call"), "Mcp-Name"),
        (routed("tools/call", "=?base64?%%?="), "Mcp-Name"),
        (routed("tools/call", "=?base64?YWRk=?="), "Mcp-Name"),
        (routed("tools/call", "=?base64?//8=?="), "Mcp-Name"),
    ],
    ids=[
        "other-version",
        "no-version",
        "other-method",
        "no-method",
        "other-name",
        "no-name",
        "no-base64",
        "padded",
        "no-utf8",
    ],
)
def test_headers_that_disagree_with_the_body_are_a_mismatch(headers, what):
    status, request_id, error = error_of(shop(), tool_call("add", {"a": 1}, _meta=META), headers)
    kind = {"MCP-Protocol-Version": "versions", "Mcp-Method": "methods", "Mcp-Name": "tools"}[what]
    words = f"the {what} header and the body name different {kind}"
    assert (status, request_id, error) == (400, 1, {"code": -32020, "message": words})


def test_a_name_in_base64_is_the_same_name():
    encoded = f"=?base64?{base64.b64encode(b'add').decode()}?="
    result = result_of(shop(), tool_call("add", {"a": 1}, _meta=META), routed("tools/call", encoded))
    assert result == {**text("1"), "resultType": "complete", "_meta": SERVED}


def test_handshake_methods_are_unknown_to_a_stateless_request():
    for method in ("initialize", "ping"):
        error = {"code": -32601, "message": f"there is no method {method!r} here"}
        assert error_of(shop(), message(method, {"_meta": META}), routed(method)) == (404, 1, error)


# --- Mcp-Param-* ------------------------------------------------------------------------------------------------


def regional() -> ToolRegistry:
    registry = ToolRegistry("shop")

    class Place(BaseModel):
        zone: str = Field(default="a", json_schema_extra={"x-mcp-header": "Zone"})

    @registry.tool
    def find(
        region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})],
        count: Annotated[int, Field(json_schema_extra={"x-mcp-header": "Count"})] = 1,
        deep: Annotated[bool, Field(json_schema_extra={"x-mcp-header": "Deep"})] = False,
        share: Annotated[float, Field(json_schema_extra={"x-mcp-header": "Share"})] = 0.5,
        place: Place | None = None,
    ) -> str:
        return f"{region} {count} {deep} {share} {place.zone if place else None}"

    return registry


def asked_with(arguments: Any, **headers: str) -> tuple[int, Any]:
    body = tool_call("find", arguments, _meta=META)
    return answer(regional(), body, routed("tools/call", "find", **headers))


@pytest.mark.parametrize(
    ("arguments", "headers", "words"),
    [
        ({"region": "eu"}, {"mcp_param_region": "eu"}, "eu 1 False 0.5 None"),
        ({"region": "eu", "count": None}, {"mcp_param_region": "eu"}, "eu 1 False 0.5 None"),
        ({"region": "eu", "count": 42}, {"mcp_param_region": "eu", "mcp_param_count": "42"}, "eu 42 False 0.5 None"),
        ({"region": "eu", "count": 42}, {"mcp_param_region": "eu", "mcp_param_count": "42.0"}, "eu 42 False 0.5 None"),
        ({"region": "eu", "count": 42.0}, {"mcp_param_region": "eu", "mcp_param_count": "42"}, "eu 42 False 0.5 None"),
        ({"region": "eu", "count": -4}, {"mcp_param_region": "eu", "mcp_param_count": "-4"}, "eu -4 False 0.5 None"),
        ({"region": "eu", "deep": True}, {"mcp_param_region": "eu", "mcp_param_deep": "true"}, "eu 1 True 0.5 None"),
        ({"region": "eu", "deep": False}, {"mcp_param_region": "eu", "mcp_param_deep": "false"}, "eu 1 False 0.5 None"),
        ({"region": "é"}, {"mcp_param_region": "=?base64?w6k=?="}, "é 1 False 0.5 None"),
        ({"region": "eu", "share": 0.1}, {"mcp_param_region": "eu"}, "eu 1 False 0.1 None"),
    ],
    ids=[
        "same",
        "null-is-absent",
        "integer",
        "integer-with-point",
        "argument-with-point",
        "negative",
        "true",
        "false",
        "base64",
        "number-has-no-header",
    ],
)
def test_param_headers_that_repeat_their_arguments_pass(arguments, headers, words):
    status, found = asked_with(arguments, **headers)
    assert (status, found["result"]["content"]) == (200, [{"type": "text", "text": words}])


@pytest.mark.parametrize(
    ("arguments", "headers", "what"),
    [
        ({"region": "eu"}, {}, "Region"),
        ({"region": "eu"}, {"mcp_param_region": "us"}, "Region"),
        ({}, {"mcp_param_region": "eu"}, "Region"),
        ('{"region": "eu"}', {"mcp_param_region": "eu"}, "Region"),
        ({"region": "eu"}, {"mcp_param_region": "=?base64?%%?="}, "Region"),
        ({"region": "eu", "count": 4}, {"mcp_param_region": "eu", "mcp_param_count": "5"}, "Count"),
        ({"region": "eu", "count": 4}, {"mcp_param_region": "eu", "mcp_param_count": "4.5"}, "Count"),
        ({"region": "eu", "count": 4}, {"mcp_param_region": "eu", "mcp_param_count": "²"}, "Count"),
        ({"region": "eu", "count": 4}, {"mcp_param_region": "eu", "mcp_param_count": "9" * 5000}, "Count"),
        ({"region": "eu", "deep": True}, {"mcp_param_region": "eu", "mcp_param_deep": "1"}, "Deep"),
    ],
    ids=[
        "absent",
        "different",
        "no-argument",
        "arguments-as-text",
        "no-base64",
        "integer",
        "fraction",
        "superscript",
        "endless",
        "boolean",
    ],
)
def test_param_headers_that_differ_from_their_arguments_are_a_mismatch(arguments, headers, what):
    words = f"the Mcp-Param-{what} header and the argument {what.lower()!r} differ"
    error = {"code": -32020, "message": words}
    assert asked_with(arguments, **headers) == (400, {"jsonrpc": "2.0", "id": 1, "error": error})


def test_a_param_header_may_stand_for_a_nested_argument():
    schema = {
        "type": "object",
        "properties": {
            "place": {"type": "object", "properties": {"zone": {"type": "string", "x-mcp-header": "Zone"}}},
            "any": True,
        },
    }
    registry = ToolRegistry("shop")
    registry.add(compile_json_schema(schema, name="find"), lambda arguments: arguments["place"]["zone"])
    body = tool_call("find", {"place": {"zone": "b"}}, _meta=META)
    assert result_of(registry, body, routed("tools/call", "find", mcp_param_zone="b"))["isError"] is False
    error = {"code": -32020, "message": "the Mcp-Param-Zone header and the argument 'place.zone' differ"}
    assert error_of(registry, body, routed("tools/call", "find")) == (400, 1, error)


def test_param_headers_are_no_matter_of_the_handshake_revisions():
    result = result_of(regional(), tool_call("find", {"region": "eu"}), {"mcp-protocol-version": "2025-11-25"})
    assert result == text("eu 1 False 0.5 None")


# --- the handshake revisions --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "settled"),
    [(version, version) for version in HANDSHAKE]
    + [("2026-07-28", "2025-11-25"), ("2024-11-05", "2025-11-25"), (None, "2025-11-25"), ([], "2025-11-25")],
    ids=str,
)
def test_initialize_settles_on_the_version_asked_for_or_the_newest(asked, settled):
    assert result_of(shop(version="2.0"), message("initialize", {"protocolVersion": asked})) == {
        "protocolVersion": settled,
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "shop", "version": "2.0"},
    }


def test_initialize_gives_the_instructions():
    assert result_of(shop(instructions="Add."), message("initialize"))["instructions"] == "Add."


@pytest.mark.parametrize("version", [None, *HANDSHAKE])
def test_a_handshake_revision_is_answered_without_the_newer_fields(version):
    headers = {"mcp-protocol-version": version} if version else {}
    assert result_of(shop(), message("ping"), headers) == {}
    assert result_of(shop(), message("tools/list"), headers) == {"tools": LISTED}
    assert result_of(shop(), tool_call("echo", {"words": "hi"}), headers) == text("hi")


def test_discover_is_unknown_to_the_handshake_revisions_and_no_reason_for_a_404():
    error = {"code": -32601, "message": "there is no method 'server/discover' here"}
    assert error_of(shop(), message("server/discover"), {}) == (200, 1, error)


@pytest.mark.parametrize(
    "body",
    [
        b'{"jsonrpc": "2.0", "method": "notifications/initialized"}',
        b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}',
        b'{"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "add"}}',
        b'{"jsonrpc": "2.0", "id": 7, "result": {}}',
        b'{"jsonrpc": "2.0", "id": 7, "error": {"code": 1, "message": ""}}',
    ],
    ids=["initialized", "cancelled", "call-without-id", "result", "error"],
)
def test_what_asks_for_nothing_is_accepted_and_not_answered(body):
    assert answer(shop(), body, {}) == (202, None)


# --- lists --------------------------------------------------------------------------------------------------------


def test_a_long_list_comes_in_pages_and_every_tool_once():
    registry = ToolRegistry("shop", page_size=2)
    for name in "edcba":
        registry.tool(name=name)(lambda: None)
    pages, params = [], {}
    while params is not None:
        page = result_of(registry, message("tools/list", params))
        pages.append([tool["name"] for tool in page["tools"]])
        params = {"cursor": page["nextCursor"]} if "nextCursor" in page else None
    assert pages == [["e", "d"], ["c", "b"], ["a"]]


def test_a_full_last_page_has_no_next_one():
    registry = ToolRegistry("shop", page_size=1)
    registry.tool(name="only")(lambda: None)
    assert result_of(registry, message("tools/list")).keys() == {"tools"}


def cursor_of(words: str) -> str:
    return base64.urlsafe_b64encode(words.encode()).decode()


@pytest.mark.parametrize(
    "cursor",
    ["nonsense", "é", 2, [], "", *map(cursor_of, ["0", "-2", "3", "4", "x", "9" * 5000])],
    ids=[
        "text",
        "non-ascii",
        "number",
        "array",
        "empty",
        "start",
        "negative",
        "inside-a-page",
        "past-the-end",
        "word",
        "endless",
    ],
)
def test_a_cursor_that_was_not_given_out_is_refused(cursor):
    registry = ToolRegistry("shop", page_size=2)
    for name in "abcd":
        registry.tool(name=name)(lambda: None)
    error = {"code": -32602, "message": "the cursor is not one that this server gave out"}
    assert error_of(registry, message("tools/list", {"cursor": cursor})) == (200, 1, error)


def test_a_list_is_encoded_once_and_again_after_a_registration():
    registry = shop()
    first = registry.encoded_listing(0)
    assert registry.encoded_listing(0) is first
    registry.tool(name="late")(lambda: None)
    names = [tool["name"] for tool in result_of(registry, message("tools/list"))["tools"]]
    assert names == ["add", "echo", "late"]


# --- what is not a request ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "request_id", "words"),
    [
        (b"[]", None, "the message is a batch; send one JSON-RPC object"),
        (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', None, "the message is a batch; send one JSON-RPC object"),
        (b'"ping"', None, "the message is not an object; send one JSON-RPC object"),
        (b"null", None, "the message is not an object; send one JSON-RPC object"),
        (b"{}", None, 'a request has "jsonrpc": "2.0" and a method'),
        (b'{"id": 1, "method": "ping"}', 1, 'a request has "jsonrpc": "2.0" and a method'),
        (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', 1, 'a request has "jsonrpc": "2.0" and a method'),
        (b'{"jsonrpc": "2.0", "id": "a"}', "a", 'a request has "jsonrpc": "2.0" and a method'),
        (b'{"jsonrpc": "2.0", "id": 1, "method": 5}', 1, 'a request has "jsonrpc": "2.0" and a method'),
        (b'{"jsonrpc": "2.0", "id": 1, "method": null}', 1, 'a request has "jsonrpc": "2.0" and a method'),
    ],
    ids=[
        "empty-batch",
        "batch",
        "string",
        "null",
        "empty",
        "no-version",
        "old",
        "no-method",
        "method-5",
        "null-method",
    ],
)
def test_a_malformed_envelope_is_an_invalid_request(body, request_id, words):
    assert error_of(shop(), body, {}) == (400, request_id, {"code": -32600, "message": words})


@pytest.mark.parametrize("request_id", [0, -1, 2**63, -(2**63), 2**64 - 1, "", "a", "é", "0"], ids=str)
def test_an_id_comes_back_as_it_was_sent(request_id):
    assert answer(shop(), message("ping", id=request_id)) == (200, {"jsonrpc": "2.0", "id": request_id, "result": {}})


@pytest.mark.parametrize("request_id", [None, True, 1.5, 1e300, [], {}, 2**64, -(2**63) - 1], ids=str)
def test_an_id_of_another_kind_is_refused_and_not_repeated(request_id):
    error = {"code": -32600, "message": "an id is a string or an integer of 64 bits"}
    assert error_of(shop(), message("ping", id=request_id), {}) == (400, None, error)


@pytest.mark.parametrize("params", [[], [1], "x", 5, True, False, 0, ""], ids=repr)
def test_params_that_are_not_an_object_are_refused(params):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": params}).encode()
    assert error_of(shop(), body) == (200, 1, {"code": -32602, "message": "params must be an object"})


def test_params_may_be_null_or_absent():
    assert answer(shop(), b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": null}')[0] == 200
    assert answer(shop(), b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}')[0] == 200


def test_an_unknown_method_is_named_as_far_as_it_is_short():
    error = {"code": -32601, "message": f"there is no method {'x' * 80!r} here"}
    assert error_of(shop(), message("x" * 1000)) == (200, 1, error)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ad", "there is no tool 'ad'; did you mean 'add'?"),
        ("zzz", "there is no tool 'zzz'"),
        (None, "params.name must be the name of a tool"),
        (5, "params.name must be the name of a tool"),
        (["add"], "params.name must be the name of a tool"),
    ],
    ids=str,
)
def test_an_unknown_tool_is_a_protocol_error_that_says_which_may_be_meant(name, words):
    assert error_of(shop(), tool_call(name, {})) == (200, 1, {"code": -32602, "message": words})


# --- what is not JSON ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "request_id"),
    [
        (b"", None),
        (b"{", None),
        (b"\xff", None),
        (b"[" * 100_000, None),
        (b'{"jsonrpc": "2.0", "id": 5, "id": 6, "method": "ping"}', 6),
        (b'{"jsonrpc": "2.0", "id": 5, "method": "ping", "params": {"x": NaN}}', 5),
        (b'{"jsonrpc": "2.0", "id": "\\ud800", "method": "ping"}', None),
        (b'{"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": [NaN]}', 5),
        (b"[NaN]", None),
    ],
    ids=["empty", "cut", "bytes", "deep", "duplicate-id", "nan", "surrogate-id", "call-without-params", "batch"],
)
def test_a_body_that_cannot_be_read_is_a_parse_error(body, request_id):
    status, found_id, error = error_of(shop(), body, {})
    assert (status, found_id, error["code"]) == (400, request_id, -32700)
    assert error["message"].startswith("Parse error: ")


UNREADABLE = {
    "duplicate-key": (b'{"a": 1, "a": 2}', "duplicate-key"),
    "duplicate-by-escape": (b'{"a": 1, "\\u0061": 2}', "duplicate-key"),
    "nan": (b'{"a": NaN}', "not-json"),
    "bad-utf8": (b'{"a": "\xff"}', "not-json"),
    "half-surrogate": (b'{"a": "\\ud800"}', "not-json"),
    "endless-integer": (b'{"a": ' + b"9" * 4301 + b"}", "lossy-number"),
}


@pytest.mark.parametrize(("arguments", "code"), UNREADABLE.values(), ids=UNREADABLE)
def test_arguments_that_cannot_be_read_are_refused_to_the_one_who_sent_them(arguments, code):
    registry = shop()
    records = []
    registry.observe(records.append)
    body = b'{"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": {"name": "add", "arguments": %s}}'
    reply = asyncio.run(respond(registry, body % arguments))
    found = json.loads(reply.body)
    problems = found["result"]["_meta"]["toolbooth"]["problems"]
    assert (reply.status, found["id"], found["result"]["isError"]) == (200, "x", True)
    assert [(each["code"], each["path"]) for each in problems] == [(code, "$")]
    assert [(each.tool, each.outcome, each.problems) for each in records] == [("add", "refused", (code,))]


def test_an_unreadable_call_of_a_stateless_client_is_complete_and_recorded_under_its_name():
    registry, records = shop(), []
    registry.observe(records.append)
    meta = json.dumps({**META, CLIENT_KEY: {"name": "me", "version": "1"}}).encode()
    body = (
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "add", "_meta": %s, "arguments": %s}}'
    )
    result = result_of(registry, body % (meta, b'{"a": 1, "a": 2}'), routed("tools/call", "add"))
    assert [record.client for record in records] == ["me", "me"]  # sync and async
    assert (result["isError"], result["resultType"]) == (True, "complete")
    assert result["_meta"].keys() == {"toolbooth", SERVER_KEY}


def test_an_unreadable_call_is_a_protocol_error_where_refusals_are():
    body = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "add", "arguments": {"a": NaN}}}'
    status, request_id, error = error_of(shop(errors="protocol"), body, {})
    assert (status, request_id, error["code"]) == (200, 1, -32602)
    assert [each["code"] for each in error["data"]["toolbooth"]["problems"]] == ["not-json"]


def test_an_unreadable_call_of_an_unknown_tool_is_told_that_it_is_unknown():
    body = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ad\\ud800", "arguments": NaN}}'
    words = "there is no tool 'ad\\ud800'; did you mean 'add'?"
    assert error_of(shop(), body) == (200, 1, {"code": -32602, "message": words})


# --- refusals -----------------------------------------------------------------------------------------------------


def test_a_refusal_is_the_boundarys_own_as_a_result():
    registry = shop()
    arguments = {"data": {"a": 1}}
    expected = handle_arguments(registry.tools["add"].contract, arguments)
    assert expected["isError"] is True
    assert result_of(registry, tool_call("add", arguments)) == expected


@pytest.mark.parametrize(("headers", "status"), [(None, 200), ({}, 200), (routed("tools/call", "add"), 400)], ids=str)
def test_a_refusal_is_a_json_rpc_error_where_the_registry_says_so(headers, status):
    registry = shop(errors="protocol")
    arguments = {"data": {"a": 1}}
    shown = handle_arguments(registry.tools["add"].contract, arguments)
    data = {"toolbooth": shown["_meta"]["toolbooth"]}
    assert data["toolbooth"]["corrected"] == {"a": 1}
    body = tool_call("add", arguments, **({"_meta": META} if status == 400 else {}))
    error = {"code": -32602, "message": shown["content"][0]["text"], "data": data}
    assert error_of(registry, body, headers) == (status, 1, error)


def test_a_correction_keeps_an_integer_of_any_size():
    found = result_of(shop(), tool_call("add", {"data": {"a": 10**30}}))
    assert found["_meta"]["toolbooth"]["corrected"] == {"a": 10**30}


@pytest.mark.parametrize("arguments", [None, {}, "{}", "null", [], 0, "x", True], ids=repr)
def test_arguments_of_any_type_are_judged_as_the_boundary_judges_them(arguments):
    registry = shop()
    expected = handle_arguments(registry.tools["add"].contract, arguments)
    assert result_of(registry, tool_call("add", arguments)) == expected


def test_arguments_may_be_absent():
    registry = ToolRegistry("shop")
    registry.tool(name="seven")(lambda: 7)
    body = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "seven"}}'
    assert result_of(registry, body) == text("7")


# --- tools that go wrong ------------------------------------------------------------------------------------------


def test_a_tool_error_is_shown_with_its_details():
    registry = ToolRegistry("shop")

    @registry.tool
    def buy() -> str:
        raise ToolError("buy", "sold out", {"left": 0})

    expected = {**text("Tool 'buy' failed: sold out", error=True), "structuredContent": {"details": {"left": 0}}}
    assert result_of(registry, tool_call("buy")) == expected


@pytest.mark.parametrize("details", [object(), "\ud800", {object(): 1}], ids=["object", "surrogate", "key"])
def test_a_tool_error_is_shown_even_if_its_details_cannot_be(details, caplog):
    registry = ToolRegistry("shop")

    @registry.tool
    def buy() -> str:
        raise ToolError("buy", "sold out", details)

    assert result_of(registry, tool_call("buy")) == text("Tool 'buy' failed: sold out", error=True)
    assert {record.getMessage() for record in caplog.records} == {"tool 'buy' failed with details that cannot be sent"}


def test_a_tool_error_keeps_an_integer_of_any_size_and_loses_no_more_than_a_surrogate():
    registry = ToolRegistry("shop")

    @registry.tool
    def big() -> str:
        raise ToolError("big", "much", 10**30)

    @registry.tool
    def half() -> str:
        raise ToolError("half", "a\ud800b")

    assert result_of(registry, tool_call("big"))["structuredContent"] == {"details": 10**30}
    assert result_of(registry, tool_call("half")) == text("Tool 'half' failed: a?b", error=True)


def raise_key_error() -> str:
    return {}["secret"]


async def raise_key_error_async() -> str:
    return {}["secret"]


def raise_stop() -> str:
    return next(iter([]))


def leave() -> str:
    raise SystemExit(3)


async def leave_async() -> str:
    raise SystemExit(3)


async def await_cancelled() -> str:
    task = asyncio.ensure_future(asyncio.Event().wait())
    task.cancel()
    await task
    return "never"


RAISING = [raise_key_error, raise_key_error_async, raise_stop, leave, leave_async, await_cancelled]


@pytest.mark.parametrize("function", RAISING, ids=lambda function: function.__name__)
def test_any_other_exception_is_masked_and_logged(function, caplog):
    registry = ToolRegistry("shop")
    registry.tool(name="buy")(function)
    assert result_of(registry, tool_call("buy")) == text("Tool 'buy' failed unexpectedly.", error=True)
    logged = {(record.name, record.levelno, record.getMessage()) for record in caplog.records}
    assert logged == {("toolbooth.server", logging.ERROR, "tool 'buy' failed")}
    assert all(record.exc_info for record in caplog.records)


def test_an_async_tool_past_its_time_is_stopped():
    registry = ToolRegistry("shop", timeout=0.01)
    stopped = []

    @registry.tool
    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.append(True)

    expected = text("Tool 'wait' failed: it did not answer within 0.01 s; it was stopped", error=True)
    assert result_of(registry, tool_call("wait")) == expected
    assert stopped == [True, True]


def test_a_sync_tool_past_its_time_may_still_complete():
    registry = ToolRegistry("shop")
    let_go = threading.Event()

    @registry.tool(timeout=0.01)
    def wait() -> None:
        let_go.wait(30)

    async def ask() -> Any:
        async with asyncio.timeout(10):
            return json.loads((await respond(registry, tool_call("wait"))).body)["result"]

    try:
        expected = text("Tool 'wait' failed: it did not answer within 0.01 s; it may still complete", error=True)
        assert asyncio.run(ask()) == expected
    finally:
        let_go.set()


@pytest.mark.parametrize("limit", [None, 30], ids=["unlimited", "limited"])
def test_a_tools_own_time_out_is_not_taken_for_the_limit(limit, caplog):
    registry = ToolRegistry("shop", timeout=limit)

    @registry.tool
    async def wait() -> None:
        raise TimeoutError("the database did not answer")

    assert result_of(registry, tool_call("wait")) == text("Tool 'wait' failed unexpectedly.", error=True)


def test_a_tool_in_time_is_not_touched_by_its_limit():
    assert result_of(shop(timeout=30), tool_call("add", {"a": 1})) == text("1")


def test_hanging_sync_tools_do_not_hold_up_the_others():
    registry = shop()
    let_go = threading.Event()
    started = threading.Semaphore(0)

    @registry.tool
    def hang() -> None:
        started.release()
        let_go.wait(30)

    async def ask() -> Any:
        async with asyncio.timeout(20):
            hanging = [asyncio.ensure_future(respond(registry, tool_call("hang"))) for _ in range(20)]
            for _ in hanging:
                await asyncio.to_thread(started.acquire)
            reply = await respond(registry, tool_call("add", {"a": 1}))
            let_go.set()
            await asyncio.gather(*hanging)
            return json.loads(reply.body)["result"]

    try:
        assert asyncio.run(ask()) == text("1")
    finally:
        let_go.set()


class Unsendable:
    """Nothing that JSON has."""


UNSENDABLE = {
    "object": Unsendable(),
    "nested-object": {"a": [Unsendable()]},
    "half-surrogate": "\ud800",
    "half-surrogate-in-content": [Text(text="a"), Text(text="\ud800")],
}


@pytest.mark.parametrize("value", UNSENDABLE.values(), ids=UNSENDABLE)
def test_a_value_that_cannot_be_sent_is_no_crash_but_a_tool_that_ran_to_its_end(value, caplog):
    registry = ToolRegistry("shop")
    records = []
    registry.observe(records.append)
    registry.tool(name="buy")(lambda: value)
    words = (
        "The tool ran to its end, but what it returned cannot be sent. "
        "Do not call it again without looking at what it did."
    )
    assert result_of(registry, tool_call("buy")) == text(words, error=True)
    assert {record.getMessage() for record in caplog.records} == {"tool 'buy' returned what cannot be sent"}
    assert [record.outcome for record in records] == ["failed", "failed"]


def test_a_fault_of_the_server_itself_is_answered_and_logged(caplog):
    class Odd:
        @classmethod
        def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
            raise LookupError("no schema today")

    registry = ToolRegistry("shop")

    @registry.tool
    def odd() -> Odd:
        return Odd()

    error = {"code": -32603, "message": "the server failed; its log says how"}
    assert error_of(registry, message("tools/list"), {}) == (200, 1, error)
    assert {record.getMessage() for record in caplog.records} == {"the server failed"}


# --- results ------------------------------------------------------------------------------------------------------


class Order(BaseModel):
    number: int = Field(alias="orderNumber")
    lines: list[str] = []


ORDER_SCHEMA = {
    "type": "object",
    "properties": {
        "orderNumber": {"type": "integer"},
        "lines": {"type": "array", "items": {"type": "string"}, "default": []},
    },
    "required": ["orderNumber"],
}


def test_an_object_is_structured_content_and_its_schema_is_published():
    registry = ToolRegistry("shop")

    @registry.tool
    async def get(number: int) -> Order:
        return Order(orderNumber=number, lines=["tea"])

    listed = result_of(registry, message("tools/list"))["tools"][0]
    assert listed["outputSchema"] == ORDER_SCHEMA
    order = '{"orderNumber":7,"lines":["tea"]}'
    expected = {**text(order), "structuredContent": json.loads(order)}
    assert result_of(registry, tool_call("get", {"number": 7})) == expected


def yields():
    yield 1
    yield 2


async def yields_async():
    yield 1
    yield 2


def gives_a_coroutine():
    return echo_later()


async def echo_later():
    return [1, 2]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: None, "null"),
        (lambda: True, "true"),
        (lambda: [1, 2], "[1,2]"),
        (lambda: 10**30, str(10**30)),
        (lambda: "é", "é"),
        (yields, "[1,2]"),
        (yields_async, "[1,2]"),
        (gives_a_coroutine, "[1,2]"),
        (lambda: yields_async(), "[1,2]"),
    ],
    ids=["null", "boolean", "array", "big", "text", "generator", "async-generator", "coroutine", "returned-generator"],
)
def test_whatever_a_tool_gives_is_sent_as_text(make, words):
    registry = ToolRegistry("shop")
    registry.tool(name="get")(make)
    assert result_of(registry, tool_call("get")) == text(words)


def test_content_of_several_kinds_is_sent_as_such():
    registry = ToolRegistry("shop")
    registry.tool(name="look")(lambda: [Text(text="here"), Image(data=b"\x00")])
    image = {"type": "image", "data": "AA==", "mimeType": "image/png"}
    expected = {"content": [{"type": "text", "text": "here"}, image], "isError": False}
    assert result_of(registry, tool_call("look")) == expected


def test_a_generator_that_raises_is_a_tool_that_raised():
    registry = ToolRegistry("shop")

    @registry.tool
    def rows():
        yield 1
        raise ToolError("rows", "the table is gone")

    assert result_of(registry, tool_call("rows")) == text("Tool 'rows' failed: the table is gone", error=True)


def test_a_sync_tool_runs_off_the_event_loop_and_an_async_one_on_it():
    registry = ToolRegistry("shop")
    where = []
    registry.tool(name="sync")(lambda: where.append(threading.current_thread().name))

    @registry.tool(name="async")
    async def on_the_loop() -> None:
        where.append(threading.current_thread().name)

    for name in ("sync", "async"):
        asyncio.run(respond(registry, tool_call(name)))
    assert [name.startswith("toolbooth") for name in where] == [True, False]


# --- context and progress -----------------------------------------------------------------------------------------


def reporting() -> ToolRegistry:
    registry = ToolRegistry("shop")

    @registry.tool
    async def count(to: int, ctx: Context) -> str:
        for done in range(1, to + 1):
            await ctx.progress(done, to, f"step {done}")
        return "done"

    @registry.tool(name="count_sync")
    def counted(to: int, ctx: Context) -> str:
        for done in range(1, to + 1):
            ctx.progress(done)
        return "done"

    registry.dispatcher("do", {"count": "count"}, hide=False)
    return registry


async def streamed(registry: ToolRegistry, body: bytes) -> list[Any]:
    async with asyncio.timeout(10):
        reply = await respond(registry, body)
        assert (reply.body, reply.status) == (b"", 200)
        assert reply.events is not None
        return [json.loads(event) async for event in reply.events]


def progress(token: Any, **params: Any) -> dict[str, Any]:
    params = {"progressToken": token, **params}
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}


@pytest.mark.parametrize("token", ["t", 7, 0], ids=repr)
def test_progress_comes_in_order_before_the_response(token):
    body = tool_call("count", {"to": 2}, _meta={"progressToken": token})
    assert asyncio.run(streamed(reporting(), body)) == [
        progress(token, progress=1, total=2, message="step 1"),
        progress(token, progress=2, total=2, message="step 2"),
        {"jsonrpc": "2.0", "id": 1, "result": text("done")},
    ]


def test_progress_of_a_sync_tool_comes_in_order_too():
    body = tool_call("count_sync", {"to": 50}, _meta={"progressToken": "t"})
    events = asyncio.run(streamed(reporting(), body))
    assert events[:-1] == [progress("t", progress=done) for done in range(1, 51)]
    assert events[-1] == {"jsonrpc": "2.0", "id": 1, "result": text("done")}


def test_progress_reaches_the_caller_through_a_dispatcher():
    body = tool_call("do", {"action": "count", "to": 1}, _meta={**META, "progressToken": "t"})
    assert asyncio.run(streamed(reporting(), body)) == [
        progress("t", progress=1, total=1, message="step 1"),
        {"jsonrpc": "2.0", "id": 1, "result": {**text("done"), "resultType": "complete", "_meta": SERVED}},
    ]


@pytest.mark.parametrize("errors", ["result", "protocol"])
def test_a_refused_call_ends_its_stream_with_the_refusal(errors):
    registry = reporting()
    registry.errors = errors
    (event,) = asyncio.run(streamed(registry, tool_call("count", {"x": 1}, _meta={"progressToken": "t"})))
    assert event["id"] == 1
    told = event["result"]["_meta"] if errors == "result" else event["error"]["data"]
    assert [each["code"] for each in told["toolbooth"]["problems"]] == ["unknown-key", "missing"]


def test_nothing_streams_for_a_tool_that_cannot_report_or_a_client_that_did_not_ask():
    assert result_of(shop(), tool_call("add", {"a": 1}, _meta={"progressToken": "t"})) == text("1")
    assert result_of(reporting(), tool_call("count", {"to": 2})) == text("done")


def test_without_an_event_loop_progress_is_not_sent():
    reply = respond_sync(reporting(), tool_call("count", {"to": 2}, _meta={"progressToken": "t"}))
    assert json.loads(reply.body) == {"jsonrpc": "2.0", "id": 1, "result": text("done")}


@pytest.mark.parametrize("token", [1.5, 1e300, 2**64, [], {}, True], ids=repr)
def test_a_progress_token_of_another_kind_is_refused(token):
    body = tool_call("count", {"to": 1}, _meta={"progressToken": token})
    reply = asyncio.run(respond(reporting(), body))
    error = {"code": -32602, "message": "a progressToken is a string or an integer of 64 bits"}
    assert json.loads(reply.body) == {"jsonrpc": "2.0", "id": 1, "error": error}


def test_closing_the_stream_cancels_the_call_and_it_is_recorded():
    registry = ToolRegistry("shop")
    records, ended = [], []
    registry.observe(records.append)

    @registry.tool
    async def wait(ctx: Context) -> None:
        ctx.progress(1)
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(asyncio.current_task())

    async def leave_early() -> None:
        async with asyncio.timeout(10):
            reply = await respond(registry, tool_call("wait", _meta={"progressToken": "t"}))
            assert reply.events is not None
            assert json.loads(await anext(reply.events)) == progress("t", progress=1)
            await reply.events.aclose()
            tasks = asyncio.all_tasks() - {asyncio.current_task()}
            await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(leave_early())
    assert [task.cancelled() for task in ended] == [True]
    assert [(each.tool, each.outcome) for each in records] == [("wait", "failed")]


def test_a_tool_sees_its_client_and_the_meta_of_its_call():
    registry = ToolRegistry("shop")

    @registry.tool
    async def whoami(ctx: Context) -> dict[str, Any]:
        return {"client": ctx.client, "meta": dict(ctx.meta)}

    def seen(body: bytes, context: Context | None = None) -> Any:
        replies = [asyncio.run(respond(registry, body, context=context)), respond_sync(registry, body, context=context)]
        one, other = (json.loads(reply.body)["result"]["structuredContent"] for reply in replies)
        assert one == other
        return one

    assert seen(tool_call("whoami")) == {"client": None, "meta": {}}
    assert seen(tool_call("whoami", _meta=META)) == {"client": "tests", "meta": META}
    assert seen(tool_call("whoami"), Context(client="me")) == {"client": "me", "meta": {}}
    assert seen(tool_call("whoami", _meta={"a": 1}), Context(client="me")) == {"client": "me", "meta": {"a": 1}}
    assert seen(tool_call("whoami", _meta=META), Context(client="me")) == {"client": "tests", "meta": META}
    for odd in ({"name": 5}, "tests", {}):
        assert seen(tool_call("whoami", _meta={**META, CLIENT_KEY: odd}))["client"] is None


def test_a_contract_compiled_elsewhere_is_served_as_any_other():
    class Query(BaseModel):
        words: str

    def search(query: Annotated[Query, Unpack()]) -> str:
        return query.words

    registry = ToolRegistry("shop")
    registry.add(compile_function(search))
    assert result_of(registry, tool_call("search", {"words": "tea"})) == text("tea")


def test_a_tool_with_limits_of_its_own_is_held_to_them_on_the_wire():
    registry = ToolRegistry("shop")

    def note(text: str, price: Decimal = Decimal(0)) -> str:
        return f"{text} {price}"

    registry.add(compile_function(note, limits=Limits(max_bytes=60)))
    body = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "note", "arguments": %s}}'
    short = result_of(registry, body % b'{"text": "tea", "price": 12345678901234567890.50}')
    assert short["content"][0]["text"] == "tea 12345678901234567890.50"
    long = result_of(registry, body % b'{"text": "%s"}' % (b"x" * 60))
    assert [each["code"] for each in long["_meta"]["toolbooth"]["problems"]] == ["too-large"]


@pytest.mark.parametrize("arguments", ['"{\\"region\\": \\"eu\\"}"', '{"where": "{\\"zone\\": \\"a\\"}"}'])
def test_text_is_no_way_past_the_headers_that_repeat_an_argument(arguments):
    class Where(BaseModel):
        zone: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Zone"})] = ""

    registry = ToolRegistry("shop")

    @registry.tool
    def find(
        region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})] = "", where: Where | None = None
    ) -> str:
        return region

    meta = json.dumps(META).encode()
    body = (
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "find", "_meta": %s, "arguments": %s}}'
    )
    status, _, error = error_of(registry, body % (meta, arguments.encode()), routed("tools/call", "find"))
    assert (status, error["code"]) == (400, -32020)


class Saved(BaseModel):
    number: int


@pytest.mark.parametrize("value", [None, "saved", [1], {"number": "one"}, {}, Saved.model_construct(number="one")])
def test_a_result_that_is_not_what_the_tool_declares_is_told_as_a_tool_that_ran_to_its_end(value, caplog):
    registry = ToolRegistry("shop")

    @registry.tool
    def save() -> Saved:
        return value

    words = (
        "The tool ran to its end, but what it returned is not what it declares. "
        "Do not call it again without looking at what it did."
    )
    assert result_of(registry, tool_call("save")) == text(words, error=True)
    assert {record.levelname for record in caplog.records} == {"ERROR"}


@pytest.mark.parametrize(
    ("params", "strangers"),
    [
        ({"input": {"a": 1}}, ["input"]),
        ({"a": 1, "b": 2}, ["a", "b"]),
        ({"arguments": {"a": 1}, "Arguments": {"b": 2}}, ["Arguments"]),
    ],
)
def test_what_stands_beside_the_arguments_is_refused(params, strangers):
    result = result_of(shop(), message("tools/call", {"name": "add", **params}))
    words = 'the call has "{}" beside its "arguments"; what is for the tool goes into "arguments"'
    assert [(each["code"], each["path"], each["message"]) for each in result["_meta"]["toolbooth"]["problems"]] == [
        ("unknown-key", "$", words.format(each)) for each in strangers
    ]


def test_arguments_beside_the_params_are_refused():
    result = result_of(shop(), message("tools/call", {"name": "add"}, arguments={"a": 1}))
    assert result["isError"] is True


def test_a_tool_may_fail_in_one_sentence():
    registry = ToolRegistry("shop")

    @registry.tool
    def buy() -> str:
        raise ToolError("out of tea")

    assert result_of(registry, tool_call("buy")) == text("out of tea", error=True)
