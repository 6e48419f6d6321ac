"""Recorded calls are compared with a later version of the tools: every call whose meaning has
changed is reported.
"""

import asyncio
import json
import logging
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID, uuid4

import pytest
from fastmcp import FastMCP
from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel, Field, SecretStr, field_validator

import delivered_server
from random_calls import random_calls
from recorded_shop import (
    ORDER,
    RUNS,
    Data,
    Line,
    lines,
    place_order,
    place_order_now,
    recorded,
    registry_of,
)
from toolbooth import Context, ToolRegistry, Unpack
from toolbooth.adapters import fastmcp, mcp_sdk
from toolbooth.testing import record_calls, replay_calls
from toolbooth.testing.replay.replay_judge import NotProtected

# --- replaying --------------------------------------------------------------------------------------------------


def test_unchanged_calls_report_no_change_and_run_no_tool(calls: Path):
    registry = registry_of(place_order=place_order)
    sent = [
        ORDER,
        {"data": ORDER},
        {**ORDER, "limit": "5"},
        {**ORDER, "limit": None},
        {},
        {**ORDER, "limt": 1},
    ]
    recorded(calls, registry, *(("place_order", each) for each in sent))
    RUNS.clear()
    made = replay_calls(calls, registry_of(place_order=place_order))
    assert (str(made), made.changes, RUNS) == ("6 of 6 calls mean the same.", [], [])


@pytest.mark.parametrize("arguments", ["whole", "redacted"])
def test_random_calls_report_no_change_for_unchanged_tools(arguments: Any, calls: Path):
    registry = delivered_server.make("registry")
    registry.dispatcher("dispatch", {name: name for name in list(registry.tools)}, hide=False)
    record_calls(registry, calls, arguments=arguments)
    sent = random_calls(seed=1, count=1000)
    logging.disable()
    for number, (tool, given, _) in enumerate(sent):
        routed = {
            "action": tool,
            **(given if number % 4 and isinstance(given, dict) else {"params": given}),
        }
        name, body = ("dispatch", routed) if number % 2 else (tool, given)
        # As bytes: for a float that a host passes on, a record does not show that it was one.
        registry.call_bytes(name, json.dumps(body).encode())
    logging.disable(logging.NOTSET)
    assert [
        replay_calls(calls, registry, update=True).changes,
        replay_calls(calls, registry).changes,
    ] == [[], []]


def test_newly_refused_call_is_reported_with_the_reason(calls: Path):
    recorded(calls, registry_of(place_order=place_order), ("place_order", {**ORDER, "limit": 5}))

    def stricter(customer: str, lines: list[Line], delivery: str) -> str:
        return ""

    assert str(replay_calls(calls, registry_of(place_order=stricter))) == (
        "place_order: passed → refused (unknown-key, missing) (line 1)\n"
        '  sent {"customer":"Ann","lines":[{"sku":"A1"}],"limit":5}\n'
        '  $.limit: there is no field "limit"\n'
        "  $.delivery: is required, but was not sent\n"
        "  Whoever sends this is refused from now on: go on accepting it, or tell them first.\n"
        "\n"
        "0 of 1 calls mean the same."
    )


def test_similar_changes_are_reported_once(calls: Path):
    sent = [{**ORDER, "limit": count} for count in range(5)]
    recorded(
        calls,
        registry_of(place_order=place_order),
        *(("place_order", each) for each in [ORDER, *sent]),
    )

    def stricter(customer: str, lines: list[Line]) -> str:
        return ""

    made = replay_calls(calls, registry_of(place_order=stricter))
    assert [change.line for change in made.changes] == [2, 3, 4, 5, 6]
    assert (
        str(made).splitlines()[0]
        == "place_order: passed → refused (unknown-key) (line 2 and 4 more)"
    )
    assert str(made).splitlines()[-1] == "1 of 6 calls mean the same."


