"""`TOOLBOOTH["BODIES"]` and `TOOLBOOTH["INHERITED_BODIES"]`: bodies of actions whose code a project
cannot edit.
"""

import json

import pytest
from django.urls import include, path
from rest_framework import viewsets
from rest_framework.decorators import action
from rest_framework.parsers import FormParser
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from actions_api import (
    CONFIRM_SCHEMA,
    ConfirmData,
    ConfirmDict,
    ConfirmModel,
    ReasonSerializer,
    Rows,
    RowSerializer,
    fields_of,
    lines,
)
from odd.models import Log
from toolbooth.django.checks import check_entries, check_tools
from toolbooth.django.describe.catalogue import catalogue
from toolbooth.django.management.examinations import EXAMINATIONS
from toolbooth.django.testing import acting_as


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


# --- bodies in the settings ---


SERIALIZERS = {
    "serializer class": ReasonSerializer,
    "path of a serializer class": "actions_api.ReasonSerializer",
    "serializer": ReasonSerializer(),
}
PLAIN_BODIES = {
    "model": ConfirmModel,
    "path of a model": "actions_api.ConfirmModel",
    "dataclass": ConfirmData,
    "typed dict": ConfirmDict,
    "schema": CONFIRM_SCHEMA,
    "path of a schema": "actions_api.CONFIRM_SCHEMA",
}
BODIES = SERIALIZERS | PLAIN_BODIES


@pytest.mark.parametrize("kind", BODIES)
@pytest.mark.parametrize("tool", ["rows__cancel", "rows__drop", "rows__own"])
def test_the_settings_declare_a_body(serve, kind, tool):
    agent = serve(rows=Rows, toolbooth={"BODIES": {tool: BODIES[kind]}})
    names, required = fields_of(agent, tool)
    assert (names[:2], names[-1], required) == (["id", "reason"], "help", ["id", "reason"])
    wrong = [({"reason": 5}, "wrong-type"), ({"reason": "r", "line": "x"}, "unknown-key")]
    if kind in PLAIN_BODIES:  # the view enforces the serializer's rules for values
        wrong += [({"reason": "x" * 11}, "invalid"), ({}, "missing")]
    for sent, code in wrong:
        refused = agent.call(tool, {"id": 1, **sent})
        assert [each.code for each in refused.problems] == [code], refused.text
    assert lines() == []
    assert agent.call(tool, id=1, reason="why").value == {"ran": True}
    assert lines() == ['dict {"reason": "why"}']
    assert check_entries() == []


def test_bodies_setting_can_declare_that_there_is_no_body(serve):
    agent = serve(rows=Rows, toolbooth={"BODIES": {"rows__own": None, "rows__cancel": None}})
    assert fields_of(agent, "rows__own") == (["id"], ["id"])
    assert "Takes no fields" not in agent.tools()["rows__cancel"]["description"]


def test_view_gets_the_sent_json_without_defaults_of_the_pydantic_model(serve):
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


def test_every_keyword_of_a_json_schema_body_is_enforced(serve):
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


def test_an_open_schema_accepts_only_the_fields_that_it_names(serve):
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


def test_a_create_with_a_plain_body_creates_one_row(serve):
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
def test_inherited_bodies_setting_publishes_the_serializer_of_the_view(serve, pattern):
    agent = serve(rows=Rows, toolbooth={"INHERITED_BODIES": [pattern]})
    assert fields_of(agent, "rows__cancel") == (["id", "line", "help"], ["id", "line"])
    assert agent.call("rows__cancel", id=1, line="x").value == {"ran": True}
    assert lines() == ['dict {"line": "x"}']
    assert fields_of(agent, "rows__own")[1] == ["id", "reason"]
    assert fields_of(agent, "rows__destroy") == (["id", "preview"], ["id"])
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
            "with properties, a list of one, the import path of one, or None.",
        ),
        (
            {"rows__cancel": Rows},
            "'rows__cancel']: is not a body; give a serializer, a Pydantic model or a JSON Schema "
            "with properties, a list of one, the import path of one, or None.",
        ),
        (
            {"rows__cancel": {"type": "array"}},
            "'rows__cancel']: cannot be used: "
            "the root of an inputSchema must describe an object (type: object).",
        ),
        ({"rows__list": ReasonSerializer}, "'rows__list']: is a GET, which takes no body."),
    ],
    ids=["misspelt", "unlike", "module", "attribute", "number", "class", "array", "get"],
)
def test_a_wrong_entry_is_an_error_of_manage_check(serve, bodies, what):
    agent = serve(rows=Rows, toolbooth={"BODIES": bodies})
    assert told(check_entries()) == [("toolbooth.E004", f"TOOLBOOTH['BODIES'][{what}")]
    (tool,) = bodies
    assert tool not in agent.tools()  # never with a body that was not meant for it
    levels = {each.level for each in EXAMINATIONS["Configuration"]()}
    assert levels == {"error"}


def test_a_pattern_that_fits_no_tool_is_a_warning_with_the_nearest_name(serve):
    serve(rows=Rows, toolbooth={"INHERITED_BODIES": ["rows__cancle", "zzz*"]})
    assert told(check_tools()) == [
        (
            "toolbooth.W003",
            "TOOLBOOTH['INHERITED_BODIES']: 'rows__cancle': it matches no tool; "
            "'rows__cancel' may be meant.",
        ),
        ("toolbooth.W003", "TOOLBOOTH['INHERITED_BODIES']: 'zzz*': it matches no tool."),
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


def test_settings_suggested_by_the_doctor_remove_its_findings(serve):
    bodies = {"rows__reads": ReasonSerializer, "rows__nothing": None}
    serve(rows=Doctored, toolbooth={"BODIES": bodies, "INHERITED_BODIES": ["rows__inherits"]})
    assert [level for level, _, _ in findings()] == ["ok"]
