"""A serializer may have other fields for staff than for others. The tool lists the fields that all
callers have, accepts the fields of either, and the caller's own serializer decides.
"""

import json
from base64 import b64encode

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import include, path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, viewsets
from rest_framework.exceptions import NotAuthenticated
from rest_framework.permissions import AllowAny
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from odd.models import Thing, Zone
from toolbooth.django.describe import operations, two_users
from toolbooth.django.describe.catalogue import catalogue

PUBLIC = ("id", "title", "kind")
FOR_STAFF = (*PUBLIC, "size")


class PublicSerializer(serializers.ModelSerializer):
    class Meta:
        model = Thing
        fields = PUBLIC


class StaffSerializer(serializers.ModelSerializer):
    class Meta:
        model = Thing
        fields = FOR_STAFF


class Things(viewsets.ModelViewSet):
    queryset = Thing.objects.order_by("id")
    serializer_class = StaffSerializer
    permission_classes = (AllowAny,)


class ByClass(Things):
    def get_serializer_class(self):
        return StaffSerializer if self.request.user.is_staff else PublicSerializer


class BySerializer(Things):
    serializer_class = PublicSerializer

    def get_serializer(self, *args, **kwargs):
        made = super().get_serializer(*args, **kwargs)
        if self.request.user.is_staff and not kwargs.get("many"):
            made.fields["size"] = serializers.IntegerField(required=False)
        return made


class ByInit(Things):
    class serializer_class(StaffSerializer):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            if not self.context["request"].user.is_staff:
                del self.fields["size"]


class ByGetFields(Things):
    class serializer_class(StaffSerializer):
        def get_fields(self):
            fields = super().get_fields()
            if not self.context["request"].user.is_staff:
                del fields["size"]
            return fields


class ByFields(Things):
    class serializer_class(StaffSerializer):
        @property
        def fields(self):
            found = super().fields
            if not self.context["request"].user.is_staff:
                found.fields.pop("size", None)
            return found


class ByReadOnly(Things):
    class serializer_class(StaffSerializer):
        def get_extra_kwargs(self):
            is_staff = self.context["request"].user.is_staff
            return {"size": {"read_only": not is_staff}}


class ByHiddenField(Things):
    class serializer_class(StaffSerializer):
        def get_fields(self):
            fields = super().get_fields()
            if not self.context["request"].user.is_staff:
                fields["size"] = serializers.HiddenField(default=3)
            return fields


class OnlyForKnownUsers(Things):
    """Its choice fails for an anonymous user, who has no groups in the database."""

    serializer_class = PublicSerializer

    def get_serializer_class(self):
        assert self.request.user.get_username() or self.request.user.is_staff
        return StaffSerializer if self.request.user.is_staff else PublicSerializer


class Declared(Things):
    """What it reads is declared beside its view's own serializer."""

    serializer_class = PublicSerializer

    @extend_schema(request=ByInit.serializer_class)
    def create(self, request):
        reader = ByInit.serializer_class(data=request.data, context={"request": request})
        reader.is_valid(raise_exception=True)
        reader.save()
        return Response(reader.data, status=201)


WAYS = {
    each.__name__: each
    for each in (
        ByClass,
        BySerializer,
        ByInit,
        ByGetFields,
        ByFields,
        ByReadOnly,
        ByHiddenField,
        OnlyForKnownUsers,
        Declared,
    )
}


@pytest.fixture
def serve(settings_of):
    def published(view, **toolbooth):
        router = SimpleRouter()
        router.register("things", view, basename="things")
        patterns = [path("mcp/", include("toolbooth.django.urls")), *router.urls]
        settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": patterns}), TOOLBOOTH=toolbooth)
        return catalogue()

    return published


@pytest.fixture
def boss(db):
    return User.objects.create_user("boss", password="pw", is_staff=True)


def fields_of(schema):
    return [name for name in schema if name not in ("help", "verify", "preview", "idempotency_key")]


def rows():
    return list(Thing.objects.order_by("id").values_list("title", "kind", "size"))


def paths(result):
    assert result["isError"] is True, result
    return [each["path"] for each in result["_meta"]["toolbooth"]["problems"]]


def credentials(user):
    return "Basic " + b64encode(f"{user}:pw".encode()).decode()


def over_rest(user, sent):
    """Return the rows that REST creates, which are deleted again."""
    client = Client(headers={"Authorization": credentials(user)} if user else None)
    reply = client.post("/things/", json.dumps(sent), content_type="application/json")
    assert reply.status_code == 201, reply.content
    made = rows()
    Thing.objects.all().delete()
    return made


