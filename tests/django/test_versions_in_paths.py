"""Views whose URLs have versions, or parts that only some texts fit."""

import pytest
from django.urls import include, path, re_path
from rest_framework import serializers, viewsets
from rest_framework.permissions import IsAuthenticated
from rest_framework.versioning import NamespaceVersioning, URLPathVersioning

from odd.models import Site
from toolbooth.django.describe.catalogue import catalogue
from toolbooth.django.describe.described_requests import plausible_kwargs
from toolbooth.django.describe.discovery import Action
from toolbooth.django.testing import acting_as


def properties(found, name):
    return found.registry.tools[name].listing()["inputSchema"]["properties"]


class SiteSerializer(serializers.ModelSerializer):
    class Meta:
        model = Site
        fields = ("id", "name")


class SluggedSerializer(serializers.ModelSerializer):
    class Meta:
        model = Site
        fields = ("id", "name", "slug")


class ByVersion(viewsets.ModelViewSet):
    queryset = Site.objects.order_by("id")
    permission_classes = (IsAuthenticated,)

    def get_serializer_class(self):
        return SluggedSerializer if self.request.version == "v2" else SiteSerializer


@pytest.mark.parametrize("default", ["v2", None])
def test_an_api_with_versions_in_its_paths_is_listed_and_called(
    settings_of, mcp, mcp_as, ann, default
):
    class Versions(URLPathVersioning):
        default_version = default
        allowed_versions = ("v2", "v1")

    view = ByVersion.as_view(
        {"get": "list", "post": "create"}, versioning_class=Versions, suffix=str(default)
    )
    route = "^(?P<version>(v1|v2))/sites/$"
    patterns = [path("mcp/", include("toolbooth.django.urls")), re_path(route, view, name="sites")]
    settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": patterns}))
    assert catalogue().left_out == catalogue().faults == ()
    assert set(acting_as(ann).tools()) == {"sites__list", "sites__create"}
    new = {"version": "v2", "name": "a", "slug": "a"}
    assert mcp("sites__create", new)["isError"] is False
    assert mcp("sites__create", {"version": "v1", "name": "b"})["isError"] is False
    refused = mcp("sites__create", {**new, "version": "v1"})
    assert [each["path"] for each in refused["_meta"]["toolbooth"]["problems"]] == ["$.slug"]
    assert "slug" in mcp("sites__create", {"help": True})["structuredContent"]["fields"]
    assert Site.objects.count() == 2


def test_a_view_that_is_described_knows_the_version_of_its_namespace(settings_of, mcp):
    class Versions(NamespaceVersioning):
        allowed_versions = ("v1", "v2")

    def patterns_of(version):
        view = ByVersion.as_view({"post": "create"}, versioning_class=Versions, suffix=version)
        return ([path("sites/", view, name=f"sites_{version}")], version)

    patterns = [path("mcp/", include("toolbooth.django.urls"))]
    patterns += [path(f"{each}/", include(patterns_of(each))) for each in ("v1", "v2")]
    settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": patterns}))
    found = catalogue()
    assert found.left_out == ()
    first, second = sorted(found.actions)
    assert "slug" not in properties(found, first)
    assert mcp(second, {"name": "a", "slug": "a"})["isError"] is False
    assert Site.objects.get().slug == "a"


@pytest.mark.parametrize(
    ("pattern", "fits"),
    [
        ("(v1|v2)", "v1"),
        ("[^/.]+", "1"),
        ("[a-z]{2}", "en"),
        ("[a-z]+", "a"),
        ("[0-9a-f-]{36}", "00000000-0000-0000-0000-000000000001"),
        (r"\d{4}", "2020"),
        ("(?:red|green)", "red"),
        ("[A-F]{3}", "1"),  # no matching text is known
    ],
)
def test_a_view_is_described_with_url_kwargs_that_match_its_pattern(pattern, fits):
    regex = f"^a/(?P<first>{pattern})/(?P<pk>[^/]+)/$"
    view = ByVersion.as_view({"get": "retrieve"})
    where = {"path": "/a/{first}/{pk}/", "regex": regex, "base": "sites"}
    action = Action(callback=view, method="GET", name="retrieve", **where)
    assert plausible_kwargs(action) == {"first": fits, "pk": "1"}


def test_wrong_path_value_is_reported_alone_beside_other_patterns(settings_of, mcp):
    view = ByVersion.as_view({"get": "retrieve"})
    route = "^(?P<lang>[a-z]{2})/(?P<region>(?:eu|us))/(?P<pk>[^/.]+)/$"
    patterns = [path("mcp/", include("toolbooth.django.urls")), re_path(route, view, name="site")]
    settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": patterns}))
    result = mcp("site__retrieve", {"lang": "nl", "region": "eu", "id": "a/b"})
    assert [each["path"] for each in result["_meta"]["toolbooth"]["problems"]] == ["$.id"]
