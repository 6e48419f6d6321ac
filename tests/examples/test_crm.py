"""examples/crm: `make demo`, and the output shown in its README."""

import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import urllib.request
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "crm"
README = (EXAMPLE / "README.md").read_text(encoding="utf-8")
MANAGE = [sys.executable, "manage.py"]


@pytest.fixture
def environment(tmp_path):
    return {
        **os.environ,
        "CRM_DATABASE": str(tmp_path / "crm.sqlite3"),
        "DJANGO_SETTINGS_MODULE": "crm.settings",
    }


def contacts(environment):
    with closing(sqlite3.connect(environment["CRM_DATABASE"])) as db:
        return set(db.execute("select email, first_name from sales_contact"))


def test_the_demo_makes_the_calls_of_the_incident_and_shows_the_rows(environment):
    shown = subprocess.run(
        [*MANAGE, "demo", "--once"],
        cwd=EXAMPLE,
        env={**environment, "COLUMNS": "80"},
        capture_output=True,
        text=True,
    )
    assert (shown.returncode, shown.stderr) == (0, "")
    steps = [step.splitlines() for step in shown.stdout.split("\n\n")]
    became = [
        (step[0].partition(". ")[2], [line for line in step if "database" in line])
        for step in steps[1:10]
    ]
    assert became == [
        ("A wrapped call, sent to the plain REST API", ["  database  new row, blank: '', ''"]),
        ("The same call, sent to the tool", ["  database  no new row"]),
        (
            "The corrected call from the refusal",
            ["  database  new row: 'agent@example.com', 'Agent'"],
        ),
        ("The same wrapper as JSON text", ["  database  no new row"]),
        ("Half of them in a wrapper", ["  database  no new row"]),
        ("Many at once, one of them wrong: all or none", ["  database  no new row"]),
        (
            "Many at once",
            [
                "  database  new row: 'bo@example.com', ''",
                "  database  new row: 'cy@example.com', 'Cy'",
            ],
        ),
        ("A relation named by an object", ["  database  new row: 'di@example.com', '', at hq-1"]),
        ("A wrapped update", ["  database  first_name is 'Agent', as before"]),
    ]
    assert "Deleted 4 rows." in steps[10]
    assert all(len(line) <= 80 for step in steps[1:10] for line in step)
    start = steps[11].index("  Into .mcp.json, for Claude Code:")
    configuration = json.loads("\n".join(steps[11][start + 1 : -2]))
    assert configuration["mcpServers"]["crm"]["url"] in steps[11][1]
    assert contacts(environment) == {
        ("agent@example.com", "Agent"),
        ("bo@example.com", ""),
        ("cy@example.com", "Cy"),
        ("di@example.com", ""),
        ("ada.visser@example.org", "Ada"),
        ("bram.smit@example.org", "Bram"),
        ("cleo.mulder@example.org", "Cleo"),
        ("daan.bakker@example.org", "Daan"),
    }


def test_demo_serves_the_printed_url_until_it_is_stopped(environment):
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        busy_port = busy.getsockname()[1]
        command = [*MANAGE, "demo", "--port", str(busy_port)]  # in use: another one is chosen
        # A background job may have been started with SIGINT ignored.
        hearing = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
        with subprocess.Popen(
            command,
            cwd=EXAMPLE,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=hearing,
        ) as demo:
            try:
                printed = "".join(iter(demo.stdout.readline, "Quit the server with CONTROL-C.\n"))
                server = json.loads(
                    re.search(r"for Claude Code:\n(.*)  Other clients", printed, re.DOTALL)[1]
                )
                entry = server["mcpServers"]["crm"]
                call = {"name": "contacts__list", "arguments": {"search": "ada"}}
                message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
                headers = {**entry["headers"], "Content-Type": "application/json"}
                request = urllib.request.Request(
                    entry["url"], json.dumps(message).encode(), headers
                )
                with urllib.request.urlopen(request, timeout=30) as reply:
                    result = json.load(reply)["result"]
                pasted = {
                    line.split()[0].rpartition("/")[2]: subprocess.run(
                        line, shell=True, capture_output=True, text=True, timeout=60
                    ).stdout
                    for line in printed.splitlines()
                    if line.startswith("  curl ") or "toolbooth call" in line
                }
            finally:
                demo.send_signal(signal.SIGINT)
    assert [row["first_name"] for row in result["structuredContent"]["results"]] == ["Ada"]
    assert f"Port {busy_port} is in use, so this demo uses port" in printed
    assert json.loads(pasted["curl"])["result"]["structuredContent"] == result["structuredContent"]
    assert json.loads(pasted["toolbooth"])["results"] == result["structuredContent"]["results"]
    assert demo.returncode == 0


