"""Faults that `make hosts` found in third-party projects, each reduced to a small case."""

from base64 import b64decode
from contextlib import contextmanager
from typing import Any, ClassVar

from asgiref.sync import sync_to_async
from django.conf import settings
from django.core.files.base import ContentFile
from django.db import connections
from django.urls import include, path, re_path
from drf_spectacular.settings import patched_settings
from rest_framework.exceptions import AuthenticationFailed, ValidationError
from rest_framework.generics import CreateAPIView, RetrieveAPIView
from rest_framework.parsers import JSONParser
from rest_framework.renderers import JSONRenderer, TemplateHTMLRenderer
from rest_framework.response import Response
from rest_framework.routers import DefaultRouter
from rest_framework.serializers import CharField, FileField, Serializer
from rest_framework.urlpatterns import format_suffix_patterns
from rest_framework.views import APIView
from rest_framework.viewsets import ViewSet

from toolbooth.django.describe.catalogue import catalogue
from toolbooth.django.describe.discovery import discover
from toolbooth.django.testing import acting_as


def urls(*patterns: Any) -> Any:
    """A URLconf of these patterns alone, and the endpoint."""
    return type(
        "Urls", (), {"urlpatterns": [*patterns, path("mcp/", include("toolbooth.django.urls"))]}
    )


def found() -> set[tuple[str, str]]:
    return {(action.method, action.path) for action in discover().actions}


class Known(APIView):
    def get(self, request, format=None, **kwargs):
        return Response({"known": True})


class Page(APIView):
    renderer_classes = [TemplateHTMLRenderer]

    def get(self, request):
        return Response({"for": "the template"}, template_name="page.html")


class Both(Known):
    renderer_classes = [TemplateHTMLRenderer, JSONRenderer]


class Several(ViewSet):
    def list(self, request):
        return Response([])


def test_format_suffix_of_a_view_makes_no_second_tool(settings_of):
    router = DefaultRouter()
    router.register("several", Several, "several")
    settings_of(
        ROOT_URLCONF=urls(
            *format_suffix_patterns(
                [path("", Known.as_view()), path("known/<int:pk>/", Known.as_view())]
            ),
            *format_suffix_patterns([path("only/", Known.as_view())], allowed=["json", "html"]),
            path("export/<str:format>", Known.as_view()),
            path("", include(router.urls)),
        )
    )
    assert found() == {
        ("GET", "/"),
        ("GET", "/known/{pk}/"),
        ("GET", "/only/"),
        ("GET", "/export/{format}"),
        ("GET", "/several/"),
    }
    assert catalogue().left_out == ()


def test_html_page_is_left_out_and_reported(settings_of):
    settings_of(ROOT_URLCONF=urls(path("page/", Page.as_view()), path("both/", Both.as_view())))
    assert found() == {("GET", "/both/")}
    assert [(each.what, each.why) for each in catalogue().left_out] == [
        ("GET /page/", "it renders only HTML: a page for people")
    ]


def only_known(endpoints):
    """A hook that drops internal paths, and shortens the rest."""
    kept = [each for each in endpoints if "internal" not in each[0]]
    return [(address.removeprefix("/api"), *rest) for address, *rest in kept]


def test_spectacular_hooks_that_drop_a_view_are_reported(settings_of, mcp):
    settings_of(
        ROOT_URLCONF=urls(
            path("api/known/", Known.as_view()),
            path("api/internal/", Known.as_view(), name="inner"),
        )
    )
    with patched_settings({"PREPROCESSING_HOOKS": [f"{__name__}.only_known"]}):
        assert mcp("known__get")["structuredContent"] == {"known": True}
        assert [(each.what, each.why) for each in catalogue().left_out] == [
            ("GET /api/internal/", "a hook in SPECTACULAR_SETTINGS leaves it out")
        ]


class Echo(RetrieveAPIView):
    """Its queryset needs a caller, so nothing is known of its model."""

    serializer_class = Serializer

    def get_queryset(self):
        raise RuntimeError("ask me with a user")

    def retrieve(self, request, **kwargs):
        return Response(kwargs)


