"""`manage.py check`, `migrate` and `runserver` in a project of their own: they look at the settings
only. A broken `mcp_tools.py` takes only its own tools down.
"""

import json
import os
import subprocess
import sys

import pytest

SETTINGS = """
import os
from pathlib import Path
SECRET_KEY = "only for tests"
DEBUG = True
ALLOWED_HOSTS = ["testserver", "127.0.0.1"]
INSTALLED_APPS = {apps}
MIDDLEWARE = []
ROOT_URLCONF = "urls"
DATABASES = {{
    "default": {{
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": os.environ["DATABASE"],
        "ATOMIC_REQUESTS": True,
    }}
}}
REST_FRAMEWORK = {{"UNAUTHENTICATED_USER": None, "DEFAULT_AUTHENTICATION_CLASSES": []}}
USE_TZ = True
TOOLBOOTH = {{"WARM_FILE": "tools.json"}}
"""

URLS = """
from pathlib import Path

from django.urls import include, path
from rest_framework.serializers import CharField, Serializer
from rest_framework.generics import GenericAPIView
from rest_framework.response import Response

class Body(Serializer):
    name = CharField()

class Named(GenericAPIView):
    def get_serializer_class(self):
        Path("described").touch()  # it is asked only while it is described, or called
        return Body

    def post(self, request):
        return Response({})

class Failing(GenericAPIView):
    def get_serializer_class(self):
        raise RuntimeError("not without a request")

    def post(self, request):
        return Response({})

urlpatterns = [
    path("named/", Named.as_view(), name="named"),
    path("failing/", Failing.as_view(), name="failing"),
    path("mcp", include("toolbooth.django.urls")),
]
"""

TOOLS = '''
from toolbooth.django.decorators import mcp_tool

@mcp_tool
def {name}() -> int:
    """A tool."""
    return 1
'''

LOADED = """
import threading
from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver
get_wsgi_application()
get_resolver().url_patterns
"""

LIST = """
from django.test import Client
message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
reply = Client().post("/mcp", message, content_type="application/json").json()
print({tool["name"]: list(tool["inputSchema"]["properties"]) for tool in reply["result"]["tools"]})
"""

APPS = ["django.contrib.auth", "django.contrib.contenttypes", "rest_framework", "toolbooth.django"]


