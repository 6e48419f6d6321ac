"""Views of a rare kind: each is published correctly, or left out with a reason; none affects the
others.
"""

import asyncio
import io
import json

import pytest
from django.http import HttpResponse, StreamingHttpResponse
from django.template import engines
from django.template.response import SimpleTemplateResponse
from django.test import AsyncClient, Client, RequestFactory
from django.urls import include, path, re_path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiRequest, extend_schema
from rest_framework import generics, permissions, serializers, viewsets
from rest_framework.authentication import BasicAuthentication
from rest_framework.decorators import api_view
from rest_framework.filters import OrderingFilter
from rest_framework.permissions import AllowAny
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.views import APIView

from odd.models import Badge, Device, Log, Part, Site, Thing
from odd.serializers import DeviceSerializer, LogSerializer, SiteSerializer
from odd.views import Echo
from sales.models import Company
from toolbooth.django.call import replies
from toolbooth.django.call.endpoint import endpoint
from toolbooth.django.decorators import mcp_ignore
from toolbooth.django.describe.catalogue import catalogue


@pytest.fixture
def serve(settings_of):
    """Serve these views, each under its name, and no others."""

    def published(**views):
        patterns = [path("mcp/", include("toolbooth.django.urls"))]
        for name, view in views.items():
            patterns.append(
                path(f"{name}/", view.as_view() if isinstance(view, type) else view, name=name)
            )
        settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": patterns}))
        return catalogue()

    return published


def properties(found, name):
    return found.registry.tools[name].listing()["inputSchema"]["properties"]


def left_out(found):
    return {each.what: each.why for each in found.left_out}


# --- bodies ---


def posting(serializer, **more):
    return type(f"{serializer.__name__}View", (Echo,), {"serializer_class": serializer, **more})


def serializer_of(**fields):
    return type("MadeSerializer", (serializers.Serializer,), fields)


def test_a_body_without_known_fields_is_left_out(serve):
    @extend_schema(request=OpenApiTypes.OBJECT, responses=None)
    @api_view(["POST"])
    def anything(request):
        return Response(request.data)

    found = serve(anything=anything)
    assert left_out(found) == {
        "anything__post": "its body has no known fields; "
        "give the action a serializer, or describe it with @extend_schema"
    }


def test_an_action_that_needs_a_file_is_left_out(serve):
    found = serve(
        upload=posting(serializer_of(file=serializers.FileField(), name=serializers.CharField()))
    )
    assert left_out(found) == {
        "upload__post": "'file' is required, and takes a file, which is not sent over MCP"
    }
    nested = serializer_of(inner=serializer_of(file=serializers.FileField())())
    assert left_out(serve(upload=posting(nested)))["upload__post"] == (
        "'inner' is required, and 'inner.file' is required, and takes a file, which is not sent over MCP"
    )


def test_a_view_that_cannot_be_described_does_not_affect_others(serve, caplog):
    class Broken(serializers.ModelSerializer):
        Meta = None

    found = serve(broken=posting(Broken), works=posting(LogSerializer))
    assert set(found.actions) == {"works__post"}
    assert left_out(found)["broken__post"] == (
        'describing it failed: AssertionError: Class Broken missing "Meta.model" attribute'
    )


def test_views_excluded_by_their_author_are_left_out(serve):
    @extend_schema(exclude=True)
    @api_view(["GET"])
    def secret(request):
        return Response({})

    @mcp_ignore
    @api_view(["GET"])
    def ignored(request):
        return Response({})

    assert left_out(serve(secret=secret, ignored=ignored)) == {
        "secret__get": "@extend_schema(exclude=True)",
        "GET /ignored/": "@mcp_ignore",
    }


def test_a_serializer_for_each_media_type_is_the_one_for_json(serve, mcp):
    @extend_schema(
        request={
            "multipart/form-data": LogSerializer,
            "application/json": OpenApiRequest(DeviceSerializer),
        },
        responses=None,
    )
    @api_view(["POST"])
    def either(request):
        return Response({"sent": request.data})

    site = Site.objects.create(slug="hq", name="HQ")
    assert "site" in properties(serve(either=either), "either__post")
    assert mcp("either__post", {"site": {"slug": "hq"}})["structuredContent"] == {
        "sent": {"site": site.pk}
    }


def test_integers_of_any_length_arrive(serve, mcp):
    serve(document=posting(serializer_of(document=serializers.JSONField())))
    sent = {"document": {"a": 2**70}}
    assert mcp("document__post", sent)["structuredContent"] == {"read": sent}


class Upper(serializers.CharField):
    def to_internal_value(self, data):
        return super().to_internal_value(data["text"] if isinstance(data, dict) else data).upper()


class PartByToken(serializers.RelatedField):
    def to_internal_value(self, data):
        return self.get_queryset().get(token=data["token"]).number

    def to_representation(self, value):
        return value


