"""Text that is not JSON: the reason, and the place inside the arguments."""

import asyncio
import json

import pytest

from toolbooth import ToolRegistry, compile_function, handle_bytes
from toolbooth.server.respond import respond


def order(lines: list[str]) -> str:
    raise AssertionError("called")


SAID = {
    b'{"lines": [NaN]}': "NaN is not a JSON value, at $.lines[0]",
    b'{"lines": -Infinity}': "Infinity is not a JSON value, at $.lines",
    b'{"a": {"b": None}}': "None is not a JSON value, at $.a.b",
    b"{'lines': []}": "text must be in double quotes, at $",
    b"{lines: []}": "a key must be text in double quotes, at $",
    b'{"lines": ["a", "b",]}': "a comma is followed by no value, at $.lines[2]",
    b'{"a": {"b": 1}, "lines": ["x': "it ends too early, at $.lines[0]",
    b'{"a": 1 "b": 2}': "expected `,` or `}`, at $.a",
    b'{"a": "\xff"}': "bytes are not UTF-8, at $.a",
    b'{"a\\"b": "x\ny"}': 'text contains a line break or another control character; escape it, at $["a\\"b"]',
    b'{\n"a":\n[1, tru]}': "a value is expected, at $.a[1]",
    b'{"\\ud800": 1, "a": tru}': "an escape is half of a surrogate pair, at $",
    b'"a" "b"': "there is more text after its end, at $",
    b"hello": "a value is expected, at $",
    b']"a": nul': "a value is expected, at $",
}


@pytest.mark.parametrize(("body", "said"), SAID.items())
def test_unreadable_json_is_reported_with_the_reason_and_place(body: bytes, said: str):
    result = handle_bytes(compile_function(order), body)
    assert result["content"][0]["text"].splitlines()[1:] == [f"- $: not valid JSON: {said}"]


def test_a_key_that_is_sent_twice_is_named_with_its_place():
    result = handle_bytes(compile_function(order), b'{"a": [{"b": 1, "b": 2}]}')
    told = '- $: the same key is sent twice: "b", at $.a[0].b'
    assert result["content"][0]["text"].splitlines()[1:] == [told]


@pytest.mark.parametrize("filler", [b" " * 200_000, b"\n" * 200_000], ids=["spaces", "lines"])
def test_the_place_is_not_searched_in_a_very_long_text(filler: bytes):
    result = handle_bytes(compile_function(order), b'{"lines": [%s NaN]}' % filler)
    told = "- $: not valid JSON: NaN is not a JSON value"
    assert result["content"][0]["text"].splitlines()[1:] == [told]


def test_own_server_reports_the_place_inside_the_arguments():
    registry = ToolRegistry("shop")
    registry.tool(order)
    body = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "order", "arguments": %s}}'
    reply = asyncio.run(respond(registry, body % b'{"lines": [NaN]}'))
    text = json.loads(reply.body)["result"]["content"][0]["text"]
    assert text.splitlines()[1:] == ["- $: not valid JSON: NaN is not a JSON value, at $.lines[0]"]
    reply = asyncio.run(respond(registry, body % b'{"lines": [None]}'))
    error = json.loads(reply.body)["error"]
    assert error["message"] == (
        "Parse error: not valid JSON: None is not a JSON value, at $.lines[0]"
    )
