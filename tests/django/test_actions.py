"""An action beside the standard ones takes a body only if it declares one."""

import json

import pytest
from django.urls import include, path
from drf_spectacular.extensions import OpenApiViewExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import extend_schema, extend_schema_view
from pydantic import BaseModel, Field, field_validator
from rest_framework import generics, serializers, viewsets
from rest_framework.decorators import action, api_view
from rest_framework.parsers import FormParser
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.serializers import BooleanField, CharField, Serializer
from rest_framework.views import APIView

from odd.models import Log
from toolbooth.django.checks import check_bodies, check_tools
from toolbooth.django.describe.catalogue import catalogue
from toolbooth.django.management.examinations import EXAMINATIONS
from toolbooth.django.testing import acting_as


class RowSerializer(serializers.ModelSerializer):
    class Meta:
        model = Log
        fields = ["id", "line"]


class ReasonSerializer(Serializer):
    reason = CharField(max_length=10)
    notify = BooleanField(required=False)


class ConfirmModel(BaseModel):
    reason: str = Field(max_length=10)
    times: int = 1

    @field_validator("reason")
    @classmethod
    def _polite(cls, value: str) -> str:
        if value == "damn":
            raise ValueError("be polite")
        return value.upper()


CONFIRM_SCHEMA = {
    "type": "object",
    "properties": {
        "reason": {"type": "string", "maxLength": 10},
        "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}},
    },
    "required": ["reason"],
    "dependentRequired": {"lines": ["reason"]},
    "$defs": {"line": {"type": "object", "properties": {"sku": {"type": "string"}}}},
}


def kept(request):
    """Keep what a view was sent, with its type."""
    Log.objects.create(line=f"{type(request.data).__name__} {json.dumps(request.data)}")
    return Response({"ran": True})


def lines():
    return list(Log.objects.values_list("line", flat=True))


class Rows(viewsets.ModelViewSet):
    """Rows, with actions beside the standard ones."""

    queryset = Log.objects.all()
    serializer_class = RowSerializer

    @action(detail=True, methods=["post"])
    def cancel(self, request, pk=None):
        """Cancel a row. Takes an optional reason."""
        return kept(request)

    @action(detail=False, methods=["post"])
    def wipe(self, request):
        return kept(request)

    @action(detail=True, methods=["post"], serializer_class=ReasonSerializer)
    def own(self, request, pk=None):
        return kept(request)

    @extend_schema(request=ReasonSerializer)
    @action(detail=True, methods=["post"])
    def described(self, request, pk=None):
        return kept(request)

    @extend_schema(request=ConfirmModel)
    @action(detail=True, methods=["post"])
    def modelled(self, request, pk=None):
        return kept(request)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def empty(self, request, pk=None):
        return kept(request)

    @action(detail=True, methods=["get", "put", "patch"], serializer_class=ReasonSerializer)
    def several(self, request, pk=None):
        return kept(request)

    @action(detail=True)
    def mapped(self, request, pk=None):
        return Response({})

    @mapped.mapping.post
    def mapped_post(self, request, pk=None):
        return kept(request)

    @action(detail=True, serializer_class=ReasonSerializer)
    def ownmapped(self, request, pk=None):
        return Response({})

    @ownmapped.mapping.post
    def ownmapped_post(self, request, pk=None):
        return kept(request)

    @action(detail=True, methods=["delete"], serializer_class=ReasonSerializer)
    def drop(self, request, pk=None):
        return kept(request)


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


def fields_of(agent, tool):
    schema = agent.tools()[tool]["inputSchema"]
    return list(schema["properties"]), schema.get("required", [])


# --- what declares a body ---


@pytest.mark.parametrize("name", UNDECLARED)
def test_an_action_that_declares_no_body_takes_the_arguments_of_its_url(serve, name):
    agent = serve(rows=Rows)
    tool = f"rows__{name}"
    assert fields_of(agent, tool) == (["id", "help"], ["id"])
    assert agent.tools()[tool]["description"].endswith('. Takes no fields except "id".')
    refused = agent.call(tool, id=1, line="x", reason="y")
    assert [(each.code, each.where) for each in refused.problems] == [
        ("unknown-key", "$.line"),
        ("unknown-key", "$.reason"),
    ]
    assert lines() == []
    assert agent.call(tool, id=1).value == {"ran": True}
    assert lines() == ["dict {}"]


