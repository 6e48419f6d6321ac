"""Measurements that are too long for `make check`: `make long`, or `make long ARGS=matrix` for one.

Each writes `docs/measured/<name>.json` and a page made from it. If one is stopped, it continues
there the next time; its state is in `.long/`. `--list` names them, `--stale` names the results
whose files have changed since.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Mapping
from pathlib import Path

from long_parts import PARTS
from measured import Folders, Part, StepFailed, run, stale

ROOT = Path(__file__).resolve().parent.parent


def main(words: list[str], parts: Mapping[str, Part] = PARTS, root: Path = ROOT) -> int:
    parser = _parser()
    chosen = parser.parse_args(words)
    folders = Folders(root)
    if chosen.stale:
        warn_of_stale(parts, folders)
        return 0
    if chosen.list:
        for part in parts.values():
            print(f"  {part.name:<12}{part.title}")
        return 0
    for name in chosen.parts:
        if name not in parts:
            parser.error(_unknown(name, parts))
    return _run_parts([parts[name] for name in chosen.parts or parts], folders, fresh=chosen.fresh)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="long.py", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help="all parts by default")
    parser.add_argument("--fresh", action="store_true", help="start again from the beginning")
    parser.add_argument("--list", action="store_true", help="print the parts")
    parser.add_argument("--stale", action="store_true", help="name results that are out of date")
    return parser


def _unknown(name: str, parts: Mapping[str, Part]) -> str:
    near = difflib.get_close_matches(name, parts, n=1, cutoff=0.0)
    return f"no part {name!r}; did you mean {near[0]!r}? There are {', '.join(parts)}."


def _run_parts(parts: list[Part], folders: Folders, *, fresh: bool) -> int:
    for part in parts:
        try:
            written = run(part, folders, tell, fresh=fresh)
        except StepFailed as error:
            tell(f"{error}\n{part.name}: make long ARGS={part.name} goes on from here")
            return 1
        tell(f"{part.name}: wrote {written.relative_to(folders.root)} and its page")
    return 0


def warn_of_stale(parts: Mapping[str, Part], folders: Folders) -> None:
    """A warning and the command for each result that is out of date. It is only a reminder."""
    for part in parts.values():
        why = stale(part, folders)
        if why is not None:
            print(f"warning: {why}\n         measure again: make long ARGS={part.name}")


def tell(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
