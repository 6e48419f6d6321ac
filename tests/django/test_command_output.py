"""`manage.py mcp_tools | head`: a closed output pipe ends a command without a traceback."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import call_command
from django.urls import include, path
from rest_framework.views import APIView

from toolbooth.django.describe.catalogue import catalogue

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


def test_a_view_that_fails_takes_one_line_and_its_traceback_is_shown_with_traceback(
    crm_environment, tmp_path
):
    env = {**crm_environment, "CRM_DATABASE": str(tmp_path / "empty.sqlite3"), "NO_COLOR": "1"}
    python = [sys.executable, str(CRM)]
    # The tables of users exist, and those of the view do not.
    subprocess.run([*python, "migrate", "auth", "-v0"], env=env, check=True)
    user = ["createsuperuser", "--noinput", "--username=ann", "--email=ann@example.org", "-v0"]
    subprocess.run([*python, *user], env={**env, "DJANGO_SUPERUSER_PASSWORD": "x"}, check=True)
    call = [*python, "mcp_call", "tags__list", "--as", "ann"]
    ran = subprocess.run(call, env=env, capture_output=True, text=True, check=False)
    assert (ran.stdout, ran.returncode) == ("Tool 'tags__list' failed unexpectedly.\n", 1)
    assert ran.stderr == (
        "tool 'tags__list' failed: OperationalError: no such table: sales_tag. "
        "--traceback shows the rest\n"
    )
    call.append("--traceback")
    ran = subprocess.run(call, env=env, capture_output=True, text=True, check=False)
    assert ran.stderr.startswith("tool 'tags__list' failed\nTraceback (most recent call last):\n")


def test_a_project_without_tools_names_the_command_that_shows_why(settings_of):
    urls = type("Urls", (), {"urlpatterns": [path("mcp", include("toolbooth.django.urls"))]})
    settings_of(ROOT_URLCONF=urls)
    out, err = io.StringIO(), io.StringIO()
    call_command("mcp_tools", stdout=out, stderr=err, no_color=True)
    assert out.getvalue() == "       0  tokens for 0 tools (bytes / 4)\n"
    assert err.getvalue() == "There are no tools; `manage.py mcp_doctor` shows why.\n"


def test_ctrl_c_ends_a_command_with_130(settings_of):
    class Slow(APIView):
        permission_classes = ()

        def get(self, request):
            raise KeyboardInterrupt  # as the signal does

    patterns = [path("slow", Slow.as_view()), path("mcp", include("toolbooth.django.urls"))]
    settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": patterns}))
    [tool] = catalogue().registry.tools
    with pytest.raises(SystemExit) as ended:
        call_command("mcp_call", tool)
    assert ended.value.code == 130


def test_a_broken_pipe_other_than_the_output_is_not_hidden(monkeypatch):
    def broken():
        raise BrokenPipeError("the database is gone")

    monkeypatch.setattr("toolbooth.django.management.commands.mcp_tools.catalogue", broken)
    with pytest.raises(BrokenPipeError, match="the database is gone"):
        call_command("mcp_tools")
