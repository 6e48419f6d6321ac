"""Measure Toolbooth: `make bench`, or `make bench ARGS=server` for one suite.

`core` is compared with Pydantic alone, `hostile` with a limit for the bytes of a body, `server`
with other servers, `django` with REST framework alone, `proxy` with other proxies, and `tokens`
counts the lists and answers of gateways. `web` compares web servers, `growth` numbers of tools, and
`shares` divides a call, a registration and the memory into their parts. Each prints a table,
writes `results/<suite>.json` and `.png`, and puts its figures into its page in `docs/`. A missed
goal is reported but does not fail the run, because the machine may be loaded. With `--quick`, the
suites make few rounds and write nothing: to try that they still run.

`python bench/run.py --profile flat` shows instead which functions take the time; `--profile records
"typo in one key"` does so for a wrong call; `--profile server` for a call through our server, a
registration, and the import; `--profile django` for calls through the gateway and over REST.
"""

from __future__ import annotations

import argparse
import gc
import json
import platform
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import core
import django_suite
import growth
import hostile
import page
import proxy_suite
import server
import shares
import token_suite
import web_servers
from django_start import profile_django
from figures import Row, Suite, goal_of
from measure import be_quick
from plot import draw
from server_stages import profile_server
from stages import profile

RESULTS = Path(__file__).parent / "results"
SUITES = {
    suite.name: suite
    for suite in (
        core.SUITE,
        hostile.SUITE,
        server.SUITE,
        django_suite.SUITE,
        token_suite.SUITE,
        web_servers.SUITE,
        growth.SUITE,
        shares.SUITE,
        proxy_suite.SUITE,
    )
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "suites", nargs="*", metavar="SUITE", help=f"{', '.join(SUITES)}; all by default"
    )
    parser.add_argument(
        "--profile", nargs="+", metavar=("CASE", "CALL"), help="show where the time of a call goes"
    )
    parser.add_argument(
        "--quick", action="store_true", help="only try that the suites run: few rounds, no results"
    )
    chosen = parser.parse_args()
    unknown = [name for name in chosen.suites if name not in SUITES]
    if unknown:
        parser.error(f"no suite {unknown[0]!r}; there are {', '.join(SUITES)}")
    gc.freeze()  # the objects of the bench itself must not slow down the collector
    if chosen.quick:
        be_quick()
    if not chosen.profile:
        for name in chosen.suites or SUITES:
            rows = _measured(SUITES[name])
            if not chosen.quick:
                _write(SUITES[name], rows)
    elif chosen.profile == ["server"]:
        profile_server()
    elif chosen.profile == ["django"]:
        profile_django()
    else:
        profile(chosen.profile[0], " ".join(chosen.profile[1:]))


def _measured(suite: Suite) -> list[Row]:
    rows = suite.measured(_tell)
    _tell("")
    _print_table(suite, rows)
    return rows


def _write(suite: Suite, rows: list[Row]) -> None:
    RESULTS.mkdir(exist_ok=True)
    record = _record(suite, rows)
    path = RESULTS / f"{suite.name}.json"
    path.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n")
    picture = suite.picture or partial(draw, suite)
    drawn = path.with_suffix(".png")
    picture(rows, drawn)
    page.write(suite, rows, drawn, f"{record['date']}, {record['python']}")


def _tell(what: str) -> None:
    print(f"\r\033[K{what}", end="", file=sys.stderr, flush=True)


def _print_table(suite: Suite, rows: list[Row]) -> None:
    for group, title in suite.groups.items():
        print(f"\n{title:<60}{'×':>7}  {'spread':<14}{'cost':>9}{'against':>12}{'goal':>10}")
        for row in (row for row in rows if row.group == group):
            spread = f"{row.low:.2f}–{row.high:.2f}"
            verdict = {None: "", True: "  met", False: "  MISSED"}[row.met]
            costs = f"{row.cost:>9,.1f}{row.floor:>12,.1f} {row.unit}"
            print(
                f"  {row.name:<58}{row.ratio:>7.2f}  {spread:<14}{costs}{goal_of(row):>7}{verdict}"
            )
    missed = [row for row in rows if row.met is False]
    with_goals = sum(row.goal is not None for row in rows)
    print(f"\n{suite.name}: {with_goals - len(missed)} of {with_goals} goals met.")
    for row in missed:
        print(f"  missed: {row.group}, {row.name}: {row.ratio:.2f}, goal {goal_of(row)}")


def _record(suite: Suite, rows: list[Row]) -> dict[str, Any]:
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "packages": dict(_versioned(package) for package in suite.packages),
        "unit": "ratio of a cost to its floor in the same run, "
        "turned over where the goal is at_least; "
        "low and high: quartiles of the ratio within a round",
        "rows": [{**_rounded(asdict(row)), "met": row.met} for row in rows],
    }


def _versioned(package: str) -> tuple[str, str | None]:
    """The name and the version. A package of another environment has its version behind `==`."""
    name, _, pinned = package.partition("==")
    return name, pinned or _version(name)


def _version(package: str) -> str | None:
    """The version; None if it is not installed. Then uvicorn runs every server without it."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _rounded(figures: dict[str, Any]) -> dict[str, Any]:
    """Rounds to four digits, because more would be noise."""
    return {
        name: float(f"{each:.4g}") if isinstance(each, float) else each
        for name, each in figures.items()
    }


if __name__ == "__main__":
    main()
