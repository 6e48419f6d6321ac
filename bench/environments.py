"""Environments of their own under `.bench/`, for what must not stand beside Toolbooth: each is
installed once.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONSTRAINTS = ROOT / "constraints.txt"
"""Everything that is not named in full comes in Toolbooth's own versions: the same Django, the same
REST framework.
"""


def set_up(name: str, *packages: str) -> Path:
    """Install packages, unless they are there; the environment's Python."""
    home = ROOT / ".bench" / name
    ready, python = home / "ready", home / "bin" / "python"
    # Written last, with what was installed: a change, or an install that broke off, starts anew.
    wanted = "\n".join((*packages, CONSTRAINTS.read_text()))
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
    subprocess.run([*pip, "-c", CONSTRAINTS, *packages], check=True)
    ready.write_text(wanted)
    return python
