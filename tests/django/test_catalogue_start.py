"""The catalogue is started once, by the first request, and an action is described when it is first
called or listed; `check` reports mistakes in the settings.
"""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.conf import settings
from django.core import checks
from django.db import connection, connections
from django.http import JsonResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import include, path
from django.utils.translation import get_language, override
from drf_spectacular.generators import SchemaGenerator
from rest_framework import viewsets
from rest_framework.decorators import action
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from sales.models import Tag
from sales.serializers import TagSerializer
from sales.views import TagViewSet
from toolbooth.django import conf, warm
from toolbooth.django.conf import Configuration, configuration
from toolbooth.django.describe import catalogue as catalogues
from toolbooth.django.describe.catalogue import catalogue
from toolbooth.publish import Portable

LIST = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})


@pytest.fixture
def thousand(settings_of):
    """A project of a thousand tools."""
    router = SimpleRouter()
    for number in range(167):
        router.register(f"tags{number}", TagViewSet, f"tags{number}")
    patterns = [path("mcp/", include("toolbooth.django.urls")), *router.urls]
    settings_of(
        ROOT_URLCONF=type("Urls", (), {"urlpatterns": patterns}), TOOLBOOTH={"BULK_TOOLS": False}
    )


def test_eight_simultaneous_first_calls_see_the_same_whole_catalogue(ann, thousand, monkeypatch):
    built = []
    monkeypatch.setattr(
        catalogues, "start", lambda chosen, start=catalogues.start: built.append(1) or start(chosen)
    )
    together = threading.Barrier(8)

    def first(_):
        client = Client(headers={"Authorization": "Basic YW5uOnB3"})
        together.wait()
        try:
            return client.post("/mcp/", LIST, content_type="application/json").json()["result"]
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(first, range(8)))
    assert [len(result["tools"]) for result in results] == [500] * 8
    assert all("nextCursor" in result for result in results)
    assert len(catalogue().registry.tools) == 1002
    assert built == [1]


def test_names_are_short_and_stable(thousand):
    names = list(catalogue().actions)
    assert all(len(name) <= 64 for name in names)
    catalogues.forget()
    assert list(catalogue().actions) == names


def test_view_sets_with_the_same_name_get_distinct_tool_names(settings_of):
    from odd.views import SiteViewSet  # noqa: PLC0415  # beside the one of another app

    first, second, third = SimpleRouter(), SimpleRouter(), SimpleRouter()
    first.register("rows", TagViewSet, "rows")
    second.register("rows", SiteViewSet, "rows")
    third.register("rows", TagViewSet, "rows")
    long = SimpleRouter()
    long.register(
        "x", TagViewSet, "a-very-long-name-of-a-router-that-nobody-would-ever-want-to-type-by-hand"
    )
    patterns = [
        path("one/", include(first.urls)),
        path("two/", include(second.urls)),
        path("", include(third.urls)),
        path("", include(long.urls)),
    ]
    settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": patterns}))
    lists = [name for name in catalogue().actions if name.endswith("list")]
    assert lists == [
        "one_rows__list",
        "sales_rows__list",
        "two_rows__list",
        "a_very_long_name_of_a_route_04bc__list",
    ]


# --- settings ---


def told():
    found = checks.run_checks(include_deployment_checks=True)
    return [(each.id, each.msg) for each in found if each.id.startswith("toolbooth")]


