"""Both forms of a relation, its key and an object that names the row, are published as they are
accepted.
"""

import json

import jsonschema
import pytest
from django.urls import path
from hypothesis import given
from hypothesis import strategies as st
from rest_framework import serializers

from odd.models import Port, Zone
from odd.views import Echo
from relation_api import RACK, Urls, one_of_each
from toolbooth.boundary.accept import accept_bytes
from toolbooth.django.describe.catalogue import catalogue
from toolbooth.django.testing import acting_as
from toolbooth.errors import ToolInputError
from toolbooth.publish import PROFILES, input_schema
from toolbooth.testing.client.strict import fill_keys


@pytest.fixture
def agent(settings_of, ann):
    settings_of(ROOT_URLCONF=Urls)
    return acting_as(ann)


@pytest.fixture
def rows(db):
    return one_of_each()


def schemas(tool="ports__create"):
    """Return the listed schema, and the exact schema."""
    contract = catalogue().registry.tools[tool].contract
    return {name: input_schema(contract, profile) for name, profile in PROFILES.items()}


def fits(schema, value):
    kind = jsonschema.Draft202012Validator
    return kind(schema, format_checker=kind.FORMAT_CHECKER).is_valid(value)


# --- published schemas ---


def test_the_listing_has_both_forms_in_few_words(agent):
    listed = agent.tools()["ports__create"]["inputSchema"]["properties"]
    text, number, uid = (
        {"type": "string"},
        {"type": "integer"},
        {"type": "string", "description": "UUID"},
    )
    assert {
        name: listed[name] for name in ("zone", "vendor", "rack", "next", "zones", "racks")
    } == {
        "zone": {
            "anyOf": [number, {"type": "object", "properties": {"code": text}}],
            "description": 'id of an existing zone, or {"code": …} to look it up, or null',
        },
        "vendor": {
            "anyOf": [number, {"type": "object", "properties": {"name": text}}],
            "description": 'id of an existing vendor, or {"name": …} to look it up, or null',
        },
        "rack": {
            "anyOf": [uid, {"type": "object", "properties": {"name": text}}],
            "description": 'id of an existing rack, or {"name": …} to look it up, or null',
        },
        "next": {
            "anyOf": [number, {"type": "object", "properties": {"id": number}}],
            "description": "id of an existing port, or null",
        },
        "zones": {
            "type": "array",
            "items": {
                "anyOf": [number, {"type": "object", "properties": {"code": text}}],
                "description": 'id of an existing zone, or {"code": …} to look it up',
            },
        },
        "racks": {
            "type": "array",
            "items": {
                "anyOf": [uid, {"type": "object", "properties": {"name": text}}],
                "description": 'id of an existing rack, or {"name": …} to look it up',
            },
        },
    }


def test_the_exact_schema_has_every_accepted_form(agent):
    exact = schemas()["exact"]["properties"]
    assert exact["vendor"] == {
        "description": 'id of an existing vendor, or {"name": …} to look it up',
        "anyOf": [
            {"type": ["integer", "null"]},
            {
                "type": "object",
                "properties": {
                    "id": {"type": "integer"},
                    "name": {"type": "string"},
                    "code": {"type": "string"},
                    "pk": {"type": "integer"},
                },
                "minProperties": 1,
                "additionalProperties": False,
            },
        ],
    }
    assert exact["zones"]["items"]["anyOf"][1]["properties"].keys() == {"id", "code", "pk"}


def test_description_appears_once_beside_both_relation_forms(settings_of, ann):
    class Described(serializers.Serializer):
        zone = serializers.PrimaryKeyRelatedField(
            queryset=Zone.objects.all(), help_text="Where it is", default=None, allow_null=True
        )

    class View(Echo):
        serializer_class = Described

    settings_of(
        ROOT_URLCONF=type("Urls", (), {"urlpatterns": [path("d/", View.as_view(), name="d")]})
    )
    listed = catalogue().registry.tools["d__post"].listing()["inputSchema"]["properties"]["zone"]
    assert listed == {
        "description": (
            'Where it is. id of an existing zone, or {"code": …} to look it up, or null'
        ),
        "anyOf": [
            {"type": "integer"},
            {"type": "object", "properties": {"code": {"type": "string"}}},
        ],
    }


def test_relations_under_any_name_are_published_and_accepted_by_key_alone(agent, rows):
    for schema in schemas("panel__post").values():
        by_side = schema["properties"]["by_side"]
        assert by_side["additionalProperties"] == {"type": "integer"}
    assert agent.call("panel__post", zone=1, by_side={"left": 1}).is_error is False
    refused = agent.call("panel__post", zone=1, by_side={"left": {"code": "z-1"}})
    assert [each.where for each in refused.problems] == ["$.by_side.left"]


# --- a client that checks its calls by the schema can send either form ---

FORMS = {
    "key": {"zone": 1},
    "one field": {"zone": {"code": "z-1"}},
    "id": {"zone": {"id": 1}},
    "pk": {"zone": {"pk": 1}},
    "several fields": {"vendor": {"name": "Acme", "code": "ac"}},
    "a name that is not unique": {"team": {"name": "Blue"}},
    "uuid": {"rack": RACK},
    "by the name of a uuid": {"rack": {"name": "r-1"}},
    "many, mixed": {"zones": [1, {"code": "z-1"}], "racks": [{"name": "r-1"}, RACK]},
}


@pytest.mark.parametrize("sent", FORMS.values(), ids=FORMS)
def test_either_form_is_valid_in_every_profile_and_is_stored(agent, rows, sent):
    call = {"label": "p", **sent}
    for name, schema in schemas().items():
        assert fits(schema, call), name
    result = agent.call("ports__create", call)
    assert (result.is_error, result.repairs) == (False, ())
    stored = Port.objects.get()
    for name, value in sent.items():
        if isinstance(value, list):
            [only] = getattr(stored, name).all()
            assert only == rows[name.removesuffix("s")]
        else:
            assert getattr(stored, name) == rows[name]


