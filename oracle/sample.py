"""The input of the converters: the constructs and the tools of the examples, each with its calls.

Run this file to see them as JSON, by group and name.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from constructs import models, rules, values
from constructs.construct import Construct
from example_calls import EXAMPLES
from fastmcp import FastMCP

from toolbooth import Contract, ToolInputError, compile_function, input_schema
from toolbooth.adapters.connect import load, served
from toolbooth.boundary.accept import accept_bytes

ROOT = Path(__file__).resolve().parent.parent

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One published tool, with right and wrong calls."""

    name: str
    portable: Json
    plain: Json | None
    """The `inputSchema` of the same function on FastMCP; None if it has no such form."""
    valid: Sequence[Json]
    invalid: Sequence[Json]


def samples() -> dict[str, list[Sample]]:
    """The tools by group: the constructs, and each example. Raises ValueError if a call that is
    listed as right is not, or the other way round.
    """
    return {
        "constructs": list(_constructs()),
        **{target.split("/")[1]: list(_tools(target)) for target in EXAMPLES},
    }


def _constructs() -> Iterator[Sample]:
    every = [
        each
        for module in (values, models, rules)
        for each in vars(module).values()
        if isinstance(each, Construct)
    ]
    plain = {tool["name"]: tool["inputSchema"] for tool in asyncio.run(_on_fastmcp(every))}
    # Open dicts without an example cause warnings; some constructs have them on purpose.
    with warnings.catch_warnings(action="ignore"):
        contracts = [(each, compile_function(each.function)) for each in every]
    for each, contract in contracts:
        yield _checked(contract, plain.get(contract.name), each.valid, each.invalid)


async def _on_fastmcp(constructs: Sequence[Construct]) -> list[Json]:
    server = FastMCP("plain")
    for each in constructs:
        if not each.ours:
            server.tool(each.function)
    return await served(server).tools()


def _tools(target: str) -> Iterator[Sample]:
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"INVENTORY_DB": f"{folder}/inventory", "RECON_DB": f"{folder}/recon"}
        registry = load(str(ROOT / target))
    for name, tool in registry.tools.items():
        if name not in EXAMPLES[target]:
            raise ValueError(f"{name} of {target} has no calls in oracle/example_calls.py")
        yield _checked(tool.contract, None, EXAMPLES[target][name], [])


def _checked(
    contract: Contract, plain: Json | None, valid: Sequence[Json], invalid: Sequence[Json]
) -> Sample:
    for call in valid:
        if told := _told(contract, call):
            raise ValueError(f"{contract.name}: {call} should pass, but {told}")
    for call in invalid:
        if not _told(contract, call):
            raise ValueError(
                f"{contract.name}: {call} should be refused or repaired, but it passes"
            )
    return Sample(
        name=contract.name,
        portable=input_schema(contract),
        plain=plain,
        valid=valid,
        invalid=invalid,
    )


def _told(contract: Contract, call: Json) -> str:
    """The repairs and problems of a call at the boundary: none if it is right."""
    try:
        _, repairs = accept_bytes(contract, json.dumps(call).encode())
    except ToolInputError as error:
        return str(error)
    return f"{repairs} were made" if repairs else ""


if __name__ == "__main__":
    shown = {
        group: {each.name: asdict(each) for each in found} for group, found in samples().items()
    }
    json.dump(shown, sys.stdout, indent=1)
