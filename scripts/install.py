"""Run `pip install` and show its progress: one line that changes on a terminal, a line per package
in a pipe.

Every argument is passed on to pip. If pip fails, all of its output is printed.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from time import monotonic

ERASE = "\r\x1b[K"


def steps(output: Iterator[str], kept: list[str]) -> Iterator[str]:
    """Show each step of pip briefly. Every line is kept."""
    packages = 0
    for line in output:
        kept.append(line)
        words = line.split()
        if words[:1] == ["Collecting"]:
            packages += 1
            yield f"{packages:3} collecting {words[1]}"
        elif words[:2] == ["Installing", "collected"]:
            yield f"installing {len(words[3:])} packages"


def main() -> int:
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check"]
    command += ["--progress-bar", "off", *sys.argv[1:]]
    start = monotonic()
    kept: list[str] = []
    shows_one_line = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as pip:
        assert pip.stdout is not None
        for step in steps(pip.stdout, kept):
            if shows_one_line:
                print(f"{ERASE}  {monotonic() - start:3.0f} s  {step}", end="", flush=True)
            else:
                print(f"  {step}", flush=True)
    if shows_one_line:
        print(ERASE, end="")
    if pip.returncode:
        print("".join(kept), end="")
    else:
        print(f"  done in {monotonic() - start:.0f} s")
    return pip.returncode


if __name__ == "__main__":
    sys.exit(main())
