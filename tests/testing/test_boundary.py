"""assert_boundary on servers that hold the law, and on servers that do not: its findings and its
messages.
"""

import asyncio
import importlib.util
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import pytest
from fastmcp import FastMCP
from inline_snapshot import snapshot
from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel, Field, SecretStr, model_validator

from toolbooth import ToolError, ToolRegistry, Unpack, compile_function
from toolbooth.adapters import fastmcp, mcp_sdk
from toolbooth.errors import Problem
from toolbooth.testing.check.boundary import Report, assert_boundary, check_boundary
from toolbooth.testing.check.schema_honesty import schema_honesty
from toolbooth.testing.check.verdict import Reference, judge
from toolbooth.testing.client.call import WireResult
from toolbooth.testing.client.tools import ServedTool
from toolbooth.testing.shapes.agent_shapes import agent_shapes

INVENTORY = Path(__file__).resolve().parents[2] / "examples" / "inventory"

Tools = list[Callable[..., Any]]


class Line(BaseModel):
    sku: str
    quantity: int = 1


def place_order(customer: str, lines: list[Line], notify: bool = False) -> dict[str, Any]:
    """Place an order."""
    return {"customer": customer, "lines": [line.model_dump() for line in lines], "notify": notify}


def find_orders(query: str = "", limit: int = 20, since: date | None = None) -> str:
    """Find orders."""
    return f"{limit} of {query!r} since {since}"


SHOP: Tools = [place_order, find_orders]


def registry(tools: Tools, **how: Any) -> ToolRegistry:
    made = ToolRegistry("shop", **how)
    for each in tools:
        made.tool(each)
    return made


def fastmcp_server(tools: Tools, *, protected: bool) -> FastMCP:
    made = fastmcp.protect(FastMCP("shop")) if protected else FastMCP("shop")
    for each in tools:
        made.tool(each)
    return made


def sdk_server(tools: Tools, *, protected: bool) -> MCPServer:
    made = MCPServer("shop", log_level="CRITICAL")
    made = mcp_sdk.protect(made) if protected else made
    for each in tools:
        made.add_tool(each)
    return made


def failure(server: Any, **how: Any) -> str:
    with pytest.raises(AssertionError) as caught:
        assert_boundary(server, **how)
    return str(caught.value)


def top(text: str, lines: int) -> str:
    """Return the first lines, cut to the width of a page."""
    return "\n".join(line[:100].rstrip() for line in text.splitlines()[:lines])


def report_of(server: Any, **how: Any) -> Report:
    return asyncio.run(check_boundary(server, **how))


# --- servers that hold the law ----------------------------------------------------------------------------------


def test_our_own_server_follows_the_law():
    assert str(assert_boundary(registry(SHOP))) == snapshot("""\
shop (toolbooth): 0 of 148 calls broke the law of the boundary

             correct  json text  scalar text  left out  client keys  wrappers  names  levels  types  numbers
place_order  · 5      · 12       · 4          · 20      · 7          · 23      · 7    · 2     · 12   · 2
find_orders  · 5      · 3        · 1          · 7       · 5          · 17      · 3    · 2     · 9    · 2\
""")


@pytest.mark.parametrize("make", [fastmcp_server, sdk_server])
def test_a_protected_server_follows_the_law(make: Callable[..., Any]):
    report = assert_boundary(make(SHOP, protected=True))
    assert report.holds
    assert report.protected
    assert {case.tool.guarded for case in report.cases} == {True}
    # A host parses the bytes, so shapes that only the bytes show are not tested on it.
    assert {case.shape.raw for case in report.cases} == {False}


def test_law_holds_for_refusals_as_protocol_errors():
    assert assert_boundary(registry(SHOP, errors="protocol")).holds


def test_a_dispatcher_is_called_once_for_each_action():
    server = registry(SHOP)
    server.dispatcher("orders", {"place": "place_order", "find": "find_orders"})
    examples = {"orders/find": {"query": "tea", "limit": 5}}
    report = assert_boundary(server, examples)
    assert {case.tool.label for case in report.cases} == {"orders/place", "orders/find"}


def test_dispatcher_of_several_resources_is_checked_with_its_fields():
    server = registry(SHOP)
    resources = {
        "orders": {"place": "place_order", "find": "find_orders"},
        "found": {"find": "find_orders"},
    }
    server.dispatcher("shop", resources)
    found = {"query": "tea", "limit": 5}
    report = assert_boundary(server, {"shop/orders/find": found, "shop/found/find": found})
    assert report.holds
    assert {case.tool.label for case in report.cases} == {
        "shop/orders/place",
        "shop/orders/find",
        "shop/found/find",
    }
    assert schema_honesty(server) > 0