@pytest.mark.parametrize("view", WAYS.values(), ids=WAYS)
def test_fields_of_all_callers_are_listed_and_those_of_staff_are_accepted(
    serve, view, ann, boss, mcp_as
):
    found = serve(view)
    assert found.left_out == ()
    listed = found.registry.tools["things__create"].listing()["inputSchema"]
    assert fields_of(listed["properties"]) == ["title", "kind"]
    assert listed["required"] == ["title"]

    sent = {"title": "a", "size": 7}
    expected = over_rest("boss", sent)
    assert expected == [("a", "small", 7)]
    assert mcp_as("boss")("things__create", sent)["isError"] is False
    assert rows() == expected


@pytest.mark.parametrize("user", ["ann", None])
@pytest.mark.parametrize("view", WAYS.values(), ids=WAYS)
def test_a_field_that_the_caller_does_not_have_is_refused_and_not_dropped(
    serve, view, ann, mcp_as, user
):
    if user is None and view is OnlyForKnownUsers:
        view = ByClass
    serve(view)
    call = mcp_as(user)
    refused = call("things__create", {"title": "a", "size": 7})
    assert paths(refused) == ["$.size"]
    text = refused["content"][0]["text"]
    assert "$.size: is not a field that you may send" in text
    assert '"title" (text, required), "kind" ("small" or "large").' in text
    assert rows() == []
    sent = {"title": "a", "kind": "large"}
    expected = over_rest(user, sent)
    assert call("things__create", sent)["isError"] is False
    assert rows() == expected


@pytest.mark.parametrize("view", WAYS.values(), ids=WAYS)
def test_help_shows_the_fields_of_the_caller(serve, view, ann, boss, mcp_as):
    serve(view)
    shown = {
        user: mcp_as(user)("things__create", {"help": True})["structuredContent"]
        for user in ("ann", "boss")
    }
    assert fields_of(shown["ann"]["fields"]) == ["title", "kind"]
    assert fields_of(shown["boss"]["fields"]) == ["title", "kind", "size"]
    assert shown["boss"]["fields"]["size"]["type"] == "integer"
    assert [shown[user]["required"] for user in shown] == [["title"], ["title"]]


def test_a_reply_names_only_the_fields_of_the_caller(serve, ann, boss, mcp_as):
    serve(ByClass)
    refused = mcp_as("ann")("things__create", {"label": "a"})
    assert "size" not in json.dumps(refused)
    missing = mcp_as("ann")("things__create", {})
    assert "size" not in json.dumps(missing)
    for name in ("sizee", "Size", "siz"):
        similar = mcp_as("ann")("things__create", {"title": "a", name: 7})
        assert paths(similar) == [f"$.{name}"]
        assert "size" not in json.dumps(similar).replace("sizee", "")
    made = mcp_as("ann")("things__create", {"title": "a"})["structuredContent"]
    assert made["defaulted"] == ["kind"]
    of_staff = mcp_as("boss")("things__create", {"title": "b"})["structuredContent"]
    assert of_staff["defaulted"] == ["kind", "size"]
    rows_missing = mcp_as("ann")("things__create", {"objects": [{"kind": "small"}]})
    assert paths(rows_missing) == ["$.objects[0].title"]
    assert "size" not in json.dumps(rows_missing)


def test_every_row_of_a_bulk_create_is_limited_to_the_fields_of_the_caller(
    serve, ann, boss, mcp_as
):
    serve(ByGetFields)
    sent = {"objects": [{"title": "a"}, {"title": "b", "size": 5}]}
    assert paths(mcp_as("ann")("things__create", sent)) == ["$.objects[1].size"]
    assert rows() == []
    assert mcp_as("boss")("things__create", sent)["isError"] is False
    assert rows() == [("a", "small", 3), ("b", "small", 5)]


@pytest.mark.parametrize("tool", ["things__update", "things__partial_update"])
def test_updates_are_limited_to_the_fields_of_the_caller(serve, ann, boss, mcp_as, tool):
    serve(ByReadOnly)
    thing = Thing.objects.create(title="a", size=4)
    sent = {"id": thing.pk, "title": "b", "size": 5}
    assert paths(mcp_as("ann")(tool, sent)) == ["$.size"]
    assert rows() == [("a", "small", 4)]
    assert mcp_as("boss")(tool, sent)["isError"] is False
    assert rows() == [("b", "small", 5)]
    shown = mcp_as("boss")(tool, {"help": True})["structuredContent"]
    assert shown["required"] == (["id", "title"] if tool == "things__update" else ["id"])


