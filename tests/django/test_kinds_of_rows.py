"""Rows of several kinds, each with a serializer of its own. A field is checked against the kind in
the call, or else against that of the row.
"""

import pytest
from django.urls import include, path
from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema
from rest_framework import serializers, viewsets
from rest_framework.permissions import AllowAny
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from odd.models import Site
from toolbooth.django.describe.catalogue import catalogue


@pytest.fixture
def serve(settings_of):
    def published(view):
        router = SimpleRouter()
        router.register("sites", view, basename="sites")
        patterns = [path("mcp/", include("toolbooth.django.urls")), *router.urls]
        settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": patterns}))
        found = catalogue()
        assert found.left_out == ()
        return found

    return published


def problems(result):
    assert result["isError"] is True, result
    found = result["_meta"]["toolbooth"]["problems"]
    return [(each["code"], each["path"]) for each in found]


class Plain(serializers.ModelSerializer):
    class Meta:
        model = Site
        fields = ("id", "name", "slug")


class Owned(serializers.ModelSerializer):
    label = serializers.CharField(source="name", required=False)

    class Meta:
        model = Site
        fields = ("id", "slug", "label")


KINDS = {"plain": Plain, "owned": Owned}


class OfKind(serializers.Serializer):
    """A polymorphic serializer: each row is read and shown by the serializer of its kind. The kind
    of a row is that of its slug.
    """

    model_serializer_mapping = KINDS

    def _for(self, kind, *args, **kwargs):
        if kind not in KINDS:
            raise serializers.ValidationError({"kind": ["Unknown kind."]})
        made = KINDS[kind](*args, partial=self.partial, context=self.context, **kwargs)
        made.parent = self
        return made

    def run_validation(self, data):
        is_partial = self.partial and self.instance is not None
        kind = kind_of(self.instance) if is_partial else data.get("kind")
        return {**self._for(kind, self.instance).run_validation(data), "kind": kind}

    def create(self, validated_data):
        return self._for(validated_data.pop("kind")).create(validated_data)

    def update(self, instance, validated_data):
        return self._for(validated_data.pop("kind")).update(instance, validated_data)

    def to_representation(self, instance):
        kind = kind_of(instance)
        return {**self._for(kind).to_representation(instance), "kind": kind}


def kind_of(row):
    return row.slug.partition("-")[0]


KINDS_OF_SITE = PolymorphicProxySerializer(
    component_name="SiteOfKind", serializers=KINDS, resource_type_field_name="kind"
)
of_kinds = extend_schema(request=KINDS_OF_SITE)


class Sites(viewsets.ModelViewSet):
    queryset = Site.objects.order_by("id")
    serializer_class = OfKind
    permission_classes = (AllowAny,)

    @of_kinds
    def create(self, request, *args, **kwargs):
        return super().create(request, *args, **kwargs)

    @of_kinds
    def update(self, request, *args, **kwargs):
        return super().update(request, *args, **kwargs)

    @of_kinds
    def partial_update(self, request, *args, **kwargs):
        return super().partial_update(request, *args, **kwargs)


class LockedSites(Sites):
    """A row is only readable in the handler, so its kind is not known before."""

    is_running = False

    def get_object(self):
        if not self.is_running:
            raise LookupError("not yet")
        return super().get_object()

    @of_kinds
    def partial_update(self, request, *args, **kwargs):
        self.is_running = True
        return super().partial_update(request, *args, **kwargs)


class ByRow(Sites):
    """The kind is an attribute of the row, which no serializer shows."""

    serializer_class = Plain

    @of_kinds
    def partial_update(self, request, *args, **kwargs):
        row = self.get_object()
        serializer = KINDS[kind_of(row)](row, data=request.data, partial=True)
        serializer.is_valid(raise_exception=True)
        serializer.save()
        return Response(serializer.data)


def sites():
    return list(Site.objects.order_by("id").values_list("slug", "name"))


