"""Each provider's SDK in its own environment in `.oracle/`: some need MCP's SDK 1.x, some 2.x."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".oracle"
CONVERTERS = Path(__file__).with_name("converters")

PINS: dict[str, tuple[str, ...]] = {
    "openai": ("openai==3.49.0",),
    "openai_agents": ("openai-agents==0.24.0", "openai==3.49.0", "websockets==16.1.1"),
    "anthropic": ("anthropic[mcp]==2.8.0",),
    "google_genai": ("google-genai==3.1.0", "mcp"),
    "langchain": ("langchain-mcp-adapters==0.3.2", "langchain-core==1.7.2", "mcp==1.30.0"),
    "pydantic_ai": (
        "pydantic-ai-slim[anthropic,google,openai]==2.66.0",
        "anthropic==2.8.0",
        "google-genai==3.1.0",
        "openai==3.49.0",
    ),
}
"""The pins of each runner (converters/with_*.py). Other packages have the versions of
constraints.txt.
"""

NAME = re.compile(r"[\w.-]+")


def set_up() -> None:
    """Make the environments that do not exist yet."""
    missing = [runner for runner in PINS if _stamp(runner) != _wanted(runner)]
    if missing:
        print(f"Installing {', '.join(missing)} into .oracle (a minute or two, once)", flush=True)
    with ThreadPoolExecutor() as pool:
        list(pool.map(_install, missing))


def convert(runner: str, tools: dict[str, Any]) -> dict[str, Any]:
    """The result for each tool, by converter and then by tool."""
    command = [str(_python(runner)), str(CONVERTERS / f"with_{runner}.py")]
    done = subprocess.run(
        command, input=json.dumps(tools), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{runner} broke off:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout)


def _install(runner: str) -> None:
    home = HOME / runner
    shutil.rmtree(home, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True)
    (home / "constraints.txt").write_text(_wanted(runner))
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        _python(runner),
        "install",
        "-qq",
        "--disable-pip-version-check",
    ]
    # Not compiled in advance: most of the modules are never imported.
    subprocess.run(
        [*pip, "--no-compile", "-c", home / "constraints.txt", *PINS[runner]], check=True
    )
    (home / "ready").write_text(_wanted(runner))


def _python(runner: str) -> Path:
    return HOME / runner / "bin" / "python"


def _stamp(runner: str) -> str:
    """The list of installed packages. It is written last, so that an interrupted install starts
    again.
    """
    file = HOME / runner / "ready"
    return file.read_text() if file.exists() else ""


def _wanted(runner: str) -> str:
    own = {_name(pin) for pin in PINS[runner] if "==" in pin}
    rest = (ROOT / "constraints.txt").read_text().splitlines()
    pinned = [re.sub(r"\[.*\]", "", pin) for pin in PINS[runner] if "==" in pin]
    return "\n".join([*pinned, *(line for line in rest if _name(line) not in own)])


def _name(requirement: str) -> str:
    return NAME.match(requirement)[0].lower().replace("_", "-")