def test_an_action_without_arguments_says_that_it_takes_no_fields(serve):
    agent = serve(rows=Rows)
    assert fields_of(agent, "rows__wipe") == (["help"], [])
    own = "Rows, with actions beside the standard ones."
    assert agent.tools()["rows__wipe"]["description"] == f"{own} Takes no fields."
    assert agent.tools()["rows__cancel"]["description"] == (
        'Cancel a row. Takes an optional reason. Takes no fields except "id".'
    )


@pytest.mark.parametrize("name", DECLARED)
def test_an_action_takes_the_body_that_it_declares(serve, name):
    agent = serve(rows=Rows)
    tool = f"rows__{name}"
    names, required = fields_of(agent, tool)
    assert names == ["id", "reason", "notify", "help"]
    assert required == (["id"] if name.endswith("patch") else ["id", "reason"])
    assert "Takes no fields" not in agent.tools()[tool]["description"]
    assert agent.call(tool, id=1, line="x", reason="y").is_error
    assert agent.call(tool, id=1, reason="y", notify=True).value == {"ran": True}
    assert lines() == ['dict {"reason": "y", "notify": true}']


def test_an_action_that_declares_to_take_no_body_says_nothing_more(serve):
    agent = serve(rows=Rows)
    assert fields_of(agent, "rows__empty") == (["id", "help"], ["id"])
    own = "Rows, with actions beside the standard ones."
    assert agent.tools()["rows__empty"]["description"] == own


def test_a_delete_takes_no_body_for_the_serializer_of_its_action(serve):
    assert fields_of(serve(rows=Rows), "rows__drop") == (["id", "help"], ["id"])


def test_the_standard_actions_take_what_their_views_serializer_reads(serve):
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
    assert fields_of(agent, "rows__other") == (["id", "help"], ["id"])
    if "rows__brief" in agent.tools():  # it has the same one as a standard action
        assert fields_of(agent, "rows__brief") == (["id", "help"], ["id"])
    assert agent.call("rows__own", id=1, reason="r").value == {"ran": True}
    assert lines() == ['dict {"reason": "r"}']


@extend_schema(request=RowSerializer)
class DeclaredForAll(Rows):
    """What is declared for a whole view set is no declaration for an action of its own."""


class Schema(AutoSchema):
    def get_request_serializer(self):
        if getattr(self.view, "action", "") == "cancel":
            return ReasonSerializer
        return super().get_request_serializer()


class BySchema(Rows):
    schema = Schema()


def test_what_is_declared_for_a_whole_view_set_is_not_declared_for_its_actions(serve):
    agent = serve(rows=DeclaredForAll)
    assert fields_of(agent, "rows__cancel") == (["id", "help"], ["id"])
    assert fields_of(agent, "rows__own") == (["id", "line", "help"], ["id", "line"])
    assert fields_of(agent, "rows__create") == (["line", "help", "verify"], ["line"])


def test_a_schema_class_may_declare_the_body_of_one_action(serve):
    agent = serve(rows=BySchema)
    assert fields_of(agent, "rows__cancel") == (
        ["id", "reason", "notify", "help"],
        ["id", "reason"],
    )
    assert fields_of(agent, "rows__mapped_post") == (["id", "help"], ["id"])


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


def test_an_action_of_a_view_set_without_a_serializer_is_published_without_a_body(serve):
    agent = serve(bare=Bare)
    assert fields_of(agent, "bare__ping") == (["help"], [])
    assert agent.call("bare__ping", {}).value == {"ran": True}


# --- views that are no view sets ---


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


def test_a_handler_beside_the_standard_actions_of_a_generic_view_declares_its_body(serve):
    agent = serve(*PLAIN)
    assert fields_of(agent, "withpost__post") == (["id", "help"], ["id"])
    assert fields_of(agent, "withpost__update")[1] == ["id", "line"]


@pytest.mark.parametrize("tool", ["only__post", "plain__post"])
def test_the_serializer_of_a_view_with_its_own_handlers_alone_is_their_declaration(serve, tool):
    agent = serve(*PLAIN)
    assert fields_of(agent, tool) == (["reason", "notify", "help"], ["reason"])


