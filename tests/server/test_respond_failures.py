"""Refused calls and failing tools: the reply to the caller, and the log."""

import asyncio
import gc
import json
import logging
import subprocess
import sys
import threading
import weakref
from contextlib import suppress
from typing import Any

import pytest

from asgi_requests import Connection
from respond_messages import META, error_of, message, result_of, routed, shop, text, tool_call
from toolbooth import ToolError, ToolRegistry, handle_arguments
from toolbooth.boundary.run import end_threads
from toolbooth.content import Text
from toolbooth.server.asgi import app
from toolbooth.server.respond import respond
from toolbooth.server.running import MOST_RUNNING

# --- refusals -----------------------------------------------------------------------------------------------------


def test_a_refusal_is_the_boundarys_own_result():
    registry = shop()
    arguments = {"data": {"a": 1}}
    expected = handle_arguments(registry.tools["add"].contract, arguments)
    assert expected["isError"] is True
    assert result_of(registry, tool_call("add", arguments)) == expected


@pytest.mark.parametrize(
    ("headers", "status"), [(None, 200), ({}, 200), (routed("tools/call", "add"), 400)], ids=str
)
def test_refusal_is_a_json_rpc_error_with_errors_protocol(headers, status):
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
def test_arguments_of_any_type_get_the_boundarys_own_answer(arguments):
    registry = shop()
    expected = handle_arguments(registry.tools["add"].contract, arguments)
    assert result_of(registry, tool_call("add", arguments)) == expected


def test_arguments_may_be_absent():
    registry = ToolRegistry("shop")
    registry.tool(name="seven")(lambda: 7)
    body = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "seven"}}'
    assert result_of(registry, body) == text("7")


# --- tools that fail
# ---------------------------------------------------------------------------------------------------


def test_a_tool_error_is_shown_with_its_details():
    registry = ToolRegistry("shop")

    @registry.tool
    def buy() -> str:
        raise ToolError("buy", "sold out", {"left": 0})

    expected = {
        **text("Tool 'buy' failed: sold out", error=True),
        "structuredContent": {"details": {"left": 0}},
    }
    assert result_of(registry, tool_call("buy")) == expected


@pytest.mark.parametrize(
    "details", [object(), "\ud800", {object(): 1}], ids=["object", "surrogate", "key"]
)
def test_a_tool_error_is_shown_even_if_its_details_cannot_be_serialised(details, caplog):
    registry = ToolRegistry("shop")

    @registry.tool
    def buy() -> str:
        raise ToolError("buy", "sold out", details)

    assert result_of(registry, tool_call("buy")) == text("Tool 'buy' failed: sold out", error=True)
    assert {record.getMessage() for record in caplog.records} == {
        "tool 'buy' failed with details that cannot be sent"
    }


def test_tool_error_keeps_large_integers_and_replaces_surrogates():
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


class Own(BaseException):
    pass


def raise_own() -> str:
    raise Own


async def raise_own_async() -> str:
    raise Own


def close() -> str:
    raise GeneratorExit


async def close_async() -> str:
    raise GeneratorExit


async def await_cancelled() -> str:
    task = asyncio.ensure_future(asyncio.Event().wait())
    task.cancel()
    await task
    return "never"


RAISING = [
    raise_key_error,
    raise_key_error_async,
    raise_stop,
    leave,
    leave_async,
    raise_own,
    raise_own_async,
    close,
    close_async,
    await_cancelled,
]


@pytest.mark.parametrize("function", RAISING, ids=lambda function: function.__name__)
def test_any_other_exception_is_masked_and_logged(function, caplog):
    registry = ToolRegistry("shop")
    registry.tool(name="buy")(function)
    assert result_of(registry, tool_call("buy")) == text(
        "Tool 'buy' failed unexpectedly.", error=True
    )
    logged = {(record.name, record.levelno, record.getMessage()) for record in caplog.records}
    assert logged == {("toolbooth.server", logging.ERROR, "tool 'buy' failed")}
    assert all(record.exc_info for record in caplog.records)


INTERRUPTED = """
import asyncio, signal, sys
from toolbooth import ToolRegistry
from toolbooth.server.asgi import app
from toolbooth.server.respond import respond, respond_sync

registry = ToolRegistry("shop")

@registry.tool
def sync() -> str:
    raise KeyboardInterrupt

@registry.tool(name="async")
async def later() -> str:
    raise KeyboardInterrupt

tool, loop = sys.argv[1:]
body = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"%s"}}' % tool.encode()
signal.signal(signal.SIGINT, signal.default_int_handler)
if loop == "run":
    reply = asyncio.run(respond(registry, body))
elif loop == "own":
    reply = asyncio.new_event_loop().run_until_complete(respond(registry, body))
else:
    reply = respond_sync(registry, body)
print(reply.body.decode())
"""


@pytest.mark.parametrize(
    ("tool", "loop", "is_answered"),
    [
        ("sync", "run", True),
        ("async", "run", True),
        ("sync", "own", True),
        # Here it may be the user's Ctrl-C, which is not handled anywhere else.
        ("async", "own", False),
        ("sync", "none", False),
    ],
)
def test_a_keyboard_interrupt_ends_the_process_only_if_it_can_be_the_users(tool, loop, is_answered):
    command = [sys.executable, "-W", "ignore", "-c", INTERRUPTED, tool, loop]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ("failed unexpectedly" in done.stdout) == is_answered
    assert (done.returncode == 0) == is_answered
    assert done.stderr.rstrip().endswith(
        "KeyboardInterrupt"
    )  # it is in the log or in the traceback


