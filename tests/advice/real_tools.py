"""The input schemas of tools that we did not write, without their sentences: `real_tools.jsonl`.
`scripts/real_tools.py` writes it.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("real_tools.jsonl")


@dataclass(frozen=True, slots=True)
class RealTool:
    source: str
    version: str
    name: str
    schema: Mapping[str, Any]


def real_tools() -> Iterator[RealTool]:
    with FILE.open(encoding="utf-8") as lines:
        for line in lines:
            yield RealTool(**json.loads(line))
