"""Separate environments under `.bench/` for packages that must not be installed beside Toolbooth.
Each is made once.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONSTRAINTS = ROOT / "constraints.txt"
"""Packages without a version get those of Toolbooth's own environment: the same Django and the same
REST framework.
"""


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
