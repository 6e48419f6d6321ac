"""Relations and documented objects accept the same values as REST, with the same result."""

import json
import uuid
from copy import deepcopy

import pytest
from django.urls import include, path
from drf_spectacular.drainage import get_override, has_override
from drf_spectacular.extensions import OpenApiSerializerFieldExtension
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.response import Response
from rest_framework.views import APIView

from odd.models import Device, Part, Rack, Site, Vendor, Zone
from odd.views import Echo
from toolbooth.django.describe.catalogue import catalogue, forget

RACK = "6b7e67eb-0000-4000-8000-000000000000"


class Inner(serializers.Serializer):
    code = serializers.CharField()
    note = serializers.CharField(required=False)


class BySeveral(serializers.PrimaryKeyRelatedField):
    """A key, or an object with any lookups, as nautobot has it."""

    def to_internal_value(self, data):
        if isinstance(data, dict):
            rows = self.get_queryset().filter(**data)
            if rows.count() != 1:
                raise serializers.ValidationError("names no row")
            return rows.get()
        return super().to_internal_value(data)


@extend_schema_field({"type": "object", "properties": {"id": {"type": "string"}}})
class DocumentedAsObject(BySeveral):
    """It is documented as an object, and takes plain keys too."""


@extend_schema_field({"type": "object", "properties": {"title": {"type": "string"}}})
class DocumentedJson(serializers.JSONField):
    pass


@extend_schema_field({"type": "object", "properties": {"title": {"type": "string"}}})
class DocumentedDict(serializers.DictField):
    pass


@extend_schema_field({"oneOf": [{"type": "string"}, {"type": "object"}]})
class TextOrObject(serializers.JSONField):
    pass


@extend_schema_field(Inner)
class DocumentedRow(serializers.PrimaryKeyRelatedField):
    """It is documented as the whole row that it shows, as NetBox has it."""


class ShownAsRow(serializers.PrimaryKeyRelatedField):
    """The same, by an extension of drf-spectacular."""


class ShownAsRowExtension(OpenApiSerializerFieldExtension):
    target_class = ShownAsRow

    def map_serializer_field(self, auto_schema, direction):
        return {"type": "object", "properties": {"name": {"type": "string"}}}


class ShownAsLink(serializers.HyperlinkedRelatedField):
    """A link that is documented as the row."""


class ShownAsLinkExtension(ShownAsRowExtension):
    target_class = ShownAsLink


class Coordinates(serializers.Field):
    def to_internal_value(self, data):
        return [data["x"], data["y"]] if isinstance(data, dict) else data

    def to_representation(self, value):
        return value


@extend_schema_field({"type": "object", "properties": {"code": {"type": "string"}}})
class DocumentedInner(Inner):
    pass


class NestedSite(serializers.ModelSerializer):
    """A row by its key, or by an object that names it, as NetBox has it."""

    class Meta:
        model = Site
        fields = ("id", "name")

    def to_internal_value(self, data):
        found = Site.objects.filter(**data if isinstance(data, dict) else {"pk": data})
        if found.count() != 1:
            raise serializers.ValidationError("names no row")
        return {"found": found.get().pk}


class Slugged(Inner):
    """Its own code hands the object on."""

    def to_internal_value(self, data):
        return {**super().to_internal_value({"note": "none", **data}), "own": True}


class Everything(serializers.Serializer):
    zone = serializers.PrimaryKeyRelatedField(queryset=Zone.objects.all(), required=False)
    rack = serializers.PrimaryKeyRelatedField(queryset=Rack.objects.all(), required=False)
    part = serializers.PrimaryKeyRelatedField(queryset=Part.objects.all(), required=False)
    site = serializers.SlugRelatedField("slug", queryset=Site.objects.all(), required=False)
    vendor = serializers.SlugRelatedField("pk", queryset=Vendor.objects.all(), required=False)
    device = serializers.HyperlinkedRelatedField(
        "devices-detail", queryset=Device.objects.all(), required=False
    )
    zones = serializers.PrimaryKeyRelatedField(
        queryset=Zone.objects.all(), many=True, required=False
    )
    by_several = BySeveral(queryset=Zone.objects.all(), required=False)
    many_by_several = BySeveral(queryset=Zone.objects.all(), many=True, required=False)
    documented = DocumentedAsObject(queryset=Zone.objects.all(), required=False)
    documented_row = DocumentedRow(queryset=Rack.objects.all(), required=False)
    shown_as_row = ShownAsRow(queryset=Rack.objects.all(), required=False)
    shown_as_rows = ShownAsRow(queryset=Zone.objects.all(), many=True, required=False)
    shown_as_link = ShownAsLink("devices-detail", queryset=Device.objects.all(), required=False)
    data = DocumentedJson(required=False, allow_null=True)
    rows = serializers.ListField(child=DocumentedJson(), required=False)
    words = DocumentedDict(child=serializers.CharField(), required=False)
    text_or_object = TextOrObject(required=False)
    at = Coordinates(required=False)
    inner = Inner(required=False)
    documented_inner = DocumentedInner(required=False)
    nested = NestedSite(required=False)
    several_nested = NestedSite(many=True, required=False)
    slugged = Slugged(required=False)


