"""A package that is not installed is reported in one sentence that names the extra to install."""

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import toolbooth
from toolbooth.extras import MissingExtra, require

ROOT = Path(__file__).resolve().parent.parent
ENV = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), *sys.path])}

COMMAND = "from toolbooth.cli.entry import main; main()"
SETUP = "import django; from django.conf import settings; "
SETUP += "settings.configure(INSTALLED_APPS=['toolbooth.django']); django.setup()"

USERS_API = """
import json
import django
from django.conf import settings

settings.configure(
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "rest_framework", "toolbooth.django"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    ROOT_URLCONF="users_api",
    SECRET_KEY="x" * 50,
    ALLOWED_HOSTS=["*"],
    USE_TZ=True,
)
django.setup()

from django.contrib.auth.models import User
from django.core.management import call_command
from django.urls import include, path
from rest_framework import filters, pagination, routers, serializers, viewsets
from toolbooth.django.testing import acting_as

class UserSerializer(serializers.ModelSerializer):
    class Meta:
        model = User
        fields = ["username"]

class Pages(pagination.PageNumberPagination):
    page_size = 5

class Users(viewsets.ModelViewSet):
    queryset = User.objects.order_by("id")
    serializer_class = UserSerializer
    pagination_class = Pages
    filter_backends = [filters.SearchFilter, filters.OrderingFilter]
    search_fields = ["username"]

router = routers.SimpleRouter()
router.register("users", Users, "users")
urlpatterns = [path("api/", include(router.urls)), path("mcp", include("toolbooth.django.urls"))]

def main():
    call_command("migrate", verbosity=0)
    User.objects.create_user("ann")
    User.objects.create_user("bob")
    agent = acting_as(None)
    print(json.dumps([*agent.tools()["users__list"]["inputSchema"]["properties"]]))
    print(json.dumps(agent.call("users__list", search="bo").value))
"""
"""A project with REST framework's own filters."""

IMPORTS = {
    "fastmcp": (
        "from toolbooth.adapters.fastmcp import protect",
        ["fastmcp"],
        "toolbooth.adapters.fastmcp needs FastMCP: pip install 'toolbooth[fastmcp]'",
    ),
    "mcp-sdk": (
        "from toolbooth.adapters.mcp_sdk import protect",
        ["mcp", "anyio"],
        "toolbooth.adapters.mcp_sdk needs the official MCP SDK: pip install 'toolbooth[mcp]'",
    ),
    "lowlevel": (
        "from toolbooth.adapters.lowlevel import protect",
        ["mcp", "anyio"],
        "toolbooth.adapters.lowlevel needs the official MCP SDK: pip install 'toolbooth[mcp]'",
    ),
    "testing": (
        "from toolbooth.testing import wire",
        ["hypothesis"],
        "toolbooth.testing needs Hypothesis: pip install 'toolbooth[testing]'",
    ),
    "rest-framework": (
        SETUP,
        ["rest_framework"],
        "toolbooth.django needs Django REST framework: pip install 'toolbooth[django]'",
    ),
    "rest-framework-and-spectacular": (
        SETUP,
        ["rest_framework", "drf_spectacular"],
        "toolbooth.django needs Django REST framework and drf-spectacular: pip install 'toolbooth[django]'",
    ),
    "a package within a package": (
        "import toolbooth.adapters.frameworks.google_adk",
        ["google"],
        "toolbooth.adapters.frameworks.google_adk needs Google's Agent Development Kit: pip install 'toolbooth[google-adk]'",
    ),
}


