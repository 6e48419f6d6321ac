"""An action beside the standard ones takes a body only if it declares one."""

import pytest
from django.urls import include, path
from drf_spectacular.extensions import OpenApiViewExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import generics, viewsets
from rest_framework.decorators import action, api_view
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.views import APIView

from actions_api import ReasonSerializer, Rows, RowSerializer, fields_of, kept, lines
from odd.models import Log
from toolbooth.django.describe.catalogue import catalogue
from toolbooth.django.testing import acting_as

DECLARED = ["own", "described", "several_put", "several_patch", "ownmapped_post"]
UNDECLARED = ["cancel", "mapped_post"]


@pytest.fixture
def serve(settings_of, ann):
    def served(*patterns, toolbooth=None, **view_sets):
        router = SimpleRouter()
        for name, view in view_sets.items():
            router.register(name, view, name)
        endpoint = path("mcp/", include("toolbooth.django.urls"))
        urls = type("Urls", (), {"urlpatterns": [*patterns, *router.urls, endpoint]})
        settings_of(ROOT_URLCONF=urls, TOOLBOOTH=toolbooth or {})
        return acting_as(ann)

    return served


# --- declarations of a body ---


@pytest.mark.parametrize("name", UNDECLARED)
def test_an_action_that_declares_no_body_takes_the_arguments_of_its_url(serve, name):
    agent = serve(rows=Rows)
    tool = f"rows__{name}"
    assert fields_of(agent, tool) == (["id"], ["id"])
    assert agent.tools()[tool]["description"].endswith('. Takes no fields except "id".')
    refused = agent.call(tool, id=1, line="x", reason="y")
    assert [(each.code, each.where) for each in refused.problems] == [
        ("unknown-key", "$.line"),
        ("unknown-key", "$.reason"),
    ]
    assert lines() == []
    assert agent.call(tool, id=1).value == {"ran": True}
    assert lines() == ["dict {}"]


def test_action_without_arguments_is_described_as_taking_no_fields(serve):
    agent = serve(rows=Rows)
    assert fields_of(agent, "rows__wipe") == ([], [])
    own = "Rows, with actions beside the standard ones."
    assert agent.tools()["rows__wipe"]["description"] == f"{own} Takes no fields."
    assert agent.tools()["rows__cancel"]["description"] == (
        'Cancel a row. Takes an optional reason. Takes no fields except "id".'
    )


@pytest.mark.parametrize("name", DECLARED)
def test_an_action_accepts_the_body_that_it_declares(serve, name):
    agent = serve(rows=Rows)
    tool = f"rows__{name}"
    names, required = fields_of(agent, tool)
    assert names == ["id", "reason", "notify", "help"]
    assert required == (["id"] if name.endswith("patch") else ["id", "reason"])
    assert "Takes no fields" not in agent.tools()[tool]["description"]
    assert agent.call(tool, id=1, line="x", reason="y").is_error
    assert agent.call(tool, id=1, reason="y", notify=True).value == {"ran": True}
    assert lines() == ['dict {"reason": "y", "notify": true}']


def test_action_declared_with_no_body_keeps_its_own_description(serve):
    agent = serve(rows=Rows)
    assert fields_of(agent, "rows__empty") == (["id"], ["id"])
    own = "Rows, with actions beside the standard ones."
    assert agent.tools()["rows__empty"]["description"] == own


def test_a_delete_takes_no_body_for_the_serializer_of_its_action(serve):
    assert fields_of(serve(rows=Rows), "rows__drop") == (["id"], ["id"])


def test_standard_actions_take_the_fields_of_the_view_serializer(serve):
    agent = serve(rows=Rows)
    assert agent.call("rows__create", line="a").value["set"] == ["line"]
    pk = Log.objects.get().pk
    assert agent.call("rows__partial_update", id=pk, line="b").value["set"] == ["line"]
    assert lines() == ["b"]


class ByAction(viewsets.ModelViewSet):
    """Chooses serializers by action."""

    queryset = Log.objects.all()
    serializer_class = RowSerializer

    def get_serializer_class(self):
        if self.action in ("own", "own_too"):
            return ReasonSerializer
        if self.action in ("list", "brief"):
            return BriefSerializer
        return super().get_serializer_class()

    @action(detail=True, methods=["post"])
    def own(self, request, pk=None):
        return kept(request)

    @action(detail=True, methods=["post"])
    def brief(self, request, pk=None):
        return kept(request)

    @action(detail=True, methods=["post"])
    def other(self, request, pk=None):
        return kept(request)


class BriefSerializer(RowSerializer):
    pass


class ByTable(viewsets.GenericViewSet):
    """Chooses serializers by a table without a default."""

    queryset = Log.objects.all()
    tables = {"create": RowSerializer, "own": ReasonSerializer}

    def get_serializer(self, *args, **kwargs):
        return self.tables[self.action](*args, **kwargs)

    def create(self, request):
        return kept(request)

    @action(detail=True, methods=["post"])
    def own(self, request, pk=None):
        return kept(request)

    @action(detail=True, methods=["post"])
    def other(self, request, pk=None):
        return kept(request)