def test_typed_path_argument_has_its_type_and_an_untyped_one_takes_numbers(settings_of, mcp, ann):
    settings_of(
        ROOT_URLCONF=urls(
            path("typed/<int:pk>/", Echo.as_view(), name="typed"),
            path("text/<str:pk>/", Echo.as_view(), name="text"),
            re_path(r"^digits/(?P<number>\d+)/$", Echo.as_view(), name="digits"),
        )
    )
    tools = {
        name: next(iter(tool["inputSchema"]["properties"].items()))
        for name, tool in acting_as(ann).tools().items()
    }
    assert tools == {
        "typed__retrieve": ("id", {"type": "integer"}),
        "text__retrieve": ("id", {"type": "string"}),
        "digits__retrieve": ("number", {"type": "string", "pattern": r"^\d+$"}),
    }
    assert mcp("typed__retrieve", {"id": 7})["structuredContent"] == {"pk": 7}
    assert mcp("text__retrieve", {"id": 7})["structuredContent"] == {"pk": "7"}
    assert mcp("digits__retrieve", {"number": 7})["structuredContent"] == {"number": "7"}
    assert mcp("digits__retrieve", {"number": "7"})["structuredContent"] == {"number": "7"}
    assert mcp("digits__retrieve", {"number": "x"})["isError"]
    assert mcp("text__retrieve", {"id": True})["isError"]


def test_two_parts_of_a_url_never_share_a_name(settings_of, mcp):
    settings_of(
        ROOT_URLCONF=urls(path("at/<int:id>/under/<int:pk>/", Echo.as_view(), name="under"))
    )
    assert mcp("under__retrieve", {"id": 1, "id_in_path": 2})["structuredContent"] == {
        "id": 1,
        "pk": 2,
    }


class Watched:
    """A middleware that keeps a log, as those for audits do: it looks at the request that it was
    given.
    """

    seen: ClassVar[list[Any]] = []

    def __init__(self, answer):
        self.answer = answer

    def __call__(self, request):
        Watched.request = request
        made = self.answer(request)
        Watched.seen.append((str(request.user), getattr(request, "left", None)))
        return made


class Leaving(APIView):
    serializer_class = Serializer

    def post(self, request):
        Watched.seen.append(str(Watched.request.user))
        request._request.left = "by the view"
        return Response({})


def test_middleware_sees_the_user_and_the_marks_of_the_view_as_over_rest(settings_of, mcp, rest):
    settings_of(
        ROOT_URLCONF=urls(path("leaving/", Leaving.as_view(), name="leaving")),
        MIDDLEWARE=[*settings.MIDDLEWARE, f"{__name__}.Watched"],
    )
    Watched.seen.clear()
    assert rest.post("/leaving/").status_code == 200
    assert not mcp("leaving__post")["isError"]
    left = ("ann", "by the view")
    # Over MCP, the middleware runs around the call and around the endpoint.
    assert Watched.seen == ["ann", left, "ann", left, left]
    assert mcp("leaving__post", {"unknown": 1})["isError"]
    assert Watched.seen[5:] == [("ann", None)]


class Talking(Known):
    __doc__ = "many words " * 200


def test_long_view_description_is_cut_at_the_client_limit(settings_of, ann):
    settings_of(ROOT_URLCONF=urls(path("talking/", Talking.as_view(), name="talking")))
    said = acting_as(ann).tools()["talking__get"]["description"]
    assert said.endswith("many words many …")
    assert 800 < len(said) <= 1024


class InBase64(FileField):
    """As in drf-extra-fields."""

    def to_internal_value(self, data):
        return super().to_internal_value(ContentFile(b64decode(data), name="file"))


class FileSerializer(Serializer):
    text = InBase64()
    plain = FileField(required=False)


class Filing(CreateAPIView):
    serializer_class = FileSerializer

    def perform_create(self, serializer):
        raise ValidationError(serializer.validated_data["text"].read().decode())


def test_a_file_field_that_reads_text_is_sent_as_text(settings_of, mcp, ann):
    settings_of(ROOT_URLCONF=urls(path("filing/", Filing.as_view(), name="filing")))
    schema = acting_as(ann).tools()["filing__create"]["inputSchema"]
    assert (schema["properties"]["text"], schema["required"]) == ({"type": "string"}, ["text"])
    assert [each.why for each in catalogue().left_out] == [
        "'plain' takes a file, which is not sent over MCP"
    ]
    assert "hello" in mcp("filing__create", {"text": "aGVsbG8="})["content"][0]["text"]


