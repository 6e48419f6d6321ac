"""Serializers that a view chooses while it runs. The call is refused before the view stores a row
if they do not have every field that was sent.
"""

import pytest
from asgiref.sync import sync_to_async
from django.db import transaction
from django.urls import include, path
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, viewsets
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.permissions import AllowAny
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from odd.models import Log, Thing
from toolbooth.django.decorators import mcp_bulk
from toolbooth.django.describe.catalogue import catalogue


class Large(serializers.ModelSerializer):
    class Meta:
        model = Thing
        fields = ("id", "title", "size", "mail")


class Small(serializers.ModelSerializer):
    class Meta:
        model = Thing
        fields = ("id", "title")


class Things(viewsets.ModelViewSet):
    queryset = Thing.objects.order_by("id")
    serializer_class = Large
    permission_classes = (AllowAny,)


class InHandler(Things):
    """The handler calls `prepare` before it makes a serializer."""

    def prepare(self):
        raise NotImplementedError

    def create(self, request, *args, **kwargs):
        self.prepare()
        return super().create(request, *args, **kwargs)

    def update(self, request, *args, **kwargs):
        self.prepare()
        return super().update(request, *args, **kwargs)


class OnlyInHandler(InHandler):
    """Before the handler runs, there is no serializer."""

    def prepare(self):
        self.chosen = Small

    def get_serializer_class(self):
        return self.chosen


class AnotherInHandler(OnlyInHandler):
    """Before the handler runs, there is another one."""

    chosen = Large


class ByAttribute(InHandler):
    def prepare(self):
        self.serializer_class = Small


class ByGetSerializer(InHandler):
    def prepare(self):
        self.chosen = Small

    def get_serializer(self, *args, **kwargs):
        if "data" not in kwargs:
            return super().get_serializer(*args, **kwargs)
        return self.chosen(*args, **kwargs, context=self.get_serializer_context())


class ByFields(InHandler):
    class serializer_class(Large):
        def get_fields(self):
            fields = super().get_fields()
            if self.context["view"].is_prepared:
                del fields["size"]
            return fields

    def prepare(self):
        self.is_prepared = True


class Swallowing(OnlyInHandler):
    """Its code continues after every error."""

    def create(self, request, *args, **kwargs):
        try:
            return super().create(request, *args, **kwargs)
        except Exception:
            Log.objects.create(line="swallowed")
            return Response({}, status=201)


class Atomic(OnlyInHandler):
    @transaction.atomic
    def create(self, request, *args, **kwargs):
        Log.objects.create(line="before")
        return super().create(request, *args, **kwargs)


VIEWS = (OnlyInHandler, AnotherInHandler, ByAttribute, ByGetSerializer, ByFields)


@pytest.fixture
def serve(settings_of):
    def published(view=None, *patterns):
        router = SimpleRouter()
        if view is not None:
            router.register("things", view, basename="things")
        own = [path("mcp/", include("toolbooth.django.urls")), *patterns]
        settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": [*own, *router.urls]}))
        found = catalogue()
        assert found.left_out == ()
        return found

    return published


def rows():
    things = Thing.objects.order_by("id").values_list("title", "size", "mail")
    return [*things, *Log.objects.values_list("line")]


def problems(result):
    assert result["isError"] is True, result
    found = result["_meta"]["toolbooth"]["problems"]
    return [(each["code"], each["path"]) for each in found]


MISTAKES = {
    "field of another serializer": ({"title": "a", "size": 7}, "unknown-key", "$.size"),
    "wrapper": ({"data": {"title": "a"}}, "nested-wrapper", "$.data"),
    "wrapper beside fields": ({"title": "a", "data": {"size": 7}}, "nested-wrapper", "$.data"),
    "misspelt": ({"title": "a", "sizze": 7}, "unknown-key", "$.sizze"),
    "camel case": ({"title": "a", "isActive": True}, "unknown-key", "$.isActive"),
    "another case": ({"Title": "a"}, "unknown-key", "$.Title"),
}


