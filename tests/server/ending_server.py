"""A server whose tools misbehave: `python ending_server.py [STOP [DRAIN]]`, in seconds. A tool that
hangs first writes to standard error that it does.
"""

import asyncio
import contextlib
import signal
import sys
import threading

from toolbooth import Context, ToolRegistry
from toolbooth.server.stdio import serve

registry = ToolRegistry("ending")


class Own(BaseException):
    pass


RAISED = {
    "KeyboardInterrupt": KeyboardInterrupt,
    "SystemExit": SystemExit,
    "GeneratorExit": GeneratorExit,
    "CancelledError": asyncio.CancelledError,
    "Own": Own,
}


@registry.tool
def raise_(kind: str) -> str:
    raise RAISED[kind]("from a tool")


@registry.tool
async def raise_async(kind: str) -> str:
    raise RAISED[kind]("from a tool")


@registry.tool
async def raise_in_a_task(kind: str) -> str:
    async def fail() -> None:
        raise RAISED[kind]("from a task")

    await asyncio.gather(fail(), asyncio.Event().wait())
    return "never"


@registry.tool
async def leave_a_task(kind: str) -> str:
    async def fail() -> None:
        raise RAISED[kind]("from a task")

    left = asyncio.ensure_future(fail())
    await asyncio.wait([left])
    return "left"


@registry.tool
def big(size: int) -> str:
    return "x" * size


def hanging() -> None:
    print("hanging", file=sys.stderr, flush=True)


@registry.tool
def hang() -> str:
    hanging()
    threading.Event().wait()
    return "never"


@registry.tool
def hang_with_progress(ctx: Context) -> str:
    ctx.progress(1)
    return hang()


@registry.tool(timeout=0.01)
def hang_too_long() -> str:
    hanging()
    threading.Event().wait()
    return "never"


@registry.tool
async def hang_async() -> str:
    """Ignores cancellation."""
    hanging()
    while True:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()


@registry.tool
async def hang_the_loop() -> str:
    hanging()
    threading.Event().wait()
    return "never"


@registry.tool
def read(fifo: str) -> str:
    """Hangs until a client has written."""
    hanging()
    with open(fifo) as pipe:
        return pipe.read()


_go_on = threading.Event()


@registry.tool
def hold() -> str:
    hanging()
    _go_on.wait()
    return "held"


@registry.tool
def let_go() -> str:
    _go_on.set()
    return "let go"


def exit_on_signal(number: int, frame: object) -> None:
    sys.exit(9)


if __name__ == "__main__":
    signal.signal(signal.SIGUSR1, exit_on_signal)
    stop, drain = [*map(float, sys.argv[1:]), 5.0, 60.0][:2]
    serve(registry, stop_seconds=stop, drain_seconds=drain)