@pytest.mark.parametrize("sent", FORMS.values(), ids=FORMS)
def test_either_form_is_stored_in_strict_mode(agent, rows, sent):
    """A strict converter requires every key, so a model sends all lookups, null where unknown."""
    call = {"label": "p", **sent}
    listed = agent.tools()["ports__create"]["inputSchema"]
    filled = {key: fill_keys(value, listed["properties"][key]) for key, value in call.items()}
    assert agent.call("ports__create", filled).is_error is False
    assert Port.objects.count() == 1


@pytest.mark.parametrize("key", ["objects", "data", "items"])
def test_rows_in_bulk_accept_either_form(agent, rows, key):
    sent = [{"label": str(number), **form} for number, form in enumerate(FORMS.values())]
    assert agent.call("ports__create", {key: sent}).value["created"] == len(FORMS)
    zones = Port.objects.order_by("id").values_list("zone", flat=True)
    assert list(zones) == [1, 1, 1, 1, None, None, None, None, None]


@pytest.mark.parametrize("profile", PROFILES)
def test_the_tool_for_many_rows_publishes_either_form(settings_of, ann, rows, profile):
    settings_of(ROOT_URLCONF=Urls, TOOLBOOTH={"BULK_TOOLS": True})
    schema = schemas("ports__bulk_create")[profile]
    sent = {"objects": [{"label": "p", **form} for form in FORMS.values()]}
    assert fits(schema, sent)
    assert acting_as(ann).call("ports__bulk_create", sent).value["created"] == len(FORMS)
    if profile == "portable":
        zone = schema["properties"]["objects"]["items"]["properties"]["zone"]
        assert zone["anyOf"][1]["properties"].keys() == {"code"}


@pytest.mark.parametrize("profile", PROFILES)
def test_nested_rows_publish_either_form(agent, rows, profile):
    sent = {"zone": {"code": "z-1"}, "ports": [{"label": "p", **form} for form in FORMS.values()]}
    assert fits(schemas("panel__post")[profile], sent)
    assert agent.call("panel__post", sent).is_error is False


KEYS = (
    st.integers(-3, 3)
    | st.floats(0, 2)
    | st.booleans()
    | st.none()
    | st.sampled_from(["z-1", "1", "", "null", RACK, '{"code": "z-1"}'])
)
OBJECTS = st.dictionaries(
    st.sampled_from(["id", "pk", "code", "name", "area", "data"]), KEYS, max_size=3
)
SENT = st.fixed_dictionaries(
    {"label": st.just("p")},
    optional={
        "zone": KEYS | OBJECTS,
        "rack": KEYS | OBJECTS,
        "zones": st.lists(KEYS | OBJECTS, max_size=2) | KEYS,
    },
)


def test_exact_schema_matches_validation_and_portable_is_never_narrower(agent):
    contract = catalogue().registry.tools["ports__create"].contract
    listed, exact = schemas().values()

    @given(sent=SENT)
    def check(sent):
        is_allowed = fits(exact, sent)
        try:
            _, remarks = accept_bytes(contract, json.dumps(sent).encode())
        except ToolInputError:
            assert not is_allowed
            return
        assert is_allowed == (not remarks and not _names_no_row(sent))
        if is_allowed:
            assert fits(listed, {name: each for name, each in sent.items() if each is not None})

    check()


def _names_no_row(sent):
    """Return whether a value passes the boundary that cannot name a row: "", which REST framework
    reads as null, an empty object, or an invalid UUID.
    """
    rack, zones = sent.get("rack"), sent.get("zones")
    every = [sent.get("zone"), rack, *(zones if isinstance(zones, list) else [])]
    if rack == "" or {} in every:
        return True
    keys = [rack.get("id", RACK), rack.get("pk", RACK)] if isinstance(rack, dict) else []
    return any(isinstance(each, str) and each != RACK for each in keys)


# --- an object under a relation is content; its keys are declared ---


@pytest.mark.parametrize(
    ("sent", "problem"),
    [
        ({"zone": {"cod": "z-1"}}, ("unknown-key", "$.zone.cod")),
        ({"zone": {"area": "north"}}, ("unknown-key", "$.zone.area")),
        ({"zone": {"code": "z-1", "area": ""}}, ("unknown-key", "$.zone.area")),
        ({"zone": {"data": {"code": "z-1"}}}, ("nested-wrapper", "$.zone.data")),
        ({"zones": [1, {"data": {"code": "z-1"}}]}, ("nested-wrapper", "$.zones[1].data")),
        ({"zone": {"code": {"name": "z-1"}}}, ("wrong-type", "$.zone.code")),
        ({"zone": {"code": 5}}, ("wrong-type", "$.zone.code")),
        (
            {"objects": [{"label": "p", "zone": {"cod": 1}}]},
            ("unknown-key", "$.objects[0].zone.cod"),
        ),
        ({"zone": {}}, ("invalid", "$.zone")),
        ({"zone": [1]}, ("wrong-type", "$.zone")),
    ],
    ids=lambda each: json.dumps(each) if isinstance(each, dict) else "",
)
def test_an_undeclared_key_inside_a_relation_is_named_with_its_path(agent, rows, sent, problem):
    call = sent if "objects" in sent else {"label": "p", **sent}
    refused = agent.call("ports__create", call)
    assert [(each.code, each.where) for each in refused.problems] == [problem]
    assert Port.objects.count() == 0