class IgnoresOwn(ByAction):
    """`get_serializer_class` does not look at the serializer of the action."""

    def get_serializer_class(self):
        return RowSerializer

    @action(detail=True, methods=["post"], serializer_class=ReasonSerializer)
    def own(self, request, pk=None):
        return kept(request)


@pytest.mark.parametrize("view", [ByAction, ByTable, IgnoresOwn])
def test_a_serializer_that_is_chosen_for_one_action_is_its_declaration(serve, view):
    agent = serve(rows=view)
    assert fields_of(agent, "rows__own") == (["id", "reason", "notify", "help"], ["id", "reason"])
    assert fields_of(agent, "rows__other") == (["id"], ["id"])
    if "rows__brief" in agent.tools():  # it has the same one as a standard action
        assert fields_of(agent, "rows__brief") == (["id"], ["id"])
    assert agent.call("rows__own", id=1, reason="r").value == {"ran": True}
    assert lines() == ['dict {"reason": "r"}']


@extend_schema(request=RowSerializer)
class DeclaredForAll(Rows):
    """A declaration for a whole view set is no declaration for an extra action."""


class Schema(AutoSchema):
    def get_request_serializer(self):
        if getattr(self.view, "action", "") == "cancel":
            return ReasonSerializer
        return super().get_request_serializer()


class BySchema(Rows):
    schema = Schema()


def test_declaration_on_a_view_set_does_not_apply_to_its_extra_actions(serve):
    agent = serve(rows=DeclaredForAll)
    assert fields_of(agent, "rows__cancel") == (["id"], ["id"])
    assert fields_of(agent, "rows__own") == (["id", "line", "help"], ["id", "line"])
    assert fields_of(agent, "rows__create") == (["line", "help", "preview"], ["line"])


def test_a_schema_class_may_declare_the_body_of_one_action(serve):
    agent = serve(rows=BySchema)
    assert fields_of(agent, "rows__cancel") == (
        ["id", "reason", "notify", "help"],
        ["id", "reason"],
    )
    assert fields_of(agent, "rows__mapped_post") == (["id"], ["id"])


class Foreign(Rows):
    pass


class DeclareForeign(OpenApiViewExtension):
    target_class = Foreign

    def view_replacement(self):
        @extend_schema_view(cancel=extend_schema(request=ReasonSerializer))
        class Described(self.target_class):
            pass

        return Described


def test_an_extension_declares_the_body_of_another_packages_action(serve):
    agent = serve(rows=Foreign)
    assert fields_of(agent, "rows__cancel")[1] == ["id", "reason"]


class Bare(viewsets.ViewSet):
    """Has no serializer at all."""

    @action(detail=False, methods=["post"])
    def ping(self, request):
        return kept(request)


def test_action_without_a_serializer_is_published_without_a_body(serve):
    agent = serve(bare=Bare)
    assert fields_of(agent, "bare__ping") == ([], [])
    assert agent.call("bare__ping", {}).value == {"ran": True}


# --- views that are not view sets ---


class WithOwnPost(generics.RetrieveUpdateAPIView):
    """Its serializer is for the row; POST does something else."""

    queryset = Log.objects.all()
    serializer_class = RowSerializer

    def post(self, request, pk=None):
        return kept(request)


class OnlyPost(generics.GenericAPIView):
    serializer_class = ReasonSerializer

    def post(self, request):
        return kept(request)


class PlainView(APIView):
    serializer_class = ReasonSerializer

    def get(self, request):
        return Response({})

    def post(self, request):
        return kept(request)


class UnknownView(APIView):
    def post(self, request):
        return kept(request)


@api_view(["POST"])
def function(request):
    return kept(request)


PLAIN = [
    path("withpost/<int:pk>/", WithOwnPost.as_view(), name="withpost"),
    path("only/", OnlyPost.as_view(), name="only"),
    path("plain/", PlainView.as_view(), name="plain"),
    path("unknown/", UnknownView.as_view(), name="unknown"),
    path("function/", function, name="function"),
]


def test_extra_handler_of_a_generic_view_needs_its_own_body_declaration(serve):
    agent = serve(*PLAIN)
    assert fields_of(agent, "withpost__post") == (["id"], ["id"])
    assert fields_of(agent, "withpost__update")[1] == ["id", "line"]


@pytest.mark.parametrize("tool", ["only__post", "plain__post"])
def test_serializer_of_a_view_with_only_own_handlers_declares_their_body(serve, tool):
    agent = serve(*PLAIN)
    assert fields_of(agent, tool) == (["reason", "notify", "help"], ["reason"])


def test_a_view_without_a_serializer_takes_no_body_unless_the_settings_have_one(serve):
    agent = serve(*PLAIN)
    assert catalogue().undeclared_bodies == ("function__post", "unknown__post", "withpost__post")
    assert fields_of(agent, "unknown__post") == ([], [])
    bodies = {"unknown__post": ReasonSerializer, "function__post": None}
    agent = serve(*PLAIN, toolbooth={"BODIES": bodies})
    assert fields_of(agent, "unknown__post") == (["reason", "notify", "help"], ["reason"])
    assert fields_of(agent, "function__post") == ([], [])
    assert agent.call("unknown__post", reason="r").value == {"ran": True}
    assert agent.call("function__post", {}).value == {"ran": True}
    assert lines() == ['dict {"reason": "r"}', "dict {}"]