def test_a_view_without_a_serializer_is_left_out_unless_the_settings_have_its_body(serve):
    agent = serve(*PLAIN)
    assert not {"unknown__post", "function__post"} & set(agent.tools())
    bodies = {"unknown__post": ReasonSerializer, "function__post": None}
    agent = serve(*PLAIN, toolbooth={"BODIES": bodies})
    assert fields_of(agent, "unknown__post") == (["reason", "notify", "help"], ["reason"])
    assert fields_of(agent, "function__post") == (["help"], [])
    assert agent.call("unknown__post", reason="r").value == {"ran": True}
    assert agent.call("function__post", {}).value == {"ran": True}
    assert lines() == ['dict {"reason": "r"}', "dict {}"]


# --- bodies in the settings ---


SERIALIZERS = {
    "serializer class": ReasonSerializer,
    "path of a serializer class": f"{__name__}.ReasonSerializer",
    "serializer": ReasonSerializer(),
}
PLAIN_BODIES = {
    "model": ConfirmModel,
    "path of a model": f"{__name__}.ConfirmModel",
    "schema": CONFIRM_SCHEMA,
    "path of a schema": f"{__name__}.CONFIRM_SCHEMA",
}
BODIES = SERIALIZERS | PLAIN_BODIES


@pytest.mark.parametrize("kind", BODIES)
@pytest.mark.parametrize("tool", ["rows__cancel", "rows__drop", "rows__own"])
def test_the_settings_declare_a_body(serve, kind, tool):
    agent = serve(rows=Rows, toolbooth={"BODIES": {tool: BODIES[kind]}})
    names, required = fields_of(agent, tool)
    assert (names[:2], names[-1], required) == (["id", "reason"], "help", ["id", "reason"])
    wrong = [({"reason": 5}, "wrong-type"), ({"reason": "r", "line": "x"}, "unknown-key")]
    if kind in PLAIN_BODIES:  # what a serializer says of values, the view asks it
        wrong += [({"reason": "x" * 11}, "invalid"), ({}, "missing")]
    for sent, code in wrong:
        refused = agent.call(tool, {"id": 1, **sent})
        assert [each.code for each in refused.problems] == [code], refused.text
    assert lines() == []
    assert agent.call(tool, id=1, reason="why").value == {"ran": True}
    assert lines() == ['dict {"reason": "why"}']
    assert check_bodies() == []


def test_the_settings_declare_that_there_is_no_body(serve):
    agent = serve(rows=Rows, toolbooth={"BODIES": {"rows__own": None, "rows__cancel": None}})
    assert fields_of(agent, "rows__own") == (["id", "help"], ["id"])
    assert "Takes no fields" not in agent.tools()["rows__cancel"]["description"]


def test_a_view_gets_the_json_that_a_model_accepted_and_no_defaults_of_the_model(serve):
    """`_polite` changes the value in the model; the view gets it as it was sent."""
    agent = serve(rows=Rows, toolbooth={"BODIES": {"rows__cancel": ConfirmModel}})
    for tool in ("rows__cancel", "rows__modelled"):
        assert fields_of(agent, tool) == (["id", "reason", "times", "help"], ["id", "reason"])
        refused = agent.call(tool, id=1, reason="damn")
        assert [(each.code, each.where) for each in refused.problems] == [("invalid", "$.reason")]
        assert "be polite" in refused.text
        assert lines() == []
        assert agent.call(tool, id=1, reason="why", times="2").value == {"ran": True}
        assert lines() == ['dict {"reason": "why", "times": 2}']
        Log.objects.all().delete()


def test_a_json_schema_is_held_to_all_that_it_says(serve):
    schema = {
        "type": "object",
        "properties": {
            "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}, "maxItems": 2},
            "force": {"type": "boolean"},
            "why": {"type": ["string", "null"]},
        },
        "dependentRequired": {"force": ["why"]},
        "$defs": {
            "line": {
                "type": "object",
                "properties": {"sku": {"type": "string"}, "of": {"$ref": "#/$defs/line"}},
                "required": ["sku"],
            }
        },
    }
    agent = serve(rows=Rows, toolbooth={"BODIES": {"rows__cancel": schema}})
    for wrong, place in [
        ({"lines": [{"sku": "a"}] * 3}, "$.lines"),
        ({"lines": [{"sku": "a", "of": {"sku": 1}}]}, "$.lines[0].of.sku"),
        ({"lines": [{"nested": {"sku": "a"}}]}, "$.lines[0].nested"),
        ({"force": True}, "$.why"),
    ]:
        refused = agent.call("rows__cancel", {"id": 1, **wrong})
        assert [each.where for each in refused.problems] == [place], refused.text
    assert lines() == []
    right = {"lines": [{"sku": "a", "of": {"sku": "b"}}], "force": True, "why": None}
    assert agent.call("rows__cancel", id=1, **right).value == {"ran": True}
    assert lines() == [f"dict {json.dumps(right)}"]


