"""Which tools are behind which dispatcher, and the names of the dispatchers."""

import pytest
from django.apps import apps
from django.core import checks
from django.urls import include, path
from rest_framework import viewsets
from rest_framework.decorators import action
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from odd.views import SiteViewSet
from sales.views import CompanyViewSet, ContactViewSet, DealViewSet, TagViewSet
from toolbooth.django import decorators
from toolbooth.django.conf import Configuration, configuration
from toolbooth.django.decorators import mcp_tool
from toolbooth.django.describe.catalogue import catalogue

CRUD = ["list", "create", "retrieve", "update", "partial_update", "destroy"]


def urls(*routes):
    """A URLconf with these view sets, each by its name."""
    patterns = []
    for place, (name, view) in enumerate(routes):
        router = SimpleRouter()
        router.register("rows", view, name)
        patterns.append(path(f"at{place}/", include(router.urls)))
    return type(
        "Urls", (), {"urlpatterns": [*patterns, path("mcp/", include("toolbooth.django.urls"))]}
    )


@pytest.fixture
def project(settings_of, monkeypatch):
    """Build a project of these view sets, and return the contents of its dispatchers."""
    monkeypatch.setattr(decorators, "declared", {})

    def build(*routes, **chosen):
        settings_of(ROOT_URLCONF=urls(*routes), TOOLBOOTH=chosen)
        return held()

    return build


def held():
    """Return each dispatcher, with its actions or with those of its resources; None for a tool by
    itself.
    """
    found = {}
    for name, tool in catalogue().registry.tools.items():
        below = tool.table and {key: list(actions) for key, actions in tool.table.resources.items()}
        found[name] = below if below is None or "" not in below else below[""]
    return found


CRM = (
    ("companies", CompanyViewSet),
    ("contacts", ContactViewSet),
    ("deals", DealViewSet),
    ("sites", SiteViewSet),
)


@pytest.mark.parametrize("off", ["off", None, False, {}])
def test_without_the_setting_every_tool_is_listed(project, off):
    found = project(*CRM, DISPATCH=off)
    assert (len(found), set(found.values())) == (25, {None})


def test_resource_setting_makes_one_dispatcher_for_each_resource(project):
    assert project(*CRM, DISPATCH="resource") == {
        "companies": CRUD,
        "contacts": CRUD,
        "deals": [*CRUD, "close"],
        "sites": CRUD,
    }


def test_app_setting_makes_one_dispatcher_for_each_app(project):
    assert project(*CRM, DISPATCH="app") == {
        "sales": {"companies": CRUD, "contacts": CRUD, "deals": [*CRUD, "close"]},
        "odd": CRUD,
    }


def test_resource_joins_the_first_matching_group(project):
    groups = {"people": ["contacts", "comp*"], "rest": ["c*", "deals"]}
    found = project(*CRM, DISPATCH=groups)
    flat = {f"sites__{name}": None for name in CRUD}
    assert found == {
        "people": {"companies": CRUD, "contacts": CRUD},
        "rest": [*CRUD, "close"],
        **flat,
    }


def test_excluded_tools_are_in_no_dispatcher(project):
    found = project(
        *CRM, DISPATCH="resource", INCLUDE=["deals__*", "sites__list"], EXCLUDE=["deals__[lucp]*"]
    )
    assert found == {"deals": ["retrieve", "destroy"], "sites": ["list"]}


def test_bulk_tools_are_actions_of_their_resource(project):
    found = project(("tags", TagViewSet), DISPATCH="resource", BULK_TOOLS=True)
    assert found == {"tags": [*CRUD, "bulk_create"]}


def test_a_resource_has_the_same_name_as_in_its_tools(project):
    """Resources of one name have a segment of their path in front."""
    found = project(
        ("rows", TagViewSet), ("rows", SiteViewSet), ("rows", CompanyViewSet), DISPATCH="resource"
    )
    assert found == {f"at{place}_rows": CRUD for place in range(3)}
    table = catalogue().registry.tools["at0_rows"].table
    tools = {name: tool.name for name, tool in table.resources[""].items()}
    assert tools == {name: f"at0_rows__{name}" for name in CRUD}


LONG = "a-router-of-a-very-long-name-that-nobody-would-ever-want-to-type-by-hand"


