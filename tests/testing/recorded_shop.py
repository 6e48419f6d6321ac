"""A shop whose calls are recorded, and a recording of them."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from toolbooth import ToolRegistry
from toolbooth.testing import call_over_wire, record_calls

RUNS: list[str] = []


class Line(BaseModel):
    sku: str
    quantity: int = 1


def place_order(
    customer: str, lines: list[Line], limit: int = 10, price: Decimal | None = None
) -> str:
    RUNS.append("place_order")
    return "placed"


def place_order_now(
    customer: str, lines: list[Line], limit: int = 20, price: float | None = None
) -> str:
    RUNS.append("place_order")
    return "placed"


class Data(BaseModel):
    customer: str
    lines: list[Line]


def registry_of(**tools: Any) -> ToolRegistry:
    registry = ToolRegistry("shop")
    for name, function in tools.items():
        registry.tool(name=name)(function)
    return registry


def recorded(
    path: Path, registry: ToolRegistry, *calls: tuple[str, Any], arguments: Any = "whole"
) -> Path:
    """Return a recording of calls that were really made."""
    record_calls(registry, path, arguments=arguments)
    for tool, sent in calls:
        call_over_wire(registry, tool, sent)
    return path


def lines(path: Path) -> list[Any]:
    return [{**json.loads(line), "at": "…"} for line in path.read_text().splitlines()]


ORDER = {"customer": "Ann", "lines": [{"sku": "A1"}]}
