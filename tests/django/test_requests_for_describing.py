"""Views are described with a request that is as complete as the one of a REST call."""

from uuid import UUID

import pytest
from django.contrib.auth import get_user_model
from django.db import connection, models
from django.urls import include, path
from django.utils.html import format_html
from django.utils.safestring import mark_safe
from django.utils.translation import gettext_lazy
from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, viewsets
from rest_framework.filters import OrderingFilter, SearchFilter
from rest_framework.mixins import CreateModelMixin
from rest_framework.pagination import PageNumberPagination
from rest_framework.permissions import AllowAny, IsAuthenticated
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.versioning import AcceptHeaderVersioning, URLPathVersioning

from odd.models import Annex, Site
from toolbooth.django.describe.catalogue import catalogue
from toolbooth.lint.check import lint


@pytest.fixture
def serve(settings_of):
    """Serve these view sets, each under its name, and no others."""

    def published(**view_sets):
        router = SimpleRouter()
        for name, view in view_sets.items():
            router.register(name, view, basename=name)
        patterns = [path("mcp/", include("toolbooth.django.urls")), *router.urls]
        settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": patterns}))
        return catalogue()

    return published


@pytest.fixture
def django_queries():
    """Return every query that is sent to the database."""
    queries = []

    def note(execute, sql, *rest):
        found = execute(sql, *rest)
        queries.append(sql)
        return found

    with connection.execute_wrapper(note):
        yield queries


def properties(found, name):
    return found.registry.tools[name].listing()["inputSchema"]["properties"]


class SiteSerializer(serializers.ModelSerializer):
    class Meta:
        model = Site
        fields = ("id", "name")


class AnnexSerializer(serializers.ModelSerializer):
    class Meta:
        model = Annex
        fields = ("id", "name", "floor")


class NoModelSerializer(serializers.Serializer):
    name = serializers.CharField()


class Sites(viewsets.ModelViewSet):
    queryset = Site.objects.order_by("id")
    serializer_class = SiteSerializer
    permission_classes = (AllowAny,)


class NegotiatedSites(Sites):
    """Its serializer has another field for those who ask for JSON."""

    versioning_class = AcceptHeaderVersioning

    def get_serializer_context(self):
        context = super().get_serializer_context()
        return {**context, "json": self.request.accepted_media_type == "application/json"}

    def get_serializer(self, *args, **kwargs):
        assert self.request.accepted_renderer.format == "json"
        assert self.request.version is None
        return super().get_serializer(*args, **kwargs)


def test_the_media_type_and_the_version_are_known_when_a_view_is_described(serve, mcp):
    found = serve(sites=NegotiatedSites)
    assert found.left_out == found.faults == ()
    assert mcp("sites__create", {"name": "hq"})["isError"] is False
    assert Site.objects.get().name == "hq"


def test_the_media_type_is_known_when_permissions_are_checked(serve, mcp_as):
    class Members(NegotiatedSites):
        permission_classes = (IsAuthenticated,)

        def check_permissions(self, request):
            assert request.accepted_media_type == "application/json"
            super().check_permissions(request)

    serve(members=Members)
    reply = mcp_as(None)("members__create", {"name": "hq"}, raw=True)
    assert reply.status_code == 401
    assert not Site.objects.exists()


class CreateOnlySerializer(SiteSerializer):
    """It takes the slug for a create only, as serializers of Mayan EDMS do."""

    class Meta(SiteSerializer.Meta):
        fields = ("id", "name", "slug")

    def get_fields(self):
        view, fields = self.context.get("view"), super().get_fields()
        if not isinstance(view, CreateModelMixin) or view.request.method != "POST":
            del fields["slug"]
        return fields


class ViewlessSites(Sites):
    serializer_class = CreateOnlySerializer

    def get_serializer_context(self):
        if getattr(self, "swagger_fake_view", False):
            return {"request": self.request}
        return super().get_serializer_context()


