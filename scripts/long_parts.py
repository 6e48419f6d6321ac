"""The parts of `make long`. How to add one: docs/project/tests.md."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import doctor_hosts
import frameworks
import hosts_large
import joint_install
import kills
import memory
import peers
import quick_bench
import scale
import version_ends
from measured import Figures, Part, Step, StepFailed, markdown_table

ROOT = Path(__file__).resolve().parent.parent
CORES = os.cpu_count() or 1
ENGINE = (
    "src/toolbooth/*.py",
    "src/toolbooth/boundary/**/*.py",
    "src/toolbooth/compile/**/*.py",
    "src/toolbooth/publish/**/*.py",
)


def output_of(*command: str) -> str:
    """Return the output of a Python program, without its warnings. If it fails, StepFailed contains
    all that it has printed.
    """
    done = subprocess.run([sys.executable, *command], cwd=ROOT, text=True, capture_output=True)
    if done.returncode:
        raise StepFailed(done.stdout + done.stderr)
    return done.stdout


# --- matrix -------------------------------------------------------------------------------------

MEASURE = "tests/matrix/measure.py"


def matrix_steps() -> dict[str, Step]:
    return {name: partial(_matrix_run, name) for name in output_of(MEASURE, "--list").split()}


def _matrix_run(name: str) -> Figures:
    printed = output_of(MEASURE, "--run", name)
    found = json.loads(printed)
    if found.pop("unexplained"):
        raise StepFailed(printed)
    return found


def matrix_table(figures: Mapping[str, Figures]) -> str:
    keys = ("calls", "as the corpus says", "stopped by the host", "seconds")
    rows = [(name, *(each[key] for key in keys)) for name, each in figures.items()]
    return markdown_table(("server, transport, revision", *keys), rows)


MATRIX = Part(
    name="matrix",
    title="The shape corpus on every server",
    about="""Every call of the shape corpus (`tests/wire/`) is sent as bytes to our own server, to a
protected FastMCP server and to a protected server of the official SDK: over stdio and HTTP, in the
handshake revision and in 2026-07-28. "As the corpus says" counts the calls with the same values for
the tool, the same repairs and the same problems. "Stopped by the host" counts those that the host's
own reader refuses before any other code sees them; [What differs by host](../reference/hosts.md)
names them. A call that ends in any other way fails the run.""",
    covers=(
        *ENGINE,
        "src/toolbooth/adapters/**/*.py",
        "src/toolbooth/server/**/*.py",
        "tests/matrix/*.py",
        "tests/wire/**/*",
        "tests/*wire*.py",
    ),
    packages=("pydantic", "jiter", "fastmcp", "mcp", "uvicorn"),
    steps=matrix_steps,
    table=matrix_table,
    at_once=CORES,
)


# --- properties ---------------------------------------------------------------------------------

PROPERTIES_FILE = "tests/test_law_properties.py"


def properties_steps() -> dict[str, Step]:
    text = (ROOT / PROPERTIES_FILE).read_text(encoding="utf-8")
    names = re.findall(r"^def (test_\w+)", text, re.MULTILINE)
    return {name: partial(_property, name) for name in names}


def _property(name: str) -> Figures:
    """One property with many examples; Hypothesis reports their number."""
    options = ("-q", "--hypothesis-profile=thorough", "--hypothesis-show-statistics")
    printed = output_of("-m", "pytest", *options, f"{PROPERTIES_FILE}::{name}")
    return {"examples": sum(map(int, re.findall(r"(\d+) passing, ", printed)))}


def properties_table(figures: Mapping[str, Figures]) -> str:
    rows = [(_sentence(name), each["examples"], each["seconds"]) for name, each in figures.items()]
    return markdown_table(("property", "examples", "seconds"), rows)


def _sentence(name: str) -> str:
    return name.removeprefix("test_").replace("_", " ")


PROPERTIES = Part(
    name="properties",
    title="The law on many random calls",
    about="""The properties of [the law](../reference/law.md) on random contracts and random