def test_threads_are_ended_and_later_tools_get_new_ones():
    registry = ToolRegistry("shop")
    registry.tool(name="where")(lambda: threading.current_thread().name)
    for _ in range(2):
        assert "toolbooth" in result_of_async(registry, tool_call("where"))
        end_threads()
        end_threads()
        assert not any(each.name.startswith("toolbooth") for each in threading.enumerate())


def result_of_async(registry: ToolRegistry, body: bytes) -> str:
    return asyncio.run(respond(registry, body)).body.decode()


def test_an_async_tool_is_cancelled_at_its_time_limit():
    registry = ToolRegistry("shop", timeout=0.01)
    stopped = []

    @registry.tool
    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.append(True)

    expected = text(
        "Tool 'wait' failed: it did not answer within 0.01 s; it was stopped", error=True
    )
    assert result_of(registry, tool_call("wait")) == expected
    assert stopped == [True, True]


def test_a_sync_tool_may_still_complete_after_its_time_limit():
    registry = ToolRegistry("shop")
    let_go = threading.Event()

    @registry.tool(timeout=0.01)
    def wait() -> None:
        let_go.wait(30)

    async def ask() -> Any:
        async with asyncio.timeout(10):
            return json.loads((await respond(registry, tool_call("wait"))).body)["result"]

    try:
        expected = text(
            "Tool 'wait' failed: it did not answer within 0.01 s; it may still complete", error=True
        )
        assert asyncio.run(ask()) == expected
    finally:
        let_go.set()


@pytest.mark.parametrize("limit", [None, 30], ids=["unlimited", "limited"])
def test_a_tools_own_timeout_error_is_not_reported_as_the_time_limit(limit, caplog):
    registry = ToolRegistry("shop", timeout=limit)

    @registry.tool
    async def wait() -> None:
        raise TimeoutError("the database did not answer")

    assert result_of(registry, tool_call("wait")) == text(
        "Tool 'wait' failed unexpectedly.", error=True
    )


def test_a_tool_within_its_time_limit_is_not_affected():
    assert result_of(shop(timeout=30), tool_call("add", {"a": 1})) == text("1")


def test_hanging_sync_tools_do_not_block_the_others():
    registry = shop()
    let_go = threading.Event()
    started = threading.Semaphore(0)

    @registry.tool
    def hang() -> None:
        started.release()
        let_go.wait(30)

    async def ask() -> Any:
        async with asyncio.timeout(20):
            hanging = [
                asyncio.ensure_future(respond(registry, tool_call("hang"))) for _ in range(20)
            ]
            for _ in range(MOST_RUNNING):  # the others wait for their turn
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
    """A type that JSON does not have."""


UNSENDABLE = {
    "object": Unsendable(),
    "nested-object": {"a": [Unsendable()]},
    "half-surrogate": "\ud800",
    "half-surrogate-in-content": [Text(text="a"), Text(text="\ud800")],
}


@pytest.mark.parametrize("value", UNSENDABLE.values(), ids=UNSENDABLE)
def test_unsendable_value_reports_that_the_tool_ran(value, caplog):
    registry = ToolRegistry("shop")
    records = []
    registry.observe(records.append)
    registry.tool(name="buy")(lambda: value)
    words = (
        "The tool ran, but its result cannot be sent. Before you call it again, check what it did."
    )
    assert result_of(registry, tool_call("buy")) == text(words, error=True)
    assert {record.getMessage() for record in caplog.records} == {
        "the result of tool 'buy' cannot be sent"
    }
    assert [record.outcome for record in records] == ["failed", "failed"]


def test_an_internal_error_of_the_server_is_answered_and_logged(caplog):
    class Odd:
        @classmethod
        def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
            raise LookupError("no schema today")

    registry = ToolRegistry("shop")

    @registry.tool
    def odd() -> Odd:
        return Odd()

    error = {"code": -32603, "message": "the server failed; see its log"}
    assert error_of(registry, message("tools/list"), {}) == (200, 1, error)
    assert {record.getMessage() for record in caplog.records} == {"the server failed"}


@pytest.mark.parametrize("kind", ["sync", "in_a_thread", "in_time"])
@pytest.mark.parametrize("over_http", [False, True], ids=["respond", "http"])
def test_values_of_a_failed_tool_are_freed_without_the_garbage_collector(kind, over_http):
    kept = []

    class Rows:
        pass

    def fail() -> None:
        rows = Rows()
        kept.append(weakref.ref(rows))
        raise ToolError("fail", "no rows")

    async def in_a_thread() -> None:
        await asyncio.to_thread(fail)

    async def in_time() -> None:
        rows = Rows()
        kept.append(weakref.ref(rows))
        with suppress(TimeoutError):
            async with asyncio.timeout(0):
                await asyncio.Event().wait()

    async def scene() -> None:
        registry = ToolRegistry("shop")
        registry.tool({"sync": fail, "in_a_thread": in_a_thread, "in_time": in_time}[kind])
        body = tool_call(next(iter(registry.tools)), {})
        if over_http:
            await Connection(body).run(app(registry))
        else:
            await asyncio.ensure_future(respond(registry, body))
        end_threads()

    gc.collect()
    gc.disable()
    try:
        asyncio.run(scene())
        assert [each() for each in kept] == [None]
    finally:
        gc.enable()
