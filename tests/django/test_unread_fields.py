"""`unread_fields` names the declared fields that an action never reads."""

import copy
import json

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.db import transaction
from django.test import TestCase, override_settings
from django.urls import include, path
from drf_spectacular.utils import extend_schema
from pydantic import BaseModel
from rest_framework import generics, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from odd.models import Log
from toolbooth.django.testing import acting_as, aunread_fields, unread_fields


class ReasonSerializer(serializers.Serializer):
    reason = serializers.CharField()
    notify = serializers.BooleanField(required=False)
    tags = serializers.ListField(child=serializers.CharField(), required=False)


class ReasonModel(BaseModel):
    reason: str
    notify: bool = False
    tags: list[str] = []


def by_get(data):
    return data.get("reason"), data.get("notify", False)


def by_index(data):
    return "notify" in data, data["reason"]


def by_pop(data):
    return data.pop("reason"), data.setdefault("notify", True)


def by_serializer(data):
    reader = ReasonSerializer(data=data)
    reader.is_valid(raise_exception=True)
    return reader.validated_data


def by_smaller_serializer(data):
    class Smaller(serializers.Serializer):
        reason = serializers.CharField()

    reader = Smaller(data=data)
    reader.is_valid(raise_exception=True)


def by_model(data):
    return ReasonModel.model_validate(data)


def by_nothing(data):
    return len(data), bool(data), repr(data)


def by_comparison(data):
    return [value for key, value in data.items() if key == "reason"]


BY_NAME = {
    by_get: ["tags"],
    by_index: ["tags"],
    by_pop: ["tags"],
    by_serializer: [],
    by_smaller_serializer: ["notify", "tags"],
    by_model: [],
    by_nothing: ["reason", "notify", "tags"],
}
WHOLE = {
    "dict": dict,
    "unpacking": lambda data: {**data},
    "keywords": lambda data: ReasonModel(**data),
    "union": lambda data: data | {},
    "union on the right": lambda data: {} | data,
    "update": lambda data: {}.update(data),
    "copy": lambda data: data.copy(),
    "reading of a copy": lambda data: by_serializer(data.copy()),
    "copy.copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "items": lambda data: list(data.items()),
    "values": lambda data: list(data.values()),
    "keys": lambda data: list(data.keys()),
    "iteration": lambda data: {key: data[key] for key in data},
    "sorted": sorted,
    "json": json.dumps,
    "comparison": lambda data: data == {},
    "by name among all": by_comparison,
    "popitem": lambda data: data.popitem(),
}
SENT = {"id": 1, "reason": "why", "notify": True, "tags": ["a", "b"]}


class Rows(viewsets.GenericViewSet):
    queryset = Log.objects.all()
    serializer_class = ReasonSerializer
    read = None

    @action(detail=True, methods=["post"], serializer_class=ReasonSerializer)
    def confirm(self, request, pk=None):
        assert isinstance(request.data, dict)
        Log.objects.create(line="made")
        type(self).read(request.data)
        return Response({})

    @action(detail=True, methods=["post"], serializer_class=ReasonSerializer)
    def bytes(self, request, pk=None):
        return Response(json.loads(request.body))

    @action(detail=True, methods=["post"], serializer_class=ReasonSerializer)
    def fail(self, request, pk=None):
        raise ValidationError({"reason": [f"not {request.data['reason']}"]})

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def empty(self, request, pk=None):
        return Response({})

    def create(self, request):
        return Response({"by": str(request.user), "tags": request.data["tags"]})


class Forms(Rows):
    parser_classes = [FormParser]


class Uploads(Rows):
    parser_classes = [MultiPartParser]


class Async(generics.GenericAPIView):
    serializer_class = ReasonSerializer

    @classmethod
    def as_view(cls, **initkwargs):
        made = super().as_view(**initkwargs)

        async def view(request, *args, **kwargs):
            return await sync_to_async(made)(request, *args, **kwargs)

        view.cls, view.initkwargs = made.cls, made.initkwargs
        return transaction.non_atomic_requests(view)

    def post(self, request):
        Log.objects.create(line="made")
        return Response({"reason": request.data["reason"]})


class ListOfRows(generics.GenericAPIView):
    serializer_class = ReasonSerializer

    @extend_schema(request=ReasonSerializer(many=True))
    def post(self, request):
        return Response({"count": len(request.data)})


class Urls:
    router = SimpleRouter()
    router.register("rows", Rows, "rows")
    router.register("forms", Forms, "forms")
    router.register("uploads", Uploads, "uploads")
    urlpatterns = [
        *router.urls,
        path("async/", Async.as_view(), name="async"),
        path("list/", ListOfRows.as_view(), name="list"),
        path("mcp/", include("toolbooth.django.urls")),
    ]


@pytest.fixture
def project(settings_of, ann):
    settings_of(ROOT_URLCONF=Urls)
    return ann


@pytest.mark.parametrize("read", BY_NAME)
def test_fields_that_are_never_read_by_name_are_named(project, monkeypatch, read):
    monkeypatch.setattr(Rows, "read", read)
    assert unread_fields("rows__confirm", SENT, user=project) == BY_NAME[read]
    assert Log.objects.count() == 0


