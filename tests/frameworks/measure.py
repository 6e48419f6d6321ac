"""The figures of one framework as JSON: `python measure.py FRAMEWORK`. The suite has the bars."""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
import warnings
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import shapes  # noqa: E402
import wire_tools  # noqa: E402
from corpus import Corpus  # noqa: E402
from host import arguments_of, line_of  # noqa: E402
from losses import losses  # noqa: E402

from toolbooth import protect  # noqa: E402

CALLS = 1_500


async def corpus(host: Any) -> dict[str, int]:
    """How many calls of the corpus are answered as by a registry, and the others by reason."""
    compared = Corpus(host)
    rows = [await compared.row(call) for call in wire_tools.calls()]
    return dict(Counter("as a registry" if row is None else row for row in rows))


async def cost(host: Any) -> dict[str, float]:
    """Microseconds of CPU time of a correct call in the tool step, plain and protected in turn."""
    make = getattr(host, "plain", host.tool)
    plain = make(shapes.create_contact, "create_contact")
    tools = {"plain": plain, "protected": protect(plain)}
    body = json.dumps(shapes.WHOLE).encode()
    call: Callable[[Any, Any], Awaitable[Any]] = getattr(host, "bare_step", host.step)
    spent: dict[str, list[float]] = {name: [] for name in tools}
    for _ in range(CALLS):
        for name, tool in tools.items():
            arguments = arguments_of(host, body)
            start = process_time()
            await call(tool, arguments)
            spent[name].append(process_time() - start)
            shapes.RECEIVED.clear()
    return {name: round(median(each) * 1e6, 1) for name, each in spent.items()}


def main(name: str) -> None:
    warnings.simplefilter("ignore")
    host = importlib.import_module(f"drivers.{name.replace('-', '_')}")
    make = getattr(host, "plain", host.tool)
    plain = make(shapes.create_contact, "create_contact")
    found = {
        "lost, plain": asyncio.run(losses(host, plain)),
        "lost, protected": asyncio.run(losses(host, protect(plain))),
        "corpus": asyncio.run(corpus(host)),
        "lines": {reason: line_of(where) for reason, where in host.ROWS.items()},
        "cost": asyncio.run(cost(host)),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