mutations of valid calls, with twenty times the examples of `make check`. Every example passed: the
run fails if one does not.""",
    covers=(*ENGINE, PROPERTIES_FILE),
    packages=("hypothesis", "pydantic", "jiter", "jsonschema-rs"),
    steps=properties_steps,
    table=properties_table,
    at_once=CORES,
)


# --- schemas ------------------------------------------------------------------------------------

SCHEMAS_FILE = "tests/schemas/measure.py"


def schemas_steps() -> dict[str, Step]:
    return {"draft2020-12": _schemas_run}


def _schemas_run() -> Figures:
    # If the suite had to be downloaded, the output of pip precedes the figures.
    return json.loads(output_of(SCHEMAS_FILE, "--json").splitlines()[-1])


def schemas_table(figures: Mapping[str, Figures]) -> str:
    found = figures["draft2020-12"]
    places = ("property", "arguments")
    counts = found["counts"].items()
    rows = [(name, *(each.get(place, 0) for place in places)) for name, each in counts]
    table = markdown_table(("cases", "as a property", "as the arguments"), rows)
    return table + "".join(f"\n- {name}" for name in found["disagreements"])


SCHEMAS = Part(
    name="schemas",
    title="JSON-Schema-Test-Suite through the boundary",
    about="""Every case of JSON-Schema-Test-Suite 2020-12 is sent as a call, to a tool that has the
schema of the case as its property `v`, and, if the instance is an object, to a tool that has it as
its whole schema. [The law](../reference/law.md#foreign-schemas) explains why a valid instance may
be refused; the cause is found by changing the schema until the instance is accepted. The run fails
if a valid instance is changed, if an invalid one is accepted without a recorded repair, if a valid
one is refused for another cause, or if more than 70 are refused in all. Before these rules, at
commit `d97af32`, 107 were refused: 39 because objects are closed, 19 for `format`, 33 for a keyword
without `type`, and 16 for other causes.""",
    covers=(*ENGINE, "tests/schemas/*.py", "constraints.txt"),
    packages=("jsonschema", "jsonschema-rs", "pydantic", "jiter"),
    steps=schemas_steps,
    table=schemas_table,
)


# --- peers --------------------------------------------------------------------------------------


def peers_table(figures: Mapping[str, Figures]) -> str:
    return markdown_table(("suite", *peers.COLUMNS), peers.rows(figures))


PEERS = Part(
    name="peers",
    title="The hosts' own tests on protected servers",
    about="""The test suites that FastMCP and the official SDK ship with their source, with every
server protected when it is created. A test that fails is run again on a plain server. If it passes
there, it differs, and `tests/peers/differences.toml` has the reason: "law" is the law of the
boundary, which refuses or repairs values that the host coerces, ignores or drops; "wording" is a
refusal in other words; "schema" is another text of the published schema; "result" is a recorded
repair in the result's `_meta`. A test that differs for any other reason fails the run.""",
    covers=(
        *ENGINE,
        "src/toolbooth/adapters/**/*.py",
        "tests/peers/*",
        "scripts/peers.py",
        "constraints.txt",
    ),
    packages=("pydantic", "fastmcp", "mcp"),
    steps=peers.steps,
    table=peers_table,
    at_once=CORES,
)


# --- versions -----------------------------------------------------------------------------------


def suite_table(figures: Mapping[str, Figures]) -> str:
    rest = dict(figures)
    versions = rest.pop("versions")["versions"]
    keys = ("passed", "skipped", "seconds")
    rows = [(name, *(each[key] for key in keys)) for name, each in rest.items()]
    listed = ", ".join(f"{name} {number}" for name, number in versions.items())
    return f"{markdown_table(('tests', *keys), rows)}\nThe versions: {listed}.\n"


def _suite(end: str, title: str, about: str) -> Part:
    return Part(
        name=end,
        title=title,
        about=about,
        covers=(
            "src/toolbooth/**/*.py",
            "tests/**/*.py",
            "scripts/version_ends.py",
            "constraints.txt",
            "pyproject.toml",
        ),
        packages=(),
        steps=partial(version_ends.steps, end),
        table=suite_table,
    )