@pytest.mark.parametrize("read", WHOLE)
def test_a_field_is_not_known_to_be_unread_if_the_data_was_read_as_a_whole(
    project, monkeypatch, read
):
    monkeypatch.setattr(Rows, "read", WHOLE[read])
    assert unread_fields("rows__confirm", SENT, user=project) == "unknown"


def test_a_copy_does_not_matter_if_all_fields_were_read_by_name(project, monkeypatch):
    monkeypatch.setattr(Rows, "read", lambda data: (by_serializer(data), dict(data)))
    assert unread_fields("rows__confirm", SENT, user=project) == []


def test_a_field_that_was_not_sent_counts_too(project, monkeypatch):
    monkeypatch.setattr(Rows, "read", by_get)
    sent = {"id": 1, "reason": "why"}
    assert unread_fields("rows__confirm", sent, user=project) == ["tags"]


@pytest.mark.parametrize("resource", ["forms", "uploads"])
@pytest.mark.parametrize(
    ("read", "unread"),
    [
        (by_get, ["tags"]),
        (by_index, ["tags"]),
        (lambda data: data.getlist("tags"), ["reason", "notify"]),
        (by_serializer, []),
        (lambda data: data.copy(), "unknown"),
        (copy.copy, "unknown"),
        (lambda data: data.dict(), "unknown"),
        (lambda data: dict(data.lists()), "unknown"),
        (lambda data: data.urlencode(), "unknown"),
    ],
)
def test_form_data_reads_are_recorded_too(project, monkeypatch, resource, read, unread):
    monkeypatch.setattr(Rows, "read", read)
    assert unread_fields(f"{resource}__confirm", SENT, user=project) == unread


def test_a_view_gets_the_form_that_was_sent(project, monkeypatch):
    seen = []
    monkeypatch.setattr(Rows, "read", lambda data: seen.append(dict(data.copy().lists())))
    unread_fields("forms__confirm", SENT, user=project)
    assert seen == [{"reason": ["why"], "notify": ["true"], "tags": ["a", "b"]}]


def test_reading_the_bytes_of_a_request_counts_as_reading_all_fields(project):
    assert unread_fields("rows__bytes", SENT, user=project) == "unknown"


def test_a_list_body_counts_as_read_as_a_whole(project):
    rows = [{"reason": "a"}]
    assert unread_fields("list__post", {"objects": rows}, user=project) == "unknown"


def test_an_action_without_fields_has_no_unread_fields(project):
    assert unread_fields("rows__empty", {"id": 1}, user=project) == []


def test_actions_run_as_the_user_and_can_be_checked_through_an_agent(project):
    fields = {"reason": "why", "tags": []}
    assert acting_as(project).unread_fields("rows__create", **fields) == ["reason", "notify"]
    assert acting_as(project).unread_fields("rows__create", fields) == ["reason", "notify"]
    with pytest.raises(ValueError, match="'rows__create' was refused or failed, so its fields"):
        unread_fields("rows__create", fields)  # by an anonymous caller


def test_unread_fields_raises_for_a_refused_or_failing_call(project):
    with pytest.raises(ValueError, match="there is no field"):
        unread_fields("rows__confirm", {**SENT, "other": 1}, user=project)
    with pytest.raises(ValueError, match="not why"):
        unread_fields("rows__fail", SENT, user=project)


def test_a_tool_that_does_not_exist_is_a_lookup_error(project):
    with pytest.raises(LookupError, match="no view has a tool 'rows__confrim'; 'rows__conf"):
        unread_fields("rows__confrim", SENT, user=project)


def test_async_views_are_recorded_and_rolled_back(project):
    fields = {"reason": "why"}
    assert unread_fields("async__post", fields, user=project) == ["notify", "tags"]
    assert Log.objects.count() == 0


def test_later_calls_are_not_recorded_and_not_rolled_back(project, monkeypatch):
    seen = []
    monkeypatch.setattr(Rows, "read", lambda data: seen.append(type(data)))
    unread_fields("rows__confirm", SENT, user=project)
    acting_as(project).call("rows__confirm", SENT)
    assert (seen[0] is dict, seen[1] is dict) == (False, True)
    assert Log.objects.count() == 1


@pytest.mark.usefixtures("_database")
@override_settings(ROOT_URLCONF=Urls)
class AsyncTests(TestCase):
    """As a project writes it: only Django's own TestCase."""

    @classmethod
    def setUpTestData(cls):
        cls.ann = User.objects.create_user("ann")

    async def test_aunread_fields_returns_the_unread_fields(self):
        fields = {"reason": "why", "tags": ["a"]}
        found = await aunread_fields("rows__create", fields, user=self.ann)
        assert found == ["reason", "notify"]

    def test_unread_fields_returns_the_unread_fields(self):
        fields = {"reason": "why", "tags": ["a"]}
        assert unread_fields("rows__create", fields, user=self.ann) == ["reason", "notify"]
