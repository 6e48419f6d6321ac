"""`tools/list`: its pages, and their cursors."""

import base64
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from respond_messages import error_of, message, result_of, shop
from toolbooth import ToolRegistry
from toolbooth.server.encoded_tools import MOST_BYTES


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


def test_a_full_last_page_has_no_next_cursor():
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
    error = {"code": -32602, "message": "unknown cursor; list again without a cursor"}
    assert error_of(registry, message("tools/list", {"cursor": cursor})) == (200, 1, error)


def test_a_list_is_encoded_once_and_again_after_a_registration():
    registry = shop()
    first = registry.page(0, None)
    assert registry.page(0, None) is first
    registry.tool(name="late")(lambda: None)
    names = [tool["name"] for tool in result_of(registry, message("tools/list"))["tools"]]
    assert names == ["add", "echo", "late"]


@given(st.lists(st.integers(1, 400_000), max_size=12), st.integers(1, 5))
@settings(max_examples=25)
def test_pages_hold_every_tool_once_and_at_most_a_megabyte(lengths, most):
    registry = ToolRegistry("shop", page_size=most)
    for number, length in enumerate(lengths):
        registry.tool(name=f"tool_{number}", description="x" * length)(lambda: None)
    pages, cursor = [], None
    while True:
        page = result_of(registry, message("tools/list", {"cursor": cursor} if cursor else {}))
        pages.append(page["tools"])
        cursor = page.get("nextCursor")
        if cursor is None:
            break
    assert [tool["name"] for page in pages for tool in page] == [
        f"tool_{number}" for number in range(len(lengths))
    ]
    for page in pages:
        assert len(page) <= most
        assert len(page) == 1 or len(json.dumps(page, separators=(",", ":"))) <= MOST_BYTES + 2


def test_a_tool_that_is_larger_than_a_page_has_a_page_of_its_own():
    registry = ToolRegistry("shop")
    for name, length in (("a", 1), ("b", 2 * MOST_BYTES), ("c", 1)):
        registry.tool(name=name, description="x" * length)(lambda: None)
    starts = [0]
    while (found := registry.page(starts[-1], None)) and found[1] is not None:
        starts.append(found[1])
    assert starts == [0, 1, 2]
