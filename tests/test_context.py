"""Context: progress, the caller and `_meta`, as a tool sees them under each transport."""

import asyncio
from typing import Any

from toolbooth import Context, compile_function, handle_bytes, handle_bytes_async

DONE = {"content": [{"type": "text", "text": "done"}], "isError": False}


def test_progress_goes_where_the_caller_asked_for_it():
    told: list[Any] = []

    def tool(steps: int, ctx: Context) -> str:
        for step in range(steps):
            ctx.progress(step + 1, steps, f"step {step + 1}")
        ctx.progress(0.5)
        return "done"

    context = Context(report=lambda *said: told.append(said))
    assert handle_bytes(compile_function(tool), b'{"steps": 2}', context=context) == DONE
    assert told == [(1, 2, "step 1"), (2, 2, "step 2"), (0.5, None, None)]


def test_progress_can_be_awaited_when_the_client_did_not_request_it():
    async def tool(ctx: Context) -> str:
        await ctx.progress(1, 2)
        return "done"

    assert asyncio.run(handle_bytes_async(compile_function(tool), b"{}")) == DONE


def test_a_tool_sees_who_calls_and_the_requests_own_meta():
    def tool(ctx: Context) -> list[Any]:
        return [ctx.client, dict(ctx.meta)]

    contract = compile_function(tool)
    result = handle_bytes(contract, b"{}", context=Context(client="me", meta={"trace": 1}))
    assert result == {"content": [{"type": "text", "text": '["me",{"trace":1}]'}], "isError": False}
    assert handle_bytes(contract, b"{}") == {
        "content": [{"type": "text", "text": "[null,{}]"}],
        "isError": False,
    }