def test_a_view_that_leaves_itself_out_of_the_context_while_it_is_described(serve, mcp):
    found = serve(sites=ViewlessSites)
    assert found.left_out == found.faults == ()
    assert mcp("sites__create", {"name": "hq", "slug": "hq"})["isError"] is False
    row = Site.objects.get()
    assert (row.name, row.slug) == ("hq", "hq")
    refused = mcp("sites__partial_update", {"id": row.pk, "slug": "other"})
    assert refused["isError"] is True
    assert '"slug"' in refused["content"][0]["text"]
    row.refresh_from_db()
    assert row.slug == "hq"


class VersionedSites(Sites):
    """Its serializer needs attributes that REST framework adds to a request, and the URL kwargs."""

    class versioning_class(URLPathVersioning):
        default_version = None
        allowed_versions = ("v2", "v1")

    def get_serializer(self, *args, **kwargs):
        context = self.request.parser_context
        assert context["view"] is self
        assert context["kwargs"] == self.kwargs
        assert self.request.resolver_match.view_name == "sites"
        assert self.request.resolver_match.kwargs == self.kwargs
        assert (self.request.version, self.kwargs["version"]) == ("v2", "v2")
        assert isinstance(self.kwargs["site_pk"], int)
        assert isinstance(self.kwargs["of"], UUID)
        return super().get_serializer(*args, **kwargs)


def test_parser_context_and_url_kwargs_exist_when_a_view_is_described(settings_of, mcp):
    view = VersionedSites.as_view({"get": "list", "post": "create"})
    route = "<str:version>/<int:site_pk>/<uuid:of>/sites/"
    patterns = [path("mcp/", include("toolbooth.django.urls")), path(route, view, name="sites")]
    settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": patterns}))
    found = catalogue()
    assert found.left_out == found.faults == ()
    names = list(properties(found, "sites__create"))
    sent = {"version": "v2", "site_pk": 5, "of": str(UUID(int=7)), "name": "hq"}
    assert names[:4] == list(sent)
    assert mcp("sites__create", sent)["isError"] is False
    assert Site.objects.get().name == "hq"


# --- paths ---


def documented(*names):
    parameters = [OpenApiParameter(name, int, "path", description="Which.") for name in names]
    return extend_schema(parameters=parameters)


@pytest.mark.parametrize("name", ["id", "site_id", "site"])
def test_a_key_that_is_documented_under_another_name_is_one_argument(serve, mcp, name):
    @documented(name)
    class Documented(Sites):
        pass

    serve(sites=Documented)
    site = Site.objects.create(name="hq")
    found = catalogue().registry.tools["sites__retrieve"].listing()["inputSchema"]
    assert found["required"] == [name]
    assert found["properties"][name] == {"type": "integer", "description": "Which."}
    assert mcp("sites__retrieve", {name: site.pk})["structuredContent"]["name"] == "hq"


def test_invalid_path_value_is_reported_alone(serve, settings_of, mcp):
    patterns = [
        path("mcp/", include("toolbooth.django.urls")),
        path(
            "<slug:region>/<slug:area>/<int:pk>/", Sites.as_view({"get": "retrieve"}), name="site"
        ),
    ]
    settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": patterns}))
    right = {"region": "eu", "area": "nl", "id": 5}

    def blamed(**changed):
        result = mcp("site__retrieve", {**right, **changed})
        return [each["path"] for each in result["_meta"]["toolbooth"]["problems"]]

    assert blamed(region="eu/x") == ["$.region"]
    assert blamed(area="n l") == ["$.area"]
    assert blamed(region="", area="a/b", id=5) == ["$.region", "$.area"]
    assert blamed(id=-5) == ["$.id"]


class WritableKey(Sites):
    class serializer_class(serializers.ModelSerializer):
        id = serializers.IntegerField(required=False)

        class Meta:
            model = Site
            fields = ("id", "name")