def run_without(
    missing: list[str], program: str, *args: str, cwd: Path = ROOT
) -> subprocess.CompletedProcess[str]:
    """Run a program in a Python in which these modules are not installed."""
    hide = f"import sys; sys.modules.update(dict.fromkeys({missing!r}))"
    return subprocess.run(
        [sys.executable, "-c", f"{hide}; {program}", *args],
        cwd=cwd,
        env=ENV,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize(("program", "missing", "sentence"), IMPORTS.values(), ids=IMPORTS)
def test_import_without_its_extra_names_the_package_to_install(
    program: str, missing: list[str], sentence: str
):
    ran = run_without(missing, program)
    assert ran.returncode == 1
    assert ran.stderr.splitlines()[-1] == f"toolbooth.extras.MissingExtra: {sentence}"


@pytest.mark.parametrize("args", [["--help"], ["call", "--help"], ["--version"]], ids=" ".join)
def test_help_needs_no_extra(args: list[str]):
    ran = run_without(["uvicorn", "fastmcp", "mcp", "django", "hypothesis"], COMMAND, *args)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_asking_a_running_server_without_the_client_prints_one_sentence():
    ran = run_without(["mcp"], COMMAND, "tools", "http://127.0.0.1:9/mcp")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert (
        ran.stderr
        == "Error: asking a running server needs the official client: pip install 'toolbooth[mcp]'\n"
    )


def test_replay_without_hypothesis_prints_one_sentence(tmp_path: Path):
    tmp_path.joinpath("calls.jsonl").touch()
    ran = run_without(
        ["hypothesis"], COMMAND, "replay", "calls.jsonl", "server.py:registry", cwd=tmp_path
    )
    assert (ran.returncode, ran.stdout) == (2, "")
    assert (
        ran.stderr
        == "Error: toolbooth.testing needs Hypothesis: pip install 'toolbooth[testing]'\n"
    )


def test_command_names_the_extra_that_the_loaded_server_needs(tmp_path: Path):
    tmp_path.joinpath("server.py").write_text("from toolbooth.adapters.fastmcp import protect\n")
    ran = run_without(["fastmcp"], COMMAND, "tools", "server.py:mcp", cwd=tmp_path)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert (
        ran.stderr
        == "Error: toolbooth.adapters.fastmcp needs FastMCP: pip install 'toolbooth[fastmcp]'\n"
    )


def test_import_of_a_host_that_is_not_installed_names_the_extra(tmp_path: Path):
    tmp_path.joinpath("server.py").write_text("from fastmcp import FastMCP\n")
    ran = run_without(["fastmcp"], COMMAND, "tools", "server.py:mcp", cwd=tmp_path)
    assert (ran.returncode, ran.stdout, ran.stderr) == (
        2,
        "",
        "Error: server.py imports 'fastmcp' in line 1, and there is no such module: "
        "pip install 'toolbooth[fastmcp]'\n",
    )


def test_doctor_reports_a_missing_extra_below_the_versions():
    ran = run_without(["mcp"], COMMAND, "doctor", "http://127.0.0.1:9/mcp")
    first, *_, last = ran.stdout.splitlines()
    assert (ran.returncode, ran.stderr, first[:10]) == (2, "", "ok      Py")
    assert last == (
        "error   asking a running server needs the official client: pip install 'toolbooth[mcp]'"
    )


def test_pytest_runs_without_hypothesis_until_a_server_is_named(tmp_path: Path):
    tmp_path.joinpath("test_one.py").write_text("def test_one(): pass\n")
    options = [
        "-q",
        "--disable-plugin-autoload",
        "-p",
        "toolbooth.pytest_plugin.plugin",
        "-p",
        "no:cacheprovider",
    ]
    program = f"import pytest; sys.exit(pytest.main({options} + sys.argv[1:]))"
    assert run_without(["hypothesis"], program, "test_one.py", cwd=tmp_path).returncode == 0

    named = run_without(["hypothesis"], program, "--toolbooth", "server.py:registry", cwd=tmp_path)
    assert named.returncode == pytest.ExitCode.USAGE_ERROR
    assert (
        named.stderr == "ERROR: --toolbooth needs Hypothesis: pip install 'toolbooth[testing]'\n\n"
    )


def test_the_gateway_lists_filters_and_calls_without_django_filter(tmp_path: Path):
    tmp_path.joinpath("users_api.py").write_text(USERS_API)
    ran = run_without(["django_filters"], "import users_api; users_api.main()", cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    listed, called = map(json.loads, ran.stdout.splitlines())
    assert {"search", "ordering", "page"} <= set(listed)
    assert called == {"count": 1, "next": None, "previous": None, "results": [{"username": "bob"}]}


def test_the_error_names_the_missing_module(monkeypatch: pytest.MonkeyPatch):
    require("this test", extra="cli", modules={"click": "click"})
    monkeypatch.setitem(sys.modules, "click", None)
    with pytest.raises(
        MissingExtra, match=r"^this test needs click: pip install 'toolbooth\[cli\]'$"
    ) as raised:
        require("this test", extra="cli", modules={"json": "JSON", "click": "click"})
    assert raised.value.name == "click"


def test_the_version_is_the_one_that_is_installed():
    assert toolbooth.__version__ == version("toolbooth")


def test_the_command_prints_the_version():
    ran = run_without([], COMMAND, "--version")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.endswith(f", version {version('toolbooth')}\n")


def test_serving_over_http_without_uvicorn_prints_one_sentence(tmp_path: Path):
    tmp_path.joinpath("server.py").write_text(
        "from toolbooth import ToolRegistry\nregistry = ToolRegistry('shop')\n"
    )
    ran = run_without(
        ["uvicorn"], COMMAND, "serve", "server.py:registry", "--http", "0", cwd=tmp_path
    )
    assert (ran.returncode, ran.stdout) == (2, "")
    assert (
        ran.stderr == "Error: toolbooth serve --http needs uvicorn: pip install 'toolbooth[cli]'\n"
    )
