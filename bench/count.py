"""Count the instructions of fixed calls: `make count`.

Time depends on what else a machine does; the number of instructions does not. Valgrind counts them,
and two runs differ by less than 1 %. `results/count.json` has the accepted figures. The run
fails if a scenario needs over 5 % more; `--accept REASON` writes the new figures, with the reason.

Figures are compared only between the same versions of CPython and of the compiled packages. If
they differ, or if Valgrind or a C compiler is missing, a line reports it and nothing is compared.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parent
RESULT = HERE / "results" / "count.json"
ALLOWED = 1.05
PACKAGES = ("pydantic", "pydantic_core", "jiter", "orjson", "jsonschema-rs")

MARKS = """
#include <valgrind/callgrind.h>
void begin(void) { CALLGRIND_ZERO_STATS; }
void end(const char *name) { CALLGRIND_DUMP_STATS_AT(name); }
"""
"""The C functions that run before and after each scenario, so that Valgrind writes a file for
it.
"""
IMPORT = "import of the server"
SERVER = "from toolbooth import ToolRegistry; import toolbooth.server.stdio"

HOW_TO_ACCEPT = "To accept these figures: make count ARGS='--accept \"REASON\"'"

Counts = dict[str, int]
"""Instructions per call, by scenario."""


class CannotCount(Exception):
    """Something that is needed is missing on this machine."""


# --- counting -----------------------------------------------------------------------------------


def counted() -> Counts:
    """Count every scenario. Raises CannotCount."""
    for program in ("valgrind", "cc"):
        if shutil.which(program) is None:
            raise CannotCount(f"{program} is not installed")
    with TemporaryDirectory() as folder:
        marks = _compiled_marks(Path(folder))
        return {**_calls(Path(folder), marks), IMPORT: _import(Path(folder))}


def _compiled_marks(folder: Path) -> Path:
    source, library = folder / "marks.c", folder / "marks.so"
    source.write_text(MARKS, encoding="utf-8")
    command = ["cc", "-shared", "-fPIC", "-o", library, source]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise CannotCount(f"the C compiler failed:\n{done.stderr}")
    return library


def _calls(folder: Path, marks: Path) -> Counts:
    words = (str(HERE / "count_calls.py"), str(marks))
    # The first run writes byte code. Modules that are compiled in the same process need up to 5 %
    # more instructions.
    subprocess.run(
        [sys.executable, *words], check=True, env=_environment(), stdout=subprocess.DEVNULL
    )
    printed = _valgrind(folder / "calls", *words)
    lines = (line.split(" ", 1) for line in printed)
    # Valgrind numbers the files that it writes.
    return {
        name: _total(folder / f"calls.{number}") // int(calls)
        for number, (calls, name) in enumerate(lines, start=1)
    }


def _import(folder: Path) -> int:
    """The instructions of a whole process, less those of the bare interpreter."""
    for name, code in (("bare", "pass"), ("server", SERVER)):
        # The first run writes byte code, so that the second one reads it.
        subprocess.run([sys.executable, "-c", code], check=True, env=_environment())
        _valgrind(folder / name, "-c", code)
    return _total(folder / "server") - _total(folder / "bare")


def _valgrind(output: Path, *words: str) -> list[str]:
    """Run Python under Valgrind. Returns its output as lines."""
    tool = ("valgrind", "--tool=callgrind", "--quiet", f"--callgrind-out-file={output}")
    done = subprocess.run(
        [*tool, sys.executable, *words],
        env=_environment(),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def _environment() -> dict[str, str]:
    """The environment of the process. It must be the same in each run, because it is in its
    memory.
    """
    paths = os.pathsep.join((str(ROOT / "src"), str(HERE)))
    return {"PATH": os.defpath, "PYTHONHASHSEED": "0", "PYTHONPATH": paths}


def _total(written: Path) -> int:
    found = re.search(r"^summary: (\d+)$", written.read_text(encoding="utf-8"), re.MULTILINE)
    if found is None:
        raise CannotCount(f"Valgrind wrote no summary into {written.name}")
    return int(found[1])


# --- comparing ----------------------------------------------------------------------------------


def versions() -> dict[str, str]:
    """The versions on which the figures depend, besides this repository."""
    found = {package: version(package) for package in PACKAGES}
    return {"python": platform.python_version(), "machine": platform.machine(), **found}


def dearer(before: Mapping[str, int], now: Mapping[str, int]) -> list[str]:
    """The scenarios that need too many instructions, and those that have no accepted figure."""
    new = [name for name in now if name not in before]
    worse = [name for name in now if name in before and now[name] > before[name] * ALLOWED]
    return new + worse


def table(before: Mapping[str, int], now: Mapping[str, int]) -> str:
    lines = [f"{'instructions per call':<46}{'accepted':>14}{'now':>14}{'':>9}"]
    for name, count in now.items():
        accepted = before.get(name)
        change = "" if accepted is None else f"{count / accepted - 1:+.1%}"
        shown = "" if accepted is None else f"{accepted:,}"
        lines.append(f"  {name:<44}{shown:>14}{count:>14,}{change:>9}")
    return "\n".join(lines)


def accepted_result() -> dict[str, Any]:
    if not RESULT.exists():
        return {"versions": {}, "instructions": {}, "accepted": []}
    return json.loads(RESULT.read_text(encoding="utf-8"))


def accept(result: Mapping[str, Any], now: Counts, reason: str) -> None:
    """Write the new figures and the reason for accepting them."""
    day = datetime.now(UTC).date().isoformat()
    history = [*result["accepted"], {"date": day, "reason": reason}]
    made = {"versions": versions(), "instructions": now, "accepted": history}
    RESULT.write_text(json.dumps(made, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--accept", metavar="REASON", help="write the new figures")
    chosen = parser.parse_args(words)
    result = accepted_result()
    try:
        now = counted()
    except CannotCount as error:
        print(f"count: nothing was counted, {error}")
        return 0
    print(table(result["instructions"], now))
    if chosen.accept:
        accept(result, now, chosen.accept)
        return 0
    if result["versions"] != versions():
        print(f"count: not compared; the accepted figures are for {result['versions']}")
        print(HOW_TO_ACCEPT)
        return 0
    too_many = dearer(result["instructions"], now)
    if too_many:
        print(f"count: over 5 % more instructions, or new: {'; '.join(too_many)}")
        print(HOW_TO_ACCEPT)
    return 1 if too_many else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