def test_input_of_a_custom_field_is_left_to_the_field(serve, mcp):
    made = serializer_of(
        word=Upper(required=False), part=PartByToken(queryset=Part.objects.all(), required=False)
    )
    found = serve(own=posting(made))
    assert properties(found, "own__post")["word"] == {"type": "string"}
    Part.objects.create(number="p1", token="t1")
    for word in ("x", {"text": "x"}):
        assert mcp("own__post", {"word": word})["structuredContent"] == {"read": {"word": "X"}}
    assert mcp("own__post", {"part": {"token": "t1"}})["structuredContent"] == {
        "read": {"part": "p1"}
    }
    assert mcp("own__post", {"word": ["x"]})["isError"] is True


def test_blank_and_null_are_shown_in_the_description_of_a_field(serve, mcp):
    choices = [("a_b", "A-B"), ("c", "Something else")]
    made = serializer_of(
        one=serializers.ChoiceField(choices=choices, allow_blank=True, allow_null=True),
        several=serializers.MultipleChoiceField(choices=choices),
        point=serializer_of(x=serializers.IntegerField())(allow_null=True, required=False),
        secret_key=serializers.CharField(required=False),
        token=serializers.CharField(required=False),
    )
    found = properties(serve(odd=posting(made)), "odd__post")
    assert found["one"] == {
        "type": "string",
        "enum": ["a_b", "c", ""],
        "description": "c = Something else, or null",
    }
    assert found["several"] == {
        "type": "array",
        "items": {"type": "string", "enum": ["a_b", "c"]},
        "description": "c = Something else",
    }
    assert found["token"] == {"type": "string", "description": "password"}
    for one in ("a_b", "", None):
        sent = {"one": one, "several": ["c"], "point": None}
        assert mcp("odd__post", sent)["structuredContent"] == {"read": sent}


def test_a_secret_is_never_echoed(serve, mcp):
    serve(
        login=posting(
            serializer_of(
                user=serializers.CharField(), password=serializers.CharField(max_length=3)
            )
        )
    )
    refused = mcp("login__post", {"data": {"user": "ann", "password": "hunter2"}})
    assert "hunter2" not in json.dumps(refused)
    assert "hunter2" not in json.dumps(mcp("login__post", {"user": "ann", "password": "hunter2"}))


# --- URLs ---


def test_impossible_value_for_a_path_pattern_is_refused(serve, mcp, settings_of):
    @api_view(["GET"])
    def odd(request, kind):
        return Response({"kind": kind})

    patterns = [
        path("mcp/", include("toolbooth.django.urls")),
        re_path(r"^kinds?/(?P<kind>[a-z]{2,3})/$", odd, name="kind"),
    ]
    settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": patterns}))
    assert mcp("kind__get", {"kind": "ABC"})["isError"] is True


def test_a_queryset_that_needs_a_caller_still_has_its_orderings(serve, mcp):
    class Mine(generics.ListAPIView):
        serializer_class = SiteSerializer
        filter_backends = [OrderingFilter]
        ordering_fields = ["name"]
        queryset = None

        def get_queryset(self):
            return Site.objects.filter(owner__username=self.request.user.username)

    class Whatever(Mine):
        ordering_fields = "__all__"

    found = serve(mine=Mine, whatever=Whatever)
    assert properties(found, "mine__list")["ordering"] == {
        "type": "string",
        "enum": ["name", "-name"],
    }
    assert properties(found, "whatever__list")["ordering"] == {"type": "string"}
    assert mcp("mine__list", {"ordering": "slug"})["isError"] is True


# --- answers ---


def answering(make):
    class View(APIView):
        def get(self, request):
            return make()

    return View


def test_a_template_is_rendered(serve, mcp):
    template = engines["django"].from_string("hello {{ name }}")
    serve(page=answering(lambda: SimpleTemplateResponse(template, {"name": "you"})))
    assert mcp("page__get")["structuredContent"]["text"] == "hello you"


def test_long_text_is_cut_with_a_note(serve, mcp, monkeypatch):
    monkeypatch.setattr(replies, "MOST_TEXT", 10)
    serve(
        long=answering(lambda: HttpResponse("x" * 11, content_type="text/plain")),
        stream=answering(
            lambda: StreamingHttpResponse(iter([b"x" * 6] * 3), content_type="text/plain")
        ),
        events=answering(
            lambda: StreamingHttpResponse(iter([b"data: x"]), content_type="text/event-stream")
        ),
        empty=answering(lambda: HttpResponse(content_type="text/plain")),
    )
    note = "only the first 10 characters; fetch the rest over REST"
    for name in ("long", "stream"):
        told = mcp(f"{name}__get")["structuredContent"]
        assert (told["text"], told["note"]) == ("x" * 10, note)
    assert (
        mcp("events__get")["structuredContent"]["note"]
        == "the content is not sent over MCP; fetch it over REST"
    )
    assert mcp("empty__get")["structuredContent"] == {"status": 200, "content_type": "text/plain"}