def test_every_list_accepts_a_page_size(environment):
    subprocess.run([*MANAGE, "seed"], cwd=EXAMPLE, env=environment, check=True)

    def called(**arguments):
        command = [*MANAGE, "mcp_call", "contacts__list", json.dumps(arguments), "--as", "ann"]
        run = partial(subprocess.run, cwd=EXAMPLE, env=environment, capture_output=True, text=True)
        return run(command).stdout

    first = json.loads(called(page=1, page_size=5))
    assert [row["first_name"] for row in first["results"]] == ["", "", "", "Ada", "Bram"]
    told = first["continuation"]
    assert (first["count"], told["from"], told["to"], told["count"]) == (7, 1, 5, 7)
    rest = json.loads(called(continuation_token=told["continuation_token"]))
    assert [row["first_name"] for row in rest["results"]] == ["Cleo", "Daan"]
    assert "the last page is 4: the list has 7 rows, at most 2 to a page" in called(
        page=5, page_size=2
    )


ONE_AFTER_ANOTHER = """
import contextlib, io, json, shlex, sys
from django.core.management import execute_from_command_line

def printed(command):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
        execute_from_command_line(["manage.py", *shlex.split(command)])
    return out.getvalue()

print(json.dumps([printed(command) for command in json.load(sys.stdin)]))
"""


def test_readme_shows_the_output_of_its_commands(environment):
    pattern = r"^\$ (?:CRM_DISPATCH=(\w+) )?python manage.py (.+)\n((?:(?!```|\$ ).*\n)*)"
    shown = re.findall(pattern, README, re.MULTILINE)
    assert len(shown) == 10
    program = [sys.executable, "-c", ONE_AFTER_ANOTHER]
    for dispatch in ("", "app"):  # read once, when a process starts
        expected = [(call, printed) for chosen, call, printed in shown if chosen == dispatch]
        calls = json.dumps(["seed", *(call for call, _ in expected)])
        chosen = {**environment, "CRM_DISPATCH": dispatch or "off"}
        found = subprocess.run(
            program,
            cwd=EXAMPLE,
            env=chosen,
            input=calls,
            stdout=subprocess.PIPE,
            check=True,
            text=True,
        )
        assert json.loads(found.stdout)[1:] == [printed for _, printed in expected]


LINTED = """
import django
django.setup()
from toolbooth.django.describe.catalogue import catalogue
from toolbooth.lint.check import lint
report = lint([tool.listing() for tool in catalogue().registry.tools.values()])
print([(each.tool, each.path) for each in report.findings if each.rule == "opaque-parameter"])
"""


@pytest.mark.parametrize("dispatch", ["off", "resource", "app"])
def test_every_object_and_array_of_the_gateway_has_an_example_without_warnings(
    dispatch, environment
):
    shown = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", LINTED],
        cwd=EXAMPLE,
        env={**environment, "CRM_DISPATCH": dispatch},
        capture_output=True,
        text=True,
    )
    assert (shown.stdout, shown.stderr) == ("[]\n", "")


def test_without_its_extra_the_project_names_the_command_that_installs_it():
    # None in `sys.modules` is how Python itself marks a module that cannot be imported.
    program = (
        "import runpy, sys; sys.modules['django_filters'] = None; sys.argv = ['manage.py', 'seed'];"
        "runpy.run_path('manage.py', run_name='__main__')"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=EXAMPLE, capture_output=True, text=True, check=False
    )
    sentence = "examples/crm needs django-filter: pip install 'toolbooth[django,examples]'\n"
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, "", sentence)