def test_a_stock_project_has_no_mistakes(settings_of):
    settings_of(ROOT_URLCONF="crm.urls")
    assert told() == []
    assert configuration() == Configuration()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], [("toolbooth.E001", "TOOLBOOTH must be a dict.")]),
        ({"NAME": 1}, [("toolbooth.E002", "TOOLBOOTH['NAME']: must be text, not 1.")]),
        (
            {"INCLUDE": "x"},
            [("toolbooth.E002", "TOOLBOOTH['INCLUDE']: must be a list of texts, not 'x'.")],
        ),
        (
            {"ERRORS": "html"},
            [
                (
                    "toolbooth.E002",
                    """TOOLBOOTH['ERRORS']: must be "result" or "protocol", not 'html'.""",
                )
            ],
        ),
        (
            {"LOGIN_REQUIRED": "no"},
            [
                (
                    "toolbooth.E002",
                    "TOOLBOOTH['LOGIN_REQUIRED']: must be True, False or None, not 'no'.",
                )
            ],
        ),
        (
            {"MAX_BODY": 0},
            [("toolbooth.E002", "TOOLBOOTH['MAX_BODY']: must be a positive number, not 0.")],
        ),
        (
            {"BULK_TOOLS": 1},
            [("toolbooth.E002", "TOOLBOOTH['BULK_TOOLS']: must be True or False, not 1.")],
        ),
    ],
    ids=lambda value: next(iter(value), "no dict") if isinstance(value, dict) else "",
)
def test_each_wrong_setting_is_reported_and_ignored(settings_of, given, said):
    settings_of(TOOLBOOTH=given, ROOT_URLCONF="crm.urls")
    assert told() == said
    assert configuration() == Configuration()


def test_unknown_setting_is_reported_with_the_known_ones(settings_of):
    settings_of(TOOLBOOTH={"INCLUDES": ["x"], "Z": 1, "NAME": "crm"}, ROOT_URLCONF="crm.urls")
    (code, near), (_, message) = told()
    assert (code, near) == (
        "toolbooth.E002",
        "TOOLBOOTH['INCLUDES']: there is no such setting; 'INCLUDE' may be meant.",
    )
    assert message.startswith(
        "TOOLBOOTH['Z']: there is no such setting; there are NAME, INSTRUCTIONS, INCLUDE,"
    )
    assert configuration() == Configuration(name="crm")


def test_project_without_rest_framework_is_reported(settings_of):
    settings_of(
        INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "toolbooth.django"]
    )
    assert [code for code, _ in told()] == ["toolbooth.E003"]


class ManyMethods(viewsets.GenericViewSet):
    __module__ = "elsewhere.views"
    queryset = TagViewSet.queryset
    serializer_class = TagViewSet.serializer_class

    @action(detail=False, methods=["get", "post"])
    def both(self, request):
        return Response({})

    @action(detail=False, url_path="both-too", url_name="both_get")
    def both_get(self, request):
        return Response({})


def test_an_action_with_several_methods_has_a_tool_for_each(settings_of):
    router = SimpleRouter()
    router.register("rows", ManyMethods, "rows")
    settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": router.urls}))
    names = ["rows__both_get_get", "rows__both_post", "rows__both_without_key"]
    assert sorted(catalogue().actions) == names


def test_pattern_that_matches_no_tool_is_reported(settings_of):
    settings_of(TOOLBOOTH={"EXCLUDE": ["*__destory", "tags__*"]}, ROOT_URLCONF="crm.urls")
    assert told() == [("toolbooth.W003", "TOOLBOOTH['EXCLUDE']: '*__destory': it matches no tool.")]


def test_every_setting_has_a_rule_for_its_values():
    assert {*conf._RULES, "ARGUMENTS"} == set(conf._FIELDS)


# --- described when needed ---


def described(found) -> list[str]:
    return [name for name in found.actions if name not in set(found.registry.promised)]


def test_a_call_describes_only_the_action_that_it_names(ann, mcp, thousand):
    assert mcp("tags7__list")["structuredContent"]["results"] == []
    assert described(catalogues.started_catalogue()) == ["tags7__list"]


def test_initialize_and_ping_do_not_describe_any_view(ann, thousand):
    client = Client(headers={"Authorization": "Basic YW5uOnB3"})
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}}
    for method in ("initialize", "ping"):
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        reply = client.post("/mcp/", json.dumps(message), content_type="application/json")
        assert "result" in reply.json()
    assert described(catalogues.started_catalogue()) == []


