"""The server of the part `memory` of `make long`."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from toolbooth import ToolRegistry, Unpack

registry = ToolRegistry("memory")


class Line(BaseModel):
    sku: Annotated[str, Field(examples=["A1"])]
    quantity: int = 1


class Order(BaseModel):
    customer: Annotated[str, Field(examples=["Ann"])]
    lines: Annotated[list[Line], Field(examples=[[{"sku": "A1"}]])]


@registry.tool
async def add(left: int, right: int) -> int:
    """Add two numbers."""
    return left + right


@registry.tool
def place_order(order: Annotated[Order, Unpack()]) -> dict[str, int]:
    """Place an order."""
    return {"pieces": sum(line.quantity for line in order.lines)}


@registry.tool
def fail(reason: Annotated[str, Field(examples=["no stock"])]) -> str:
    """Fail."""
    raise RuntimeError(reason)
