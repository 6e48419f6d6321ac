"""How many calls of one tool run at a time, which calls wait, and which are refused because the
tool is busy.
"""

import asyncio
import json
import logging
import threading
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BaseModel

from toolbooth import ToolRegistry
from toolbooth.server import run_limited, running
from toolbooth.server.respond import respond


class Gate:
    """A tool that hangs until it is released, and counts the calls in it."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.lock = threading.Lock()
        self.inside = 0
        self.most = 0

    def __call__(self) -> str:
        with self.lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
        self.open.wait(30)
        with self.lock:
            self.inside -= 1
        return "done"


async def ask(registry: ToolRegistry, tool: str, **arguments: Any) -> Any:
    params = {"name": tool, "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return json.loads((await respond(registry, json.dumps(message).encode())).body)["result"]


def served(gate: Gate, **settings: Any) -> ToolRegistry:
    registry = ToolRegistry("booth", **settings)

    @registry.tool
    def hang() -> str:
        return gate()

    @registry.tool
    def add(a: int, b: int) -> int:
        return a + b

    return registry


async def until(happened: Any) -> None:
    """Let others run until the condition holds."""
    async with asyncio.timeout(20):
        while not happened():
            await asyncio.sleep(0)


def test_a_tool_that_hangs_holds_a_part_of_the_threads_and_others_still_run():
    async def scene() -> None:
        gate = Gate()
        registry = served(gate)
        calls = [asyncio.ensure_future(ask(registry, "hang")) for _ in range(70)]
        await until(lambda: gate.inside == running.MOST_RUNNING)
        assert (await ask(registry, "add", a=1, b=2))["content"][0]["text"] == "3"
        gate.open.set()
        results = await asyncio.gather(*calls)
        assert [each["content"][0]["text"] for each in results] == ["done"] * 70
        assert gate.most == running.MOST_RUNNING

    asyncio.run(scene())


def test_too_many_waiting_calls_are_refused_with_a_retry_time(monkeypatch):
    monkeypatch.setattr(running, "MOST_WAITING", 3)

    async def scene() -> None:
        gate = Gate()
        registry = served(gate, max_running=2)
        calls = [asyncio.ensure_future(ask(registry, "hang")) for _ in range(5)]
        await until(lambda: gate.inside == 2)
        assert await ask(registry, "hang") == {
            "content": [
                {
                    "type": "text",
                    "text": "Busy: 'hang' is called too often at the moment. "
                    "Nothing was done; try again in 1 s.",
                }
            ],
            "isError": True,
            "_meta": {"toolbooth": {"code": "busy", "retry_after": 1}},
        }
        gate.open.set()
        await asyncio.gather(*calls)

    asyncio.run(scene())


def test_a_call_that_timed_out_counts_until_its_thread_ends():
    async def scene() -> None:
        gate = Gate()
        registry = served(gate, max_running=1, timeout=0.05)
        first = await ask(registry, "hang")
        assert "did not answer within 0.05 s" in first["content"][0]["text"]
        second = await ask(registry, "hang")
        assert second["_meta"]["toolbooth"]["code"] == "busy"
        gate.open.set()
        await until(lambda: gate.inside == 0)
        gate.open.set()
        assert (await ask(registry, "hang"))["content"][0]["text"] == "done"

    asyncio.run(scene())


def test_a_waiting_call_that_is_cancelled_does_not_run():
    async def scene() -> None:
        gate = Gate()
        registry = served(gate, max_running=1)
        first = asyncio.ensure_future(ask(registry, "hang"))
        await until(lambda: gate.inside == 1)
        waiting = asyncio.ensure_future(ask(registry, "hang"))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        gate.open.set()
        await first
        assert (await ask(registry, "hang"))["content"][0]["text"] == "done"

    asyncio.run(scene())


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_a_call_that_takes_long_is_logged_once(monkeypatch, caplog, is_async):
    monkeypatch.setattr(run_limited, "_LONG", 0.0)
    gate = Gate()
    registry = served(gate)

    @registry.tool
    async def wait() -> str:
        while not gate.open.is_set():
            await asyncio.sleep(0)
        return "done"

    async def scene() -> None:
        name = "wait" if is_async else "hang"
        with caplog.at_level(logging.WARNING, "toolbooth.server"):
            calls = [asyncio.ensure_future(ask(registry, name)) for _ in range(2)]
            await until(lambda: len(caplog.records) == 2)
            gate.open.set()
            await asyncio.gather(*calls)
        assert {each.message for each in caplog.records} == {
            f"a call of tool {name!r} has been running for more than a minute"
        }

    asyncio.run(scene())


def test_a_thread_that_outlives_its_event_loop_ends_without_error():
    gate = Gate()
    registry = served(gate, timeout=0.05)
    asyncio.run(ask(registry, "hang"))
    gate.open.set()
    asyncio.run(until(lambda: gate.inside == 0))


def test_time_limit_none_removes_the_registrys_limit():
    registry = ToolRegistry("booth", timeout=0.05)

    @registry.tool(timeout=None)
    def patient() -> str:
        return "done"

    @registry.tool(timeout=1.0, max_running=3)
    def own() -> str:
        return "done"

    @registry.tool
    def usual() -> str:
        return "done"

    found = {name: (tool.timeout, tool.max_running) for name, tool in registry.tools.items()}
    assert found == {"patient": (None, 16), "own": (1.0, 3), "usual": (0.05, 16)}


class Left(BaseModel):
    below: "Left | Right | None" = None


class Right(BaseModel):
    below: "Left | Right | None" = None
    other: int = 0


def test_unions_that_contain_each_other_are_accepted_in_a_thread():
    registry = ToolRegistry("booth")
    names: list[str] = []

    def check(tree: Left | Right) -> Left | Right:
        names.append(threading.current_thread().name)
        return tree

    @registry.tool
    def plant(tree: Annotated[Left | Right, AfterValidator(check)]) -> str:
        return type(tree).__name__

    async def scene() -> None:
        planted = await ask(registry, "plant", tree={"below": {"other": 1}})
        assert planted["content"][0]["text"] == "Left"

    asyncio.run(scene())
    assert [name.startswith("toolbooth-reading") for name in names] == [True]


def test_a_large_body_is_read_and_accepted_in_a_thread():
    registry = ToolRegistry("booth")
    names: list[str] = []

    def check(texts: list[str]) -> list[str]:
        names.append(threading.current_thread().name)
        return texts

    @registry.tool
    def checked(texts: Annotated[list[str], AfterValidator(check)]) -> int:
        return len(texts)

    async def scene() -> None:
        large = ["x" * 100] * 1_000
        assert (await ask(registry, "checked", texts=large))["content"][0]["text"] == "1000"
        assert (await ask(registry, "checked", texts=["x"]))["content"][0]["text"] == "1"

    asyncio.run(scene())
    assert [name.startswith("toolbooth-reading") for name in names] == [True, False]