@pytest.fixture
def plain(db):
    return Site.objects.create(slug="plain-1", name="before")


@pytest.fixture
def owned(db):
    return Site.objects.create(slug="owned-1", name="before")


@pytest.mark.parametrize(
    "sent",
    [{"label": "a"}, {"kind": "owned", "label": "a"}, {"kind": "plain", "label": "a"}],
    ids=["without the kind", "with another kind", "with its kind"],
)
def test_a_patch_with_a_field_of_another_kind_is_refused(serve, mcp, plain, sent):
    serve(Sites)
    result = mcp("sites__partial_update", {"id": plain.pk, **sent})
    assert problems(result) == [("unknown-key", "$.label")]
    assert sites() == [("plain-1", "before")]


def test_the_refusal_names_the_kind_of_the_row(serve, mcp, plain):
    serve(Sites)
    told = mcp("sites__partial_update", {"id": plain.pk, "label": "a"})["content"][0]["text"]
    assert "- $.label: 'plain' has no such field" in told
    assert (
        '"id" (integer, required), "name" (text), "slug" (text), "kind" ("plain" or "owned")'
        in told
    )


def test_a_patch_with_fields_of_the_rows_own_kind_needs_no_kind(serve, mcp, plain, owned):
    serve(Sites)
    for row, sent in ((plain, {"name": "a"}), (owned, {"label": "b"})):
        result = mcp("sites__partial_update", {"id": row.pk, **sent})
        assert result["isError"] is False, result
    assert sites() == [("plain-1", "a"), ("owned-1", "b")]


def test_fields_of_all_kinds_need_no_kind(serve, mcp, plain):
    serve(LockedSites)
    result = mcp("sites__partial_update", {"id": plain.pk, "slug": "plain-2"})
    assert result["isError"] is False, result
    assert sites() == [("plain-2", "before")]


def test_the_kind_must_be_sent_if_that_of_the_row_is_not_known(serve, mcp, plain):
    serve(LockedSites)
    result = mcp("sites__partial_update", {"id": plain.pk, "label": "a"})
    assert problems(result) == [("missing", "$.kind")]
    assert 'only some kinds have "label"' in result["content"][0]["text"]
    result = mcp("sites__partial_update", {"id": plain.pk, "kind": "owned", "label": "a"})
    assert problems(result) == [("unknown-key", "$.label")]
    assert sites() == [("plain-1", "before")]
    result = mcp("sites__partial_update", {"id": plain.pk, "kind": "plain", "name": "a"})
    assert result["isError"] is False, result
    assert sites() == [("plain-1", "a")]


def test_the_kind_may_be_known_from_the_row_alone(serve, mcp, owned, monkeypatch):
    monkeypatch.setattr(Site, "kind", property(kind_of), raising=False)
    serve(ByRow)
    result = mcp("sites__partial_update", {"id": owned.pk, "name": "a"})
    assert problems(result) == [("unknown-key", "$.name")]
    assert mcp("sites__partial_update", {"id": owned.pk, "label": "a"})["isError"] is False
    assert sites() == [("owned-1", "a")]


def test_a_row_that_does_not_exist_is_reported_by_the_view(serve, mcp, plain):
    serve(Sites)
    result = mcp("sites__partial_update", {"id": plain.pk + 1, "label": "a"})
    assert result["isError"] is True
    assert "No Site matches" in result["content"][0]["text"]


def test_rows_of_several_kinds_are_created_and_replaced(serve, mcp, plain):
    serve(Sites)
    sent = {"kind": "owned", "slug": "owned-2", "label": "a"}
    assert mcp("sites__create", sent)["isError"] is False
    assert problems(mcp("sites__create", {**sent, "name": "b"})) == [("unknown-key", "$.name")]
    result = mcp("sites__update", {"id": plain.pk, "slug": "plain-1", "label": "a"})
    assert problems(result) == [("unknown-key", "$.label")]
    assert sites() == [("plain-1", "before"), ("owned-2", "a")]
