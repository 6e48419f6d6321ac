"""A server for real transports: `python shop_server.py (stdio|PORT) [protocol]`."""

import asyncio
import subprocess
import sys
import threading
from typing import Any

import uvicorn
from pydantic import BaseModel

from toolbooth import Context, ToolError, ToolRegistry
from toolbooth.server.asgi import app
from toolbooth.server.stdio import serve

registry = ToolRegistry("shop", instructions="Order tea.", page_size=5)


class Address(BaseModel):
    street: str
    zip: str


class Customer(BaseModel):
    name: str
    address: Address


class Receipt(BaseModel):
    customer: Customer
    lines: list[dict[str, int]]


@registry.tool
def order(customer: Customer, lines: list[dict[str, int]]) -> Receipt:
    """Order for a customer."""
    return Receipt(customer=customer, lines=lines)


@registry.tool
async def count(to: int, ctx: Context) -> str:
    """Count and say so."""
    for done in range(1, to + 1):
        await ctx.progress(done, to, f"step {done}")
    return "done"


@registry.tool
def loud(words: str) -> str:
    """Write to standard output in every way there is, and read standard input."""
    print(words)
    sys.stdout.write(words)
    subprocess.run([sys.executable, "-c", f"print({words!r}); input()"], stderr=subprocess.DEVNULL)
    return words


@registry.tool
async def wait(ctx: Context) -> str:
    """Wait to be cancelled."""
    ctx.progress(1)
    try:
        await asyncio.Event().wait()
    finally:
        _seen.append("cancelled")
    return "never"


_seen: list[str] = []
_let_go = threading.Event()


@registry.tool
def seen() -> list[str]:
    """Return the outcome of the calls before this one."""
    return _seen


@registry.tool
def hold() -> str:
    """Wait for `let_go`."""
    _let_go.wait(30)
    return "held"


@registry.tool
def let_go() -> str:
    """End every `hold`."""
    _let_go.set()
    return "let go"


@registry.tool
def fail() -> str:
    """Fail as a tool does."""
    raise ToolError("fail", "out of tea")


@registry.tool
def crash() -> str:
    """Fail as a tool does not."""
    raise RuntimeError("secret")


def main(transport: str, errors: Any = "result") -> None:
    registry.errors = errors
    if transport == "stdio":
        serve(registry)
    else:
        uvicorn.run(app(registry), port=int(transport), log_level="warning")


if __name__ == "__main__":
    main(*sys.argv[1:])
