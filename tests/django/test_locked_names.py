"""`mcp_names.lock` and the command that writes it."""

import io

import pytest
from django.core.management import CommandError, call_command
from django.urls import include, path
from rest_framework import viewsets
from rest_framework.decorators import api_view, permission_classes
from rest_framework.permissions import AllowAny
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.serializers import ModelSerializer

from odd.models import Log
from toolbooth.django import decorators
from toolbooth.django.conf import configuration
from toolbooth.django.decorators import mcp_tool
from toolbooth.django.describe.catalogue import catalogue
from toolbooth.django.describe.locked_names import read

HERE = __name__
HEADING = "# Names of MCP tools. Written by `manage.py mcp_tools --lock`; commit this file.\n"


class LogSerializer(ModelSerializer):
    class Meta:
        model = Log
        fields = ["id", "line"]


class Orders(viewsets.ReadOnlyModelViewSet):
    queryset = Log.objects.order_by("id")
    serializer_class = LogSerializer
    permission_classes = [AllowAny]


class NewOrders(Orders):
    pass


def urls(**places):
    patterns = [path("mcp/", include("toolbooth.django.urls"))]
    for place, view in places.items():
        router = SimpleRouter()
        router.register("orders", view, "orders")
        patterns.append(path(f"{place}/", include(router.urls)))
    return type("Urls", (), {"urlpatterns": patterns})


@pytest.fixture
def serve(settings_of, monkeypatch, tmp_path):
    monkeypatch.setattr(decorators, "declared", {})
    settings_of(BASE_DIR=tmp_path)

    def served(toolbooth=None, **places):
        settings_of(ROOT_URLCONF=urls(**places), TOOLBOOTH=toolbooth or {})

    return served


@pytest.fixture
def lock(tmp_path):
    return tmp_path / "mcp_names.lock"


def run(*arguments):
    """Return the output of `mcp_tools`, and its exit code."""
    printed = io.StringIO()
    try:
        call_command("mcp_tools", *arguments, stdout=printed)
    except CommandError as error:
        return f"{printed.getvalue()}{error}\n", error.returncode
    return printed.getvalue(), 0


def paths():
    return {name: each.path for name, each in catalogue().actions.items()}


def told():
    return [(each.what, each.why) for each in catalogue().unused_patterns]


FIRST = (
    f"orders__list GET /events/orders/ {HERE}.Orders\n"
    f"orders__retrieve GET /events/orders/{{pk}}/ {HERE}.Orders\n"
)


def test_the_command_writes_one_sorted_line_for_each_tool(serve, lock):
    serve(events=Orders)
    printed, code = run("--lock")
    assert (lock.read_text(), code) == (HEADING + FIRST, 0)
    lines = (HEADING + FIRST).splitlines()
    assert printed == "".join(f"+ {line}\n" for line in lines) + f"{lock} written: 2 tools\n"
    assert run("--lock") == (f"{lock} is up to date: 2 tools\n", 0)
    assert run("--lock", "--check") == (f"{lock} is up to date: 2 tools\n", 0)


def test_a_new_route_renames_no_tool_that_is_in_the_file(serve, lock):
    serve(events=Orders)
    run("--lock")
    serve(events=Orders, organizers=Orders)
    assert paths() == {
        "orders__list": "/events/orders/",
        "orders__retrieve": "/events/orders/{pk}/",
        "organizer_orders__list": "/organizers/orders/",
        "organizer_orders__retrieve": "/organizers/orders/{pk}/",
    }
    added = (
        f"organizer_orders__list GET /organizers/orders/ {HERE}.Orders\n"
        f"organizer_orders__retrieve GET /organizers/orders/{{pk}}/ {HERE}.Orders\n"
    )
    printed, code = run("--lock", "--check")
    lines = "".join(f"+ {line}\n" for line in added.splitlines())
    words = f"{lock} is not up to date: run `manage.py mcp_tools --lock`, and commit it\n"
    assert (printed, code) == (lines + words, 1)
    assert lock.read_text() == HEADING + FIRST
    assert run("--lock")[1] == 0
    assert lock.read_text() == HEADING + FIRST + added


def test_tools_that_are_not_published_are_in_the_file_too(serve, lock):
    serve({"INCLUDE": ["orders__list"]}, events=Orders)
    run("--lock")
    assert lock.read_text() == HEADING + FIRST


def test_a_removed_route_is_reported_and_its_name_is_not_reused(serve, lock):
    serve(events=Orders)
    run("--lock")
    serve(organizers=Orders)
    assert list(paths()) == ["organizer_orders__list", "organizer_orders__retrieve"]
    assert told() == [
        (
            "mcp_names.lock: 'orders__list'",
            "there is no GET /events/orders/ any more; run mcp_tools --lock",
        ),
        (
            "mcp_names.lock: 'orders__retrieve'",
            "there is no GET /events/orders/{pk}/ any more; run mcp_tools --lock",
        ),
    ]
    run("--lock")
    assert "events" not in lock.read_text()


def test_another_view_at_the_same_url_is_reported(serve, lock):
    serve(events=Orders)
    run("--lock")
    serve(events=NewOrders)
    assert list(paths()) == ["orders__list", "orders__retrieve"]
    assert told()[0] == (
        "mcp_names.lock: 'orders__list'",
        f"GET /events/orders/ is now served by {HERE}.NewOrders; run mcp_tools --lock",
    )


