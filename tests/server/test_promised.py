"""Promised tools are built when they are first called or listed."""

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from respond_messages import error_of, message, result_of, tool_call
from toolbooth import ToolRegistry
from toolbooth.server.listed_tools import UnknownTool
from toolbooth.server.stored_list import StoredTool

NAMES = ("orders__list", "orders__create", "tags__list", "tags__create")


def promising(made: list[str], missing: tuple[str, ...] = ()) -> ToolRegistry:
    """Return a registry that promises these tools, and records which it builds."""
    registry = ToolRegistry("shop")
    registry.tool(name="ready")(lambda: "ready")

    def make(name: str) -> None:
        made.append(name)
        if name not in missing:
            registry.tool(name=name)(lambda: name)

    for name in NAMES:
        registry.promised.add(name, lambda name=name: make(name))
    return registry


def listed(registry: ToolRegistry) -> list[str]:
    return [tool["name"] for tool in result_of(registry, message("tools/list"))["tools"]]


def test_a_call_builds_only_the_tool_that_it_names():
    made: list[str] = []
    result = result_of(promising(made), tool_call("tags__list", {}))
    assert result["content"] == [{"type": "text", "text": "tags__list"}]
    assert made == ["tags__list"]


@given(st.lists(st.sampled_from(NAMES)))
def test_tool_list_does_not_depend_on_earlier_calls(called):
    made: list[str] = []
    registry = promising(made)
    for name in called:
        registry.call(name)
    assert listed(registry) == ["ready", *NAMES]
    assert sorted(made) == sorted(NAMES)


def test_a_promised_tool_that_does_not_exist_is_unknown_and_not_listed():
    made: list[str] = []
    registry = promising(made, missing=("tags__list",))
    for _ in range(2):
        with pytest.raises(UnknownTool):
            registry.find("tags__list")
    assert made[0] == "tags__list"
    assert listed(registry) == ["ready", "orders__list", "orders__create", "tags__create"]
    assert made.count("tags__list") == 1


def test_a_misspelt_name_of_a_promised_tool_is_answered_with_the_right_one():
    made: list[str] = []
    error = error_of(promising(made), tool_call("order__list", {}))[2]
    assert "'orders__list'" in error["message"]
    assert made == ["orders__list"]


def test_a_near_name_whose_tool_does_not_exist_is_not_suggested():
    made: list[str] = []
    registry = promising(made, missing=("orders__list",))
    error = error_of(registry, tool_call("order__list", {}))[2]
    assert "orders__list" not in error["message"].replace("order__list", "")
    assert made[0] == "orders__list"


def test_a_near_name_behind_a_dispatcher_is_answered_with_the_call_through_it():
    registry = ToolRegistry("shop")

    def make() -> None:
        for name in NAMES[:2]:
            registry.promised.make(name)
        actions = {"list": "orders__list", "create": "orders__create"}
        registry.dispatcher("orders", actions)

    for name in NAMES:
        registry.promised.add(name, lambda name=name: registry.tool(name=name)(lambda: name))
    registry.promised.add("orders", make, NAMES[:2])
    error = error_of(registry, tool_call("orders_list", {}))[2]
    assert "'orders' (list)" in error["message"]
    assert list(registry.promised) == ["tags__list", "tags__create"]


def test_unknown_name_builds_no_promised_tool():
    made: list[str] = []
    with pytest.raises(UnknownTool):
        promising(made).find("something else entirely")
    assert made == []


def test_eight_simultaneous_first_calls_build_a_tool_once():
    made: list[str] = []
    registry = promising(made)
    together = threading.Barrier(8)

    def first(_: int) -> object:
        together.wait()
        return registry.call("tags__list")["content"][0]["text"]

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(first, range(8))) == ["tags__list"] * 8
    assert made == ["tags__list"]


def test_a_tool_requested_while_it_is_built_is_not_built_again():
    registry = ToolRegistry("shop")
    made: list[str] = []

    def make() -> None:
        made.append("tags__list")
        with pytest.raises(UnknownTool):
            registry.find("tags__list")
        registry.tool(name="tags__list")(lambda: "tags")

    registry.promised.add("tags__list", make)
    assert registry.find("tags__list").name == "tags__list"
    assert made == ["tags__list"]


# --- listed without being built ---


def listing(made: list[str], entries: dict[str, object]) -> ToolRegistry:
    """Return a registry whose tools have entries for the list. An exception is raised."""
    registry = ToolRegistry("shop")
    registry.tool(name="ready")(lambda: "ready")

    def make(name: str) -> None:
        made.append(name)
        registry.tool(name=name)(lambda: name)

    def lister(name: str) -> StoredTool | None:
        made.append(f"entry of {name}")
        entry = entries.get(name, {"name": name})
        if isinstance(entry, Exception):
            raise entry
        return None if entry is None else StoredTool(name, orjson.dumps(entry))

    for name in NAMES:
        registry.promised.add(name, partial(make, name), lister=partial(lister, name))
    return registry


ENTRIES = [f"entry of {name}" for name in NAMES]


def test_the_list_writes_each_entry_once_and_builds_no_tool():
    made: list[str] = []
    registry = listing(made, {})
    for _ in range(2):
        assert listed(registry) == ["ready", *NAMES]
    assert made == ENTRIES


def test_a_listed_tool_is_built_by_its_first_call_and_the_list_stays_the_same():
    made: list[str] = []
    registry = listing(made, {})
    before = registry.page(0, None)
    assert registry.call("tags__list")["isError"] is False
    assert registry.page(0, None) == before
    assert made == [*ENTRIES, "tags__list"]


def test_a_tool_that_is_registered_after_the_list_is_listed():
    registry = listing([], {})
    assert listed(registry) == ["ready", *NAMES]
    registry.tool(name="late")(lambda: "late")
    assert listed(registry) == ["ready", "late", *NAMES]


def test_a_tool_without_an_entry_does_not_exist():
    made: list[str] = []
    registry = listing(made, {"orders__list": None})
    assert listed(registry) == ["ready", *NAMES[1:]]
    with pytest.raises(UnknownTool):
        registry.find("orders__list")
    assert made[:4] == ENTRIES


def test_an_entry_that_cannot_be_written_fails_one_list():
    registry = listing([], {"orders__list": ValueError("no entry")})
    with pytest.raises(ValueError, match="no entry"):
        registry.page(0, None)
    assert listed(registry) == ["ready", *NAMES[1:]]


def test_tools_behind_a_dispatcher_have_no_entries_of_their_own():
    made: list[str] = []
    registry = listing(made, {})

    def make() -> None:
        for name in NAMES[:2]:
            registry.promised.make(name)
        registry.dispatcher("orders", {"list": "orders__list", "create": "orders__create"})

    registry.promised.add("orders", make, NAMES[:2])
    assert listed(registry) == ["ready", "tags__list", "tags__create", "orders"]
    assert made == [*NAMES[:2], *ENTRIES[2:]]
    shown = registry.page(0, lambda name: name in ("orders__list", "tags__list"))
    assert shown is not None
    assert [tool["name"] for tool in orjson.loads(shown[0])] == ["tags__list", "orders"]