class Posted(Echo):
    serializer_class = Everything
    permission_classes = (AllowAny,)


class OneDevice(Echo):
    permission_classes = (AllowAny,)
    serializer_class = Inner


DOCUMENT = {
    "type": "object",
    "properties": {
        "data": {
            "type": "object",
            "properties": {"filters": {"type": "object", "properties": {"op": {"type": "string"}}}},
        },
        "closed": {
            "type": "object",
            "properties": {"a": {"type": "string"}},
            "additionalProperties": False,
        },
        "several": {
            "type": "array",
            "items": {"type": "object", "properties": {"a": {"type": "string"}}},
        },
        "choice": {
            "oneOf": [
                {"type": "object", "properties": {"value": {"type": "object"}}},
                {"type": "array", "items": {"type": "object"}},
            ]
        },
        "plain": {"type": "object"},
    },
}


class Documented(APIView):
    """Its body is documented, and no serializer reads it."""

    permission_classes = (AllowAny,)

    @extend_schema(request={"application/json": DOCUMENT}, responses=None)
    def post(self, request):
        return Response({"read": request.data})


@pytest.fixture
def served(settings_of):
    patterns = [
        path("mcp/", include("toolbooth.django.urls")),
        path("posted/", Posted.as_view(), name="posted"),
        path("documented/", Documented.as_view(), name="documented"),
        path("devices/<uuid:pk>/", OneDevice.as_view(), name="devices-detail"),
    ]
    settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": patterns}))
    Zone.objects.create(pk=1, code="z-1", area="north")
    Rack.objects.create(pk=uuid.UUID(RACK), name="r-1")
    Part.objects.create(number="p1", token="t1")
    Site.objects.create(pk=3, slug="hq", name="HQ")
    Vendor.objects.create(pk=4, name="Acme", code="ac")
    Device.objects.create(pk=uuid.UUID(RACK))
    return catalogue()


def over_rest(rest, sent, url="/posted/"):
    return rest.post(url, json.dumps(sent), content_type="application/json")


TAKEN = [
    {"zone": 1},
    {"zone": "1"},
    {"rack": RACK},
    {"rack": RACK.replace("-", "")},
    {"rack": RACK.upper()},
    {"part": "p1"},
    {"site": "hq"},
    {"vendor": 4},
    {"device": f"/devices/{RACK}/"},
    {"device": f"http://testserver/devices/{RACK}/"},
    {"zones": []},
    {"zones": [1, 1]},
    {"by_several": 1},
    {"by_several": {"code": "z-1"}},
    {"by_several": {"pk": 1}},
    {"by_several": {"area__startswith": "no", "code": "z-1"}},
    {"many_by_several": [1, {"area": "north"}]},
    {"documented": 1},
    {"documented": {"id": "1"}},
    {"documented": {"id": 1}},
    {"documented": {"code": "z-1"}},
    {"documented_row": RACK},
    {"shown_as_row": RACK},
    {"shown_as_rows": [1]},
    {"shown_as_link": f"/devices/{RACK}/"},
    {"data": {"title": "t", "other": {"deep": [1, {"a": None}]}}},
    {"data": {"title": 5}},
    {"data": {}},
    {"data": [1, [2]]},
    {"data": 7},
    {"data": None},
    {"rows": [{"title": "t", "other": 1}, [1]]},
    {"words": {"title": "t", "any": "w"}},
    {"text_or_object": "some text"},
    {"text_or_object": '{"a": 1}'},
    {"text_or_object": {"a": 1}},
    {"at": {"x": 1, "y": 2}},
    {"at": [1, 2]},
    {"inner": {"code": "c"}},
    {"documented_inner": {"code": "c", "note": "n"}},
    {"nested": 3},
    {"nested": "3"},
    {"nested": {"id": 3}},
    {"nested": {"name": "HQ"}},
    {"nested": {"slug": "hq"}},
    {"nested": {"name__startswith": "H", "pk": 3}},
    {"several_nested": [3, {"slug": "hq"}]},
    {"slugged": {"code": "c"}},
]