def test_a_long_name_is_cut_before_its_action(project):
    found = project((LONG, TagViewSet), (f"{LONG}-2", TagViewSet), DISPATCH="resource")
    assert [(len(name), actions) for name, actions in found.items()] == [(32, CRUD), (32, CRUD)]
    assert project((LONG[:32], TagViewSet), DISPATCH="resource") == {
        LONG[:32].replace("-", "_"): CRUD
    }


def test_a_duplicate_name_gets_a_number(project):
    @mcp_tool
    def contacts() -> str:
        """By hand."""
        return "by hand"

    found = project(("contacts", ContactViewSet), DISPATCH="resource")
    assert found == {"contacts": None, "contacts_2": CRUD}


def test_function_joins_the_dispatcher_of_its_name_prefix(project):
    @mcp_tool(name="contacts__merge")
    def merge(first: str, second: str) -> str:
        """Merge two."""
        return "merged"

    @mcp_tool
    def greet() -> str:
        """Greet."""
        return "hello"

    found = project(("contacts", ContactViewSet), DISPATCH="resource")
    assert found == {"greet": None, "contacts": ["merge", *CRUD]}


class Helpful(viewsets.GenericViewSet):
    queryset = TagViewSet.queryset
    serializer_class = TagViewSet.serializer_class

    @action(detail=False)
    def help(self, request):
        return Response({"said": "by the view"})


def test_a_hosts_own_action_named_help_can_still_be_called(project, mcp):
    assert project(("tags", Helpful), DISPATCH="resource") == {"tags": ["help"]}
    assert mcp("tags", {"action": "help"})["structuredContent"] == {"said": "by the view"}
    assert "help" in mcp("tags", {"action": "tool_help"})["content"][0]["text"]


def test_dispatcher_of_one_resource_has_the_description_of_its_view(project):
    project(*CRM, DISPATCH="resource")
    said = {name: tool.contract.description for name, tool in catalogue().registry.tools.items()}
    assert said["contacts"].startswith("People to write to.")
    assert said["companies"].startswith("Companies.")


def test_app_dispatcher_has_the_verbose_name_of_the_app_as_title(project, monkeypatch):
    monkeypatch.setattr(apps.get_app_config("sales"), "verbose_name", "Sales and marketing")
    project(*CRM, DISPATCH="app")
    assert {name: tool.title for name, tool in catalogue().registry.tools.items()} == {
        "sales": "Sales and marketing",
        "odd": None,
    }
    project(*CRM, DISPATCH={"sales": ["*"]})
    assert catalogue().registry.tools["sales"].title is None


# --- mistakes ---


@pytest.mark.parametrize(
    "given",
    ["apps", True, ["contacts"], {"a b": ["x"]}, {"a": "x"}, {"a": []}, {"a": [1]}, {1: ["x"]}],
    ids=repr,
)
def test_wrong_dispatch_setting_is_reported_and_ignored(settings_of, given):
    settings_of(TOOLBOOTH={"DISPATCH": given})
    found = [
        each
        for each in checks.run_checks(include_deployment_checks=True)
        if each.id == "toolbooth.E002"
    ]
    expected = '"off", "resource", "app" or groups of resources by name, as {"sales": ["contacts", "deal*"]}'
    assert [(each.id, each.msg) for each in found] == [
        ("toolbooth.E002", f"TOOLBOOTH['DISPATCH']: must be {expected}, not {given!r}.")
    ]
    assert configuration() == Configuration()


def test_dispatch_pattern_that_adds_nothing_is_reported(project):
    @mcp_tool
    def greet() -> str:
        """Of no resource."""
        return "hello"

    project(*CRM, DISPATCH={"a": ["contacts", "invoice*"], "b": ["con*"], "c": ["deals"]})
    assert [(each.what, each.why) for each in catalogue().unused_patterns] == [
        ("TOOLBOOTH['DISPATCH']['a']: 'invoice*'", "it matches no resource"),
        (
            "TOOLBOOTH['DISPATCH']['b']: 'con*'",
            "everything that it matches is taken by an earlier pattern",
        ),
    ]
    told = [
        each.msg
        for each in checks.run_checks(include_deployment_checks=True)
        if each.id == "toolbooth.W003"
    ]
    assert told == [f"{each.what}: {each.why}." for each in catalogue().unused_patterns]
    assert set(held()) - {
        f"{name}__{each}" for name in ("companies", "sites") for each in CRUD
    } == {"a", "c", "greet"}
