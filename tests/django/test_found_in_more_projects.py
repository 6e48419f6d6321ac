"""Further patterns of large projects that the gateway once failed on: see
docs/measured/further_hosts.md.
"""

import pytest
from django.contrib.auth import get_user_model
from django.urls import include, path
from drf_spectacular.serializers import PolymorphicProxySerializerExtension
from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema
from rest_framework import generics, mixins, serializers, viewsets
from rest_framework.exceptions import PermissionDenied
from rest_framework.permissions import AllowAny
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from odd.models import Log, Site
from toolbooth.django.describe.catalogue import catalogue


@pytest.fixture
def serve(settings_of):
    """Serve these view sets, each under its name, with these patterns and settings."""

    def published(*patterns, changed=None, **view_sets):
        router = SimpleRouter()
        for name, view in view_sets.items():
            router.register(name, view, basename=name)
        urls = [path("mcp/", include("toolbooth.django.urls")), *patterns, *router.urls]
        settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": urls}), **(changed or {}))
        return catalogue()

    return published


def schema(found, tool):
    return found.registry.tools[tool].listing()["inputSchema"]


def paths(result):
    assert result["isError"] is True, result
    return [each["path"] for each in result["_meta"]["toolbooth"]["problems"]]


class LogSerializer(serializers.ModelSerializer):
    class Meta:
        model = Log
        fields = ("id", "line")


# --- an anonymous user that is a row ---


def anonymous_row():
    return get_user_model().objects.get(username="anonymous")


class SiteSerializer(serializers.ModelSerializer):
    class Meta:
        model = Site
        fields = ("id", "name")


class SiteForGuests(serializers.ModelSerializer):
    class Meta:
        model = Site
        fields = ("id", "name", "slug")


class Guests(viewsets.ModelViewSet):
    """Asks who the guest is, and is not for superusers."""

    queryset = Site.objects.order_by("id")
    permission_classes = (AllowAny,)

    def get_serializer_class(self):
        if self.request.user.is_superuser:
            raise PermissionDenied
        is_row = self.request.user.username == "anonymous"
        return SiteForGuests if is_row else SiteSerializer


AS_A_ROW = {"REST_FRAMEWORK": {"UNAUTHENTICATED_USER": f"{__name__}.anonymous_row"}}


def test_an_anonymous_user_that_is_a_row_is_read_before_views_are_described(serve):
    get_user_model().objects.create(username="anonymous")
    found = serve(guests=Guests, changed=AS_A_ROW)
    assert {"name", "slug"} <= set(schema(found, "guests__create")["properties"])
    assert found.left_out == ()


def test_views_are_described_for_djangos_anonymous_user_while_that_row_does_not_exist(serve):
    found = serve(guests=Guests, changed=AS_A_ROW)
    assert "name" in schema(found, "guests__create")["properties"]
    assert "slug" not in schema(found, "guests__create")["properties"]
    assert found.left_out == ()


# --- kinds that no field distinguishes ---


class ShortSerializer(serializers.Serializer):
    line = serializers.CharField()
    words = serializers.IntegerField(required=False)


class LongSerializer(serializers.Serializer):
    line = serializers.CharField()
    pages = serializers.IntegerField()


class Note(PolymorphicProxySerializer):
    pass


class SchemaOfNote(PolymorphicProxySerializerExtension):
    """A body may be of both kinds."""

    target_class = Note
    priority = 1

    def map_serializer(self, auto_schema, direction):
        return {"anyOf": super().map_serializer(auto_schema, direction)["oneOf"]}


class Notes(viewsets.GenericViewSet):
    """The row in the URL decides which serializer reads the body."""

    queryset = Log.objects.order_by("id")
    permission_classes = (AllowAny,)

    @extend_schema(
        request=Note(
            component_name="Note",
            serializers=[ShortSerializer, LongSerializer],
            resource_type_field_name=None,
        )
    )
    def update(self, request, pk=None):
        log = self.get_object()
        reader = LongSerializer if log.line == "long" else ShortSerializer
        serializer = reader(data=request.data)
        serializer.is_valid(raise_exception=True)
        log.line = serializer.validated_data["line"]
        log.save()
        return Response(serializer.validated_data)


class NotesOfOneKind(Notes):
    @extend_schema(
        request=PolymorphicProxySerializer(
            component_name="NoteOfOneKind",
            serializers=[ShortSerializer, LongSerializer],
            resource_type_field_name=None,
        )
    )
    def update(self, request, pk=None):
        return super().update(request, pk)


@pytest.mark.parametrize("view", [Notes, NotesOfOneKind], ids=["anyOf", "oneOf"])
def test_a_body_whose_kinds_no_field_distinguishes_is_one_flat_body(serve, view):
    found = serve(notes=view)
    assert found.left_out == ()
    assert schema(found, "notes__update")["required"] == ["id", "line"]
    assert {"words", "pages"} <= set(schema(found, "notes__update")["properties"])


@pytest.mark.parametrize(
    ("kind", "sent", "answer"),
    [
        ("short", {"line": "a", "words": 1}, {"line": "a", "words": 1}),
        ("long", {"line": "a", "pages": 2}, {"line": "a", "pages": 2}),
        ("short", {"line": "a", "pages": 2}, ["$.pages"]),
        ("long", {"line": "a", "pages": 2, "words": 1}, ["$.words"]),
        ("long", {"line": "a"}, ["$.pages"]),
        ("short", {"data": {"line": "a", "words": 1}}, ["$.data"]),
    ],
    ids=["short", "long", "field of the long", "field of the short", "missing", "wrapped"],
)
def test_the_serializer_that_the_view_chooses_decides_which_fields_may_be_sent(
    serve, mcp, kind, sent, answer
):
    serve(notes=Notes)
    log = Log.objects.create(line=kind)
    result = mcp("notes__update", {"id": log.pk, **sent})
    log.refresh_from_db()
    if isinstance(answer, dict):
        assert result["structuredContent"] == answer
        assert log.line == "a"
    else:
        assert paths(result) == answer
        assert log.line == kind


# --- a view with one handler ---


class Batch(mixins.ListModelMixin, generics.GenericAPIView):
    """Answers a POST with a list. No request reaches the list without a body."""

    queryset = Log.objects.order_by("id")
    serializer_class = LogSerializer
    permission_classes = (AllowAny,)

    def post(self, request):
        serializer = self.get_serializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        serializer.save()
        return self.list(request)


class ListAndBatch(Batch):
    def get(self, request):
        return self.list(request)


def test_the_only_handler_of_a_view_reads_its_body_with_the_serializer_of_the_view(serve, mcp):
    found = serve(path("batch/", Batch.as_view(), name="batch"))
    (tool,) = found.actions
    assert "line" in schema(found, tool)["properties"]
    assert found.undeclared_bodies == ()
    result = mcp(tool, {"line": "one"})
    assert [each["line"] for each in result["structuredContent"]["results"]] == ["one"]
    assert paths(mcp(tool, {"request": {"line": "two"}})) == ["$.request"]
    assert Log.objects.count() == 1


def test_a_post_beside_a_list_still_declares_no_body(serve):
    found = serve(path("batch/", ListAndBatch.as_view(), name="batch"))
    found.registry.tools  # noqa: B018  # describes all tools
    assert len(found.undeclared_bodies) == 1
