"""Measure Toolbooth against Pydantic alone: `make bench`.

Prints a table; writes `results/core.json` and `results/core.png`. A missed goal is said, not failed: figures from a
loaded machine are no reason to stop anybody.

`python bench/run.py --profile flat` shows where the time goes instead; `--profile records "typo in one key"` for a
wrong call.
"""

from __future__ import annotations

import argparse
import gc
import json
import platform
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from plot import draw
from rows import Row, measured
from stages import profile

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("toolbooth", "pydantic", "pydantic-core", "jiter", "orjson", "jsonschema-rs")
TITLES = {
    "exact": "Exact calls",
    "refused": "Refused calls",
    "repaired": "Repaired calls",
    "registration": "Registration of one tool (against TypeAdapter + json_schema)",
    "import": "Import (against pydantic)",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--profile", nargs="+", metavar=("CASE", "CALL"), help="show where the time of a call goes")
    chosen = parser.parse_args().profile
    gc.freeze()  # what the bench itself has loaded is nobody's cost
    if chosen:
        profile(chosen[0], " ".join(chosen[1:]))
        return
    rows = _measure()
    _print_table(rows)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "core.json").write_text(json.dumps(_record(rows), indent=2, ensure_ascii=False) + "\n")
    draw(rows, RESULTS / "core.png")


def _measure() -> list[Row]:
    made: list[Row] = []
    for name, rows in measured():
        print(f"\r\033[Kmeasured {name}", end="", file=sys.stderr, flush=True)
        made += rows
    print("\r\033[K", end="", file=sys.stderr)
    return made


def _print_table(rows: list[Row]) -> None:
    for group, title in TITLES.items():
        print(f"\n{title:<52}{'×':>6}  {'spread':<13}{'µs':>9}{'floor µs':>10}{'goal':>7}")
        for row in (row for row in rows if row.group == group):
            spread = f"{row.low:.2f}–{row.high:.2f}"
            goal = "" if row.goal is None else f"{row.goal:g}"
            verdict = {None: "", True: "  met", False: "  MISSED"}[row.met]
            times = f"{row.seconds * 1e6:>9,.1f}{row.floor_seconds * 1e6:>10,.1f}"
            print(f"  {row.name:<50}{row.ratio:>6.2f}  {spread:<13}{times}{goal:>7}{verdict}")
    missed = [row for row in rows if row.met is False]
    with_goals = sum(row.goal is not None for row in rows)
    print(f"\n{with_goals - len(missed)} of {with_goals} goals met.")
    for row in missed:
        print(f"  missed: {row.group} {row.name}: {row.ratio:.2f}, goal {row.goal:g}")


def _record(rows: list[Row]) -> dict[str, Any]:
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "packages": {package: version(package) for package in PACKAGES},
        "unit": "ratio of CPU time to the floor of the same run; low and high: quartiles of the ratio within a round",
        "rows": [{**_rounded(asdict(row)), "met": row.met} for row in rows],
    }


def _rounded(figures: dict[str, Any]) -> dict[str, Any]:
    """Four digits: more would be noise."""
    return {name: float(f"{each:.4g}") if isinstance(each, float) else each for name, each in figures.items()}


if __name__ == "__main__":
    main()