def test_a_stream_made_by_a_coroutine_is_read(serve, mcp):
    async def pieces():
        for piece in (b"a", b"b"):
            await asyncio.sleep(0)
            yield piece

    serve(stream=answering(lambda: StreamingHttpResponse(pieces(), content_type="text/plain")))
    assert mcp("stream__get")["structuredContent"]["text"] == "ab"


def test_refusal_without_a_message_reports_its_status(serve, mcp):
    serve(
        gone=answering(lambda: Response(status=410)),
        html=answering(lambda: HttpResponse("<p>", status=404)),
    )
    assert mcp("gone__get")["content"][0]["text"] == "Tool 'gone__get' failed: the API answered 410"
    assert mcp("html__get")["structuredContent"] == {"details": {"status": 404, "problems": []}}


# --- callers ---


def test_authenticators_chosen_by_the_request_are_chosen_in_each_call(serve, mcp, mcp_as):
    class Chosen(generics.ListAPIView):
        queryset = Log.objects.order_by("id")
        serializer_class = LogSerializer

        def get_authenticators(self):
            return [BasicAuthentication()] if self.request.method == "GET" else []

    serve(chosen=Chosen)
    assert mcp("chosen__list")["isError"] is False
    assert mcp_as(None)("chosen__list", raw=True).status_code == 401


def test_call_has_the_same_result_under_asgi(ann):
    async def visit():
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "companies__create", "arguments": {"name": "Acme"}},
        }
        sending = {"headers": {"Authorization": "Basic YW5uOnB3", "Accept-Language": "de"}}
        sending["content_type"] = "application/json"
        client = AsyncClient()
        made = await client.post("/mcp/", json.dumps(message), **sending)
        who = {**message, "params": {"name": "who__get"}}
        told = await client.post("/mcp/", json.dumps(who), **sending)
        tenant = {**message, "params": {"name": "bodiless__post", "arguments": {"X-Tenant": "t"}}}
        sent = await client.post("/mcp/", json.dumps(tenant), **sending)
        return [reply.json()["result"] for reply in (made, told, sent)]

    made, told, sent = asyncio.run(visit())
    assert made["isError"] is False
    assert Company.objects.get().name == "Acme"
    assert (told["structuredContent"]["user"], told["structuredContent"]["language"]) == (
        "ann",
        "de",
    )
    assert sent["structuredContent"]["tenant"] == "t"


def test_with_debug_requests_from_local_origins_are_accepted(ann, settings_of):
    settings_of(DEBUG=True, ALLOWED_HOSTS=[])
    message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    for origin, status in [("http://localhost:5173", 200), ("http://evil.example", 403)]:
        headers = {"Authorization": "Basic YW5uOnB3", "Host": "localhost", "Origin": origin}
        assert (
            Client(headers=headers)
            .post("/mcp/", message, content_type="application/json")
            .status_code
            == status
        )


def test_anonymous_caller_gets_no_login_challenge_without_any_tools(serve):
    serve()
    message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    reply = Client().post("/mcp/", message, content_type="application/json")
    assert reply.json()["result"] == {"tools": []}


def test_views_outside_of_any_app_get_tool_names_too(settings_of):
    class Rows(viewsets.ReadOnlyModelViewSet):
        queryset = Thing.objects.order_by("id")
        serializer_class = LogSerializer
        permission_classes = [AllowAny]

    Rows.__module__ = "elsewhere.api"
    first, second = SimpleRouter(), SimpleRouter()
    first.register("rows", Rows, "rows")
    second.register("rows", Rows, "rows")
    both = [path("", include(first.urls)), path("b/", include(second.urls))]
    settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": both}))
    lists = [name for name in catalogue().actions if name.endswith("list")]
    assert lists == ["b_rows__list", "elsewhere_rows__list"]


class ByKind(permissions.BasePermission):
    def has_permission(self, request, view):
        return request.data["kind"] != "forbidden"


class KindView(generics.GenericAPIView):
    """Its fields depend on the arguments."""

    permission_classes = [permissions.IsAuthenticated, ByKind]

    def get_serializer_class(self):
        kind = serializers.ChoiceField(choices=["a", "b", "forbidden"])
        fields = {
            "kind": kind,
            "site": serializers.PrimaryKeyRelatedField(queryset=Site.objects.all()),
        }
        sent = getattr(self.request, "data", {}).get("kind", "all")
        for name in ("a", "b") if sent == "all" else (sent,):
            fields[name] = serializers.CharField(required=False)
        return type(f"Kind{sent}", (serializers.Serializer,), fields)

    def post(self, request):
        serializer = self.get_serializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        return Response(
            {"read": {**serializer.validated_data, "site": serializer.validated_data["site"].slug}}
        )