def test_a_dispatcher_accepts_and_shows_the_same_fields(serve, ann, boss, mcp_as):
    serve(ByInit, DISPATCH="resource")
    call = {"action": "create", "title": "a", "size": 5}
    assert paths(mcp_as("ann")("things", call)) == ["$.size"]
    assert mcp_as("boss")("things", call)["isError"] is False
    assert rows() == [("a", "small", 5)]
    asked = {"action": "create", "help": True}
    for user, last in {"ann": "kind", "boss": "size"}.items():
        shown = mcp_as(user)("things", asked)["structuredContent"]
        assert fields_of(shown["fields"])[-1] == last
        outline = mcp_as(user)("things", {"action": "help"})["structuredContent"]["actions"]
        assert ("size?" in outline["create"]["signature"]) == (user == "boss")


class NothingForAnonymous(Things):
    """It has no serializer for those who are not known, and asks by the credentials."""

    serializer_class = None

    def get_serializer_class(self):
        if self.request.auth is None and not self.request.user.is_authenticated:
            raise NotAuthenticated
        return StaffSerializer if self.request.user.is_staff else PublicSerializer


def test_a_serializer_that_only_known_users_have_is_described_for_a_superuser(
    serve, ann, boss, mcp_as
):
    found = serve(NothingForAnonymous)
    assert found.left_out == ()
    listed = found.registry.tools["things__create"].listing()["inputSchema"]
    assert fields_of(listed["properties"]) == ["title", "kind", "size"]
    sent = {"title": "a", "size": 7}
    assert paths(mcp_as("ann")("things__create", sent)) == ["$.size"]
    shown = mcp_as("ann")("things__create", {"help": True})["structuredContent"]
    assert fields_of(shown["fields"]) == ["title", "kind"]
    assert mcp_as("boss")("things__create", sent)["isError"] is False
    assert rows() == [("a", "small", 7)]


def test_a_user_model_that_cannot_be_instantiated_loses_only_the_fields_of_staff(
    serve, monkeypatch
):
    def awkward():
        raise LookupError("no tenant")

    monkeypatch.setattr(two_users, "get_user_model", lambda: awkward)
    listed = serve(ByInit).registry.tools["things__create"].listing()["inputSchema"]["properties"]
    assert fields_of(listed) == ["title", "kind"]
    assert "things__create" not in serve(NothingForAnonymous).registry.tools


class Rights:
    """A user class that computes its rights itself."""

    is_superuser = property(lambda self: True)
    is_staff = property(lambda self: True)


def test_a_superuser_is_created_from_models_with_custom_rights(monkeypatch):
    monkeypatch.setattr(two_users, "get_user_model", lambda: Rights)
    user = two_users.superuser()
    assert user.is_superuser is user.is_staff is user.is_active is True


# --- fields inside fields ---


class InnerSerializer(serializers.Serializer):
    code = serializers.CharField()
    note = serializers.CharField(required=False)
    zone = serializers.PrimaryKeyRelatedField(queryset=Zone.objects.all(), required=False)

    def get_fields(self):
        fields = super().get_fields()
        if not self.context["request"].user.is_staff:
            del fields["note"], fields["zone"]
        return fields


class OuterSerializer(serializers.Serializer):
    name = serializers.CharField()
    inner = InnerSerializer(required=False)
    several = InnerSerializer(many=True, required=False)


class Outer(viewsets.GenericViewSet):
    serializer_class = OuterSerializer
    permission_classes = (AllowAny,)

    def create(self, request):
        reader = self.get_serializer(data=request.data)
        reader.is_valid(raise_exception=True)
        return Response(json.loads(json.dumps(reader.validated_data, default=lambda row: row.pk)))


class ManyOuter(Outer):
    @extend_schema(request=OuterSerializer(many=True))
    def create(self, request):
        reader = self.get_serializer(data=request.data, many=True)
        reader.is_valid(raise_exception=True)
        return Response({"made": len(reader.validated_data)})


