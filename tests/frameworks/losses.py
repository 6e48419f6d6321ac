"""Counts how many of the twelve shapes a framework loses. `python losses.py FRAMEWORK` prints this
for one that has no adapter: Toolbooth is not needed.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
from typing import Any

import shapes
from host import arguments_of


async def losses(host: Any, tool: Any) -> int:
    """How many of the twelve shapes run with other values than they mean."""
    lost = 0
    for arguments, meant in shapes.SHAPES.values():
        shapes.RECEIVED.clear()
        try:
            await host.step(tool, arguments_of(host, json.dumps(arguments).encode()))
        except Exception:
            # A framework that raises has not lost anything: the loop would report it.
            continue
        lost += shapes.is_loss(meant)
    return lost


def main(name: str) -> None:
    host = importlib.import_module(f"drivers.{name}")
    tool = host.tool(shapes.create_contact, "create_contact")
    print(json.dumps({"lost, plain": asyncio.run(losses(host, tool))}))


if __name__ == "__main__":
    main(sys.argv[1])
