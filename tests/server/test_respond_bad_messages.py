"""The replies of `respond` to bytes that are not a request, or not JSON."""

import asyncio
import json
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from respond_messages import META, answer, error_of, message, result_of, routed, shop, tool_call
from toolbooth.server.envelope import id_in
from toolbooth.server.respond import respond
from toolbooth.server.revisions import CLIENT_KEY, SERVER_KEY

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from(["id", '"id": 5', "]}", "{[", "\\"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["id", "a", "]", "{"]), inner, max_size=3)
    ),
    max_leaves=10,
)

# --- messages that are not requests
# ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "request_id", "words"),
    [
        (b"[]", None, "the message is a batch; send one JSON-RPC object"),
        (
            b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]',
            None,
            "the message is a batch; send one JSON-RPC object",
        ),
        (b'"ping"', None, "the message is not an object; send one JSON-RPC object"),
        (b"null", None, "the message is not an object; send one JSON-RPC object"),
        (b"{}", None, 'a request must have "jsonrpc": "2.0" and a method'),
        (b'{"id": 1, "method": "ping"}', 1, 'a request must have "jsonrpc": "2.0" and a method'),
        (
            b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}',
            1,
            'a request must have "jsonrpc": "2.0" and a method',
        ),
        (
            b'{"jsonrpc": "2.0", "id": "a"}',
            "a",
            'a request must have "jsonrpc": "2.0" and a method',
        ),
        (
            b'{"jsonrpc": "2.0", "id": 1, "method": 5}',
            1,
            'a request must have "jsonrpc": "2.0" and a method',
        ),
        (
            b'{"jsonrpc": "2.0", "id": 1, "method": null}',
            1,
            'a request must have "jsonrpc": "2.0" and a method',
        ),
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


@pytest.mark.parametrize(
    "request_id", [0, -1, 2**63, -(2**63), 2**64 - 1, "", "a", "é", "0"], ids=str
)
def test_an_id_is_returned_exactly_as_sent(request_id):
    assert answer(shop(), message("ping", id=request_id)) == (
        200,
        {"jsonrpc": "2.0", "id": request_id, "result": {}},
    )


WRONG_ID = {"code": -32600, "message": "an id must be a string or a 64-bit integer"}


@pytest.mark.parametrize("request_id", [None, True, [], {}, [1], {"id": 1}], ids=str)
def test_an_id_that_is_neither_text_nor_a_number_is_refused_and_not_repeated(request_id):
    assert error_of(shop(), message("ping", id=request_id), {}) == (400, None, WRONG_ID)


@pytest.mark.parametrize("request_id", [1.5, 1e300, 2**64, -(2**63) - 1], ids=str)
def test_number_that_is_not_a_valid_id_is_refused_and_repeated(request_id):
    assert error_of(shop(), message("ping", id=request_id), {}) == (400, request_id, WRONG_ID)


@pytest.mark.parametrize(
    "request_id",
    [b"1e999", b"1.00000000000000000000001", b"9" * 5000, b"01", b"5abc", b'"a', b'"\xff"', b"NaN"],
    ids=lambda each: ascii(each[:30]),
)
def test_an_id_that_cannot_be_repeated_exactly_is_not_repeated(request_id):
    body = b'{"jsonrpc": "2.0", "method": "ping", "id": ' + request_id + b"}"
    assert error_of(shop(), body, {})[1] is None


