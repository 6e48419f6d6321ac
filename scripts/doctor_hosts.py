"""The part `doctor` of `make long`: the reports of `mcp_doctor` in large projects.

`python scripts/doctor_hosts.py pretix` prints the report of one of them.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial

import hosts_large
from measured import Figures, Part, Step, StepFailed

USERS: Mapping[str, str] = {
    "pretix": "owner@example.org",
    "label_studio": "owner@example.org",
    "nautobot": "owner",
}
"""The user whose list of tools is requested, by project."""

MOST_LINES = 40
WIDTH = 100


def report(host: str) -> Figures:
    """Return the report of the doctor in a project. StepFailed if it does not fit on a screen."""
    hosts_large.set_up(host)
    hosts_large.prepare(host)
    command = ("mcp_doctor", "--as", USERS[host])
    printed = hosts_large.run(host, hosts_large.state(host), "-m", "django", *command)
    lines = printed.splitlines()
    if len(lines) > MOST_LINES or max(map(len, lines)) > WIDTH:
        raise StepFailed(f"more than {MOST_LINES} lines or {WIDTH} columns\n{printed}")
    package = hosts_large.HOSTS[host][0].replace("==", " ")
    return {"package": package, "command": " ".join(command), "lines": lines}


def steps() -> dict[str, Step]:
    return {host: partial(report, host) for host in USERS}


def sections(figures: Mapping[str, Figures]) -> str:
    """Each report as printed, below the name of its project."""
    found: list[str] = []
    for each in figures.values():
        printed = "\n".join(each["lines"])
        console = f"```text\n$ manage.py {each['command']}\n{printed}\n```\n"
        found.append(f"## {each['package']}\n\n{len(each['lines'])} lines:\n\n{console}")
    return "\n".join(found)


PART = Part(
    name="doctor",
    title="The doctor's reports on large projects",
    about="""The report of `manage.py mcp_doctor` in three large open-source projects, as it is
printed. Each has the two lines that add the gateway, and few other settings of it
(`tests/hosts_large/`). The run fails if a report has more than 40 lines, if one is wider than 100
columns, or if the doctor finds an error.""",
    covers=(
        "scripts/doctor_hosts.py",
        "scripts/hosts_large.py",
        "src/toolbooth/django/management/**/*.py",
        "tests/hosts_large/*/*_settings.py",
        "tests/hosts_large/*/*_urls.py",
    ),
    packages=("pydantic",),
    steps=steps,
    table=sections,
)


if __name__ == "__main__":
    for name in sys.argv[1:] or USERS:
        print("\n".join(report(name)["lines"]), flush=True)
