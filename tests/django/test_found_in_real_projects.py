"""Patterns of large projects that the gateway once failed on: see docs/measured/further_hosts.md."""

import threading
from contextlib import contextmanager
from contextvars import ContextVar

import pytest
from django.db import connection
from django.urls import include, path
from django_filters.rest_framework import DjangoFilterBackend, FilterSet
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema
from rest_framework import serializers, viewsets
from rest_framework.filters import SearchFilter
from rest_framework.permissions import AllowAny
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from odd.models import Depot, Site, Thing
from toolbooth.django.describe.catalogue import catalogue


@pytest.fixture
def serve(settings_of):
    """Serve these view sets, each under its name, and no others."""

    def published(*patterns, **view_sets):
        router = SimpleRouter()
        for name, view in view_sets.items():
            router.register(name, view, basename=name)
        endpoint = path("mcp/", include("toolbooth.django.urls"))
        urls = [endpoint, *patterns, *router.urls]
        settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": urls}))
        return catalogue()

    return published


def properties(found, tool):
    return found.registry.tools[tool].listing()["inputSchema"]["properties"]


def paths(result):
    assert result["isError"] is True, result
    return [each["path"] for each in result["_meta"]["toolbooth"]["problems"]]


class SiteSerializer(serializers.ModelSerializer):
    class Meta:
        model = Site
        fields = ("id", "name")


class Sites(viewsets.ModelViewSet):
    queryset = Site.objects.order_by("id")
    serializer_class = SiteSerializer
    permission_classes = (AllowAny,)


# --- describing ---


class OldSchema(AutoSchema):
    """Written for a drf-spectacular whose private method took fewer arguments."""

    def _get_request_body(self):
        return super()._get_request_body()


def test_a_schema_class_for_an_older_drf_spectacular_is_used(serve):
    class OldSites(Sites):
        schema = OldSchema()

    found = serve(sites=OldSites)
    assert found.left_out == ()
    assert set(found.actions) >= {"sites__create", "sites__update", "sites__destroy"}


def test_no_connection_is_opened_while_views_are_described(serve, db):
    """A connection that may not run the queries of `connection_created` would stay half made."""

    class ByRow(Sites):
        def get_queryset(self):
            return Site.objects.filter(pk=Site.objects.get().pk)

    opened = []

    def describe():
        serve(sites=ByRow)
        opened.append(connection.connection)
        connection.ensure_connection()
        opened.append(connection.connection)
        connection.close()

    thread = threading.Thread(target=describe)  # with a connection of its own
    thread.start()
    thread.join()
    assert opened[0] is None
    assert opened[1] is not None


def test_filters_keep_their_types_if_the_rows_are_known_only_in_a_call(serve):
    class ByRow(Sites):
        queryset = None
        filter_backends = (DjangoFilterBackend,)
        filterset_fields = ("id", "name")

        def get_queryset(self):
            return Site.objects.filter(pk=Site.objects.get().pk)

    found = properties(serve(sites=ByRow), "sites__list")
    assert (found["id"]["type"], found["name"]["type"]) == ("integer", "string")


SCOPE = ContextVar("SCOPE")


class ScopedBackend(DjangoFilterBackend):
    def get_filterset_class(self, view, queryset=None):
        SCOPE.get()
        return super().get_filterset_class(view, queryset)


class SiteFilters(FilterSet):
    class Meta:
        model = Site
        fields = ("name",)


@pytest.mark.parametrize(
    ("filters", "names"),
    [
        ({"filterset_fields": ("id", "name")}, ["id", "name"]),
        ({"filterset_fields": {"name": ["exact", "icontains"]}}, ["name", "name__icontains"]),
        ({"filterset_class": SiteFilters}, ["name"]),
        ({"filterset_fields": "__all__"}, []),
        ({}, []),
    ],
    ids=["names", "lookups", "class", "all", "none"],
)
def test_filters_that_exist_only_in_a_call_are_accepted_by_name(serve, mcp, filters, names):
    backends = {"filter_backends": (ScopedBackend, SearchFilter), "search_fields": ("name",)}
    found = serve(sites=type("Scoped", (InScope, Sites), {**backends, **filters}))
    published = properties(found, "sites__list")
    assert [name for name in published if name in ("id", "name", "name__icontains")] == names
    assert "search" in published
    first, _ = (Site.objects.create(name=each, slug=each) for each in "ab")
    for name in names:
        value = first.pk if name == "id" else "a"
        result = mcp("sites__list", {name: value})
        assert result["structuredContent"]["results"] == [{"id": first.pk, "name": "a"}]


class DepotSerializer(serializers.ModelSerializer):
    class Meta:
        model = Depot
        fields = ("name", "doors")


def test_the_key_of_a_child_model_has_the_name_of_its_parents_key(serve, mcp):
    class Depots(Sites):
        queryset = Depot.objects.all()
        serializer_class = DepotSerializer

    found = serve(depots=Depots)
    assert "site_ptr" not in properties(found, "depots__partial_update")
    depot = Depot.objects.create(name="a", doors=1)
    result = mcp("depots__partial_update", {"id": depot.pk, "doors": 4})
    assert result["isError"] is False
    assert Depot.objects.get().doors == 4


# --- questions to a view before it runs ---


@contextmanager
def scope(value):
    token = SCOPE.set(value)
    try:
        yield
    finally:
        SCOPE.reset(token)


