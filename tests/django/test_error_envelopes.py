"""Errors by field are found in the forms in which projects send them."""

import pytest
from django.urls import include, path
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.response import Response
from rest_framework.serializers import CharField, Serializer
from rest_framework.views import APIView

from toolbooth.django.conf import mistakes


class Label(Serializer):
    title = CharField()
    config = CharField(required=False)


class Refusing(APIView):
    """Answers with what the test has put here."""

    permission_classes = (AllowAny,)
    answer = (400, {})

    @extend_schema(request=Label)
    def post(self, request):
        status, data = self.answer
        return Response(data, status=status)


@pytest.fixture
def told(settings_of, mcp):
    """What the agent is told of an answer: paths with messages, or the text."""

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


def test_what_is_about_the_answer_is_no_problem(told):
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


def test_a_sentence_about_the_whole_call_is_told(told):
    assert told({"error": "no credit", "code": 7}) == [("$", "no credit")]
    assert told({"message": "no credit", "timestamp": "2026"}) == [("$", "no credit")]


def test_nothing_is_lost_of_an_answer_in_an_unknown_form(told):
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
def test_a_wrong_path_of_a_function_is_a_mistake(settings_of, value):
    settings_of(TOOLBOOTH={"ERROR_ENVELOPE": value})
    assert [key for key, _ in mistakes()] == ["ERROR_ENVELOPE"]