@pytest.mark.parametrize("sent", TAKEN, ids=json.dumps)
def test_values_accepted_by_rest_arrive_as_over_rest(served, mcp, rest, sent):
    answer = over_rest(rest, sent)
    assert answer.status_code == 200, answer.content
    result = mcp("posted__post", sent)
    assert result["isError"] is False, result
    assert result["structuredContent"] == answer.json()


REFUSED = [
    {"zone": 99},
    {"rack": "no uuid"},
    {"device": "/nowhere/"},
    {"by_several": {"code": "none"}},
    {"documented": {"code": "none"}},
    {"documented": 99},
    {"words": {"title": {"a": 1}}},
    {"inner": {}},
    {"documented_inner": {"note": "n"}},
    {"nested": 99},
    {"nested": {"name": "none"}},
    {"slugged": {}},
]


@pytest.mark.parametrize("sent", REFUSED, ids=json.dumps)
def test_values_refused_by_rest_are_refused(served, mcp, rest, sent):
    assert over_rest(rest, sent).status_code == 400
    result = mcp("posted__post", sent)
    [name] = sent
    assert result["isError"] is True
    problems = result["_meta"]["toolbooth"]["problems"]
    assert {each["path"].split(".")[1].partition("[")[0] for each in problems} == {name}


DROPPED = [
    {"inner": {"code": "c", "nte": "n"}},
    {"documented_inner": {"code": "c", "nte": "n"}},
    {"slugged": {"code": "c", "nte": "n"}},
    {"slugged": {"code": "c", "data": {"note": "n"}}},
    {"inner": {"data": {"code": "c"}}},
]


@pytest.mark.parametrize("sent", DROPPED, ids=json.dumps)
def test_keys_that_a_serializer_would_drop_are_refused(served, mcp, sent):
    assert mcp("posted__post", sent)["isError"] is True


@pytest.mark.parametrize(
    "sent",
    [
        {"data": {"filters": {"op": "and", "items": [1]}, "title": "t"}},
        {"several": [{"a": "b", "c": 1}]},
        {"closed": {"a": "b"}},
    ],
    ids=json.dumps,
)
def test_a_documented_object_without_a_serializer_is_open(served, mcp, rest, sent):
    answer = over_rest(rest, sent, "/documented/")
    assert mcp("documented__post", sent)["structuredContent"] == answer.json() == {"read": sent}


@pytest.mark.parametrize("value", [1, "text", True, [1], {"a": 1}], ids=json.dumps)
def test_an_inner_value_documented_as_any_object_may_have_any_type(served, mcp, rest, value):
    """As in label-studio's filters: `"value": 1`."""
    for sent in ({"choice": {"value": value}}, {"choice": [value]}):
        answer = over_rest(rest, sent, "/documented/")
        assert mcp("documented__post", sent)["structuredContent"] == answer.json()
    is_object = isinstance(value, dict)
    assert mcp("documented__post", {"plain": value})["isError"] is not is_object


def test_an_object_that_is_documented_as_closed_is_closed(served, mcp):
    assert mcp("documented__post", {"closed": {"a": "b", "c": 1}})["isError"] is True


def test_json_text_of_a_documented_object_is_read(served, mcp):
    result = mcp("posted__post", {"data": '{"title": "t", "more": 1}'})
    assert result["structuredContent"] == {"read": {"data": {"title": "t", "more": 1}}}


def test_describing_does_not_change_the_authors_documentation(served):
    declared = Everything().fields
    names = [name for name, each in declared.items() if has_override(each, "field")]
    before = {name: deepcopy(get_override(declared[name], "field")) for name in names}
    for _ in range(2):
        forget()
        assert catalogue().left_out == ()
    after = Everything().fields
    assert {name: get_override(after[name], "field") for name in names} == before
    assert DocumentedJson._spectacular_annotation["field"]["type"] == "object"