LOWEST = _suite(
    "lowest",
    "The tests on the lowest versions",
    """The tests of `make test` with the lowest versions that `pyproject.toml` allows, and all other
packages as in `constraints.txt`. A test that is skipped needs a part of Django that these versions
do not have.""",
)
NEWEST = _suite(
    "newest",
    "The tests on the newest versions",
    """The tests of `make test` with the newest version of every package, without `constraints.txt`,
on the newest Python of the machine.""",
)


def joint_table(figures: Mapping[str, Figures]) -> str:
    names = joint_install.SHOWN
    rows = [(host, *(each["versions"][name] for name in names)) for host, each in figures.items()]
    return markdown_table(("project", *names), rows)


JOINT = Part(
    name="joint",
    title="Installed together with large projects",
    about="""The versions that pip chooses if a large third-party Django project and
`toolbooth[django]` are installed together, with all their dependencies. The run fails if pip finds
no versions that suit both.""",
    covers=("scripts/joint_install.py", "pyproject.toml"),
    packages=("pip",),
    steps=joint_install.steps,
    table=joint_table,
)


# --- hosts --------------------------------------------------------------------------------------


def hosts_table(figures: Mapping[str, Figures]) -> str:
    tables = [markdown_table(heads, rows) for heads, rows in hosts_large.tables(figures)]
    notes = "".join(f"- {each}\n" for each in hosts_large.notes(figures))
    return "\n".join((*tables, notes))


HOSTS = Part(
    name="hosts",
    title="Large projects behind the gateway",
    about="""Large open-source projects, each with its own pins and in an environment of its own,
with Toolbooth beside it. Every endpoint that REST framework lists is a tool, or has its reason in
`mcp_doctor`. Every GET, and at least 60 writes for each project, are made over REST and over MCP by
the same user, each in a transaction that is rolled back: as the owner, a colleague with fewer
rights, a stranger and an anonymous user. "Equal" is the same status, the same answer and the same
rows in every table; "both refused" is 4xx on both sides, for these users or because a row does not
exist; "both failed" is 5xx on both. Every write is also sent wrapped, misspelt, as JSON text and
with an extra key. Cost is the CPU time of one call, the best of many; "empty" is a request that
only runs the project's middleware. A difference fails the run. So does a call that REST takes and
MCP refuses, a call that takes more than 1.25 times the CPU time of the REST call and an empty
request together, or a call that needs more queries than those two together. The first messages of
a process are the best of three new processes; what a client spends on reading the list is not
counted. "The whole list again" only asks the permissions of every view. "drf-spectacular's own
document" is the CPU time for the OpenAPI document of the same API in a new process, if the project
has one: drf-spectacular describes each serializer once, and asks no permissions. The list describes
each action by itself, for an anonymous user and often for a superuser.""",
    covers=(
        *ENGINE,
        "src/toolbooth/django/**/*.py",
        "src/toolbooth/server/**/*.py",
        "tests/hosts_both/*.py",
        "tests/hosts_large/**/*.py",
        "scripts/hosts_large.py",
    ),
    packages=("pydantic", "jiter", "orjson", "jsonschema-rs"),
    steps=hosts_large.steps,
    table=hosts_table,
)


# --- advice -------------------------------------------------------------------------------------

ADVICE_FILE = "tests/advice/measure.py"


def advice_steps() -> dict[str, Step]:
    return {name: partial(_advice_run, name) for name in output_of(ADVICE_FILE).splitlines()}


def _advice_run(name: str) -> Figures:
    found = json.loads(output_of(ADVICE_FILE, "--run", name).splitlines()[-1])
    is_ours = name == "Toolbooth" or "protected" in name
    if is_ours and (found["wrong advice"] or found["ran with other arguments"]):
        raise StepFailed(output_of(ADVICE_FILE, "--wrong", name))
    return found


def advice_table(figures: Mapping[str, Figures]) -> str:
    columns = list(next(iter(figures.values())))
    rows = [(name, *(each[key] for key in columns)) for name, each in figures.items()]
    return markdown_table(("server", *columns), rows)