class PasswordSerializer(Serializer):
    current_password = CharField()


class ApiParser(JSONParser):
    """As in djangorestframework-jsonapi: another document by the name of JSON."""

    media_type = "application/vnd.api+json"


class ApiView(CreateAPIView):
    serializer_class = PasswordSerializer
    parser_classes = [ApiParser]


def test_a_view_with_another_format_named_json_is_left_out_and_reported(settings_of):
    settings_of(ROOT_URLCONF=urls(path("api/", ApiView.as_view(), name="api")))
    assert [each.what for each in catalogue().left_out] == ["api__create"]


class Verifying(CreateAPIView):
    """As in djangorestframework-simplejwt and django-oscar-api: 401 and 406 are about the
    arguments.
    """

    serializer_class = PasswordSerializer

    def create(self, request, *args, **kwargs):
        if request.data["current_password"] == "old":
            raise AuthenticationFailed("that one has expired")
        serializer = self.get_serializer(data=request.data)
        serializer.is_valid()
        return Response(serializer.errors, 406)


def test_a_401_after_authentication_is_an_answer_like_any_other(settings_of, mcp, mcp_as):
    settings_of(ROOT_URLCONF=urls(path("verifying/", Verifying.as_view(), name="verifying")))
    refused = mcp("verifying__create", {"current_password": "old"})
    assert refused["content"][0]["text"] == "Tool 'verifying__create' failed: that one has expired"
    assert (
        mcp_as(None)("verifying__create", {"current_password": "old"}, raw=True).status_code == 401
    )


def test_problem_names_its_argument_under_any_status(settings_of, mcp):
    settings_of(ROOT_URLCONF=urls(path("verifying/", Verifying.as_view(), name="verifying")))
    refused = mcp("verifying__create", {"current_password": ""})
    assert refused["content"][0]["text"] == (
        "Tool 'verifying__create' failed: $.current_password: This field may not be blank."
    )


class Waiting(APIView):
    """As in adrf: its handlers are coroutines, and so is the view."""

    serializer_class = PasswordSerializer

    @classmethod
    def as_view(cls, **initkwargs):
        made = super().as_view(**initkwargs)

        async def view(request, *args, **kwargs):
            return await sync_to_async(made)(request, *args, **kwargs)

        view.cls, view.initkwargs = made.cls, made.initkwargs
        return view

    def post(self, request):
        return Response({"waited for": str(request.user)})


def test_a_view_that_is_a_coroutine_is_awaited(settings_of, mcp):
    settings_of(ROOT_URLCONF=urls(path("waiting/", Waiting.as_view(), name="waiting")))
    with non_atomic():  # Django itself runs no such view with ATOMIC_REQUESTS
        assert mcp("waiting__post", {"current_password": "x"})["structuredContent"] == {
            "waited for": "ann"
        }


@contextmanager
def non_atomic():
    told = connections["default"].settings_dict
    before, told["ATOMIC_REQUESTS"] = told["ATOMIC_REQUESTS"], False
    yield
    told["ATOMIC_REQUESTS"] = before


def standardized(error, context):
    """As in drf-standardized-errors."""
    errors = [
        {"code": "required", "detail": "This field is required.", "attr": "name"},
        {"code": "max_length", "detail": "Too long.", "attr": "lines.0.text"},
        {"code": "invalid", "detail": "They do not match.", "attr": None},
    ]
    return Response({"type": "validation_error", "errors": errors}, 400)


class Standardized(CreateAPIView):
    serializer_class = PasswordSerializer

    def get_exception_handler(self):
        return standardized


def test_errors_in_a_standardized_envelope_have_their_paths(settings_of, mcp):
    settings_of(
        ROOT_URLCONF=urls(path("standardized/", Standardized.as_view(), name="standardized"))
    )
    refused = mcp("standardized__create", {"current_password": ""})
    assert [
        (each["code"], each["path"], each["message"])
        for each in refused["_meta"]["toolbooth"]["problems"]
    ] == [
        ("missing", "$.name", "is required, but was not sent"),
        ("invalid", "$.lines[0].text", "Too long."),
        ("invalid", "$", "They do not match."),
    ]