class Project:
    """A Django project in a folder, each command in a process of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.write("urls.py", URLS)
        self.install(*APPS)

    def write(self, name, text):
        file = self.folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def install(self, *apps):
        self.write("settings.py", SETTINGS.format(apps=[*apps]))

    def add_app(self, name, tools):
        self.write(f"{name}/__init__.py", "")
        self.write(f"{name}/mcp_tools.py", tools)

    def environment(self, database):
        paths = os.pathsep.join([str(self.folder), *filter(None, sys.path)])
        changes = {"DJANGO_SETTINGS_MODULE": "settings", "PYTHONPATH": paths, "DATABASE": database}
        return {**os.environ, **changes, "PYTHONUNBUFFERED": "1"}

    def manage(self, *words, database="db.sqlite3"):
        return subprocess.run(
            [sys.executable, "-m", "django", *words],
            cwd=self.folder,
            env=self.environment(database),
            capture_output=True,
            text=True,
        )

    def run(self, program):
        """Return the output of a program that has loaded the project as a server does."""
        done = subprocess.run(
            [sys.executable, "-c", f"{LOADED}\n{program}"],
            cwd=self.folder,
            env=self.environment("db.sqlite3"),
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done

    @property
    def is_described(self):
        return (self.folder / "described").exists()


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


# --- check, migrate, runserver ---


def test_check_needs_no_database_and_describes_no_view(project):
    done = project.manage("check", database="/no/such/folder/db")  # a query would fail
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "System check identified no issues (0 silenced).\n"
    assert not project.is_described


def test_migrate_describes_no_view_and_prints_no_traceback(project):
    done = project.manage("migrate")
    assert done.returncode == 0
    assert "Traceback" not in done.stdout + done.stderr
    assert not project.is_described


def test_runserver_describes_no_view_before_the_first_request(project):
    project.manage("migrate", "-v0")
    server = subprocess.Popen(
        [sys.executable, "-m", "django", "runserver", "127.0.0.1:0", "--noreload"],
        cwd=project.folder,
        env=project.environment("db.sqlite3"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    printed = []
    try:
        for line in server.stdout:
            printed.append(line)
            if "Quit the server" in line:
                break
    finally:
        server.terminate()
        server.communicate()
    assert "Quit the server" in printed[-1], printed
    assert "Traceback" not in "".join(printed)
    assert not project.is_described


def test_check_with_deploy_looks_at_the_tools_without_a_traceback(project):
    project.write("settings.py", SETTINGS.format(apps=APPS) + "TOOLBOOTH = {'EXCLUDE': ['x__*']}\n")
    plain = project.manage("check")
    assert (plain.returncode, "toolbooth" in plain.stderr) == (0, False)
    done = project.manage("check", "--deploy")
    assert "(toolbooth.W003) TOOLBOOTH['EXCLUDE']: 'x__*': it matches no tool." in done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert project.is_described


def test_urls_without_the_app_are_an_error(project):
    project.install(*(app for app in APPS if app != "toolbooth.django"))
    done = project.manage("check")
    assert done.returncode == 1
    assert (
        "?: (toolbooth.E005) The URLs of toolbooth.django are included, but the app is not in "
        "INSTALLED_APPS: its commands and checks are missing.\n"
        '\tHINT: Add "toolbooth.django" to INSTALLED_APPS.\n'
    ) in done.stderr


def test_doctor_without_a_database_continues_and_names_the_setting(project):
    done = project.manage("mcp_doctor", database="/no/such/folder/db")
    words = " ".join(done.stdout.split())
    assert done.returncode == 1
    assert (
        "error this check failed: OperationalError: unable to open database file -> check that the "
        "database in DATABASES runs, and that its settings are right"
    ) in words
    assert "ok an agent reaches /mcp" in words


def test_doctor_names_the_line_of_the_project_where_urls_cannot_be_imported(project):
    project.write("urls.py", "import nowhere_at_all\n")
    done = project.manage("mcp_doctor")
    words = " ".join(done.stdout.split())
    error = "ModuleNotFoundError: No module named 'nowhere_at_all'"
    assert done.returncode == 1
    assert f"error this check failed: {error} -> see urls.py:1 " in words


# --- mcp_tools.py ---

BROKEN = {
    "a name that does not exist": ("\nx = unknown\n", "NameError: name 'unknown' is not def"),
    "no Python": ("\ndef (:\n", "SyntaxError: "),
    "a module that does not exist": (
        "\nimport nowhere_at_all\n",
        "ModuleNotFoundError: No mod",
    ),
    "a tool that cannot be compiled": (
        "\n@mcp_tool\ndef bad(*many):\n    return 1\n",
        "ContractError: bad: ",
    ),
}


@pytest.mark.parametrize(("ending", "error"), BROKEN.values(), ids=BROKEN)
def test_a_broken_module_takes_only_its_own_tools_down(project, ending, error):
    project.add_app("whole", TOOLS.format(name="whole_tool"))
    project.add_app("broken", TOOLS.format(name="half") + ending)
    project.install(*APPS, "broken", "whole")
    listed = project.manage("mcp_tools", "--json")
    assert listed.returncode == 0, listed.stderr
    names = {each["name"] for each in json.loads(listed.stdout)}
    assert "whole_tool" in names
    assert "named__post" in names
    assert "half" not in names  # a module is published whole, or not at all
    done = project.manage("mcp_doctor")
    words = " ".join(done.stdout.split())
    assert done.returncode == 1
    assert f"error broken.mcp_tools is left out: {error}" in words
    assert "(broken/mcp_tools.py:9) -> Correct that line." in words
    assert "Traceback" not in done.stdout + done.stderr


def test_check_with_deploy_also_shows_the_failing_line(project):
    project.add_app("broken", "import nowhere_at_all\n")
    project.install(*APPS, "broken")
    done = project.manage("check", "--deploy")
    error = "ModuleNotFoundError: No module named 'nowhere_at_all'"
    assert f"(toolbooth.E006) {project.folder}/broken/mcp_tools.py:1: {error}\n" in done.stderr


@pytest.mark.parametrize(
    ("tools", "mistake"),
    [
        (TOOLS.format(name="same"), "a tool named 'same' is registered already"),
        (
            TOOLS.format(name="odd").replace("@mcp_tool", "@mcp_tool(name='a b')"),
            "'a b' is not a valid tool name",
        ),
    ],
    ids=["a name that is taken", "no name of a tool"],
)
def test_only_the_tool_with_an_unusable_name_is_left_out(project, tools, mistake):
    project.add_app("first", TOOLS.format(name="same"))
    project.add_app("second", tools + TOOLS.format(name="other"))
    project.install(*APPS, "first", "second")
    listed = project.manage("mcp_tools", "--json")
    names = [each["name"] for each in json.loads(listed.stdout)]
    assert {"same", "other"} <= set(names)
    done = project.manage("mcp_doctor")
    words = " ".join(done.stdout.split())
    assert (done.returncode, mistake in words) == (1, True), words
    assert "(second/mcp_tools.py:4)" in words


# --- a server process ---


def test_no_thread_is_started_before_the_first_request(project):
    program = "from toolbooth.django import warm; warm(); print(threading.active_count())"
    assert project.run("print(threading.active_count())").stdout == "1\n"
    assert not project.is_described
    assert project.run(program).stdout == "1\n"
    assert project.is_described


FORKED = f"""
import os
from pathlib import Path
from toolbooth.django import warm
warm()
Path("described").unlink()
if worker := os.fork():
    _, status = os.waitpid(worker, 0)
    raise SystemExit(os.waitstatus_to_exitcode(status))
{LIST}
"""


def test_forked_worker_lists_the_tools_that_were_described_before_the_fork(project):
    assert project.run(FORKED).stdout == "{'named__post': ['name', 'help']}\n"
    assert not project.is_described


def test_new_process_lists_the_warm_file_without_describing_views(project):
    assert project.manage("mcp_warm").stdout.startswith("tools.json written: 1 tool, ")
    (project.folder / "described").unlink()
    listed = project.run(LIST)
    assert listed.stdout == "{'named__post': ['name', 'help']}\n"
    assert "tools.json" not in listed.stderr
    assert not project.is_described


def test_removed_field_is_not_listed_from_a_stale_warm_file(project):
    project.manage("mcp_warm")
    project.write("urls.py", URLS.replace("name = CharField()", "title = CharField()"))
    listed = project.run(LIST)
    assert listed.stdout == "{'named__post': ['title', 'help']}\n"
    reason = "it was written with different code: urls; run manage.py mcp_warm"
    assert f"tools.json is not used: {reason}\n" in listed.stderr