@pytest.mark.parametrize("verify", [False, True], ids=["receipt", "verify"])
@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize("action", ["create", "update", "partial_update"])
@pytest.mark.parametrize("view", VIEWS, ids=lambda each: each.__name__)
def test_a_field_that_the_running_serializer_lacks_changes_no_row(
    serve, mcp, view, action, mistake, verify
):
    row = Thing.objects.create(title="before", size=5, mail="ann@example.com")
    serve(view)
    before = rows()
    sent, code, place = MISTAKES[mistake]
    key = {} if action == "create" else {"id": row.pk}
    result = mcp(f"things__{action}", {**sent, **key, "verify": verify})
    assert (code, place) in problems(result)
    assert rows() == before


@pytest.mark.parametrize("action", ["create", "update", "partial_update"])
@pytest.mark.parametrize("view", VIEWS, ids=lambda each: each.__name__)
def test_fields_of_the_running_serializer_are_stored(serve, mcp, view, action):
    row = Thing.objects.create(title="before")
    serve(view)
    key = {} if action == "create" else {"id": row.pk}
    assert mcp(f"things__{action}", {"title": "after", **key})["isError"] is False
    assert rows()[-1] == ("after", 3, "")


def test_the_refusal_lists_the_fields_of_the_running_serializer(serve, mcp):
    row = Thing.objects.create(title="before")
    serve(OnlyInHandler)
    told = mcp("things__partial_update", {"id": row.pk, "size": 7})["content"][0]["text"]
    assert told == (
        "Refused: 1 problem in the arguments of 'things__partial_update'. Nothing was done.\n"
        "- $.size: is not a field that you may send\n"
        'Declared fields: "id" (integer, required), "title" (text).'
    )


@pytest.mark.parametrize("view", [Swallowing, Atomic])
def test_a_view_cannot_ignore_the_refusal_and_write(serve, mcp, view):
    serve(view)
    sent = {"title": "a", "size": 7}
    assert problems(mcp("things__create", sent)) == [("unknown-key", "$.size")]
    assert rows() == []


def test_rows_of_a_bulk_call_are_checked_each(serve, mcp):
    serve(OnlyInHandler)
    sent = {"objects": [{"title": "a"}, {"title": "b", "size": 7}, {"title": "c", "size": 8}]}
    found = problems(mcp("things__create", sent))
    assert found == [("unknown-key", "$.objects[1].size"), ("unknown-key", "$.objects[2].size")]
    assert rows() == []


# --- lists ---


@mcp_bulk
class TakesLists(OnlyInHandler):
    def get_serializer(self, *args, **kwargs):
        kwargs["many"] = isinstance(kwargs.get("data"), list)
        return super().get_serializer(*args, **kwargs)


class TakesOnlyLists(OnlyInHandler):
    chosen = Large

    def get_serializer(self, *args, **kwargs):
        kwargs["many"] = True
        return super().get_serializer(*args, **kwargs)


class ListOfSmall(TakesOnlyLists):
    """There is never another serializer than that of a list."""

    def get_serializer_class(self):
        return Small if self.request.method == "POST" and self.request.user.pk else Large


@pytest.mark.parametrize("view", [TakesLists, TakesOnlyLists, ListOfSmall])
def test_rows_of_a_list_are_checked(serve, mcp, view):
    serve(view)
    assert mcp("things__create", {"objects": [{"title": "a"}, {"title": "b"}]})["isError"] is False
    before = rows()
    assert len(before) == 2
    sent = {"objects": [{"title": "a"}, {"title": "b", "size": 7}]}
    result = mcp("things__create", sent)
    assert problems(result) == [("unknown-key", "$.objects[1].size")]
    sent = {"objects": [{"title": "a"}, {"data": {"title": "b"}}]}
    assert ("nested-wrapper", "$.objects[1].data") in problems(mcp("things__create", sent))
    assert rows() == before


# --- nested serializers ---


class Address(serializers.Serializer):
    city = serializers.CharField()
    code = serializers.CharField(required=False)

    def get_fields(self):
        fields = super().get_fields()
        if not self.context["view"].takes_codes:
            del fields["code"]
        return fields


