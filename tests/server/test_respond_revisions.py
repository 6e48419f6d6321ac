"""`respond` in both eras of the protocol: the stateless revision, and those with a handshake."""

import base64
import json

import pytest

from respond_messages import (
    LISTED,
    META,
    SERVED,
    answer,
    error_of,
    message,
    result_of,
    routed,
    shop,
    text,
    tool_call,
)
from toolbooth import ToolRegistry
from toolbooth.server import revisions
from toolbooth.server.respond import respond_sync
from toolbooth.server.revisions import CAPABILITIES_KEY, HANDSHAKE, STATELESS, VERSION_KEY

# --- 2026-07-28 -------------------------------------------------------------------------------------------------


def test_discover_returns_the_version_and_capabilities():
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


def test_a_stateless_list_states_how_long_it_may_be_cached():
    assert result_of(shop(), message("tools/list", {"_meta": META}), routed("tools/list")) == {
        "tools": LISTED,
        "ttlMs": 0,
        "cacheScope": "private",
        "resultType": "complete",
        "_meta": SERVED,
    }


@pytest.mark.parametrize("headers", [None, routed("tools/call", "add")], ids=["stdio", "http"])
def test_stateless_call_is_complete_and_names_the_server(headers):
    body = tool_call("add", {"a": 1, "b": 2}, _meta=META)
    assert result_of(shop(), body, headers) == {
        **text("3"),
        "resultType": "complete",
        "_meta": SERVED,
    }


def test_meta_contains_both_the_repairs_and_the_server():
    body = tool_call("add", {"a": "1"}, _meta=META)
    repaired = {"toolbooth": {"repairs": [{"code": "scalar-text", "path": "$.a"}]}}
    assert result_of(shop(), body) == {
        **text("1"),
        "resultType": "complete",
        "_meta": {**repaired, **SERVED},
    }


@pytest.mark.parametrize(
    ("meta", "words"),
    [
        (None, f"params._meta must be an object with {VERSION_KEY!r} and {CAPABILITIES_KEY!r}"),
        ({}, f"params._meta lacks {VERSION_KEY}, {CAPABILITIES_KEY}"),
        ({VERSION_KEY: STATELESS[0]}, f"params._meta lacks {CAPABILITIES_KEY}"),
        ({CAPABILITIES_KEY: {}}, f"params._meta lacks {VERSION_KEY}"),
        (5, "params._meta must be an object"),
        ([], "params._meta must be an object"),
        ("x", "params._meta must be an object"),
    ],
    ids=str,
)
def test_meta_must_contain_version_and_capabilities(meta, words):
    body = message("tools/list", {"_meta": meta})
    assert error_of(shop(), body, routed("tools/list")) == (
        400,
        1,
        {"code": -32602, "message": words},
    )


def test_version_that_is_not_text_is_refused_without_a_header():
    body = message("tools/list", {"_meta": {**META, VERSION_KEY: 20260728}})
    assert error_of(shop(), body) == (
        200,
        1,
        {"code": -32602, "message": f"{VERSION_KEY} must be a string"},
    )


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
def test_an_unsupported_version_is_answered_with_the_supported_ones(body, headers):
    data = {"supported": ["2026-07-28"], "requested": "1999-01-01"}
    error = {"code": -32022, "message": "Unsupported protocol version", "data": data}
    assert error_of(shop(), body, headers) == (400, 1, error)


@pytest.mark.parametrize(
    ("headers", "what"),
    [
        (routed("tools/call", "add", mcp_protocol_version="2025-11-25"), "MCP-Protocol-Version"),
        ({"mcp-method": "tools/call", "mcp-name": "add"}, "MCP-Protocol-Version"),
        (routed("tools/list", "add"), "Mcp-Method"),
        ({"mcp-protocol-version": STATELESS[0], "mcp-name": "add"}, "Mcp-Method"),
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


def test_a_tool_name_header_may_be_in_base64():
    encoded = f"=?base64?{base64.b64encode(b'add').decode()}?="
    result = result_of(
        shop(), tool_call("add", {"a": 1}, _meta=META), routed("tools/call", encoded)
    )
    assert result == {**text("1"), "resultType": "complete", "_meta": SERVED}


def test_handshake_methods_are_unknown_to_a_stateless_request():
    for method in ("initialize", "ping"):
        error = {"code": -32601, "message": f"there is no method {method!r} here"}
        assert error_of(shop(), message(method, {"_meta": META}), routed(method)) == (404, 1, error)


# --- the handshake revisions --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "settled"),
    [(version, version) for version in HANDSHAKE]
    + [
        ("2026-07-28", "2025-11-25"),
        ("2024-11-05", "2025-11-25"),
        (None, "2025-11-25"),
        ([], "2025-11-25"),
    ],
    ids=str,
)
def test_initialize_agrees_on_the_requested_version_or_the_newest(asked, settled):
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


def test_discover_is_an_unknown_method_in_the_handshake_revisions():
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
def test_notifications_get_202_and_no_body(body):
    assert answer(shop(), body, {}) == (202, None)


def test_a_second_stateless_revision_is_added_in_one_place(monkeypatch):
    newer = "2027-01-31"
    monkeypatch.setattr(revisions, "STATELESS", (newer, *STATELESS))
    registry = ToolRegistry("shop")
    registry.tool(name="add")(lambda: "added")
    for version in (newer, STATELESS[0]):
        meta = {VERSION_KEY: version, CAPABILITIES_KEY: {}}
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "server/discover",
            "params": {"_meta": meta},
        }
        headers = {"mcp-protocol-version": version, "mcp-method": "server/discover"}
        reply = respond_sync(registry, json.dumps(message).encode(), headers)
        assert json.loads(reply.body)["result"]["supportedVersions"] == [newer, STATELESS[0]]
        message["method"] = headers["mcp-method"] = "nothing"
        assert respond_sync(registry, json.dumps(message).encode(), headers).status == 404
    message["params"]["_meta"][VERSION_KEY] = headers["mcp-protocol-version"] = "2028-01-01"
    reply = json.loads(respond_sync(registry, json.dumps(message).encode(), headers).body)
    assert reply["error"]["data"] == {"supported": [newer, STATELESS[0]], "requested": "2028-01-01"}