class RequiredKey(Sites):
    class serializer_class(WritableKey.serializer_class):
        id = serializers.IntegerField()


@pytest.mark.parametrize("view", [WritableKey, RequiredKey])
def test_a_key_that_the_serializer_accepts_too_is_one_argument(serve, mcp, view):
    serve(sites=view)
    site = Site.objects.create(name="hq")
    assert list(properties(catalogue(), "sites__update")) == [
        "id",
        "name",
        "help",
        "preview",
    ]
    result = mcp("sites__update", {"id": site.pk, "name": "main"})
    assert result["isError"] is False, result
    assert list(Site.objects.values_list("pk", "name")) == [(site.pk, "main")]


# --- serializers that need more than describing has ---


class OfEvent(serializers.ModelSerializer):
    """Its fields depend on the view's request."""

    class Meta:
        model = Site
        fields = ("id", "name", "slug")

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.event = self.context["event"]

    def get_fields(self):
        fields = super().get_fields()
        if self.event == "closed":
            del fields["slug"]
        return fields


class EventSites(Sites):
    serializer_class = OfEvent
    filter_backends = (OrderingFilter, SearchFilter)
    ordering_fields = search_fields = ("name",)
    pagination_class = PageNumberPagination

    def get_serializer_context(self):
        request = self.request
        return {**super().get_serializer_context(), "event": request.headers["X-Event"]}


def test_a_serializer_that_needs_the_request_is_described_from_its_class(serve, ann, mcp_as):
    found = serve(sites=EventSites)
    assert found.left_out == ()
    assert [*properties(found, "sites__create")][:2] == ["name", "slug"]
    listed = properties(found, "sites__list")
    assert {"page", "ordering", "search"} <= listed.keys()
    call = mcp_as("ann", HTTP_X_EVENT="open")
    assert call("sites__create", {"name": "hq", "slug": "hq"})["isError"] is False
    closed = mcp_as("ann", HTTP_X_EVENT="closed")
    refused = closed("sites__create", {"name": "hq", "slug": "hq2"})
    assert [each["path"] for each in refused["_meta"]["toolbooth"]["problems"]] == ["$.slug"]
    assert list(Site.objects.values_list("name", "slug")) == [("hq", "hq")]


class OfOwner(serializers.ModelSerializer):
    """Its relation and its choices are filled in for each request."""

    kind = serializers.ChoiceField(choices=[], required=False, write_only=True)

    class Meta:
        model = Site
        fields = ("id", "name", "slug", "owner", "kind")

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["kind"].choices = self.context["kinds"]
        self.fields["owner"] = serializers.SlugRelatedField(
            "username", queryset=get_user_model().objects.all(), required=False
        )

    def create(self, data):
        del data["kind"]
        return super().create(data)


class OwnedSites(Sites):
    serializer_class = OfOwner

    def get_serializer_context(self):
        kinds = self.request.headers["X-Kinds"].split(",")
        return {**super().get_serializer_context(), "kinds": kinds}


def test_fields_replaced_per_request_take_the_rest_values(serve, ann, mcp_as):
    serve(sites=OwnedSites)
    call = mcp_as("ann", HTTP_X_KINDS="big,small")
    sent = {"name": "hq", "slug": "hq", "kind": "big", "owner": "ann"}
    result = call("sites__create", sent)
    assert result["isError"] is False, result
    assert list(Site.objects.values_list("slug", "owner__username")) == [("hq", "ann")]
    refused = call("sites__create", {**sent, "slug": "b", "kind": "huge", "owner": "nobody"})
    paths = [each["path"] for each in refused["_meta"]["toolbooth"]["problems"]]
    assert sorted(paths) == ["$.kind", "$.owner"]
    by_name = call("sites__create", {**sent, "slug": "c", "owner": {"username": "ann"}})
    assert by_name["isError"] is False
    refused = call("sites__create", {**sent, "slug": "d", "owner": {"password__startswith": "p"}})
    assert [each["code"] for each in refused["_meta"]["toolbooth"]["problems"]] == ["unknown-key"]
    assert Site.objects.count() == 2