def test_a_tool_whose_answers_vary_is_not_reported():
    rows: list[str] = []

    def add(name: str, count: int = 1) -> str:
        if name in rows and count == 2:
            raise ToolError("add", f"{name} is there already")
        rows.append(name)
        return f"row {len(rows)}"

    assert assert_boundary(registry([add]), {"add": {"name": "Ann", "count": 2}}).holds
    assert assert_boundary(registry([add]), {"add": {"name": "Ann", "count": 3}}).holds


def test_null_refused_by_a_model_validator_is_refused_in_every_shape():
    class Change(BaseModel):
        ident: int
        name: str = ""
        size: int = 0

        @model_validator(mode="after")
        def changes_something(self) -> "Change":
            if not self.name and not self.size:
                raise ValueError("nothing to change")
            return self

    def change(request: Annotated[Change, Unpack()]) -> str:
        return request.model_dump_json()

    # Without `size`, which null means, no field is left to change.
    assert assert_boundary(registry([change]), {"change": {"ident": 1, "size": 2}}).holds


def test_assert_boundary_in_a_running_loop_asks_for_check_boundary():
    async def work() -> Report:
        with pytest.raises(RuntimeError, match="await check_boundary"):
            assert_boundary(registry(SHOP))
        return await check_boundary(registry(SHOP))

    assert asyncio.run(work()).holds


# --- losses of an unprotected server
# --------------------------------------------------------------------------------


def test_the_silent_losses_of_an_unprotected_server_are_found():
    told = failure(sdk_server(SHOP, protected=False))
    assert top(told, 14) == snapshot("""\
shop (mcp_sdk, not protected): 129 of 137 calls broke the law of the boundary
     26 lost: the tool ran, and something that was sent got lost
      8 guessed: the tool ran, but the call had to be refused
     14 refused: a call with one meaning was refused
     69 unexplained: refused, but without the call to send instead
     12 unrecorded: read correctly, but the result does not record the right repair
To change: toolbooth.protect(server) puts every tool behind the boundary.

find_orders  envelope: the whole tool call as its arguments (wire measurements: double-wrapped, 2026
    sent      {"name": "find_orders", "arguments": {"query": "text", "limit": 21, "since": "2026-11-
    the law   refused: unknown-key at $.name, nested-wrapper at $.arguments
    happened  the tool ran and 4 keys were lost ($.name, $.arguments.query, $.arguments.limit, $.arg

find_orders  wrapper/data: all fields inside one more object (nested-wrapper report, 2026-11-15)\
""")
    assert top(told[told.rindex("  correct  json") :], 3) == snapshot("""\
  correct  json text  scalar text  left out  client keys  wrappers  names  levels  types  numbers
place_order  3/5      0/10       0/4          0/20      0/7          0/23      0/5    0/2     0/11
find_orders  · 5      0/1        0/1          0/7       0/5          0/17      0/2    0/2     0/8\
""")


def test_the_silent_losses_of_unprotected_fastmcp_are_found_below_the_top_level():
    report = report_of(fastmcp_server(SHOP, protected=False))
    lost = {each.shape.id: each.happened for each in report.deviations if each.grade == "lost"}
    assert top(lost["unknown-key@$.lines[0]"], 1) == snapshot(
        'the tool ran and 1 key was lost ($.lines[0].zq_unheard_of); it answered {"customer":"text","lines":['
    )
    guessed = {
        f"{each.tool}: {each.shape.kind}" for each in report.deviations if each.grade == "guessed"
    }
    assert guessed == snapshot(
        {
            "find_orders: number-for-date",
            "find_orders: number-text-for-date",
            "find_orders: swallowed",
            "find_orders: true-for-number",
            "place_order: number-for-boolean",
            "place_order: python-boolean",
            "place_order: true-for-number",
            "place_order: yes-for-boolean",
        }
    )


def test_accepted_deviations_are_declared_by_tool_or_by_case():
    server = sdk_server([find_orders], protected=False)
    every = report_of(server).deviations
    some = {f"{each.tool}-{each.shape.id}": "known" for each in every if each.grade == "lost"}
    report = report_of(server, accepted=some)
    assert {each.grade for each in report.accepted} == {"lost"}
    assert len(report.accepted) + len(report.deviations) == len(every)
    assert assert_boundary(server, accepted={"find_orders": "to be protected next week"}).holds


# --- a tool that passes its unit test and breaks on the first real call (argument-shape report) ---------------------


Payload = Annotated[dict[str, Any], Field(examples=[{"due": "2026-11-15T00:00:00Z"}])]
Prices = Annotated[dict, Field(examples=[{"1": 2.5}])]


