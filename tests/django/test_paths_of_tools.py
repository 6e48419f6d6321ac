"""Every argument that goes into a URL is in its pattern, and every part of the URL has one."""

import re

import pytest
from django.urls import include, path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.viewsets import ModelViewSet

import pages_api
import protocol_api
import relation_api
import results_api
from odd.models import Site
from odd.serializers import SiteSerializer
from toolbooth.django.describe import building
from toolbooth.django.describe import catalogue as catalogues
from toolbooth.django.describe.arguments import arguments_of

URLCONFS = {
    "gateway": "gateway_urls",
    "failing": "failing_api",
    "numbers": "number_urls",
    "pages": pages_api.Urls,
    "protocol": protocol_api.Urls,
    "relations": relation_api.Urls,
    "results": results_api.Urls,
    "stored": "stored_api",
}


@pytest.fixture
def described(settings_of, monkeypatch):
    """Return the arguments of every tool of a URLconf, with its action."""

    def found(urlconf):
        made = []

        def noted(operation, *rest):
            arguments = arguments_of(operation, *rest)
            made.append((operation.action, arguments))
            return arguments

        monkeypatch.setattr(building, "arguments_of", noted)
        settings_of(ROOT_URLCONF=urlconf)
        catalogues.catalogue()
        return made

    return found


def assert_paths_are_whole(action, arguments):
    names = arguments.named("path")
    assert list(names) == re.findall(r"{(\w+)}", action.path), action
    for name, called in names.items():
        assert re.search(rf"[<:]{name}>", action.regex), action
        assert called in arguments.required
        assert called in arguments.properties


@pytest.mark.parametrize("urlconf", URLCONFS.values(), ids=URLCONFS)
def test_the_path_arguments_of_every_tool_are_those_of_its_url(described, urlconf):
    found = described(urlconf)
    assert found
    for action, arguments in found:
        assert_paths_are_whole(action, arguments)


def documented(name, **more):
    return OpenApiParameter(name, str, "path", **more)


DOCUMENTED = {
    "nothing": [],
    "another name": [documented("id")],
    "a name of nothing": [documented("nothing")],
    "two names": [documented("id"), documented("site_id")],
    "excluded": [documented("pk", exclude=True), documented("id", exclude=True)],
    "as a header": [OpenApiParameter("pk", str, "header")],
}


@pytest.mark.parametrize("parameters", DOCUMENTED.values(), ids=DOCUMENTED)
@pytest.mark.parametrize("route", ["<int:pk>/", "<slug:area>/<int:pk>/", "<uuid:site_pk>/<pk>/"])
def test_no_documentation_makes_a_path_that_cannot_be_called(described, parameters, route):
    @extend_schema(parameters=parameters)
    class Sites(ModelViewSet):
        queryset = Site.objects.all()
        serializer_class = SiteSerializer
        permission_classes = (AllowAny,)

    view = Sites.as_view({"get": "retrieve", "put": "update", "delete": "destroy"})
    patterns = [path("mcp/", include("toolbooth.django.urls")), path(route, view, name="site")]
    found = described(type("Urls", (), {"urlpatterns": patterns}))
    assert len(found) == 3
    for action, arguments in found:
        assert_paths_are_whole(action, arguments)