def test_an_open_schema_takes_only_the_fields_that_it_names(serve):
    schema = {"type": "object", "properties": {"a": {}}, "additionalProperties": True}
    agent = serve(rows=Rows, toolbooth={"BODIES": {"rows__cancel": schema}})
    assert [each.where for each in agent.call("rows__cancel", id=1, b=2).problems] == ["$.b"]
    assert agent.call("rows__cancel", id=1, a={"any": ["thing"]}).value == {"ran": True}
    assert lines() == ['dict {"a": {"any": ["thing"]}}']


def test_a_field_of_a_plain_body_by_the_name_of_the_key_keeps_its_name(serve):
    schema = {"type": "object", "properties": {"id": {"type": "integer"}}}
    agent = serve(rows=Rows, toolbooth={"BODIES": {"rows__cancel": schema}})
    assert fields_of(agent, "rows__cancel") == (["id_in_path", "id", "help"], ["id_in_path"])
    assert agent.call("rows__cancel", id_in_path=1, id=2).value == {"ran": True}
    assert lines() == ['dict {"id": 2}']


def test_a_create_with_a_plain_body_takes_one_row(serve):
    schema = {"type": "object", "properties": {"line": {"type": "string"}}}
    agent = serve(rows=Rows, toolbooth={"BODIES": {"rows__create": schema}})
    assert "Many" not in agent.tools()["rows__create"]["description"]
    assert agent.call("rows__create", objects=[{"line": "a"}]).is_error
    made = agent.call("rows__create", line="a").value
    assert made == {"id": Log.objects.get().pk, "set": ["line"], "defaulted": []}


class Forms(Rows):
    parser_classes = [FormParser]


def test_a_view_that_takes_only_forms_gets_the_fields_as_a_form(serve):
    agent = serve(rows=Forms, toolbooth={"BODIES": {"rows__cancel": ConfirmModel}})
    assert agent.call("rows__cancel", id=1, reason="why", times=2).value == {"ran": True}
    assert lines() == ['QueryDict {"reason": "why", "times": "2"}']


# --- inherited bodies ---


@pytest.mark.parametrize("pattern", ["rows__cancel", "rows__c*", "*"])
def test_a_project_that_has_checked_its_actions_publishes_their_views_serializer(serve, pattern):
    agent = serve(rows=Rows, toolbooth={"INHERITED_BODIES": [pattern]})
    assert fields_of(agent, "rows__cancel") == (["id", "line", "help"], ["id", "line"])
    assert agent.call("rows__cancel", id=1, line="x").value == {"ran": True}
    assert lines() == ['dict {"line": "x"}']
    assert fields_of(agent, "rows__own")[1] == ["id", "reason"]
    assert fields_of(agent, "rows__destroy") == (["id", "help"], ["id"])
    is_wiped = fields_of(agent, "rows__wipe") == (["line", "help"], ["line"])
    assert is_wiped is (pattern == "*")


def test_the_body_in_the_settings_comes_before_the_inherited_one(serve):
    chosen = {"BODIES": {"rows__cancel": ReasonSerializer}, "INHERITED_BODIES": ["*"]}
    assert fields_of(serve(rows=Rows, toolbooth=chosen), "rows__cancel")[1] == ["id", "reason"]


# --- mistakes in the settings ---


def told(messages):
    return [(each.id, each.msg) for each in messages]