class WithAddress(serializers.ModelSerializer):
    document = Address()

    class Meta:
        model = Thing
        fields = ("id", "title", "document")

    def create(self, validated_data):
        return Thing.objects.create(**validated_data)

    def update(self, instance, validated_data):
        Thing.objects.filter(pk=instance.pk).update(**validated_data)
        return Thing.objects.get(pk=instance.pk)


class WithAddresses(WithAddress):
    document = Address(many=True)


class Nested(InHandler):
    """The fields of the address are only known to the handler, so they are described from its
    class.
    """

    serializer_class = WithAddress
    nests = staticmethod(lambda value: value)

    def prepare(self):
        self.takes_codes = False


class NestedList(Nested):
    serializer_class = WithAddresses
    nests = staticmethod(lambda value: [{"city": "Bern"}, value])


NESTED_MISTAKES = {
    "dropped": ({"city": "Bonn", "code": "5"}, "unknown-key", ".code"),
    "wrapper": ({"data": {"city": "Bonn"}}, "nested-wrapper", ".data"),
    "misspelt": ({"city": "Bonn", "cod": "5"}, "unknown-key", ".cod"),
}


@pytest.mark.parametrize("mistake", NESTED_MISTAKES)
@pytest.mark.parametrize("action", ["create", "update", "partial_update"])
@pytest.mark.parametrize("view", [Nested, NestedList])
def test_fields_of_nested_serializers_are_checked(serve, mcp, view, action, mistake):
    row = Thing.objects.create(title="before", document=view.nests({"city": "Rome"}))
    serve(view)
    value, code, ending = NESTED_MISTAKES[mistake]
    key = {} if action == "create" else {"id": row.pk}
    result = mcp(f"things__{action}", {**key, "title": "a", "document": view.nests(value)})
    above = "$.document" if view is Nested else "$.document[1]"
    assert (code, above + ending) in problems(result)
    assert list(Thing.objects.values_list("title", "document")) == [
        ("before", view.nests({"city": "Rome"}))
    ]
    sent = {**key, "title": "a", "document": view.nests({"city": "Bonn"})}
    assert mcp(f"things__{action}", sent)["isError"] is False
    assert Thing.objects.order_by("id").last().document == view.nests({"city": "Bonn"})


# --- views that read the body themselves ---


class Adding(OnlyInHandler):
    def create(self, request, *args, **kwargs):
        serializer = Small(
            data={**request.data, "owner": "ann"}, context=self.get_serializer_context()
        )
        self.chosen = Small
        serializer.is_valid(raise_exception=True)
        serializer.save()
        return Response(serializer.data, status=201)


class Renaming(Things):
    """What it takes is declared by a class of its own."""

    class Declared(serializers.Serializer):
        headline = serializers.CharField()
        size = serializers.IntegerField()

    @extend_schema(request=Declared)
    def create(self, request, *args, **kwargs):
        data = {"title": request.data["headline"], "size": request.data["size"]}
        serializer = self.get_serializer(data=data)
        serializer.is_valid(raise_exception=True)
        serializer.save()
        return Response(serializer.data, status=201)


class InParts(Things):
    """Two serializers read the same body, and its own code reads the rest."""

    class Mail(serializers.ModelSerializer):
        class Meta:
            model = Thing
            fields = ("mail",)

    def create(self, request, *args, **kwargs):
        context = self.get_serializer_context()
        parts = [each(data=request.data, context=context) for each in (Small, self.Mail)]
        for each in parts:
            each.is_valid(raise_exception=True)
        fields = {**parts[0].validated_data, **parts[1].validated_data}
        row = Thing.objects.create(size=request.data["size"], **fields)
        return Response(Large(row).data, status=201)


