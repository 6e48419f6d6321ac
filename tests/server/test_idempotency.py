"""Idempotency keys of a registry's tools, kept in memory."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict

from toolbooth import Context, ContractError, ToolRegistry
from toolbooth.content import Image
from toolbooth.server.controls import Controls, check_plain
from toolbooth.server.idempotency import MemoryStore, canonical, with_fields
from toolbooth.server.respond import respond_sync


def orders(**options):
    """Return a registry with a tool that counts its orders."""
    registry = ToolRegistry("shop", **options)
    made = []

    @registry.tool(idempotency_key=True)
    def order(sku: str, count: int = 1) -> dict:
        if sku == "none":
            raise ValueError
        made.append(sku)
        return {"order": len(made), "count": count}

    return registry, made


def value(result):
    assert result["isError"] is False, result
    return result["structuredContent"]


def codes(result):
    assert result["isError"] is True
    return [(each["code"], each["path"]) for each in result["_meta"]["toolbooth"]["problems"]]


def test_a_call_is_made_once_for_each_key():
    registry, made = orders()
    first = value(registry.call("order", {"sku": "a", "idempotency_key": "k"}))
    until = datetime.fromisoformat(first["retry_until"])
    assert first == {"order": 1, "count": 1, "retry_until": first["retry_until"]}
    assert timedelta(hours=23) < until - datetime.now(UTC) <= timedelta(hours=24)
    again = value(registry.call("order", {"idempotency_key": "k", "sku": "a"}))
    assert again == {**first, "repeated": True}
    assert value(registry.call("order", {"sku": "a"})) == {"order": 2, "count": 1}
    assert value(registry.call("order", {"sku": "a", "idempotency_key": "l"}))["order"] == 3
    assert made == ["a", "a", "a"]


def test_a_key_reused_with_other_arguments_is_refused():
    registry, made = orders()
    value(registry.call("order", {"sku": "a", "idempotency_key": "k"}))
    refused = registry.call("order", {"sku": "b", "idempotency_key": "k"})
    assert codes(refused) == [("key-reused", "$.idempotency_key")]
    assert made == ["a"]


def test_a_call_that_fails_leaves_its_key_free():
    registry, made = orders()
    for _ in range(2):
        assert registry.call("order", {"sku": "none", "idempotency_key": "k"})["isError"] is True
    value(registry.call("order", {"sku": "a", "idempotency_key": "k"}))
    assert made == ["a"]


def test_the_key_is_listed_and_never_reaches_the_function():
    registry, _ = orders()
    listed = registry.tools["order"].listing()["inputSchema"]["properties"]
    assert listed["idempotency_key"] == {"type": "string", "minLength": 1, "maxLength": 128}
    assert codes(registry.call("order", {"sku": "a", "idempotency_key": None})) == [
        ("wrong-type", "$.idempotency_key")
    ]


def test_the_key_can_be_in_meta():
    registry, made = orders()

    def call(arguments, meta):
        params = {"name": "order", "arguments": arguments, "_meta": meta}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return orjson.loads(respond_sync(registry, orjson.dumps(message)).body)["result"]

    meta = {"toolbooth": {"idempotency_key": "k"}}
    first = value(call({"sku": "a"}, meta))
    assert value(call({"sku": "a", "idempotency_key": "k"}, meta)) == {**first, "repeated": True}
    assert codes(call({"sku": "a", "idempotency_key": "l"}, meta)) == [
        ("invalid", "$.idempotency_key")
    ]
    assert codes(call({"sku": "a"}, {"toolbooth": {"idempotency_key": ""}})) == [
        ("invalid", "$._meta.toolbooth.idempotency_key")
    ]
    assert made == ["a"]


def test_a_tool_that_takes_no_key_refuses_one_in_meta_unless_it_only_reads():
    registry = ToolRegistry("shop")
    made = []

    @registry.tool(idempotent=True)
    def order(sku: str) -> dict:
        made.append(sku)
        return {}

    @registry.tool(annotations={"readOnlyHint": True})
    def count() -> dict:
        return {"count": len(made)}

    def call(name, arguments):
        meta = {"toolbooth": {"idempotency_key": "k"}}
        params = {"name": name, "arguments": arguments, "_meta": meta}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return orjson.loads(respond_sync(registry, orjson.dumps(message)).body)["result"]

    refused = call("order", {"sku": "a"})
    assert codes(refused) == [("invalid", "$._meta.toolbooth.idempotency_key")]
    assert "is not accepted by this tool" in refused["content"][0]["text"]
    assert value(call("count", {})) == {"count": 0}
    assert value(registry.call("order", {"sku": "a"})) == {}


def test_caller_function_separates_idempotency_keys_of_users():
    registry, made = orders(caller=lambda context: context.meta["user"])
    for user in ("ann", "bob", "ann"):
        context = Context(meta={"user": user})
        registry.call("order", {"sku": "a", "idempotency_key": "k"}, context=context)
    assert made == ["a", "a"]


def test_async_tools_accept_keys():
    registry = ToolRegistry("shop")
    made = []
    events = {}

    @registry.tool(idempotency_key=True)
    async def order(sku: str) -> dict:
        made.append(sku)
        events["inside"].set()
        await events["go on"].wait()
        if sku == "none":
            raise ValueError
        return {"order": len(made)}

    async def both(sku):
        events.update({"inside": asyncio.Event(), "go on": asyncio.Event()})
        sent = {"sku": sku, "idempotency_key": sku}
        first = asyncio.ensure_future(registry.call_async("order", sent))
        await events["inside"].wait()
        second = asyncio.ensure_future(registry.call_async("order", sent))
        events["go on"].set()
        return await first, await second, await registry.call_async("order", {"sku": "free"})

    first, second, free = asyncio.run(both("a"))
    assert value(second) == {**value(first), "repeated": True}
    assert value(free) == {"order": 2}
    failed, again, _ = asyncio.run(both("none"))
    assert (failed["isError"], again["isError"]) == (True, True)
    refused = asyncio.run(registry.call_async("order", {"sku": "b", "idempotency_key": "a"}))
    assert codes(refused) == [("key-reused", "$.idempotency_key")]
    assert made == ["a", "free", "none", "none", "free"]


class Announced:
    """A store that signals when a call begins to wait for its key, and when it releases it."""

    def __init__(self):
        self.store = MemoryStore()
        self.waits, self.go_on, self.released = (threading.Event() for _ in range(3))

    @contextmanager
    def claim(self, use):
        self.waits.set()
        assert self.go_on.wait(10)
        try:
            with self.store.claim(use) as claim:
                yield claim
        finally:
            self.released.set()


def test_a_call_that_is_cancelled_while_it_waits_for_its_key_leaves_it_free():
    keys = Announced()
    registry = ToolRegistry("shop", keys=keys)
    made = []

    @registry.tool(idempotency_key=True)
    async def order() -> dict:
        made.append("order")
        return {}

    async def cancelled_and_again():
        sent = {"idempotency_key": "k"}
        first = asyncio.ensure_future(registry.call_async("order", sent))
        assert await asyncio.to_thread(keys.waits.wait, 10)
        first.cancel()
        await asyncio.wait([first])
        keys.go_on.set()
        assert await asyncio.to_thread(keys.released.wait, 10)
        return first, await registry.call_async("order", sent)

    first, second = asyncio.run(cancelled_and_again())
    assert "repeated" not in value(second)
    assert made == ["order"]
    assert first.done()


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")
    number: int


def test_results_of_every_kind_are_kept():
    registry = ToolRegistry("kinds")

    @registry.tool(idempotency_key=True)
    def text() -> str:
        return "done"

    @registry.tool(idempotency_key=True)
    def rows():
        yield 1
        yield 2

    @registry.tool(idempotency_key=True)
    def closed() -> Closed:
        return Closed(number=2)

    @registry.tool(idempotency_key=True)
    def picture() -> Image:
        return Image(data=b"png", mime_type="image/png")

    @registry.tool(idempotency_key=True)
    async def later():
        yield {"a": 1}

    def twice(name):
        sent = {"idempotency_key": "k"}
        return [registry.call(name, sent)["content"][0] for _ in range(2)]

    assert [each["text"] for each in twice("text")] == ["done", "done"]
    assert [each["text"] for each in twice("rows")] == ["[1,2]", "[1,2]"]
    assert [each["text"] for each in twice("closed")] == ['{"number":2}', '{"number":2}']
    assert [each["text"] for each in twice("later")] == ['[{"a":1}]', '[{"a":1}]']
    first, second = twice("picture")
    assert (first["type"], second["type"]) == ("image", "text")
    assert "not kept" in second["text"]


def test_a_tool_with_an_idempotency_key_parameter_cannot_accept_keys():
    registry = ToolRegistry("shop")
    with pytest.raises(ContractError, match="one of the tool's own arguments"):

        @registry.tool(idempotency_key=True)
        def order(idempotency_key: str) -> None:
            """An order."""


def test_authors_can_mark_a_tool_idempotent():
    registry = ToolRegistry("shop")

    @registry.tool(idempotent=True, annotations={"title": "Set"})
    def set_price(price: int) -> None:
        """Set it."""

    assert registry.tools["set_price"].listing()["annotations"] == {
        "title": "Set",
        "idempotentHint": True,
    }


# --- the store ---


def test_a_call_that_still_runs_is_waited_for_and_then_in_flight():
    registry = ToolRegistry("shop", keys=MemoryStore(wait_seconds=0.05))
    inside, go_on = threading.Event(), threading.Event()

    @registry.tool(idempotency_key=True)
    def order() -> dict:
        inside.set()
        assert go_on.wait(10)
        return {}

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(registry.call, "order", {"idempotency_key": "k"})
        assert inside.wait(10)
        second = registry.call("order", {"idempotency_key": "k"})
        go_on.set()
        value(first.result(10))
    assert second == {
        "content": [
            {
                "type": "text",
                "text": (
                    "In flight: a call of 'order' with this key has not ended yet. "
                    "Nothing was done; send the same call with the same key again in 1 s."
                ),
            }
        ],
        "isError": True,
        "_meta": {"toolbooth": {"code": "in-flight", "retry_after": 1}},
    }
    assert value(registry.call("order", {"idempotency_key": "k"}))["repeated"] is True


def test_keys_expire_and_the_oldest_are_dropped_above_the_limit():
    registry, made = orders(keys=MemoryStore(kept_seconds=0))
    for _ in range(2):
        registry.call("order", {"sku": "a", "idempotency_key": "k"})
    assert made == ["a", "a"]

    registry, made = orders(keys=MemoryStore(most=2))
    for key in ("a", "b", "c", "c", "b", "a"):
        registry.call("order", {"sku": key, "idempotency_key": key})
    assert made == ["a", "b", "c", "a"]


KEYS = st.sampled_from("ab")
SKUS = st.sampled_from(["x", "y", "none"])


@given(calls=st.lists(st.tuples(KEYS, SKUS), max_size=20))
@settings(max_examples=50, deadline=None)
def test_any_sequence_of_calls_runs_once_for_each_key(calls):
    registry, made = orders()
    known = {}
    for key, sku in calls:
        result = registry.call("order", {"sku": sku, "idempotency_key": key})
        if key in known and known[key] != sku:
            assert codes(result) == [("key-reused", "$.idempotency_key")]
        elif key in known:
            assert value(result)["repeated"] is True
        elif not result["isError"]:
            known[key] = sku
    assert made == list(known.values())


# --- a bug must not lose a key ---


def test_a_write_that_does_not_handle_its_preview_or_key_is_not_made():
    for asked in (Controls(preview=True), Controls(idempotency_key="k")):
        with pytest.raises(RuntimeError, match="reached the plain write"):
            check_plain(asked, has_key=False)
    check_plain(Controls(idempotency_key="k"), has_key=True)
    check_plain(Controls(), has_key=False)


# --- arguments that are the same ---


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": 1}, {"a": 1.0}, True),
        ({"a": Decimal("1.50")}, {"a": 1.5}, True),
        ({"a": 10**40}, {"a": 10**40 + 1}, False),
        ({"a": 10**40}, {"a": Decimal("1e40")}, True),
        ({"a": Decimal(f"0.{'1' * 30}1")}, {"a": Decimal(f"0.{'1' * 30}2")}, False),
        ({"a": Decimal(f"{'1' * 40}.5")}, {"a": Decimal(f"{'1' * 40}.6")}, False),
        ({"a": Decimal("1e10000000")}, {"a": Decimal("2e10000000")}, False),
        ({"a": Decimal("1e-10000000")}, {"a": 0}, False),
        ({"a": Decimal("-1e-3")}, {"a": Decimal("1e-3")}, False),
        ({"a": -0.0}, {"a": 0}, True),
        ({"a": 1200}, {"a": 12}, False),
        ({"a": float("inf")}, {"a": "inf"}, False),
        ({"a": 1}, {"a": "1"}, False),
        ({"a": 1}, {"a": True}, False),
        ({"a": "n1"}, {"a": 1}, False),
        ({"a": None}, {}, False),
        ({"a": [1, 2]}, {"a": [2, 1]}, False),
    ],
)
def test_arguments_are_equal_if_their_json_has_the_same_meaning(one, other, same):
    assert (canonical(one) == canonical(other)) is same


@pytest.mark.parametrize(
    ("receipt", "expected"),
    [
        (b"{}", b'{"repeated":true}'),
        (b'{"a":1}', b'{"a":1,"repeated":true}'),
        (b'{"repeated":3}', b'{"repeated":3}'),
        (b"[1]", b"[1]"),
        (
            b'{"a":123456789012345678901234567890}',
            b'{"a":123456789012345678901234567890,"repeated":true}',
        ),
    ],
)
def test_the_repeated_mark_is_added_to_objects_without_such_a_field(receipt, expected):
    assert with_fields(receipt, {"repeated": True}) == expected