ADVICE = Part(
    name="advice",
    title="How a literal agent uses a refusal",
    about="""Calls with one or two mistakes, made from a list of known mistakes, at three depths and
from three kinds of declaration (`tests/advice/`). An agent sends each call. If it is refused, the
agent sends the call in `_meta.corrected` or in the line "Send instead", and nothing else. "One
meaning" counts the calls whose right form a reader can be certain of; these must be right after the
second call at the latest. A correction of any other call is wrong advice, as is one that is
refused, or that the tool receives as something else. FastMCP and the SDK run unprotected in the
same run; tools that are made from a JSON Schema are called on our own server only.""",
    covers=(*ENGINE, "src/toolbooth/words.txt", "tests/advice/*"),
    packages=("pydantic", "jiter", "jsonschema-rs", "fastmcp", "mcp"),
    steps=advice_steps,
    table=advice_table,
    at_once=CORES,
)

# --- typos --------------------------------------------------------------------------------------

TYPOS_FILE = "tests/advice/typos.py"
TYPOS_BAR = 97
"""Of a hundred typos, those that must be corrected."""


def typos_steps() -> dict[str, Step]:
    return {name: partial(_typos_run, name) for name in output_of(TYPOS_FILE).splitlines()}


def _typos_run(name: str) -> Figures:
    found = json.loads(output_of(TYPOS_FILE, "--run", name).splitlines()[-1])
    if found["to another field"]:
        raise StepFailed(output_of(TYPOS_FILE, "--missed", name))
    return found


def typos_table(figures: Mapping[str, Figures]) -> str:
    columns = [key for key in next(iter(figures.values())) if key not in ("version", "seconds")]
    total = {key: sum(each[key] for each in figures.values()) for key in columns}
    if 100 * total["corrected"] < TYPOS_BAR * total["counted"]:
        raise StepFailed(f"{total['corrected']} of {total['counted']} typos are corrected")
    rows = [
        (f"{name} {each['version']}".strip(), *(each[key] for key in columns), _share(each))
        for name, each in figures.items()
    ]
    rows.append(("all", *total.values(), _share(total)))
    return markdown_table(("source", *columns, "share"), rows)


def _share(figures: Mapping[str, int]) -> str:
    return f"{100 * figures['corrected'] / figures['counted']:.1f} %"


TYPOS = Part(
    name="typos",
    title="Typos in the field names of real tools",
    about="""Every typo of one slip (two neighbours swapped, a letter dropped, doubled or replaced
by a neighbour on the keyboard) in every word of the field names of third-party tools: MCP servers
from npm, and projects behind the gateway. `tests/advice/real_tools.jsonl` has their schemas,
without descriptions; `scripts/real_tools.py` makes it. Of an npm server it has every tool. Of a
project it has a sample: at most 30 tools, those with most field names that no other one has, and no
tool with more than 80 field names. "libraries" is our own project, made of third-party libraries. A
name is misspelt in a call that is right except for the typo, once at each depth. An agent sends the
call, and then the corrected call of the refusal. "Allowed" are typos in objects that accept any
key; "words" spell another word, of the list or of the tool; "short" are in words of fewer than five
letters; "with a secret" are in calls whose correction would repeat a secret: an edit names the
right field. The others are counted. The run fails if a correction sends the
value to another field, or if less than 97 % of all are corrected.""",
    covers=(*ENGINE, "src/toolbooth/words.txt", "tests/advice/*"),
    packages=("pydantic", "jiter", "jsonschema-rs"),
    steps=typos_steps,
    table=typos_table,
    at_once=CORES,
)

PARTS = {
    part.name: part
    for part in (
        MATRIX,
        PROPERTIES,
        SCHEMAS,
        PEERS,
        ADVICE,
        TYPOS,
        LOWEST,
        NEWEST,
        JOINT,
        HOSTS,
        doctor_hosts.PART,
        memory.PART,
        frameworks.PART,
        scale.PART,
        kills.PART,
        quick_bench.PART,
    )
}
