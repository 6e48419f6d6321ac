"""Text in place of a relation's key: if it can only be a name, the refusal has the object to
send.
"""

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from odd.models import Port
from relation_api import RACK, Urls, one_of_each
from toolbooth.django.testing import acting_as


@pytest.fixture
def agent(settings_of, ann):
    settings_of(ROOT_URLCONF=Urls)
    return acting_as(ann)


@pytest.fixture
def rows(db):
    return one_of_each()


def told(result):
    return [(each.where, each.message) for each in result.problems]


ADVICE = {
    "integer": (
        {"zone": "z-1"},
        [
            (
                "$.zone",
                'must be an integer or an object, got text "z-1"; send {"code": "z-1"}',
            )
        ],
        {"zone": {"code": "z-1"}},
    ),
    "uuid": (
        {"rack": "r-1"},
        [("$.rack", 'must be an object or a UUID, got text "r-1"; send {"name": "r-1"}')],
        {"rack": {"name": "r-1"}},
    ),
    "items, one by one": (
        {"zones": [1, "z-1", "1"], "racks": ["r-1", RACK]},
        [
            ("$.zones[1]", 'must be an integer or an object, got text "z-1"; send {"code": "z-1"}'),
            ("$.racks[0]", 'must be an object or a UUID, got text "r-1"; send {"name": "r-1"}'),
        ],
        {"zones": [1, {"code": "z-1"}, 1], "racks": [{"name": "r-1"}, RACK]},
    ),
    "an object as JSON text, where text can be a key": (
        {"rack": '{"name": "r-1"}'},
        [
            (
                "$.rack",
                'must be an object or a UUID, got text "{\\"name\\": \\"r-1\\"}"',
            )
        ],
        {"rack": {"name": "r-1"}},
    ),
}


@pytest.mark.parametrize(("sent", "problems", "corrected"), ADVICE.values(), ids=ADVICE)
def test_text_is_refused_with_the_call_that_names_the_row(agent, rows, sent, problems, corrected):
    call = {"label": "p", **sent}
    refused = agent.call("ports__create", call)
    assert told(refused) == problems
    assert refused.corrected == {"label": "p", **corrected}
    assert Port.objects.count() == 0
    assert agent.call("ports__create", refused.corrected).is_error is False
    assert Port.objects.count() == 1


def test_the_call_is_corrected_inside_wrappers_rows_and_nested_rows(agent, rows):
    right = {"label": "p", "zone": {"code": "z-1"}, "racks": [{"name": "r-1"}]}
    wrong = {"label": "p", "zone": "z-1", "racks": ["r-1"]}
    calls = {
        "ports__create": [
            ({"data": wrong}, right),
            ({"objects": [wrong, {"label": "q"}]}, {"objects": [right, {"label": "q"}]}),
            ({"label": "p", "Zone": "z-1"}, {"label": "p", "zone": {"code": "z-1"}}),
            ({"label": "p", "Rack": "r-1"}, {"label": "p", "rack": {"name": "r-1"}}),
        ],
        "panel__post": [
            ({"zone": "z-1", "ports": [wrong]}, {"zone": {"code": "z-1"}, "ports": [right]}),
            ({"zone": 1, "ports": json.dumps([wrong])}, {"zone": 1, "ports": [right]}),
        ],
    }
    for tool, every in calls.items():
        for sent, corrected in every:
            refused = agent.call(tool, sent)
            assert (refused.is_error, refused.corrected) == (True, corrected), sent
            assert agent.call(tool, corrected).is_error is False


def test_text_for_several_unique_fields_lists_all_forms(agent, rows):
    refused = agent.call("ports__create", label="p", vendor="Acme")
    assert told(refused) == [
        (
            "$.vendor",
            'must be an integer or an object, got text "Acme"; '
            'send {"name": "Acme"} or {"code": "Acme"}',
        )
    ]
    assert refused.corrected is None


def test_name_that_is_not_unique_is_suggested_without_a_corrected_call(agent, rows):
    refused = agent.call("ports__create", label="p", team="Blue")
    assert told(refused) == [
        (
            "$.team",
            'must be an integer or an object, got text "Blue"; send {"name": "Blue"}',
        )
    ]
    assert refused.corrected is None


def test_a_model_without_a_text_that_names_rows_has_no_advice(agent, rows):
    refused = agent.call("ports__create", label="p", next="x")
    assert told(refused) == [
        ("$.next", 'must be an integer or an object, got text "x"; leave it out if unknown')
    ]
    assert refused.corrected is None