def test_serializer_chosen_by_the_input_takes_only_the_fields_it_reads(serve, mcp):
    serve(kind=KindView)
    Site.objects.create(slug="hq", name="HQ")
    sent = {"kind": "a", "a": "x", "site": {"name": "HQ"}}
    assert mcp("kind__post", sent)["structuredContent"] == {
        "read": {"kind": "a", "a": "x", "site": "hq"}
    }
    refused = mcp("kind__post", {**sent, "b": "y"})["_meta"]["toolbooth"]["problems"]
    assert refused == [
        {"code": "unknown-key", "path": "$.b", "message": "is not a field that you may send"}
    ]
    forbidden = mcp("kind__post", {**sent, "kind": "forbidden", "site": {"name": "nowhere"}})
    assert forbidden["structuredContent"]["details"]["status"] == 403


# --- relations ---


class Mine(serializers.PrimaryKeyRelatedField):
    """Knows its rows only by its caller."""

    def get_queryset(self):
        return Site.objects.filter(owner=self.context["request"].user.pk)


class Yours(Mine):
    """Needs an attribute of its caller that an anonymous user does not have."""

    def get_queryset(self):
        return Site.objects.filter(owner__email=self.context["request"].user.email)


def device_serializer(**fields):
    meta = type("Meta", (), {"model": Device, "fields": list(fields)})
    return type("MadeDeviceSerializer", (serializers.ModelSerializer,), {**fields, "Meta": meta})


class MakesDevices(generics.CreateAPIView):
    queryset = Device.objects.all()


def test_relations_to_rows_that_depend_on_the_caller_accept_objects(serve, mcp, ann):
    Site.objects.create(slug="mine", name="Mine", owner=ann)
    made = device_serializer(site=Mine())
    found = serve(mine=type("View", (MakesDevices,), {"serializer_class": made}))
    text = {"type": "string"}
    assert properties(found, "mine__create")["site"] == {
        "anyOf": [
            {"type": "integer"},
            {"type": "object", "properties": {"slug": text}},
        ],
        "description": 'id of an existing site, or {"slug": …} to look it up',
    }
    assert mcp("mine__create", {"site": {"slug": "mine"}})["isError"] is False
    assert Device.objects.get().site.slug == "mine"


def test_rows_that_cannot_be_known_beforehand_are_named_by_key(serve, mcp, ann):
    site = Site.objects.create(slug="mine", name="Mine", owner=ann)
    serve(
        yours=type("View", (MakesDevices,), {"serializer_class": device_serializer(site=Yours())})
    )
    assert mcp("yours__create", {"site": {"slug": "mine"}})["isError"] is True
    assert Device.objects.count() == 0
    assert mcp("yours__create", {"site": site.pk})["isError"] is False
    assert Device.objects.get().site == site


def test_a_key_that_refers_to_another_row_has_the_type_of_its_key(serve, mcp):
    badge = Badge.objects.create(device=Device.objects.create(label="d"))
    field = serializers.PrimaryKeyRelatedField(queryset=Badge.objects.all())
    serve(badge=posting(serializer_of(badge=field)))
    for named in (str(badge.pk), {"device": str(badge.pk)}, {"pk": str(badge.pk)}):
        assert mcp("badge__post", {"badge": named})["structuredContent"] == {
            "read": {"badge": str(badge)}
        }
    problems = mcp("badge__post", {"badge": {"device": "nonsense"}})["_meta"]["toolbooth"][
        "problems"
    ]
    assert [each["message"] for each in problems] == ["there is no badge with device 'nonsense'"]


# --- the rest ---


def test_resource_names_in_other_alphabets_stay_distinct(settings_of):
    router = SimpleRouter()
    for name in ("straße", "söhne"):
        router.register(name, type("Rows", (viewsets.ReadOnlyModelViewSet,), VIEW), name)
    settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": router.urls}))
    names = list(catalogue().actions)
    assert len(names) == len(set(names)) == 4
    assert all(name.isascii() for name in names)


VIEW = {
    "queryset": Log.objects.order_by("id"),
    "serializer_class": LogSerializer,
    "__module__": "odd.views",
}


class Broken(io.BytesIO):
    def read(self, *_):
        raise OSError("the client left")


def test_a_client_that_disconnects_early_causes_no_error(db):
    request = RequestFactory().post("/mcp/", b"{}", content_type="application/json")
    request._stream = Broken()
    assert endpoint(request).status_code == 400


def test_a_choice_of_very_many_values_is_not_listed(serve):
    many = serializers.ChoiceField(choices=[(number, f"Number {number}") for number in range(40)])
    found = properties(serve(many=posting(serializer_of(number=many))), "many__post")
    assert found["number"] == {"type": "integer", "enum": list(range(40))}
