"""docs/guides/doctor.md shows the doctor's real output, and lists its checks."""

import re
from pathlib import Path

from django.core.management import load_command_class
from django.http import HttpResponse
from django.urls import include, path
from rest_framework import mixins, viewsets
from rest_framework.routers import SimpleRouter

from doctor_report import doctor
from odd.models import Log
from odd.serializers import LogSerializer
from toolbooth.django import checks

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "doctor.md"
TEXT = PAGE.read_text(encoding="utf-8")


class Tickets(
    mixins.CreateModelMixin,
    mixins.UpdateModelMixin,
    mixins.DestroyModelMixin,
    viewsets.GenericViewSet,
):
    queryset = Log.objects.all()
    serializer_class = LogSerializer
    permission_classes = []


def page_of_shop(name):
    def view(request):
        return HttpResponse()

    view.__module__, view.__qualname__ = "shop.views", name
    return path(f"{name}/", view)


def test_the_page_shows_a_real_report(settings_of, ann):
    router = SimpleRouter()
    router.register("tickets", Tickets, "tickets")
    names = ("basket", "checkout", "invoice", "returns", "search")
    patterns = [
        path("", include("crm.urls")),
        path("api/", include(router.urls)),
        *map(page_of_shop, names),
    ]
    settings_of(
        ROOT_URLCONF=type("Urls", (), {"urlpatterns": patterns}),
        TOOLBOOTH={"EXCLUDE": ["tickets__partial_update"]},
    )
    printed, code = doctor("--as", "ann")
    assert code == 0
    shown = re.search(r"columns }\n(toolbooth .*?)\n```", TEXT, re.DOTALL)[1]
    groups, _, steps = shown.partition("       ok")
    # Versions and tokens change with the packages.
    assert groups.partition("\n\n")[2] in printed
    next_steps = steps.partition("What to do next")[2]
    assert printed.partition("What to do next")[2] == f"{next_steps}\n"


def test_the_page_has_every_code_of_the_checks():
    source = Path(checks.__file__).read_text(encoding="utf-8")
    codes = set(re.findall(r'id="(toolbooth\.[EW]\d+)"', source))
    assert set(re.findall(r"^\| `(toolbooth\.\w+)` \|", TEXT, re.MULTILINE)) == codes


def test_the_page_has_every_option():
    command = load_command_class("toolbooth.django", "mcp_doctor")
    own = {"--as", "--deploy", "--json"}
    options = {
        option
        for action in command.create_parser("manage.py", "mcp_doctor")._actions
        for option in action.option_strings
    }
    shown = set(re.findall(r"^\| `(-\S+?)[ `]", TEXT, re.MULTILINE))
    assert shown == {*own, "-v"}
    assert shown <= options