class NeedsInstance(SiteSerializer):
    def __init__(self, instance, *args, **kwargs):
        super().__init__(instance, *args, **kwargs)
        self.fields["name"].max_length = 40 if self.context["request"] else 0


def test_a_serializer_that_must_be_given_an_instance_is_given_one(serve, mcp):
    class Given(Sites):
        serializer_class = NeedsInstance

    found = serve(sites=Given)
    assert found.left_out == ()
    site = Site.objects.create(name="hq")
    result = mcp("sites__partial_update", {"id": site.pk, "name": "main"})
    assert result["isError"] is False, result
    assert Site.objects.get().name == "main"


def test_a_body_in_the_settings_may_need_a_context(serve, settings_of, mcp_as, ann):
    class Plain(Sites):
        def create(self, request, *args, **kwargs):
            made = OfEvent(data=request.data, context={"event": "open"})
            made.is_valid(raise_exception=True)
            made.save()
            return Response(made.data, 201)

    settings_of(TOOLBOOTH={"BODIES": {"sites__create": OfEvent}})
    found = serve(sites=Plain)
    assert (found.left_out, found.wrong_entries) == ((), ())
    assert [*properties(found, "sites__create")][:2] == ["name", "slug"]
    assert mcp_as("ann")("sites__create", {"name": "hq", "slug": "hq"})["isError"] is False
    assert Site.objects.get().slug == "hq"


class ScopedManager(models.Manager):
    def get_queryset(self):
        raise RuntimeError("there is no scope")


def test_filters_are_described_though_the_manager_needs_a_scope(serve, monkeypatch):
    class Filtered(Sites):
        filter_backends = (DjangoFilterBackend,)
        filterset_fields = ("name",)

    scoped = ScopedManager()
    scoped.model = Site
    monkeypatch.setattr(Site, "objects", scoped)
    found = serve(sites=Filtered)
    assert found.left_out == ()
    assert "name" in properties(found, "sites__list")


class Awkward(serializers.ModelSerializer):
    """A choice without a type: drf-spectacular fails on it where it may be null."""

    kind = serializers.ChoiceField(choices=[(1, "one"), ("b", "two")], allow_null=True)

    class Meta:
        model = Site
        fields = ("id", "name", "kind")

    def create(self, data):
        return Site.objects.create(name=f"{data['name']} {data['kind']}")


def test_a_field_that_drf_spectacular_fails_on_loses_only_its_own_details(serve, mcp):
    class AwkwardSites(Sites):
        serializer_class = Awkward

    found = serve(sites=AwkwardSites)
    assert found.left_out == ()
    assert "kind" in properties(found, "sites__create")
    mcp("sites__create", {"name": "hq", "kind": "b"})
    assert Site.objects.get().name == "hq b"


def test_every_kind_of_text_is_published_as_plain_text(serve):
    class Texts(Sites):
        class serializer_class(SiteSerializer):
            kind = serializers.ChoiceField(
                choices=[(mark_safe("a"), "A"), ("b", "B")], help_text=format_html("<i>{}</i>", "k")
            )
            name = serializers.CharField(help_text=gettext_lazy("a name"), default=mark_safe("x"))

            class Meta(SiteSerializer.Meta):
                fields = ("id", "name", "kind")

    found = serve(sites=Texts)
    listing = found.registry.tools["sites__create"].listing()
    assert not [each for each in texts_in(listing) if type(each) is not str]
    assert lint([listing]).listing.tokens > 0


def texts_in(value):
    if isinstance(value, dict):
        value = [*value.keys(), *value.values()]
    if isinstance(value, list | tuple):
        return [text for each in value for text in texts_in(each)]
    return [value] if isinstance(value, str) else []