@pytest.mark.parametrize(
    ("annotation", "sent", "told"),
    [
        (
            str,
            "5",
            (
                "repaired (scalar-text)",
                "passed",
                (),
                "The same call is now answered in another way.",
            ),
        ),
        (
            Annotated[int, Field(le=4)],
            "5",
            (
                "repaired (scalar-text)",
                "refused (invalid)",
                ("$.value: must be 4 or less",),
                "Whoever sends this is refused from now on: go on accepting it, or tell them first.",
            ),
        ),
        (
            float,
            5.5,
            (
                "refused (wrong-type)",
                "passed",
                (),
                "What was refused now reaches the tool: see that it may.",
            ),
        ),
        (
            list[int],
            "[5]",
            (
                "refused (wrong-type)",
                "repaired (json-text)",
                ("$.value: json-text",),
                "What was refused now reaches the tool: see that it may.",
            ),
        ),
    ],
    ids=["no-repair-now", "refused-now", "passes-now", "repaired-now"],
)
def test_every_other_change_of_outcome_is_reported(
    annotation: Any, sent: Any, told: tuple[Any, ...], calls: Path
):
    def then(value: int) -> str:
        return ""

    def now(value: Any) -> str:
        return ""

    now.__annotations__["value"] = annotation
    recorded(calls, registry_of(take=then), ("take", {"value": sent}))
    (change,) = replay_calls(calls, registry_of(take=now)).changes
    assert (change.before, change.after, change.advice) == (told[0], told[1], told[3])
    assert [each.partition(":")[0] for each in change.details] == [
        each.partition(":")[0] for each in told[2]
    ]


def test_removed_tool_is_reported_with_the_nearest_name(calls: Path):
    recorded(calls, registry_of(place_order=place_order), ("place_order", ORDER))
    (change,) = replay_calls(calls, registry_of(place_orders=place_order)).changes
    assert (change.after, change.details) == (
        "no such tool",
        ("there is no tool 'place_order'; there is 'place_orders'",),
    )


def test_arguments_of_a_failed_tool_are_compared(calls: Path):
    def fail(value: int) -> str:
        raise KeyError(value)

    recorded(calls, registry_of(take=fail), ("take", {"value": 1}), ("take", {"value": "2"}))
    assert [line["outcome"] for line in lines(calls)] == ["failed", "failed"]
    assert replay_calls(calls, registry_of(take=fail)).changes == []


def test_calls_that_could_not_be_read_are_left_out_and_counted(calls: Path):
    registry = registry_of(place_order=place_order)
    recorded(
        calls, registry, ("place_order", b'{"customer":1,"customer":2}'), ("place_order", ORDER)
    )
    assert str(replay_calls(calls, registry)) == (
        "1 of 1 calls mean the same. 1 were recorded without arguments and left out."
    )


# --- values -----------------------------------------------------------------------------------------------------


def test_after_an_update_the_values_for_the_tool_are_compared_too(calls: Path):
    recorded(calls, registry_of(place_order=place_order), ("place_order", {**ORDER, "price": 5}))
    today = registry_of(place_order=place_order_now)
    assert (
        replay_calls(calls, today).changes == []
    )  # The codes are the same, and no values have been compared yet.
    replay_calls(calls, registry_of(place_order=place_order), update=True)
    assert lines(calls)[0]["values"] == {
        "customer": "Ann",
        "lines": [{"sku": "A1", "quantity": 1}],
        "limit": 10,
        "price": "5",
    }
    assert str(replay_calls(calls, today)) == (
        "place_order: passed → other values (line 1)\n"
        '  sent {"customer":"Ann","lines":[{"sku":"A1"}],"price":5}\n'
        "  $.limit: 10 → 20\n"
        '  $.price: "5" → 5.0\n'
        "  The tool now gets something else for the same call.\n"
        "\n"
        "0 of 1 calls mean the same."
    )


def test_new_field_with_a_default_is_not_a_change(calls: Path):
    def then(value: int) -> str:
        return ""

    def now(value: int, unit: str = "kg") -> str:
        return ""

    recorded(calls, registry_of(take=then), ("take", {"value": 1}))
    replay_calls(calls, registry_of(take=then), update=True)
    assert replay_calls(calls, registry_of(take=now)).changes == []
    replay_calls(calls, registry_of(take=now), update=True)
    (change,) = replay_calls(calls, registry_of(take=then)).changes
    assert change.details == ('$.unit: "kg" → nothing',)


def test_update_accepts_the_outcomes_of_today(calls: Path):
    sent = [ORDER, {"data": ORDER}, {**ORDER, "limit": "5"}, b'{"customer":1,"customer":2}']
    recorded(
        calls,
        registry_of(place_order=place_order),
        *(("place_order", each) for each in sent),
        ("gone", {}),
    )

    def looser(
        data: Data | None = None,
        limit: str = "",
        customer: str = "",
        lines: list[Line] | None = None,
    ) -> str:
        return ""

    today = registry_of(place_order=looser)
    updated = replay_calls(calls, today, update=True)
    assert [change.line for change in updated.changes] == [2, 3]
    assert replay_calls(calls, today).changes == []
    assert [line["outcome"] for line in lines(calls)] == ["passed", "passed", "passed", "refused"]