@pytest.mark.parametrize("text", ["1.5", "-", "true", '"', "[1", '{"code": "z-1"', "1e400", RACK])
def test_text_that_is_hardly_a_name_gets_no_corrected_call(agent, rows, text):
    refused = agent.call("ports__create", label="p", zone=text)
    assert refused.is_error
    assert (refused.corrected is not None) == (text == "-")


def test_other_problems_do_not_hide_the_advice(agent, rows):
    refused = agent.call("ports__create", label=5, zone="z-1")
    assert told(refused) == [
        ("$.label", "must be text, got an integer 5"),
        ("$.zone", 'must be an integer or an object, got text "z-1"; send {"code": "z-1"}'),
    ]
    assert refused.corrected == {"label": "5", "zone": {"code": "z-1"}}


@pytest.mark.parametrize("zone", ["1", 1.0, '{"code": "z-1"}'])
def test_a_key_as_text_is_read_as_before(agent, rows, zone):
    result = agent.call("ports__create", label="p", zone=zone)
    assert result.is_error is False
    assert Port.objects.get().zone == rows["zone"]


@pytest.mark.parametrize(
    "key", [RACK, RACK.upper(), RACK.replace("-", ""), f"{{{RACK}}}", f"urn:uuid:{RACK}"]
)
def test_a_uuid_in_any_format_that_django_parses_is_a_key(agent, rows, key):
    result = agent.call("ports__create", label="p", rack=key)
    assert (result.is_error, result.repairs) == (False, ())
    assert Port.objects.get().rack == rows["rack"]


def test_empty_text_for_a_uuid_relation_is_null_as_in_rest(agent, rows):
    assert agent.call("ports__create", label="p", rack="").is_error is False
    assert Port.objects.get().rack is None


def test_the_advice_needs_no_query_and_reveals_no_existing_rows(agent, rows):
    agent.call("ports__create", label="p", zone="z-1")  # fills the caches that are built once
    answers = []
    for name in ("z-1", "z-9"):
        with CaptureQueriesContext(connection) as queries:
            refused = agent.call("ports__create", label="p", zone=name, rack=name)
        asked = [each["sql"] for each in queries if "odd_" in each["sql"]]
        answers.append((refused.text.replace(name, "…"), asked))
    assert answers[0] == answers[1]
    assert answers[0][1] == []


def test_an_unauthenticated_caller_gets_no_advice(settings_of, db, rows):
    settings_of(ROOT_URLCONF=Urls)
    refused = acting_as(None).call("ports__create", label="p", zone="z-1")
    assert refused.status in (401, 403)
    assert "code" not in refused.text


def test_dispatcher_refusal_contains_a_corrected_dispatcher_call(settings_of, ann, rows):
    settings_of(ROOT_URLCONF=Urls, TOOLBOOTH={"DISPATCH": "resource"})
    sent = {"action": "create", "label": "p", "zone": "z-1", "zones": ["z-1"]}
    refused = acting_as(ann).call("ports", sent)
    assert [where for where, _ in told(refused)] == ["$.zone", "$.zones[0]"]
    assert refused.corrected == {**sent, "zone": {"code": "z-1"}, "zones": [{"code": "z-1"}]}
    assert acting_as(ann).call("ports", refused.corrected).is_error is False
    assert Port.objects.get().zone == rows["zone"]


def test_edit_moves_the_text_into_the_lookup_object(agent, rows):
    refused = agent.call("ports__create", label="p", zone="z-1")
    assert refused.raw["_meta"]["toolbooth"]["edits"] == ["move $.zone to $.zone.code"]


@pytest.mark.parametrize("key", ["objects", "items"])
def test_a_view_that_takes_a_list_is_advised_row_by_row(agent, rows, key):
    wrong = {key: [{"label": "p", "zone": {"code": "z-1"}}, {"label": "q", "zone": "z-1"}]}
    refused = agent.call("many__create", wrong)
    assert [where for where, _ in told(refused)] == [f"$.{key}[1].zone"]
    assert agent.call("many__create", refused.corrected).value["created"] == 2
    assert [each.zone for each in Port.objects.all()] == [rows["zone"], rows["zone"]]
    listed = agent.tools()["many__create"]["inputSchema"]["properties"]["objects"]["items"]
    assert listed["properties"]["zone"]["anyOf"][1]["properties"].keys() == {"code"}