def test_describing_makes_no_query(serve, django_queries):
    class Counting(SiteSerializer):
        def get_fields(self):
            assert Site.objects.count() >= 0
            return super().get_fields()

    class CountedSites(Sites):
        serializer_class = Counting

    found = serve(sites=CountedSites)
    assert found.left_out == ()
    assert "name" in properties(found, "sites__create")
    assert django_queries == []


class Annexes(Sites):
    queryset = Annex.objects.all()
    serializer_class = AnnexSerializer


def test_a_row_of_a_derived_model_has_the_key_of_its_first_model(serve, mcp, db):
    found = serve(annexes=Annexes)
    names = ["annexes__retrieve", "annexes__update", "annexes__destroy"]
    assert [found.registry.tools[name].contract.schema["required"][0] for name in names] == [
        "id"
    ] * 3
    annex = Annex.objects.create(name="old", slug="old", floor=1)
    assert mcp("annexes__partial_update", {"id": annex.pk, "floor": 2})["isError"] is False
    assert Annex.objects.get().floor == 2


class DocumentedSites(Sites):
    """Its rows depend on the caller, and its author describes the body by hand."""

    def get_queryset(self):
        return Site.objects.filter(pk__lt=self.request.user.pk + 1000)

    @extend_schema(
        request={
            "application/json": {
                "type": "object",
                "properties": {"id": {"type": "integer"}, "name": {"type": "string"}},
            }
        }
    )
    def partial_update(self, request, *args, **kwargs):
        return super().partial_update(request, *args, **kwargs)


def test_a_documented_key_is_the_one_in_the_path(serve, mcp, db):
    found = serve(sites=DocumentedSites)
    schema = found.registry.tools["sites__partial_update"].contract.schema
    assert (schema["required"], "id_in_path" in schema["properties"]) == (["id"], False)
    site = Site.objects.create(name="old", slug="old")
    assert mcp("sites__partial_update", {"id": site.pk, "name": "new"})["isError"] is False
    assert Site.objects.get().name == "new"


class ManySites(Sites):
    pagination_class = PageNumberPagination

    @extend_schema(request=SiteSerializer(many=True), responses=SiteSerializer(many=True))
    def create(self, request, *args, **kwargs):
        serializer = self.get_serializer(data=request.data, many=True)
        serializer.is_valid(raise_exception=True)
        return Response(serializer.data)


def test_a_create_of_many_rows_has_no_pages(serve):
    found = serve(sites=ManySites)
    assert "page" not in properties(found, "sites__create")
    assert "page" in properties(found, "sites__list")


class SitesOfCaller(Sites):
    """Its rows are found by an attribute that an anonymous user does not have."""

    queryset = None
    filter_backends = (DjangoFilterBackend, OrderingFilter)
    filterset_fields = ("name",)
    ordering_fields = "__all__"

    def get_queryset(self):
        return Site.objects.filter(owner=self.request.user.only_real_users_have_this)


class SitesOfSuperusers(SitesOfCaller):
    def get_queryset(self):
        assert self.request.user.is_superuser
        return Site.objects.all()


class NoSites(SitesOfCaller):
    serializer_class = NoModelSerializer


@pytest.mark.parametrize("view", [SitesOfCaller, SitesOfSuperusers])
def test_a_list_keeps_its_filters_if_its_rows_need_a_real_caller(serve, view):
    found = serve(sites=view)
    listed = properties(found, "sites__list")
    assert listed["name"] == {"type": "string"}
    assert listed["ordering"]["enum"][:2] == ["id", "-id"]
    assert properties(found, "sites__retrieve")["id"] == {"type": "integer"}
    assert found.faults == ()


def test_a_list_of_no_known_model_has_no_filters(serve):
    found = serve(sites=NoSites)
    assert "name" not in properties(found, "sites__list")
    assert "sites__list" in {each.what for each in found.faults}
