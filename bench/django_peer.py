"""frisian-mcp, the strongest other gateway, in an environment of its own: `.bench/frisian`."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".bench" / "frisian"
PYTHON = HOME / "bin" / "python"
READY = HOME / "ready"
"""Written last, with what was installed: a change, or an install that broke off, starts anew."""

VERSION = "1.1.1"
PACKAGES = (f"frisian-mcp=={VERSION}", "Django", "djangorestframework", "django-filter", "gunicorn")
CONSTRAINTS = ROOT / "constraints.txt"
"""Everything else as for Toolbooth: the same Django, the same REST framework."""


def set_up() -> None:
    """Install it, once."""
    wanted = "\n".join((*PACKAGES, CONSTRAINTS.read_text()))
    if READY.exists() and READY.read_text() == wanted:
        return
    shutil.rmtree(HOME, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", HOME], check=True)
    pip = [sys.executable, "-m", "pip", "--python", PYTHON, "install", "-qq", "--disable-pip-version-check"]
    subprocess.run([*pip, "-c", CONSTRAINTS, *PACKAGES], check=True)
    READY.write_text(wanted)
