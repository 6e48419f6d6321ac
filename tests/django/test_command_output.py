"""`manage.py mcp_tools | head`: a closed output pipe ends a command without a traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import call_command

CRM = Path(__file__).resolve().parents[2] / "examples" / "crm" / "manage.py"


@pytest.fixture(scope="module")
def crm_environment(tmp_path_factory):
    """The environment in which the example runs in processes of its own, with its tables."""
    database = tmp_path_factory.mktemp("crm") / "crm.sqlite3"
    env = {
        **os.environ,
        "CRM_DATABASE": str(database),
        "DJANGO_SETTINGS_MODULE": "crm.settings",
    }
    subprocess.run([sys.executable, str(CRM), "migrate", "-v0"], env=env, check=True)
    return env


@pytest.mark.parametrize(
    "command",
    [
        ["mcp_tools"],
        ["mcp_tools", "--json"],
        ["mcp_tools", "contacts__create"],
        ["mcp_doctor"],
        ["mcp_config"],
        ["mcp_call", "tags__list"],
        ["blank_rows", "sales.Contact"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("buffered", [True, False], ids=["buffered", "unbuffered"])
def test_a_closed_output_pipe_ends_a_command_quietly(crm_environment, command, buffered):
    env = {**crm_environment, "PYTHONUNBUFFERED": "" if buffered else "1"}
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "wb") as output:
        ran = subprocess.run(
            [sys.executable, str(CRM), *command],
            env=env,
            stdout=output,
            stderr=subprocess.PIPE,
            check=False,
        )
    own = ("# ", "This call was anonymous")
    told = [line for line in ran.stderr.decode().splitlines() if not line.startswith(own)]
    assert (told, ran.returncode) == ([], 1)


def test_a_database_without_tables_is_reported_without_a_traceback(crm_environment, tmp_path):
    env = {**crm_environment, "CRM_DATABASE": str(tmp_path / "empty.sqlite3"), "NO_COLOR": "1"}
    ran = subprocess.run(
        [sys.executable, str(CRM), "mcp_call", "tags__list", "--as", "ann"],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.stdout, ran.stderr, ran.returncode) == (
        "",
        "CommandError: a query failed: no such table: auth_user. "
        "Is the database running, and did you run manage.py migrate?\n",
        2,
    )


def test_a_broken_pipe_other_than_the_output_is_not_hidden(monkeypatch):
    def broken():
        raise BrokenPipeError("the database is gone")

    monkeypatch.setattr("toolbooth.django.management.commands.mcp_tools.catalogue", broken)
    with pytest.raises(BrokenPipeError, match="the database is gone"):
        call_command("mcp_tools")