def remind(payload: Payload, prices: Prices) -> str:
    return f"{payload['due'].isoformat()}: {prices[1]}"


@pytest.mark.parametrize(
    "make",
    [
        registry,
        partial(fastmcp_server, protected=True),
        partial(fastmcp_server, protected=False),
        partial(sdk_server, protected=True),
        partial(sdk_server, protected=False),
    ],
    ids=["toolbooth", "fastmcp-protected", "fastmcp", "mcp_sdk-protected", "mcp_sdk"],
)
def test_a_tool_that_works_only_on_python_objects_is_found(make: Callable[[Tools], Any]):
    assert (
        remind({"due": datetime(2026, 11, 15, tzinfo=UTC)}, {1: 2.5})
        == "2026-11-15T00:00:00+00:00: 2.5"
    )
    told = " ".join(failure(make([remind])).split())
    assert (
        "remind correct: the correct call, as the wire delivers it (ruby-sdk#412, 2026-06-15)"
        in told
    )
    assert "the tool breaks on what the wire delivers" in told
    assert "annotate (datetime, dict[int, str], a model)" in told


def test_failure_report_explains_the_needed_change():
    told = failure(registry([remind]))
    assert top(told, 11) == snapshot("""\
shop (toolbooth): 1 of 54 calls broke the law of the boundary
      1 broken: the tool ran and failed
To change: where the correct call breaks, the tool expects what is never delivered. Values arrive as
  annotation says: a model as that model, not as a dict; without one, dates and the keys of objects
  annotate (datetime, dict[int, str], a model) and test with call_over_wire. If the call makes no se
  give one that does: examples=.

remind  correct: the correct call, as the wire delivers it (ruby-sdk#412, 2026-06-15)
    sent      {"payload": {"due": "2026-11-15T00:00:00Z"}, "prices": {"1": 2.5}}
    the law   passed as it is
    happened  the tool breaks on what the wire delivers: Tool 'remind' failed unexpectedly.\
""")


def test_tool_with_precise_types_holds_the_law():
    class Typed(BaseModel):
        due: datetime

    def remind_typed(payload: Typed, prices: dict[int, float]) -> str:
        return f"{payload.due.isoformat()}: {prices[1]}"

    example = {"remind_typed": {"payload": {"due": "2026-11-15T00:00:00Z"}, "prices": {"1": 2.5}}}
    assert assert_boundary(registry([remind_typed]), example).holds


# --- correct calls ----------------------------------------------------------------------------------------------


class Sized(BaseModel):
    size: int = Field(description="Which sizes there are, nobody says")

    @model_validator(mode="after")
    def exists(self) -> "Sized":
        if self.size < 10**6 or self.size % 999_983:
            raise ValueError("no such size")
        return self


def resize(request: Annotated[Sized, Unpack()]) -> str:
    return "done"


def test_a_tool_for_which_no_call_can_be_made_is_named():
    told = failure(registry([resize, find_orders]))
    assert top(told, 2) == snapshot("""\
shop (toolbooth): 0 of 54 calls broke the law of the boundary
- not called: resize: no correct call could be made from the schema; give one: examples={'resize': {\
""")
    assert assert_boundary(registry([resize]), {"resize": {"size": 1_999_966}}).holds


@pytest.mark.parametrize(
    ("examples", "line"),
    [
        (
            {"find_orders": {"limit": "5"}},
            snapshot(
                "s: the example is not a correct call: $.limit: would have to be repaired (scalar-text)"
            ),
        ),
        (
            {"find_orders": {"query": 5}},
            snapshot(
                "s: the example is not a correct call: $.query: must be text, got an integer 5"
            ),
        ),
        (
            {"find_orders": {"since": date(2026, 11, 15)}},
            snapshot(
                's: the example holds what no client can send: $.since: date is not JSON; a client sends "2026-11-15"'
            ),
        ),
        ({"find_order": {}}, snapshot(": there is an example, but no such tool")),
    ],
    ids=["repaired", "refused", "not-json", "no-such-tool"],
)
def test_incorrect_example_call_is_refused(examples: dict[str, Any], line: str):
    told = failure(registry([find_orders]), examples=examples).splitlines()[1]
    assert told.removeprefix("- not called: find_order") == line


def test_only_a_given_example_call_must_succeed_in_the_tool():
    def fetch(ident: int) -> str:
        raise ToolError("fetch", f"there is no {ident}")

    assert assert_boundary(registry([fetch])).holds
    assert "there is no 7" in failure(registry([fetch]), examples={"fetch": {"ident": 7}})