class InScope:
    """As with django-scopes: `dispatch` opens the scope that the rest needs."""

    def dispatch(self, request, *args, **kwargs):
        with scope("open"):
            return super().dispatch(request, *args, **kwargs)


class ScopedSerializer(serializers.ModelSerializer):
    class Meta:
        model = Thing
        fields = ("id", "title", "size")

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        if SCOPE.get() == "open":
            del self.fields["size"]


class RowSerializer(serializers.ModelSerializer):
    class Meta:
        model = Thing
        fields = ("id", "title", "size")

    def __init__(self, instance, **kwargs):
        super().__init__(instance, **kwargs)
        if instance.title == "fixed":
            del self.fields["size"]


class Things(viewsets.ModelViewSet):
    queryset = Thing.objects.order_by("id")
    permission_classes = (AllowAny,)


class ScopedThings(InScope, Things):
    serializer_class = ScopedSerializer


class RowThings(Things):
    serializer_class = RowSerializer


def test_a_view_is_inspected_inside_its_own_dispatch(serve, mcp):
    serve(things=ScopedThings)
    assert mcp("things__create", {"title": "a"})["isError"] is False
    assert paths(mcp("things__create", {"title": "b", "size": 7})) == ["$.size"]
    listed = mcp("things__list", {"filter_keys": ["title"]})
    assert listed["structuredContent"]["results"] == [{"title": "a"}]
    assert Thing.objects.count() == 1


def test_a_serializer_that_needs_its_row_gets_it(serve, mcp):
    serve(things=RowThings)
    free = Thing.objects.create(title="free", size=1)
    fixed = Thing.objects.create(title="fixed", size=1)
    assert mcp("things__partial_update", {"id": free.pk, "size": 7})["isError"] is False
    assert paths(mcp("things__partial_update", {"id": fixed.pk, "size": 7})) == ["$.size"]
    gone = mcp("things__partial_update", {"id": 99999, "size": 7})
    assert "No Thing matches" in gone["content"][0]["text"]


def test_a_dispatch_that_answers_itself_answers_the_call(serve, mcp):
    class Closed(ScopedThings):
        def dispatch(self, request, *args, **kwargs):
            response = Response({"detail": "closed"}, status=409)
            self.headers = {}
            return self.finalize_response(self.initialize_request(request), response)

    serve(things=Closed)
    assert "closed" in mcp("things__create", {"title": "a"})["content"][0]["text"]


# --- bodies ---


def test_the_only_action_of_a_view_set_uses_its_serializer(serve, mcp):
    class Cleanup(viewsets.ViewSet):
        serializer_class = SiteSerializer
        permission_classes = (AllowAny,)

        def clean(self, request):
            return Response({"cleaned": request.data["name"]})

    found = serve(path("clean/", Cleanup.as_view({"post": "clean"})))
    (tool,) = found.actions
    assert mcp(tool, {"name": "a"})["structuredContent"] == {"cleaned": "a"}


class CatSerializer(serializers.Serializer):
    name = serializers.CharField()
    lives = serializers.IntegerField(required=False)


class DogSerializer(serializers.Serializer):
    name = serializers.CharField()
    owner = serializers.CharField()
    lives = serializers.CharField(required=False)


PETS = PolymorphicProxySerializer(
    component_name="Pet",
    serializers={"cat": CatSerializer, "dog": DogSerializer},
    resource_type_field_name="kind",
)


class Pets(viewsets.GenericViewSet):
    queryset = Site.objects.all()
    permission_classes = (AllowAny,)

    @extend_schema(request=PETS)
    def create(self, request):
        kinds = {"cat": CatSerializer, "dog": DogSerializer}
        if request.data.get("kind") not in kinds:
            raise serializers.ValidationError({"kind": ["Unknown kind."]})
        serializer = kinds[request.data["kind"]](data=request.data)
        serializer.is_valid(raise_exception=True)
        return Response(serializer.validated_data)


def test_a_body_of_several_kinds_is_one_flat_body(serve):
    found = serve(pets=Pets)
    assert found.left_out == ()
    published = properties(found, "pets__create")
    assert {"kind", "name", "lives", "owner"} <= set(published)
    assert published["kind"]["enum"] == ["cat", "dog"]
    assert found.registry.tools["pets__create"].listing()["inputSchema"]["required"] == ["name"]


@pytest.mark.parametrize(
    ("sent", "answer"),
    [
        ({"kind": "cat", "name": "Tom", "lives": 9}, {"name": "Tom", "lives": 9}),
        (
            {"kind": "dog", "name": "Rex", "owner": "Ann", "lives": "here"},
            {"name": "Rex", "owner": "Ann", "lives": "here"},
        ),
        ({"kind": "cat", "name": "Tom", "owner": "Ann"}, ["$.owner"]),
        ({"kind": "dog", "name": "Rex"}, ["$.owner"]),
        ({"kind": "eel", "name": "Ed", "owner": "Ann"}, ["$.kind"]),
        ({"name": "Tom", "lives": 9}, ["$.kind"]),
    ],
    ids=["cat", "dog", "field of another kind", "missing field", "unknown kind", "no kind"],
)
def test_a_field_of_another_kind_is_refused(serve, mcp, sent, answer):
    serve(pets=Pets)
    result = mcp("pets__create", sent)
    if isinstance(answer, dict):
        assert result["structuredContent"] == answer
    else:
        assert paths(result) == answer