@pytest.mark.parametrize(
    "part",
    [b"[", b"[]", b'"', b'""', b'"a",', b'["a",', b'{"id":1,', b'"\\', b'"\\u0069d":', b"[}"],
)
def test_an_id_is_found_in_a_time_that_grows_with_the_message_only(part):
    def seconds(size: int) -> float:
        body = b'{"id":1,"x":' + part * (size // len(part))
        start = process_time()
        id_in(body)
        return process_time() - start

    # Ten times the message would take a hundred times the time, were it quadratic.
    assert seconds(1_000_000) < 30 * seconds(100_000) + 0.1


@given(
    before=st.dictionaries(st.text(max_size=3), JSON, max_size=3),
    after=st.dictionaries(st.text(max_size=3), JSON, max_size=3),
    request_id=st.integers() | st.text(alphabet=st.characters(codec="utf-8")),
    rest=st.sampled_from(["", "]", ' {"id": 9}', ' "id": 3', " nonsense", "\0"]),
)
def test_an_id_is_found_wherever_it_is(before, after, request_id, rest):
    others = {key: value for key, value in {**before, **after}.items() if key != "id"}
    keys = list(others)
    first, last = keys[: len(before)], keys[len(before) :]
    members = {key: others[key] for key in first} | {"id": request_id}
    members |= {key: others[key] for key in last}
    assert id_in((json.dumps(members) + rest).encode()) == request_id


@pytest.mark.parametrize("params", [[], [1], "x", 5, True, False, 0, ""], ids=repr)
def test_params_that_are_not_an_object_are_refused(params):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": params}).encode()
    assert error_of(shop(), body) == (
        200,
        1,
        {"code": -32602, "message": "params must be an object"},
    )


def test_params_may_be_null_or_absent():
    assert (
        answer(shop(), b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": null}')[0] == 200
    )
    assert answer(shop(), b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}')[0] == 200


def test_only_the_beginning_of_a_long_unknown_method_is_repeated():
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
def test_unknown_tool_is_a_protocol_error_with_a_suggestion(name, words):
    assert error_of(shop(), tool_call(name, {})) == (200, 1, {"code": -32602, "message": words})


# --- bytes that are not JSON
# ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "request_id"),
    [
        (b"", None),
        (b"{", None),
        (b"\xff", None),
        (b"[" * 100_000, None),
        (b'{"jsonrpc": "2.0", "id": 5, "id": 6, "method": "ping"}', None),
        (b'{"jsonrpc": "2.0", "id": 5, "method": "ping", "params": {"x": NaN}}', 5),
        (b'{"jsonrpc": "2.0", "id": "\\ud800", "method": "ping"}', None),
        (b'{"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": [NaN]}', 5),
        (b"[NaN]", None),
    ],
    ids=[
        "empty",
        "cut",
        "bytes",
        "deep",
        "duplicate-id",
        "nan",
        "surrogate-id",
        "call-without-params",
        "batch",
    ],
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
def test_unreadable_arguments_are_refused_under_the_id_of_their_request(arguments, code):
    registry = shop()
    records = []
    registry.observe(records.append)
    body = b'{"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": {"name": "add", "arguments": %s}}'
    reply = asyncio.run(respond(registry, body % arguments))
    found = json.loads(reply.body)
    problems = found["result"]["_meta"]["toolbooth"]["problems"]
    assert (reply.status, found["id"], found["result"]["isError"]) == (200, "x", True)
    assert [(each["code"], each["path"]) for each in problems] == [(code, "$")]
    assert [(each.tool, each.outcome, each.problems) for each in records] == [
        ("add", "refused", (code,))
    ]


def test_unreadable_stateless_call_is_complete_and_recorded_with_client():
    registry, records = shop(), []
    registry.observe(records.append)
    meta = json.dumps({**META, CLIENT_KEY: {"name": "me", "version": "1"}}).encode()
    body = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "add", "_meta": %s, "arguments": %s}}'
    result = result_of(registry, body % (meta, b'{"a": 1, "a": 2}'), routed("tools/call", "add"))
    assert [record.client for record in records] == ["me", "me"]  # sync and async
    assert (result["isError"], result["resultType"]) == (True, "complete")
    assert result["_meta"].keys() == {"toolbooth", SERVER_KEY}


def test_an_unreadable_call_is_a_protocol_error_with_errors_protocol():
    body = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "add", "arguments": {"a": NaN}}}'
    status, request_id, error = error_of(shop(errors="protocol"), body, {})
    assert (status, request_id, error["code"]) == (200, 1, -32602)
    assert [each["code"] for each in error["data"]["toolbooth"]["problems"]] == ["not-json"]


def test_unreadable_call_of_an_unknown_tool_gets_the_unknown_tool_error():
    body = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ad\\ud800", "arguments": NaN}}'
    words = "there is no tool 'ad\\ud800'"
    assert error_of(shop(), body) == (200, 1, {"code": -32602, "message": words})