def test_the_pages_of_one_caller_contain_every_tool_once(ann, thousand):
    client = Client(headers={"Authorization": "Basic YW5uOnB3"})
    names, params = [], {}
    while params is not None:
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params}
        reply = client.post("/mcp/", json.dumps(message), content_type="application/json").json()
        names += [tool["name"] for tool in reply["result"]["tools"]]
        cursor = reply["result"].get("nextCursor")
        params = None if cursor is None else {"cursor": cursor}
    assert names == list(catalogue().actions)


def whole_list(user=None):
    """Return the bytes of the first page, as the endpoint sends it."""
    return catalogues.started_catalogue().registry.page(0, user)


def test_the_list_makes_no_tool_and_is_the_same_as_that_of_the_tools(settings_of, ann, mcp):
    settings_of(ROOT_URLCONF="crm.urls")
    listed = whole_list()
    found = catalogues.started_catalogue()
    assert list(found.building.described) == [*found.registry.promised.listed]
    assert mcp("tags__list")["isError"] is False
    assert "tags__list" not in found.building.described
    assert whole_list() == listed
    found.describe_all()
    assert found.building.described == {}
    assert whole_list() == listed


def test_a_profile_of_the_project_gets_the_whole_contract_for_the_list(settings_of, db):
    shapes = []

    class Counting(Portable):
        def input_schema(self, contract):
            shapes.append(len(contract.shape.objects))
            return super().input_schema(contract)

    settings_of(ROOT_URLCONF="crm.urls", TOOLBOOTH={"PROFILE": Counting})
    whole_list()
    assert set(shapes) == {1}


def test_tools_are_described_in_the_project_language_for_every_caller(settings_of, ann):
    class Texts(viewsets.ModelViewSet):
        queryset = Tag.objects.all()
        serializer_class = TagSerializer
        permission_classes = ()

        @property
        def description(self) -> str:
            return get_language()

    router = SimpleRouter()
    router.register("tags", Texts, "tags")
    patterns = [path("mcp/", include("toolbooth.django.urls")), *router.urls]
    settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": patterns}), LANGUAGE_CODE="en")
    started = catalogues.started_catalogue()
    with override("nl"):
        started.describe_all()
        in_dutch = started.registry.page(0, None)
    catalogues.forget()
    assert catalogue().registry.page(0, None) == in_dutch


def schema_of_host(request):
    """A view of the host that shows drf-spectacular's schema."""
    return JsonResponse(SchemaGenerator().get_schema(public=True))


def test_the_schema_of_the_host_is_the_same_while_actions_are_described(settings_of, ann):
    router = SimpleRouter()
    for number in range(6):
        router.register(f"tags{number}", TagViewSet, f"tags{number}")
    patterns = [
        path("mcp/", include("toolbooth.django.urls")),
        path("schema/", schema_of_host),
        *router.urls,
    ]
    schema_class = "drf_spectacular.openapi.AutoSchema"
    settings_of(
        ROOT_URLCONF=type("Urls", (), {"urlpatterns": patterns}),
        REST_FRAMEWORK={**settings.REST_FRAMEWORK, "DEFAULT_SCHEMA_CLASS": schema_class},
    )
    before = Client().get("/schema/").content
    asked = threading.Event()

    def describe() -> int:
        rounds = 0
        while not asked.is_set():
            catalogues.build(configuration())
            rounds += 1
        return rounds

    with ThreadPoolExecutor(1) as thread:
        rounds = thread.submit(describe)
        try:
            answers = [Client().get("/schema/").content for _ in range(50)]
        finally:
            asked.set()
        assert rounds.result() > 1
    assert answers == [before] * 50


def test_warming_up_describes_every_action_without_a_query(ann, thousand):
    before = threading.active_count()
    with CaptureQueriesContext(connection) as asked:
        warm()
    assert len(asked) == 0
    found = catalogues.started_catalogue()
    assert described(found) == list(found.actions)
    assert threading.active_count() == before