def test_a_short_name_that_two_tools_want_is_not_given_to_a_new_one(serve, lock):
    lock.write_text(f"event_orders__list GET /events/orders/ {HERE}.Orders\n")
    serve(events=Orders, organizers=Orders)
    assert list(paths()) == [
        "event_orders__list",
        "event_orders__retrieve",
        "organizer_orders__list",
        "organizer_orders__retrieve",
    ]


def test_a_name_may_be_written_by_hand(serve, lock):
    lock.write_text(f"bookings__all GET /events/orders/ {HERE}.Orders\n")
    serve({"DISPATCH": {"group": ["bookings"]}}, events=Orders)
    assert list(paths()) == ["bookings__all", "orders__retrieve"]
    assert list(catalogue().registry.tools) == ["orders__retrieve", "group"]


def test_a_tool_of_your_own_keeps_its_name(serve, lock):
    @mcp_tool(name="orders__list")
    def own() -> str:
        """Mine."""
        return "mine"

    lock.write_text(FIRST)
    serve(events=Orders)
    assert [name for name, each in paths().items() if each] == [
        "event_orders__list",
        "orders__retrieve",
    ]
    assert told() == [
        ("mcp_names.lock: 'orders__list'", "a tool of your own has this name; rename one of them")
    ]


@api_view(["GET"])
@permission_classes([AllowAny])
def clinic_list(request):
    return Response([])


def test_a_function_view_is_in_the_file_by_its_name(settings_of, serve, lock):
    settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": [path("clinics/", clinic_list)]}))
    run("--lock")
    assert lock.read_text() == f"{HEADING}clinics__list GET /clinics/ {HERE}.clinic_list\n"


# --- the file ---


def test_names_lock_setting_sets_the_path_of_the_file(serve, tmp_path, lock):
    serve({"NAMES_LOCK": "names/tools.txt"}, events=Orders)
    (tmp_path / "names").mkdir()
    run("--lock")
    assert (tmp_path / "names" / "tools.txt").read_text() == HEADING + FIRST
    serve({"NAMES_LOCK": tmp_path / "names" / "tools.txt"}, events=Orders, organizers=Orders)
    assert "orders__list" in paths()
    assert not lock.exists()
    serve({"NAMES_LOCK": 1}, events=Orders)
    assert configuration().names_lock == ""


def test_without_a_place_for_the_file_the_command_asks_for_one(serve, settings_of):
    serve(events=Orders)
    settings_of(BASE_DIR=None)
    assert run("--lock") == (
        "the folder of mcp_names.lock is not known. Set BASE_DIR, or TOOLBOOTH['NAMES_LOCK'].\n",
        2,
    )
    assert run("--check") == ("--check needs --lock\n", 2)


WRONG = "must be a tool's name, a method, a path and a view, with spaces between"
ENDING = "; correct it, or delete the file and run mcp_tools --lock"


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        ("<<<<<<< HEAD\n" + FIRST, f"line 1 {WRONG}{ENDING}"),
        (FIRST + "x\n\n# y\nz\n", f"line 3 {WRONG}, and 1 more lines are wrong{ENDING}"),
        ("a__b GET api/ x.Y\n", f"line 1 {WRONG}{ENDING}"),
        ("a__b LIST /api/ x.Y\n", f"line 1 {WRONG}{ENDING}"),
        ("a b__c GET /api/ x.Y\n", f"line 1 {WRONG}{ENDING}"),
        ("a__b GET /api/\n", f"line 1 {WRONG}{ENDING}"),
        (
            FIRST + f"orders__list GET /other/ {HERE}.Orders\n",
            f"line 3 (orders__list) repeats the name or the route of an earlier line{ENDING}",
        ),
        (
            FIRST + f"again__list GET /events/orders/ {HERE}.Orders\n",
            f"line 3 (again__list) repeats the name or the route of an earlier line{ENDING}",
        ),
    ],
)
def test_a_malformed_file_is_reported_in_one_sentence_and_its_valid_lines_apply(
    serve, lock, text, mistake
):
    lock.write_text(text)
    serve(events=Orders, organizers=Orders)
    assert run("--lock") == (f"{lock}: {mistake}\n", 2)
    assert lock.read_text() == text
    found = [(each.what, each.why) for each in catalogue().wrong_entries]
    assert found == [("mcp_names.lock", mistake)]
    if "orders__list" in text:
        assert paths()["orders__list"] == "/events/orders/"


@pytest.mark.parametrize("content", [b"\xff\xfe", None], ids=["no text", "a folder"])
def test_an_unreadable_file_is_reported_in_one_sentence(serve, lock, content):
    if content is None:
        lock.mkdir()
    else:
        lock.write_bytes(content)
    serve(events=Orders)
    printed, code = run("--lock")
    assert (code, printed.count("\n")) == (2, 1)
    assert printed.startswith(f"{lock}: it cannot be read: ")
    assert list(paths()) == ["orders__list", "orders__retrieve"]


def test_a_path_with_spaces_is_read():
    assert read("a__b GET /a b/ x.Y\n").names == {("GET", "/a b/", "x.Y"): "a__b"}