def test_values_that_differ_in_every_call_are_not_compared(calls: Path):
    class Job(BaseModel):
        name: str
        id: Annotated[UUID, Field(default_factory=uuid4)]
        tags: Annotated[dict[str, int], Field(default_factory=lambda: {uuid4().hex: 1})]
        parts: list[int] = [1]

    def start(
        job: Job, ids: Annotated[list[UUID], Field(default_factory=lambda: [uuid4()])]
    ) -> str:
        return ""

    registry = registry_of(start=start)
    recorded(calls, registry, ("start", {"job": {"name": "a"}}))
    replay_calls(calls, registry, update=True)
    assert lines(calls)[0]["values"] == {
        "job": {"name": "a", "id": "[varies]", "tags": "[varies]", "parts": [1]},
        "ids": ["[varies]"],
    }
    assert replay_calls(calls, registry).changes == []


def test_values_of_every_kind_of_parameter_are_kept(calls: Path):
    class Odd:
        pass

    def take(
        first: int,
        /,
        ctx: Context,
        order: Annotated[Line, Unpack()],
        odd: Annotated[Any, Field(default_factory=Odd)],
    ) -> str:
        return ""

    registry = registry_of(take=take)
    recorded(calls, registry, ("take", {"first": 1, "sku": "A1"}))
    replay_calls(calls, registry, update=True)
    assert lines(calls)[0]["values"] == {
        "first": 1,
        "order": {"sku": "A1", "quantity": 1},
        "odd": "<Odd>",
    }


def test_the_authors_validators_run_again_on_replayed_calls(calls: Path):
    class Checked(BaseModel):
        sku: str

        @field_validator("sku")
        @classmethod
        def known(cls, sku: str) -> str:
            if sku == "B2":
                raise ValueError("is no longer sold")
            return sku

    def then(line: Line) -> str:
        return ""

    def now(line: Checked) -> str:
        return ""

    recorded(
        calls,
        registry_of(take=then),
        ("take", {"line": {"sku": "A1"}}),
        ("take", {"line": {"sku": "B2"}}),
    )
    (change,) = replay_calls(calls, registry_of(take=now)).changes
    assert (change.line, change.details) == (2, ('$.line.sku: is no longer sold; got "B2"',))


# --- redacted ---------------------------------------------------------------------------------------------------


class Account(BaseModel):
    user: str
    password: SecretStr = Field(min_length=3)


def log_in(account: Account, pin: Annotated[int, Field(ge=0)] = 0, note: str = "") -> str:
    return ""


def test_redacted_values_are_not_compared_and_a_note_lists_them(calls: Path):
    ann = {"user": "ann", "password": "hunter2"}
    sent = [
        {"account": ann, "pin": 1234},
        {"account": json.dumps(ann), "pin": "1234"},
        {"account": {**ann, "password": "x"}},
        {"account": {"user": "ann", "pasword": "hunter2"}},
        {"account": ann, "note": {}},
        {"account": {"user": "ann"}},
    ]
    registry = registry_of(log_in=log_in)
    recorded(calls, registry, *(("log_in", each) for each in sent), arguments="redacted")
    assert "hunter2" not in calls.read_text()
    assert str(replay_calls(calls, registry)) == (
        "6 of 6 calls mean the same. 5 hold redacted values, which were not compared."
    )

    def now(account: Account, note: str = "") -> str:
        return ""

    today = registry_of(log_in=now)
    assert [change.line for change in replay_calls(calls, today).changes] == [1, 2]
    replay_calls(calls, registry, update=True)
    assert replay_calls(calls, registry).changes == []
    # The third was refused for its password; the replacement is accepted, and its values are known
    # now.
    assert [(change.line, change.after) for change in replay_calls(calls, today).changes] == [
        (1, "refused (unknown-key)"),
        (2, "refused (unknown-key)"),
        (3, "other values"),
    ]
    replay_calls(calls, today, update=True)
    assert replay_calls(calls, today).changes == []


