"""Real third-party projects, described and called completely, over REST and over MCP.

Each is installed from its package into an environment of its own in `.hosts/`, with Toolbooth from
this working tree. There tests/hosts/checks.py runs; then the official client calls a project on a
real server. `ARGS=ara` chooses one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".hosts"
TESTS = ROOT / "tests" / "hosts"

HOSTS = {
    "ara": ("ara[server]",),
    "oscar": ("django-oscar-api", "django-oscar[sorl-thumbnail]"),
    "libraries": (
        "adrf",
        "django-filter",
        "django-guardian",
        "django-polymorphic",
        "django-rest-knox",
        "django-rest-polymorphic",
        "django-simple-history",
        "django-taggit",
        "djangorestframework-camel-case",
        "djangorestframework-guardian",
        "djangorestframework-jsonapi",
        "djoser",
        "drf-extra-fields",
        "drf-flex-fields",
        "drf-nested-routers",
        "drf-standardized-errors",
        "drf-writable-nested",
        "pillow",
    ),
}
"""The packages of each; the last is a small project of our own that is made of them. Versions:
constraints.txt.
"""

OWN = ("-e", f"{ROOT}[django,testing]", "gunicorn")


def main(chosen: list[str]) -> int:
    hosts = chosen or list(HOSTS)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(set_up, hosts))
        done = dict(zip(hosts, pool.map(check, hosts), strict=True))
    for host, run in done.items():
        print(f"{host}\n{run.stdout}", flush=True)
    if any(run.returncode for run in done.values()):
        return 1
    command = [sys.executable, "-m", "pytest", "-q", str(TESTS / "clients.py")]
    return subprocess.run(command, check=False).returncode if "ara" in hosts else 0


def python(host: str) -> Path:
    return HOME / host / "bin" / "python"


def environment(host: str) -> dict[str, str]:
    """The environment variables with which a program runs as this project."""
    paths = os.pathsep.join(map(str, (TESTS / host, TESTS, ROOT / "tests" / "hosts_both")))
    return {**os.environ, "DJANGO_SETTINGS_MODULE": f"{host}_settings", "PYTHONPATH": paths}


def check(host: str) -> subprocess.CompletedProcess[str]:
    command = [python(host), TESTS / "run.py"]
    return subprocess.run(
        command,
        cwd=ROOT,
        env=environment(host),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def set_up(host: str) -> None:
    """Make the environment once. It is made again if the requirements change, or if an install
    was interrupted.
    """
    home = HOME / host
    files = (ROOT / "constraints.txt", TESTS / "constraints.txt", ROOT / "pyproject.toml")
    wanted = "\n".join([*HOSTS[host], *(file.read_text() for file in files)])
    ready = home / "ready"
    if ready.exists() and ready.read_text() == wanted:
        return
    print(f"Installing {host} into .hosts (a minute or two, once)", flush=True)
    shutil.rmtree(home, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True)
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        python(host),
        "install",
        "-qq",
        "--disable-pip-version-check",
    ]
    pins = [word for file in files[:2] for word in ("-c", file)]
    subprocess.run([*pip, "--no-compile", *pins, *HOSTS[host], *OWN], check=True)
    (home / "state").mkdir()
    ready.write_text(wanted)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
