"""Wrong usage of `manage.py mcp_…`: one sentence with what to write, and exit code 2."""

import io

import pytest
from django.core.management import load_command_class
from django.urls import include, path
from rest_framework.routers import SimpleRouter

from sales.views import CompanyViewSet


@pytest.fixture
def project(settings_of, ann):
    router = SimpleRouter()
    router.register("companies", CompanyViewSet, "companies")
    patterns = [path("api/", include(router.urls)), path("mcp", include("toolbooth.django.urls"))]
    settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": patterns}))


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            "mcp_call",
            "the following arguments are required: TOOL. See `manage.py mcp_call --help`.",
        ),
        (
            "mcp_call companies__list {} --user ann",
            "there is no option '--user'; write --as. See `manage.py mcp_call --help`.",
        ),
        (
            "mcp_call companies__create {} extra",
            "'extra' is one word too many. See `manage.py mcp_call --help`.",
        ),
        (
            "mcp_call companies__create name=x",
            "ARGUMENTS: not valid JSON: a value is expected, at $. "
            "Write one JSON object in single quotes, such as '{\"a\": 1}'",
        ),
        (
            "mcp_call companies__create -",
            "standard input is empty, and - reads the arguments from there: "
            "write `- < arguments.json`, or the JSON object itself",
        ),
        (
            "mcp_tools --format json",
            "there is no option '--format'; write --json. See `manage.py mcp_tools --help`.",
        ),
        (
            "mcp_tools --jsn",
            "there is no option '--jsn'; did you mean '--json'? See `manage.py mcp_tools --help`.",
        ),
        (
            "mcp_tools companies__creat",
            "there is no tool 'companies__creat'; did you mean 'companies__create'? "
            "`manage.py mcp_tools` lists them all",
        ),
        (
            "mcp_tools companies --as ann",
            "'companies' is a resource and not a tool; its tools are companies__list, "
            "companies__create, companies__retrieve, companies__update, "
            "companies__partial_update, companies__destroy",
        ),
        (
            "mcp_tools companies__create --lock",
            "--lock is for the names of all tools; leave out TOOL, --as and --json",
        ),
        (
            "mcp_doctor --fix",
            "there is no option '--fix'. See `manage.py mcp_doctor --help`.",
        ),
        (
            "mcp_config --token",
            "argument --token: expected one argument. See `manage.py mcp_config --help`.",
        ),
        ("mcp_clean --batch 0", "--batch has to be 1 or more"),
        ("mcp_warm x", "'x' is one word too many. See `manage.py mcp_warm --help`."),
    ],
)
def test_a_mistake_is_one_sentence_with_code_2(line, sentence, project, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
    command = load_command_class("toolbooth.django", line.split()[0])
    with pytest.raises(SystemExit) as ended:
        command.run_from_argv(["manage.py", *line.split(), "--no-color"])
    shown = capsys.readouterr()
    assert (ended.value.code, shown.out, shown.err) == (2, "", f"CommandError: {sentence}\n")
