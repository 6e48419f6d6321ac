"""Errors by field are found in the forms in which projects send them."""

import pytest
from django.urls import include, path
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.serializers import CharField, Serializer
from rest_framework.views import APIView
from rest_framework.viewsets import ModelViewSet

from odd.models import Site
from odd.serializers import SiteSerializer
from toolbooth.django.conf import mistakes
from toolbooth.django.decorators import mcp_bulk


class Label(Serializer):
    title = CharField()
    config = CharField(required=False)


class Refusing(APIView):
    """Answers with the data that the test has set."""

    permission_classes = (AllowAny,)
    answer = (400, {})

    @extend_schema(request=Label)
    def post(self, request):
        status, data = self.answer
        return Response(data, status=status)


@pytest.fixture
def told(settings_of, mcp):
    """Return the agent's view of an answer: paths with messages, or the text."""

    def call(data, status=400, **toolbooth):
        Refusing.answer = (status, data)
        patterns = [path("mcp/", include("toolbooth.django.urls"))]
        patterns.append(path("label/", Refusing.as_view(), name="label"))
        settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": patterns}), TOOLBOOTH=toolbooth)
        result = mcp("label__post", {"title": "a"})
        assert result["isError"] is True
        if "_meta" not in result:
            return result["content"][0]["text"]
        problems = result["_meta"]["toolbooth"]["problems"]
        return [(each["path"], each["message"]) for each in problems]

    return call


ABOUT = {"id": "916f216b-0000", "status_code": 400, "version": "1.23.2"}


def test_keys_about_the_response_are_not_problems(told):
    data = {**ABOUT, "detail": "Validation error", "validation_errors": {"config": ["unclosed"]}}
    assert told(data) == [("$.config", "unclosed")]
    assert told({**ABOUT, "detail": "No upload matches"}) == [("$", "No upload matches")]
    assert told({**ABOUT, "detail": "No upload matches"}, 404).endswith(": No upload matches")


@pytest.mark.parametrize(
    "data",
    [
        {"config": ["unclosed"]},
        {"config": "unclosed"},
        {"errors": {"config": ["unclosed"]}, "ok": False},
        {"error": {"config": ["unclosed"]}, "code": 17},
        {"data": {"config": ["unclosed"]}, "success": False},
        {"errors": [{"attr": "config", "detail": "unclosed", "code": "invalid"}], "type": "x"},
    ],
)
def test_errors_by_field_are_found_wherever_they_are(told, data):
    assert told(data) == [("$.config", "unclosed")]


def test_error_about_the_whole_call_has_the_root_path(told):
    assert told({"error": "no credit", "code": 7}) == [("$", "no credit")]
    assert told({"message": "no credit", "timestamp": "2026"}) == [("$", "no credit")]


def test_an_answer_in_an_unknown_form_is_sent_whole(told):
    assert told({"oops": "no credit"}) == [("$.oops", "no credit")]
    assert told({"other": ["no credit"], "took": 5}) == [("$.other", "no credit")]


def nested_fields(data):
    return data["a"]["b"] if "a" in data else None


def test_a_function_of_the_project_finds_the_errors(told):
    hook = f"{__name__}.nested_fields"
    data = {"a": {"b": {"config": ["unclosed"]}}}
    assert told(data, ERROR_ENVELOPE=hook) == [("$.config", "unclosed")]
    assert told({"title": ["too short"]}, ERROR_ENVELOPE=hook) == [("$.title", "too short")]


@pytest.mark.parametrize("value", ["no.such.thing", 5, f"{__name__}.ABOUT"])
def test_a_function_path_that_cannot_be_imported_is_a_mistake(settings_of, value):
    settings_of(TOOLBOOTH={"ERROR_ENVELOPE": value})
    assert [key for key, _ in mistakes()] == ["ERROR_ENVELOPE"]


def fields_in_a_list(data):
    return {each["field"]: [each["says"]] for each in data} if isinstance(data, list) else None


def fields_in_attr(data):
    return {each["attr"]: [f"{each['code']}!"] for each in data["errors"]}


def test_a_function_of_the_project_is_called_first_and_for_every_answer(told):
    data = [{"field": "config", "says": "unclosed"}]
    assert told(data, ERROR_ENVELOPE=f"{__name__}.fields_in_a_list") == [("$.config", "unclosed")]
    data = {"errors": [{"attr": "config", "detail": "unclosed", "code": "bad"}]}
    assert told(data, ERROR_ENVELOPE=f"{__name__}.fields_in_attr") == [("$.config", "bad!")]


