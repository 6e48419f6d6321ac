"""Resolves large third-party Django projects together with `toolbooth[django]`, as pip does.

Nothing is installed: pip finds and reports the versions that fit both. The run fails if there are
none for a project.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from measured import Figures, Step, StepFailed

ROOT = Path(__file__).resolve().parent.parent
HOSTS = ("pretix==2026.8.0", "label-studio==1.23.2", "nautobot==3.2.7")
SHOWN = (
    "django",
    "djangorestframework",
    "drf-spectacular",
    "django-filter",
    "pydantic",
    "orjson",
    "jiter",
    "jsonschema-rs",
)


def steps() -> dict[str, Step]:
    return {host: partial(_resolved, host) for host in HOSTS}


def _resolved(host: str) -> Figures:
    """The versions that pip would install, and the number of packages."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = (sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check")
        options = ("--dry-run", "--ignore-installed", "--report", str(report))
        done = subprocess.run(
            [*command, *options, host, f"{ROOT}[django]"], capture_output=True, text=True
        )
        if done.returncode:
            raise StepFailed(done.stdout + done.stderr)
        installed = json.loads(report.read_text(encoding="utf-8"))["install"]
    found = [each["metadata"] for each in installed]
    versions = {re.sub(r"[-_.]+", "-", each["name"]).lower(): each["version"] for each in found}
    return {"packages": len(versions), "versions": {name: versions.get(name) for name in SHOWN}}


def main() -> int:
    for host, step in steps().items():
        try:
            print(host, json.dumps(step(), indent=2), flush=True)
        except StepFailed as error:
            print(f"{host} and toolbooth[django] have no versions in common\n{error}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
