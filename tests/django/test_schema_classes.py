"""A project's own schema class may declare the bodies of its actions, as drf-spectacular documents
it.
"""

import pytest
from django.conf import settings
from django.contrib.auth import get_user_model
from django.urls import include, path
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, viewsets
from rest_framework.response import Response

from odd.models import Site
from toolbooth.django.describe.catalogue import catalogue


class SiteSerializer(serializers.ModelSerializer):
    class Meta:
        model = Site
        fields = ("id", "name", "slug")


class KeyedSerializer(SiteSerializer):
    id = serializers.IntegerField()


class ListsForBulk(AutoSchema):
    """As nautobot's: actions on the URL of the list take a list of rows, each with its key."""

    def get_request_serializer(self):
        found = super().get_request_serializer()
        if found is None or self.view.action != "bulk_update":
            return found
        return KeyedSerializer(many=True)


class Sites(viewsets.ModelViewSet):
    queryset = Site.objects.order_by("pk")
    serializer_class = SiteSerializer

    def bulk_update(self, request):
        for row in request.data:
            Site.objects.filter(pk=row["id"]).update(name=row["name"])
        return Response(status=204)

    def tidy(self, request):
        return Response({"tidied": dict(request.data)})


class SitesWithSchema(Sites):
    schema = ListsForBulk()


class SitesWithDeclaredAction(Sites):
    schema = ListsForBulk()

    @extend_schema(request=SiteSerializer)
    def tidy(self, request):
        return super().tidy(request)


ROUTES = {"get": "list", "post": "create", "put": "bulk_update", "patch": "tidy"}


@pytest.fixture
def serve(settings_of):
    def published(view, **more):
        patterns = [
            path("mcp/", include("toolbooth.django.urls")),
            path("sites/", view.as_view(ROUTES), name="site-list"),
        ]
        settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": patterns}), **more)
        return catalogue()

    return published


def body_of(found, tool):
    return list(found.registry.tools[tool].listing()["inputSchema"]["properties"])


def is_described(found):
    assert body_of(found, "sites__bulk_update")[0] == "objects"
    assert body_of(found, "sites__tidy") == []
    assert found.undeclared_bodies == ("sites__tidy",)


def test_the_schema_class_of_a_view_declares_the_body_of_an_action(serve):
    is_described(serve(SitesWithSchema))


def test_the_schema_class_in_the_settings_declares_the_body_of_an_action(serve):
    schema = f"{__name__}.ListsForBulk"
    is_described(
        serve(Sites, REST_FRAMEWORK={**settings.REST_FRAMEWORK, "DEFAULT_SCHEMA_CLASS": schema})
    )


def test_declaration_on_one_action_precedes_the_schema_class(serve):
    found = serve(SitesWithDeclaredAction)
    assert body_of(found, "sites__tidy")[:2] == ["name", "slug"]
    assert found.undeclared_bodies == ()


def test_a_list_that_a_schema_class_declares_reaches_the_view(serve, mcp):
    serve(SitesWithSchema)
    hq = Site.objects.create(name="hq", slug="hq")
    result = mcp("sites__bulk_update", {"objects": [{"id": hq.pk, "name": "HQ", "slug": "hq"}]})
    assert result["isError"] is False, result
    assert Site.objects.get().name == "HQ"
    refused = mcp("sites__bulk_update", {"objects": [{"id": hq.pk, "data": {"name": "x"}}]})
    assert refused["isError"] is True
    assert Site.objects.get().name == "HQ"


class ChoosesFields(SiteSerializer):
    """As nautobot's: its fields are a property that needs attributes set in its own `__init__`."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.chosen = None

    @property
    def fields(self):
        if self.chosen is None:
            self.chosen = dict(super().fields)
        return self.chosen


class NeedsContext(ChoosesFields):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        assert "first" in self.context


class SitesOfQuery(Sites):
    """The context of its serializers needs a query, which is not made for describing."""

    serializer_class = ChoosesFields

    def get_serializer_context(self):
        first = get_user_model().objects.first()
        return {**super().get_serializer_context(), "first": first}


class SitesOfContext(SitesOfQuery):
    serializer_class = NeedsContext


@pytest.mark.parametrize("view", [SitesOfQuery, SitesOfContext])
def test_a_view_whose_context_needs_a_query_is_described_with_all_fields(serve, mcp, view):
    found = serve(view)
    assert body_of(found, "sites__create")[:2] == ["name", "slug"]
    assert mcp("sites__create", {"name": "hq", "slug": "hq"})["isError"] is False
    assert Site.objects.get().slug == "hq"


def test_a_context_that_needs_a_query_is_tried_once_for_a_description(serve):
    tried = []

    class Sites(SitesOfQuery):
        def get_serializer_context(self):
            tried.append(self.action)
            return super().get_serializer_context()

    assert body_of(serve(Sites), "sites__create")[:2] == ["name", "slug"]
    # It is described for an anonymous user and for a superuser.
    assert tried.count("create") == 2


class Loud(serializers.Field):
    """It accepts the object that it returns, and the value in it."""

    def to_internal_value(self, data):
        return data["value"] if isinstance(data, dict) else data

    def to_representation(self, value):
        return {"value": value, "label": value.upper()}


class LoudSerializer(SiteSerializer):
    name = Loud()


class DocumentsAnother(AutoSchema):
    """As nautobot's: a class made for the document has a plain field in the place of `Loud`."""

    def get_request_serializer(self):
        found = super().get_request_serializer()
        made = type("WritableLoudSerializer", (found.__class__,), {"name": None})
        return made()


class LoudSites(Sites):
    serializer_class = LoudSerializer
    schema = DocumentsAnother()


def test_schema_class_for_documentation_does_not_change_accepted_input(serve, mcp):
    found = serve(LoudSites)
    published = found.registry.tools["sites__create"].listing()["inputSchema"]["properties"]
    assert published["name"]["type"] == "string"
    sent = {"name": {"value": "hq", "label": "HQ"}, "slug": "hq"}
    assert mcp("sites__create", sent)["isError"] is False
    assert Site.objects.get().name == "hq"
