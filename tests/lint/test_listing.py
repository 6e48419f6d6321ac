"""The forms in which a `tools/list` may be saved, and the messages about any other file."""

from typing import Any

import pytest

from toolbooth.lint.listing import Unlisted, listing

TOOL = {"name": "t", "inputSchema": {"type": "object"}}


@pytest.mark.parametrize(
    "found",
    [
        [TOOL],
        {"tools": [TOOL]},
        {"tools": [TOOL], "nextCursor": "2", "resultType": "complete"},
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [TOOL]}},
    ],
    ids=["list", "result", "page", "reply"],
)
def test_tools_are_found_in_every_form(found: Any):
    assert [tool.entry for tool in listing(found).tools] == [TOOL]


@pytest.mark.parametrize("found", [[], {"tools": []}], ids=["list", "result"])
def test_a_server_may_have_no_tools(found: Any):
    assert listing(found).tools == ()


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (
            {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "Method not found"}},
            "this is an error reply: Method not found",
        ),
        ({"error": "no"}, 'this is an error reply: "no"'),
        (
            {"openapi": "3.1.0", "paths": {}},
            'expected a tools/list result, but this is an object with the keys "openapi", "paths"',
        ),
        (
            {},
            "expected a tools/list result, but this is an empty object",
        ),
        (
            "tools",
            'expected a tools/list result, but this is "tools"',
        ),
        (None, "expected a tools/list result, but this is null"),
        (
            {"tools": {"t": TOOL}},
            'expected a tools/list result, but this is an object with the keys "tools"',
        ),
        (
            [TOOL, {"title": "x"}],
            'tool 2 of the list has no name: it is an object with the keys "title"',
        ),
        ([["a" * 70]], 'tool 1 of the list has no name: it is ["' + "a" * 58 + "…"),
        (
            [{str(index): 0 for index in range(9)}],
            'tool 1 of the list has no name: it is an object with the keys "0", "1", "2", "3", "4", "5", "6", "7" …',
        ),
    ],
)
def test_unreadable_listing_is_described_by_its_content(found: Any, told: str):
    with pytest.raises(Unlisted) as raised:
        listing(found)
    assert str(raised.value) == told