@pytest.mark.parametrize(
    ("view", "sent", "stored"),
    [
        (Adding, {"title": "a"}, ("a", 3, "")),
        (Renaming, {"headline": "a", "size": 7}, ("a", 7, "")),
        (
            InParts,
            {"title": "a", "size": 7, "mail": "ann@example.com"},
            ("a", 7, "ann@example.com"),
        ),
    ],
    ids=["adds a field", "renames a field", "reads it in parts"],
)
def test_a_view_that_reads_its_body_itself_is_not_refused(serve, mcp, view, sent, stored):
    serve(view)
    result = mcp("things__create", sent)
    assert result["isError"] is False, result
    assert rows() == [stored]


class Direct(Things):
    """Its handler makes another serializer than that of the view."""

    def create(self, request, *args, **kwargs):
        reader = Small(data=request.data)
        reader.is_valid(raise_exception=True)
        reader.save()
        return Response(reader.data, status=201)


@mcp_bulk
class DirectLists(Direct):
    def create(self, request, *args, **kwargs):
        reader = Small(data=request.data, many=True)
        reader.is_valid(raise_exception=True)
        reader.save()
        return Response(reader.data, status=201)


class ByOwnCode(Direct):
    class Reader(Small):
        def to_internal_value(self, data):
            return {**super().to_internal_value(data), "size": data["size"]}

    def create(self, request, *args, **kwargs):
        reader = self.Reader(data=request.data)
        reader.is_valid(raise_exception=True)
        reader.save()
        return Response(reader.data, status=201)


@pytest.mark.parametrize(
    ("view", "not_read"),
    [
        (Direct, ["mail", "size"]),
        (DirectLists, ["mail", "size"]),
        (ByOwnCode, None),
        (Things, None),
    ],
)
def test_the_receipt_of_many_rows_names_fields_that_no_serializer_has_read(
    serve, mcp, view, not_read
):
    serve(view)
    sent = [{"title": "a", "size": 7}, {"title": "b", "size": 7, "mail": "ann@example.com"}]
    result = mcp("things__create", {"objects": sent})
    assert result["isError"] is False, result
    assert result["structuredContent"]["created"] == 2
    assert result["structuredContent"].get("not_read") == not_read


def test_the_receipt_of_one_row_names_fields_that_are_not_stored(serve, mcp):
    serve(Direct)
    result = mcp("things__create", {"title": "a", "size": 7})
    assert result["structuredContent"]["not_stored"] == ["size"]


def test_an_unknown_field_is_refused_beside_one_that_the_view_adds(serve, mcp):
    serve(Adding)
    result = mcp("things__create", {"title": "a", "size": 7})
    assert problems(result) == [("unknown-key", "$.size")]
    assert rows() == []


# --- forms, and async views ---


class Form(OnlyInHandler):
    parser_classes = (FormParser,)


class Upload(OnlyInHandler):
    parser_classes = (MultiPartParser,)


@pytest.mark.parametrize("view", [Form, Upload])
def test_unknown_keys_are_refused_with_form_parsers(serve, mcp, view):
    serve(view)
    result = mcp("things__create", {"title": "a", "size": 7})
    assert problems(result) == [("unknown-key", "$.size")]
    assert rows() == []
    assert mcp("things__create", {"title": "a"})["isError"] is False
    assert rows() == [("a", 3, "")]


class Async(generics.CreateAPIView):
    serializer_class = Large
    permission_classes = (AllowAny,)

    @classmethod
    def as_view(cls, **initkwargs):
        made = super().as_view(**initkwargs)

        async def view(request, *args, **kwargs):
            return await sync_to_async(made)(request, *args, **kwargs)

        view.cls, view.initkwargs = made.cls, made.initkwargs
        return transaction.non_atomic_requests(view)

    def post(self, request):
        self.serializer_class = Small
        return self.create(request)


def test_async_views_are_checked_too(serve, mcp):
    serve(None, path("things/", Async.as_view(), name="things"))
    (tool,) = catalogue().actions
    assert problems(mcp(tool, {"title": "a", "size": 7})) == [("unknown-key", "$.size")]
    assert rows() == []
    assert mcp(tool, {"title": "a"})["isError"] is False


def test_serializer_used_outside_a_call_validates_as_before(db):
    reader = Small(data={"title": "a", "size": 7})
    assert reader.is_valid()