@pytest.mark.parametrize(
    ("bodies", "what"),
    [
        (
            {"rows__cancle": ReasonSerializer},
            "'rows__cancle']: there is no such tool; 'rows__cancel' may be meant.",
        ),
        ({"unlike": None}, "'unlike']: there is no such tool."),
        (
            {"rows__cancel": "no.such.Thing"},
            "'rows__cancel']: 'no.such.Thing' cannot be imported: "
            "ModuleNotFoundError: No module named 'no'.",
        ),
        (
            {"rows__cancel": f"{__name__}.Missing"},
            f"'rows__cancel']: '{__name__}.Missing' cannot be imported: ImportError: "
            f'Module "{__name__}" does not define a "Missing" attribute/class.',
        ),
        (
            {"rows__cancel": 5},
            "'rows__cancel']: is not a body; give a serializer, a Pydantic model or a JSON Schema "
            "with properties, the import path of one, or None.",
        ),
        (
            {"rows__cancel": {"type": "array"}},
            "'rows__cancel']: cannot be used: "
            "the root of an inputSchema must describe an object (type: object).",
        ),
        ({"rows__list": ReasonSerializer}, "'rows__list']: is a GET, which takes no body."),
    ],
    ids=["misspelt", "unlike", "module", "attribute", "number", "array", "get"],
)
def test_a_wrong_entry_is_an_error_of_manage_check(serve, bodies, what):
    agent = serve(rows=Rows, toolbooth={"BODIES": bodies})
    assert told(check_bodies()) == [("toolbooth.E004", f"TOOLBOOTH['BODIES'][{what}")]
    (tool,) = bodies
    assert tool not in agent.tools()  # never with a body that nobody meant
    levels = {each.level for each in EXAMINATIONS["Configuration"]()}
    assert levels == {"error"}


def test_a_pattern_that_fits_no_tool_is_a_warning_with_the_nearest_name(serve):
    serve(rows=Rows, toolbooth={"INHERITED_BODIES": ["rows__cancle", "zzz*"]})
    assert told(check_tools()) == [
        (
            "toolbooth.W003",
            "TOOLBOOTH['INHERITED_BODIES']: 'rows__cancle': it fits no tool; "
            "'rows__cancel' may be meant.",
        ),
        ("toolbooth.W003", "TOOLBOOTH['INHERITED_BODIES']: 'zzz*': it fits no tool."),
    ]


# --- mcp_doctor ---


class Doctored(viewsets.ModelViewSet):
    queryset = Log.objects.all()
    serializer_class = RowSerializer

    @action(detail=True, methods=["post"])
    def reads(self, request, pk=None):
        return Response({"reason": request.data.get("reason")})

    @action(detail=True, methods=["post"])
    def inherits(self, request, pk=None):
        reader = self.get_serializer(data=request.data)
        reader.is_valid(raise_exception=True)
        return Response(reader.validated_data)

    @action(detail=True, methods=["post"])
    def nothing(self, request, pk=None):
        return Response({})

    @action(detail=True, methods=["post"], serializer_class=ReasonSerializer)
    def declares(self, request, pk=None):
        return Response({})


def findings():
    return [(each.level, each.what, each.remedy) for each in EXAMINATIONS["Bodies"]()]


def test_the_doctor_lists_each_action_without_a_body_with_the_line_to_write(serve):
    serve(rows=Doctored)
    what = "rows__{0}: {1}.Doctored.{0} declares no body, so the tool takes no fields"
    lines_to_write = (
        "write @extend_schema(request=...) above {0}, "
        "or TOOLBOOTH['BODIES'] = {{'rows__{0}': 'path.to.Serializer'}}"
    )
    assert findings() == [
        (
            "warning",
            what.format("inherits", __name__),
            f"{lines_to_write.format('inherits')}, or, if it reads RowSerializer, "
            "TOOLBOOTH['INHERITED_BODIES'] = ['rows__inherits']",
        ),
        (
            "note",
            what.format("nothing", __name__),
            "if that is right, write @extend_schema(request=None) above nothing",
        ),
        ("warning", what.format("reads", __name__), lines_to_write.format("reads")),
    ]
    assert catalogue().undeclared_bodies == ("rows__inherits", "rows__nothing", "rows__reads")


def test_the_lines_that_the_doctor_names_settle_it(serve):
    bodies = {"rows__reads": ReasonSerializer, "rows__nothing": None}
    serve(rows=Doctored, toolbooth={"BODIES": bodies, "INHERITED_BODIES": ["rows__inherits"]})
    assert [level for level, _, _ in findings()] == ["ok"]