def test_redacted_values_are_found_at_every_depth(calls: Path):
    def take(keys: list[Annotated[SecretStr, Field(max_length=3)]], where: list[int]) -> str:
        return ""

    hidden = [
        {"keys": ["[redacted]"], "where": [1]},
        {"keys": [], "where": '{"a": "[redacted]"'},
        {"keys": [], "where": '["[redacted]"]'},
    ]
    lines = [json.dumps({"tool": "take", "redacted": True, "arguments": each}) for each in hidden]
    calls.write_text("\n".join(lines))
    assert str(replay_calls(calls, registry_of(take=take))) == (
        "3 of 3 calls mean the same. 3 hold redacted values, which were not compared."
    )


def test_calls_that_are_redacted_as_a_whole_are_left_out(calls: Path):
    registry = registry_of(log_in=log_in)
    registry.dispatcher("accounts", {"log_in": "log_in"})
    recorded(calls, registry, ("accounts", {"action": "log_out", "pin": 1}), arguments="redacted")
    assert lines(calls)[0]["arguments"] == "[redacted]"
    assert str(replay_calls(calls, registry)) == (
        "0 of 0 calls mean the same. 1 were recorded without arguments and left out."
    )


# --- dispatchers and other hosts --------------------------------------------------------------------------------


def shop_with_dispatcher(function: Any = place_order) -> ToolRegistry:
    registry = registry_of(place=function)
    registry.dispatcher("orders", {"new": "place"})
    return registry


def test_dispatched_calls_are_compared_with_the_tool_behind_the_dispatcher(calls: Path):
    sent = [
        {"action": "new", **ORDER},
        {"action": "new", "params": json.dumps(ORDER)},
        {"action": "new", **ORDER, "limit": "5"},
        {"action": "new", "params": ORDER, "lines": []},
        {"action": "old", **ORDER},
    ]
    recorded(calls, shop_with_dispatcher(), *(("orders", each) for each in sent))
    assert [(line["tool"], line.get("dispatcher")) for line in lines(calls)] == [
        *[("place", "orders")] * 3,
        *[("orders", None)] * 2,
    ]
    assert replay_calls(calls, shop_with_dispatcher()).changes == []

    def now(customer: str, lines: list[Line]) -> str:
        return ""

    assert str(replay_calls(calls, shop_with_dispatcher(now))).splitlines() == [
        "place (by orders): repaired (scalar-text) → refused (unknown-key) (line 3)",
        '  sent {"customer":"Ann","lines":[{"sku":"A1"}],"limit":"5"}',
        '  $.limit: there is no field "limit"',
        "  Whoever sends this is refused from now on: go on accepting it, or tell them first.",
        "",
        "4 of 5 calls mean the same.",
    ]
    replay_calls(calls, shop_with_dispatcher(), update=True)
    assert [line["repairs"] for line in lines(calls)] == [[], [], ["scalar-text"], [], []]
    assert replay_calls(calls, shop_with_dispatcher()).changes == []


def test_tool_removed_from_its_dispatcher_is_reported(calls: Path):
    recorded(calls, shop_with_dispatcher(), ("orders", {"action": "new", **ORDER}))
    (change,) = replay_calls(calls, registry_of(place=place_order)).changes
    assert change.details == ("there is no tool 'place' behind 'orders'; there is 'place'",)


@pytest.mark.parametrize("host", ["fastmcp", "mcp_sdk"])
def test_calls_are_compared_with_a_protected_server_of_another_host(host: str, calls: Path):
    recorded(
        calls,
        registry_of(place_order=place_order),
        ("place_order", ORDER),
        ("place_order", {"data": ORDER}),
    )
    server: Any = FastMCP("shop") if host == "fastmcp" else MCPServer("shop")
    server.add_tool(place_order)
    with pytest.raises(
        NotProtected,
        match=r"^no tool of 'shop' is behind the boundary: protect\(server\) puts them",
    ):
        replay_calls(calls, server)
    (fastmcp if host == "fastmcp" else mcp_sdk).protect(server)
    RUNS.clear()
    assert (replay_calls(calls, server).changes, RUNS) == ([], [])


def test_an_async_tool_is_not_run_either(calls: Path):
    async def take(value: int) -> str:
        RUNS.append("take")
        return ""

    registry = ToolRegistry("shop", timeout=1)
    registry.tool(take)
    recorded(calls, registry, ("take", {"value": 1}))
    RUNS.clear()

    async def inside_a_loop() -> Any:
        return replay_calls(calls, registry)

    assert (asyncio.run(inside_a_loop()).changes, RUNS) == ([], [])