# --- verdicts that no server here gets
# ------------------------------------------------------------------------------


def log_in(user: str, password: SecretStr) -> str:
    return user


LOG_IN = compile_function(log_in)
LOG_IN_TOOL = ServedTool(name="log_in", contract=LOG_IN, published={}, guarded=True)
LOG_IN_SHAPES = {
    each.id: each for each in agent_shapes(LOG_IN, {"user": "ann", "password": "s3cr3t"})
}


def seen(text: str, problems: tuple[Problem, ...] = (), **more: Any) -> WireResult:
    whole = {
        "text": text,
        "structured": None,
        "repairs": (),
        "corrected": None,
        "is_error": bool(problems),
    }
    raw = {"content": [{"type": "text", "text": text}]}
    return WireResult(**{**whole, "raw": raw, "problems": problems, **more})


@pytest.mark.parametrize(
    ("shape", "result", "verdict"),
    [
        (
            "unknown-key",
            seen("no: s3cr3t", (Problem(code="unknown-key", path=("zq_unheard_of",), message=""),)),
            snapshot(("leaked", "the refusal shows a secret")),
        ),
        (
            "unknown-key",
            seen("no", (Problem(code="invalid", path=(), message=""),)),
            snapshot(("unexplained", "refused, but for invalid at $")),
        ),
        (
            "wrapper/data",
            seen(
                "no",
                (Problem(code="nested-wrapper", path=("data",), message=""),),
                corrected={"user": "ann"},
            ),
            snapshot(("unexplained", 'refused, but it was told to send {"user": "ann"}')),
        ),
        (
            "client-key/_meta",
            seen("bob"),
            snapshot(("changed", "it answered bob, but ann to the correct call")),
        ),
        (
            "client-key/_meta",
            seen("oops", is_error=True),
            snapshot(("broken", "the tool was run with it and failed: oops")),
        ),
        (
            "client-key/_meta",
            seen("no", (Problem(code="unknown-key", path=("_meta",), message=""),)),
            snapshot(("refused", "refused: no")),
        ),
        (
            "client-key/_meta",
            seen("ann"),
            snapshot(("unrecorded", "taken as meant, with nothing in its record")),
        ),
        (
            "number-for-text@$.user",
            seen("5"),
            snapshot(("guessed", "the tool ran on it; it answered 5")),
        ),
    ],
    ids=[
        "leaked",
        "other-problem",
        "other-correction",
        "changed",
        "broken",
        "refused",
        "unrecorded",
        "guessed",
    ],
)
def test_judge_gives_the_expected_verdict(shape: str, result: WireResult, verdict: tuple[str, str]):
    law = LOG_IN_SHAPES[shape].law
    reference = None if law.outcome == "refused" else Reference(result=seen("ann"))
    found = judge(LOG_IN_TOOL, LOG_IN_SHAPES[shape], result, reference)
    assert found is not None
    assert (found.grade, found.happened) == verdict


# --- the example servers ----------------------------------------------------------------------------------------


def loaded(name: str) -> ModuleType:
    """A module of the inventory: its folder is not a package."""
    sys.path.insert(0, str(INVENTORY))
    try:
        spec = importlib.util.spec_from_file_location(name, INVENTORY / f"{name}.py")
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(INVENTORY))


def inventory(folder: Path, *names: str) -> Tools:
    made = loaded("tools").Inventory(
        loaded("store").Store(folder / "inventory.sqlite3", date(2026, 9, 1))
    )
    every = [tool for tool, _ in made.tools()]
    return [tool for tool in every if not names or tool.__name__ in names]


SOME = ("search_products", "create_supplier", "create_purchase_order")


def test_the_inventory_follows_the_law(tmp_path: Path):
    report = assert_boundary(registry(inventory(tmp_path)))
    assert len({case.tool.name for case in report.cases}) == 14


@pytest.mark.parametrize("make", [fastmcp_server, sdk_server])
def test_the_protected_inventory_follows_the_law_on_both_hosts(
    make: Callable[..., Any], tmp_path: Path
):
    assert assert_boundary(make(inventory(tmp_path, *SOME), protected=True)).holds


def test_unprotected_twin_on_the_official_sdk_loses_arguments(tmp_path: Path):
    report = report_of(sdk_server(inventory(tmp_path, *SOME), protected=False))
    lost = {
        each.shape.id: each.happened
        for each in report.deviations
        if each.tool == "search_products" and each.lost > 1
    }
    assert lost["wrapper/data@$.request"].startswith("the tool ran and 8 keys were lost")
    assert (
        "House espresso" in lost["wrapper/data@$.request"]
    )  # all products, although the call asked for tea
