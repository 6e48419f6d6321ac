"""Views whose serializers need values that only `initial`, or the handler itself, finds. Their
tools behave like REST.
"""

import pytest
from django.db import models
from django.urls import include, path
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework import serializers, viewsets
from rest_framework.decorators import action
from rest_framework.filters import OrderingFilter, SearchFilter
from rest_framework.pagination import PageNumberPagination
from rest_framework.permissions import AllowAny
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.throttling import SimpleRateThrottle

from odd.models import Log, Site, Thing
from toolbooth.django.describe.catalogue import catalogue


class OfEvent(serializers.ModelSerializer):
    class Meta:
        model = Thing
        fields = ("id", "title", "size")

    def get_fields(self):
        fields = super().get_fields()
        if self.context["event"] == "closed":
            del fields["size"]
        return fields


class Pages(PageNumberPagination):
    page_size = 2
    page_size_query_param = "page_size"


class OncePerCall(SimpleRateThrottle):
    rate = "1/day"

    def get_cache_key(self, request, view):
        return "once"


class Things(viewsets.ModelViewSet):
    queryset = Thing.objects.order_by("id")
    serializer_class = OfEvent
    permission_classes = (AllowAny,)
    filter_backends = (OrderingFilter, SearchFilter)
    ordering_fields = search_fields = ("title",)
    pagination_class = Pages


class ByInitial(Things):
    """As many projects do: the row in the path is found before the handler runs."""

    def initial(self, request, *args, **kwargs):
        super().initial(request, *args, **kwargs)
        Log.objects.create(line="initial")
        self.event = request.headers.get("X-Event", "open")

    def get_serializer_context(self):
        return {**super().get_serializer_context(), "event": self.event}


class Throttled(ByInitial):
    throttle_classes = (OncePerCall,)


class ByHandler(Things):
    """Only the handler knows."""

    def create(self, request, *args, **kwargs):
        self.event = "open"
        return super().create(request, *args, **kwargs)

    def list(self, request, *args, **kwargs):
        self.event = "open"
        return super().list(request, *args, **kwargs)

    def get_serializer(self, *args, **kwargs):
        kwargs["context"] = {**self.get_serializer_context(), "event": self.event}
        return super().get_serializer(*args, **kwargs)


@pytest.fixture
def serve(settings_of):
    def published(view):
        router = SimpleRouter()
        router.register("things", view, basename="things")
        patterns = [path("mcp/", include("toolbooth.django.urls")), *router.urls]
        settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": patterns}))
        return catalogue()

    return published


def rows():
    things = Thing.objects.order_by("id").values_list("title", "size")
    logs = Log.objects.values_list("line")
    return list(things), list(logs)


def paths(result):
    assert result["isError"] is True, result
    return [each["path"] for each in result["_meta"]["toolbooth"]["problems"]]


@pytest.mark.parametrize("view", [ByInitial, Throttled, ByHandler])
def test_a_write_creates_the_same_rows_as_over_rest(serve, mcp, rest, view):
    serve(view)
    sent = {"title": "a", "size": 7}
    assert mcp("things__create", sent)["isError"] is False
    made = rows()
    for model in (Thing, Log):
        model.objects.all().delete()
    view.throttle_classes = ()
    assert rest.post("/things/", sent, content_type="application/json").status_code == 201
    assert made == rows()


def test_a_field_that_the_caller_does_not_have_is_refused(serve, ann, mcp_as):
    serve(ByInitial)
    call = mcp_as("ann", HTTP_X_EVENT="closed")
    assert paths(call("things__create", {"title": "a", "size": 7})) == ["$.size"]
    assert rows() == ([], [])


def test_fields_of_rows_can_be_chosen_if_they_can_be_known(serve, mcp):
    Thing.objects.create(title="a")
    serve(ByInitial)
    chosen = {"filter_keys": ["title"]}
    shown = mcp("things__list", chosen)["structuredContent"]
    assert shown["results"] == [{"title": "a"}]
    serve(ByHandler)
    assert paths(mcp("things__list", chosen)) == ["$.filter_keys"]
    assert mcp("things__list")["structuredContent"]["results"][0]["title"] == "a"


# --- lists ---


def failing(*args, **kwargs):
    raise LookupError("not without a request")


class GetSerializerRaises(Things):
    def get_serializer(self, *args, **kwargs):
        if "X-Event" not in self.request.headers:
            failing()
        kwargs["context"] = {**self.get_serializer_context(), "event": "open"}
        return super().get_serializer(*args, **kwargs)


class GetSerializerClassRaises(Things):
    def get_serializer_class(self):
        self.request.headers["X-Event"]
        return super().get_serializer_class()

    def get_serializer_context(self):
        return {**super().get_serializer_context(), "event": "open"}


class NoSerializerClass(GetSerializerClassRaises):
    """Nothing is known of its serializer."""

    serializer_class = None

    def get_serializer_class(self):
        self.request.headers["X-Event"]
        return OfEvent


