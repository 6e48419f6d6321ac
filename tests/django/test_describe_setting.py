"""`TOOLBOOTH["DESCRIBE"]` gives serializers the context that they need to be described."""

import pytest
from django.core.checks import run_checks
from django.db import connection
from django.urls import include, path
from rest_framework import serializers, viewsets
from rest_framework.filters import OrderingFilter
from rest_framework.pagination import PageNumberPagination
from rest_framework.permissions import AllowAny
from rest_framework.routers import SimpleRouter

from doctor_report import words_of_doctor
from odd.models import Site, Thing
from toolbooth.django.describe.catalogue import catalogue

asked = []


def event_of(action, request):
    """As a project would write it, with a row that is in no database."""
    asked.append((action.name, action.path, request.method, request.user.is_authenticated))
    return {"event": Site(name="open")}


def by_request(action, request):
    request.event = Site(name="open")
    return {}


def failing(action, request):
    raise KeyError(action.name)


def querying(action, request):
    return {"event": Site.objects.first()}


def wrong(action, request):
    return [action.name]


def nothing(action, request):
    return None


NOT_A_FUNCTION = "text"


class OfEvent(serializers.ModelSerializer):
    """Its fields depend on the event."""

    class Meta:
        model = Thing
        fields = ("id", "title", "kind")

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.event = self.context["event"]

    def get_fields(self):
        fields = super().get_fields()
        if self.event.name == "open":
            fields["size"] = serializers.IntegerField(required=False, max_value=9)
        return fields


class Things(viewsets.ModelViewSet):
    queryset = Thing.objects.order_by("id")
    serializer_class = OfEvent
    permission_classes = (AllowAny,)
    filter_backends = (OrderingFilter,)
    ordering_fields = ("title",)
    pagination_class = PageNumberPagination

    def initial(self, request, *args, **kwargs):
        request.event = Site(name=kwargs["event"])
        super().initial(request, *args, **kwargs)

    def get_serializer_context(self):
        return {**super().get_serializer_context(), "event": self.request.event}


@pytest.fixture
def serve(settings_of):
    asked.clear()

    def published(name, **more):
        router = SimpleRouter()
        router.register("(?P<event>[a-z]+)/things", Things, basename="things")
        patterns = [path("mcp/", include("toolbooth.django.urls")), *router.urls]
        settings_of(
            ROOT_URLCONF=type("Urls", (), {"urlpatterns": patterns}),
            TOOLBOOTH={"DESCRIBE": f"{__name__}.{name}" if name else "", **more},
        )

    return published


def fields(tool="things__create"):
    return list(catalogue().registry.tools[tool].listing()["inputSchema"]["properties"])


@pytest.mark.parametrize("name", ["event_of", "by_request"])
def test_describe_function_fills_the_serializer_context(serve, name):
    serve(name)
    assert fields() == ["event", "title", "kind", "size", "help"]
    assert catalogue().faults == catalogue().describe_mistakes == ()


def test_the_function_gets_the_action_and_the_request(serve):
    serve("event_of")
    fields()
    assert ("create", "/{event}/things/", "POST", False) in asked
    assert ("create", "/{event}/things/", "POST", True) in asked  # for the superuser
    assert ("list", "/{event}/things/", "GET", False) in asked


def test_a_call_has_only_the_context_of_its_own_request(serve, mcp):
    serve("event_of")
    sent = {"event": "open", "title": "a", "size": 5}
    assert mcp("things__create", sent)["isError"] is False
    refused = mcp("things__create", {**sent, "event": "closed"})
    problems = refused["_meta"]["toolbooth"]["problems"]
    assert [each["path"] for each in problems] == ["$.size"]
    assert list(Thing.objects.values_list("title", "size")) == [("a", 5)]


MISTAKES = {
    "failing": "raised KeyError: 'create' for POST /{event}/things/.",
    "querying": "raised RuntimeError: no query is made while views are described for ",
    "wrong": "returned list instead of a dict for ",
    "nothing": "returned NoneType instead of a dict for ",
}


@pytest.mark.parametrize("name", MISTAKES)
def test_failing_describe_function_is_reported_and_loses_no_tool(serve, mcp, name):
    serve("")
    without = fields(), sorted(catalogue().registry.tools)
    serve(name)
    assert (fields(), sorted(catalogue().registry.tools)) == without
    told = [
        each for each in run_checks(include_deployment_checks=True) if each.id == "toolbooth.W004"
    ]
    found = [each.msg for each in told if MISTAKES[name] in each.msg]
    assert found
    assert found[0].startswith("TOOLBOOTH['DESCRIBE']: ")
    assert MISTAKES[name] in words_of_doctor()[0]
    assert mcp("things__create", {"event": "open", "title": "a"})["isError"] is False


def test_repeated_describe_mistake_is_reported_once(serve):
    serve("wrong")
    [told] = [
        each for each in run_checks(include_deployment_checks=True) if each.id == "toolbooth.W004"
    ]
    assert told.msg.endswith(
        "for GET /{event}/things/, POST /{event}/things/, GET /{event}/things/{pk}/, "
        "PUT /{event}/things/{pk}/ and 2 more."
    )


@pytest.mark.parametrize("name", ["NOT_A_FUNCTION", "no_such_name"])
def test_a_path_without_a_function_is_an_error(serve, name):
    serve(name)
    [told] = [
        each for each in run_checks(include_deployment_checks=True) if each.id == "toolbooth.E002"
    ]
    assert told.msg.startswith("TOOLBOOTH['DESCRIBE']: must be the import path of a function")
    assert "things__create" in catalogue().registry.tools
    assert "TOOLBOOTH['DESCRIBE']" in words_of_doctor()[0]


@pytest.mark.parametrize("name", ["event_of", "querying", ""])
def test_no_query_runs_while_views_are_described(serve, name):
    queries = []

    def note(execute, sql, *rest):
        found = execute(sql, *rest)
        queries.append(sql)
        return found

    serve(name)
    with connection.execute_wrapper(note):
        assert "title" in fields()
    assert queries == []