def test_fields_of_nested_serializers_are_those_of_the_caller(serve, ann, boss, mcp_as):
    Zone.objects.create(pk=1, code="z")
    found = serve(Outer)
    listed = found.registry.tools["things__create"].listing()["inputSchema"]["properties"]
    assert list(listed["inner"]["properties"]) == ["code"]
    assert list(listed["several"]["items"]["properties"]) == ["code"]
    row = {"code": "c", "note": "n", "zone": {"code": "z"}}
    sent = {"name": "a", "inner": row, "several": [{"code": "d"}, row]}
    refused = mcp_as("ann")("things__create", sent)
    assert paths(refused) == [
        "$.inner.note",
        "$.inner.zone",
        "$.several[1].note",
        "$.several[1].zone",
    ]
    stored = {"code": "c", "note": "n", "zone": 1}
    assert mcp_as("boss")("things__create", sent)["structuredContent"] == {
        "name": "a",
        "inner": stored,
        "several": [{"code": "d"}, stored],
    }
    for user, names in {"ann": ["code"], "boss": ["code", "note", "zone"]}.items():
        shown = mcp_as(user)("things__create", {"help": True})["structuredContent"]["fields"]
        assert list(shown["inner"]["properties"]) == names
        assert list(shown["several"]["items"]["properties"]) == names


def test_list_body_is_limited_to_the_fields_of_the_caller(serve, ann, boss, mcp_as):
    serve(ManyOuter)
    sent = {"objects": [{"name": "a"}, {"name": "b", "inner": {"code": "c", "note": "n"}}]}
    assert paths(mcp_as("ann")("things__create", sent)) == ["$.objects[1].inner.note"]
    assert mcp_as("boss")("things__create", sent)["structuredContent"] == {"made": 2}
    shown = mcp_as("boss")("things__create", {"help": True})["structuredContent"]
    assert shown["required"] == ["objects"]


# --- fields that are not the same for both ---


class ByKind(Things):
    """Staff may choose more, need less, and name the zone by its row."""

    class serializer_class(serializers.Serializer):
        def get_fields(self):
            is_staff = self.context["request"].user.is_staff
            choices = ["a", "b", "c"] if is_staff else ["a", "b"]
            zone = serializers.PrimaryKeyRelatedField(queryset=Zone.objects.all(), required=False)
            return {
                "choice": serializers.ChoiceField(choices=choices, required=False),
                "reason": serializers.CharField(required=not is_staff),
                "zone": zone if is_staff else serializers.DictField(required=False),
            }

    def create(self, request):
        reader = self.get_serializer(data=request.data)
        reader.is_valid(raise_exception=True)
        return Response(json.loads(json.dumps(reader.validated_data, default=lambda row: row.pk)))


@pytest.mark.parametrize("user", ["ann", "boss"])
@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"reason": "r"},
        {"choice": "a"},
        {"choice": "c", "reason": "r"},
        {"choice": "d", "reason": "r"},
        {"reason": "r", "zone": {"code": "z"}},
        {"reason": "r", "zone": {"code": "other"}},
        {"reason": "r", "zone": 1},
        {"reason": "r", "zone": "x"},
    ],
    ids=json.dumps,
)
def test_fields_of_another_type_for_staff_are_read_as_over_rest(
    serve, ann, boss, mcp_as, user, sent
):
    Zone.objects.create(pk=1, code="z")
    serve(ByKind)
    client = Client(headers={"Authorization": credentials(user)})
    answer = client.post("/things/", json.dumps(sent), content_type="application/json")
    result = mcp_as(user)("things__create", sent)
    if answer.status_code == 200:
        assert result["structuredContent"] == answer.json()
    else:
        assert {each.split(".")[1] for each in paths(result)} == answer.json().keys()


# --- costs ---


class Own(Things):
    """Its own code leaves the fields as they are."""

    class serializer_class(StaffSerializer):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)


@pytest.mark.parametrize(
    ("view", "count"),
    [(Things, 1), (Own, 1), (ByInit, 2)],
    ids=["no code of its own", "the same fields for all", "other fields for staff"],
)
def test_only_serializers_with_other_fields_are_described_twice(serve, monkeypatch, view, count):
    described = []
    one = operations.operation

    def noted(action, *rest):
        described.append(action.name)
        return one(action, *rest)

    monkeypatch.setattr(operations, "operation", noted)
    found = serve(view)
    assert described.count("create") == count
    assert described.count("list") == described.count("destroy") == 1
    listed = found.registry.tools["things__create"].listing()["inputSchema"]["properties"]
    assert ("size" in listed) == (count == 1)