class ListSerializerAsserts(Things):
    class serializer_class(serializers.ModelSerializer):
        class list_of_things(serializers.ListSerializer):
            def __init__(self, *args, **kwargs):
                super().__init__(*args, **kwargs)
                assert "X-Event" in self.context["request"].headers

        class Meta:
            model = Thing
            fields = ("id", "title")

    serializer_class.Meta.list_serializer_class = serializer_class.list_of_things


class GetQuerysetRaises(ListSerializerAsserts):
    queryset = None

    def get_queryset(self):
        self.request.headers["X-Event"]
        return Thing.objects.order_by("id")


class Scoped(models.Manager):
    """Rows of a model that can only be queried inside a scope, as pretix has them."""

    def get_queryset(self):
        raise LookupError("no scope")


class FiltersOfUnknownRows(GetQuerysetRaises):
    """Only its serializer names the model."""

    filter_backends = (*Things.filter_backends, DjangoFilterBackend)
    filterset_fields = ("kind",)


class GetQuerysetQueries(ListSerializerAsserts):
    def get_queryset(self):
        found = Site.objects.count()
        return Thing.objects.filter(size__gte=found).order_by("id")


class FilterQuerysetRaises(ListSerializerAsserts):
    def filter_queryset(self, queryset):
        self.request.headers["X-Event"]
        return super().filter_queryset(queryset)


class OnlyList(Things):
    """It answers without a serializer."""

    serializer_class = None
    http_method_names = ("get",)

    def list(self, request, *args, **kwargs):
        rows = self.paginate_queryset(self.filter_queryset(self.get_queryset()))
        return self.get_paginated_response([{"title": each.title} for each in rows])


LISTS = (
    GetSerializerRaises,
    GetSerializerClassRaises,
    NoSerializerClass,
    ListSerializerAsserts,
    GetQuerysetRaises,
    FiltersOfUnknownRows,
    GetQuerysetQueries,
    FilterQuerysetRaises,
    OnlyList,
)


@pytest.mark.parametrize("view", LISTS, ids=lambda each: each.__name__)
def test_a_list_keeps_its_pages_filters_and_ordering(serve, ann, mcp_as, rest, view):
    for name in "bca":
        Thing.objects.create(title=name)
    found = serve(view)
    listed = found.registry.tools["things__list"].listing()["inputSchema"]["properties"]
    assert {"page", "page_size", "ordering", "search"} <= listed.keys()
    call = mcp_as("ann", HTTP_X_EVENT="open")
    for query in (
        {},
        {"page": 2},
        {"page_size": 1, "page": 3},
        {"ordering": "-title"},
        {"search": "c"},
    ):
        expected = rest.get("/things/", query, headers={"X-Event": "open"}).json()
        result = call("things__list", query)
        assert result["isError"] is False, result
        assert result["structuredContent"]["results"] == expected["results"]
    assert paths(call("things__list", {"titel": "c"})) == ["$.titel"]


def test_filters_are_kept_if_the_rows_are_unknown(serve, ann, mcp_as, monkeypatch):
    for kind in ("small", "large"):
        Thing.objects.create(title=kind, kind=kind)
    scoped = Scoped()
    scoped.model = Thing
    monkeypatch.setattr(Thing, "objects", scoped)
    found = serve(FiltersOfUnknownRows)
    listed = found.registry.tools["things__list"].listing()["inputSchema"]["properties"]
    assert listed["kind"]["enum"] == ["large", "small"]
    monkeypatch.undo()
    call = mcp_as("ann", HTTP_X_EVENT="open")
    rows = call("things__list", {"kind": "large"})["structuredContent"]["results"]
    assert [each["title"] for each in rows] == ["large"]
    assert paths(call("things__list", {"kinds": "large"})) == ["$.kinds"]
    retrieve = found.registry.tools["things__retrieve"].listing()["inputSchema"]
    assert retrieve["properties"]["id"]["type"] == "integer"


# --- bodies that are declared by a class which cannot be made ---


class Redeeming(Things):
    @action(detail=False, methods=["post"], serializer_class=OfEvent)
    def redeem(self, request):
        reader = OfEvent(data=request.data, context={"event": "open"})
        reader.is_valid(raise_exception=True)
        return Response({"id": reader.save().pk}, status=201)

    class serializer_class(serializers.ModelSerializer):
        class Meta:
            model = Thing
            fields = ("id", "title")


class StrictOfEvent(OfEvent):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["title"].max_length = len(self.context["event"])


class StrictlyRedeeming(Redeeming):
    @action(detail=False, methods=["post"], serializer_class=StrictOfEvent)
    def redeem(self, request):
        return super().redeem(request)


@pytest.mark.parametrize("view", [Redeeming, StrictlyRedeeming])
def test_a_declared_serializer_that_cannot_be_made_is_described_from_its_class(serve, mcp, view):
    found = serve(view)
    assert found.left_out == ()
    listed = found.registry.tools["things__redeem"].listing()["inputSchema"]["properties"]
    assert list(listed)[:2] == ["title", "size"]
    assert mcp("things__redeem", {"title": "a", "size": 4})["isError"] is False
    assert rows()[0] == [("a", 4)]