def failing(data):
    raise KeyError("secret words")


def a_list(data):
    return [data]


@pytest.mark.parametrize("name", ["failing", "a_list"])
def test_a_failing_function_does_not_hide_the_answer(told, caplog, name):
    data = {"config": ["unclosed"]}
    assert told(data, ERROR_ENVELOPE=f"{__name__}.{name}") == [("$.config", "unclosed")]
    assert caplog.messages[0].startswith("TOOLBOOTH['ERROR_ENVELOPE'] ")


# --- rows ---


def in_envelope(errors):
    return {**ABOUT, "detail": "Validation error", "validation_errors": errors}


def by_row(errors):
    """The errors of each row by its index, or those of one row; REST framework's form of the former
    depends on its version.
    """
    return dict(enumerate(errors)) if isinstance(errors, list) else errors


def standardized(errors):
    found = [
        {"attr": f"{key}.{name}", "detail": each[0], "code": "invalid"}
        for key, row in by_row(errors).items()
        if isinstance(row, dict)
        for name, each in row.items()
    ]
    found += [
        {"attr": key, "detail": each[0], "code": "invalid"}
        for key, each in by_row(errors).items()
        if isinstance(each, list)
    ]
    return {"type": "validation_error", "errors": found}


class Wrapped(ModelViewSet):
    """Its errors are in the form that a test has put here."""

    queryset = Site.objects.order_by("id")
    serializer_class = SiteSerializer
    permission_classes = (AllowAny,)
    form = staticmethod(in_envelope)

    def handle_exception(self, exc):
        response = super().handle_exception(exc)
        response.data = type(self).form(response.data)
        return response


@mcp_bulk
class WrappedLists(Wrapped):
    """Takes lists."""

    def get_serializer(self, *args, **kwargs):
        many = isinstance(kwargs.get("data"), list)
        return super().get_serializer(*args, **({"many": True} if many else {}), **kwargs)


def of_project(data):
    return data.get("odd") if isinstance(data, dict) else None


FORMS = {
    "as REST framework has them": lambda errors: errors,
    "envelope": in_envelope,
    "standardized": standardized,
    "another envelope": lambda errors: {"result": errors, "code": 17},
    "found by the project": lambda errors: {"odd": by_row(errors)},
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("view", [Wrapped, WrappedLists])
@pytest.mark.parametrize("key", ["objects", "items"])
def test_errors_of_rows_are_found_in_every_form(settings_of, mcp, monkeypatch, form, view, key):
    monkeypatch.setattr(view, "form", staticmethod(FORMS[form]))
    router = SimpleRouter()
    router.register("sites", view, basename="sites")
    patterns = [path("mcp/", include("toolbooth.django.urls")), *router.urls]
    settings_of(
        ROOT_URLCONF=type("Urls", (), {"urlpatterns": patterns}),
        TOOLBOOTH={"ERROR_ENVELOPE": f"{__name__}.of_project"},
    )
    Site.objects.create(name="hq", slug="hq")
    rows = [{"name": "a", "slug": "a"}, {"name": "b", "slug": "hq"}]
    [problem] = mcp("sites__create", {key: rows})["_meta"]["toolbooth"]["problems"]
    assert problem["path"] == f"$.{key}[1].slug"
    assert problem["message"].startswith("site with this slug already exists")
    assert Site.objects.count() == 1


@pytest.mark.parametrize("view", [Wrapped, WrappedLists])
def test_a_message_about_all_rows_names_none_of_their_fields(settings_of, mcp, monkeypatch, view):
    def form(errors):
        return {**ABOUT, "detail": "No credit"}

    monkeypatch.setattr(view, "form", staticmethod(form))
    router = SimpleRouter()
    router.register("sites", view, basename="sites")
    patterns = [path("mcp/", include("toolbooth.django.urls")), *router.urls]
    settings_of(ROOT_URLCONF=type("Urls", (), {"urlpatterns": patterns}))
    Site.objects.create(name="hq", slug="hq")
    [problem] = mcp("sites__create", {"objects": [{"name": "b", "slug": "hq"}]})["_meta"][
        "toolbooth"
    ]["problems"]
    place = "$.objects[0]" if view is Wrapped else "$.objects"
    assert (problem["path"], problem["message"]) == (place, "No credit")
